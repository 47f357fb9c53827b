//===- NestShares.cpp - how workers share a kernel's nests ----------------===//
//
// Nests with reductions share rows, the positions of the first dimension, if no
// nest needs another row of what an earlier one stored:
//
//   %m = weft.reduce max %x dims [1]     row i of x -> element i of m
//   %b = weft.broadcast %m dims [0]      element i of m -> row i
//   %e = weft.exp (x - b)                row i -> row i
//   %s = weft.reduce sum %e dims [1]
//
// A worker then runs all nests for a block of rows before the next block, so
// that they find it in a cache. Sharding rules say which position of an operand
// a position of a result needs.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/nests/NestChooser.h"

#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/UpdatedOperand.h"

using namespace mlir;

namespace weft {

using nest::PlaceAttr;
using nest::PlaceKind;
using nest::ShareAttr;
using nest::SharedRows;

/// The bytes of a value that all nests of a kernel work on before they go on: a
/// few values of a block are in L1 or L2.
static constexpr int64_t kBlockBytes = 16 * 1024;

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// The dimension of an operand whose positions are those of the result's
/// dimension `dim`, one by one; -1 if there is none.
static int64_t dimOfOperand(const ShardingRule &rule, unsigned operand,
                            int64_t dim) {
  if (dim < 0 || dim >= int64_t(rule.results.front().size()))
    return -1;
  const DimFactors &factors = rule.results.front()[dim];
  if (factors.size() != 1 || rule.factors[factors[0]].kind != FactorKind::Pass)
    return -1;
  const TensorFactors &dims = rule.operands[operand];
  auto found = llvm::find(dims, factors);
  return found == dims.end() ? -1 : found - dims.begin();
}

/// Whether all nests compute rows, and need of each other's values the same row
/// alone.
bool NestChooser::readsOwnRows() {
  llvm::SetVector<Value> kept;
  for (const ChosenNest &nest : chosen)
    kept.insert_range(nest.stored);
  // Values that elements need, with the dimension of the row, or -1.
  llvm::SetVector<std::pair<Value, int64_t>> needed;
  for (Value value : kept) {
    RankedTensorType type = typeOf(value);
    if (type.getRank() == 0 || type.getDimSize(0) != rows)
      return false;
    needed.insert({value, 0});
  }
  for (unsigned i = 0; i < needed.size(); ++i) {
    auto [value, dim] = needed[i];
    Operation *op = value.getDefiningOp();
    if (op->getNumOperands() == 0)
      continue;
    auto ruled = dyn_cast<ShardingRuleOpInterface>(op);
    if (!ruled || op->getNumResults() != 1)
      return false;
    ShardingRule rule = ruled.getShardingRule();
    for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
      int64_t of = dimOfOperand(rule, number, dim);
      if (kept.contains(operand) && of != 0)
        return false;
      if (!isInMemory(operand))
        needed.insert({operand, of});
    }
  }
  return true;
}

/// Forms nests of a kernel with reductions that compute rows; false, with any
/// nests, if they do not.
bool NestChooser::formRowNests() {
  Operation *sum = nullptr;
  for (Operation &op : block.without_terminator()) {
    if (!hasLoopNest(&op))
      continue;
    if (!op.hasTrait<ReductionNest>() || hasLoopsOfItsOwn(&op))
      return false;
    sum = sum ? sum : &op;
  }
  if (!sum || mayWorkInPlace(kernel) ||
      typeOf(sum->getResult(0)).getRank() == 0)
    return false;
  rows = typeOf(sum->getResult(0)).getDimSize(0);
  if (rows > 1) {
    chooseStored();
    formNests();
    if (readsOwnRows())
      return true;
  }
  rows = 0;
  return false;
}

/// The elements that a nest writes or a reduction of it reads.
static int64_t elementsOf(const ChosenNest &nest) {
  Operation *op = nest.stored.front().getDefiningOp();
  int64_t most = typeOf(nest.stored.front()).getNumElements();
  if (op->hasTrait<ReductionNest>())
    for (Value operand : op->getOperands())
      most = std::max(most, typeOf(operand).getNumElements());
  return most;
}

/// Whether a nest's rows are adjacent elements: columns of a row of sums.
static bool hasRowsInside(const ChosenNest &nest) {
  return nest::isOneRow(nest.stored.front().getDefiningOp(), nest.walk);
}

std::optional<SharedRows> NestChooser::shareOfRows() {
  int64_t elements = 0, unit = 1;
  for (const ChosenNest &nest : chosen) {
    elements = std::max(elements, elementsOf(nest));
    if (hasRowsInside(nest)) // Shares read whole lines of a cache.
      unit = std::max<int64_t>(
          64 * rows / typeOf(nest.stored.front()).getNumElements(), 1);
  }
  return SharedRows{rows, unit, elements / nest::kShareElements};
}

/// The rows of a block, of which all nests are run before the next block.
int64_t NestChooser::blockOfRows() {
  int64_t bytes = 1;
  for (const ChosenNest &nest : chosen) {
    if (hasRowsInside(nest))
      return 0; // A block of columns would read parts of rows.
    bytes = std::max(bytes,
                     elementsOf(nest) / rows *
                         bytesOf(typeOf(nest.stored.front()).getElementType()));
  }
  int64_t length = std::max<int64_t>(kBlockBytes / bytes, 1);
  return chosen.size() > 1 && length < rows ? length : 0;
}

//===----------------------------------------------------------------------===//
// Shares
//===----------------------------------------------------------------------===//

/// Whether results are copied at the end of the kernel, perhaps from elements
/// of another share.
bool NestChooser::copiesResults() {
  return llvm::any_of(llvm::enumerate(block.getTerminator()->getOperands()),
                      [&](auto result) {
                        PlaceAttr place = places.lookup(result.value());
                        return !place || place.getKind() != PlaceKind::Result ||
                               place.getAt() != int64_t(result.index());
                      });
}

/// The shares of the kernel's only nest, along the independent loop with the
/// most units; loops that units do not divide are left out.
std::optional<SharedRows> NestChooser::shareOfOwn(Operation *op, int64_t &dim) {
  auto code = dyn_cast<nest::OpLoopsInterface>(op);
  if (!code || typeOf(op->getResult(0)).getNumElements() == 0)
    return std::nullopt;
  nest::OwnLoops loops = code.getOwnLoops();
  std::optional<SharedRows> best;
  RankedTensorType type = typeOf(op->getResult(0));
  for (auto [along, size] : loops.independent) {
    // The unit keeps elements that are adjacent in memory together: shorter
    // inner loops cost more than sharing saves.
    int64_t unit =
        along + 1 == type.getRank() ? 256 / bytesOf(type.getElementType()) : 1;
    if (size % unit != 0 ||
        (best && std::min(size / unit, nest::kMostShares) <=
                     std::min(best->size / best->unit, nest::kMostShares)))
      continue;
    best = SharedRows{size, unit, loops.work / nest::kShareElements};
    dim = along;
  }
  return best;
}

/// The shares of nests over the same rows, of which the first may be a
/// contraction. Each may read values of earlier nests only at the same
/// position, so that shares need not wait for each other.
std::optional<SharedRows> NestChooser::shareOfPositions() {
  auto inMemory = [&](Value value) { return isInMemory(value); };
  llvm::SetVector<Value> all;
  Operation *first = nullptr;
  bool isFlat = true;
  for (const ChosenNest &nest : chosen) {
    Operation *op = nest.stored.front().getDefiningOp();
    if (hasLoopNest(op)) {
      if (!op->hasTrait<ContractionNest>() || !all.empty())
        return std::nullopt;
      first = op;
    }
    auto elements = dyn_cast<nest::ElementsAttr>(nest.walk);
    isFlat &= elements && elements.getOrder() == nest::ElementOrder::Flat;
    all.insert_range(nest.stored);
  }
  RankedTensorType type = typeOf(all[0]);
  for (Value value : all.getArrayRef().drop_front(first ? 1 : 0))
    if (typeOf(value).getShape() != type.getShape() ||
        nest::readsElsewhere(value, all, inMemory))
      return std::nullopt;
  if (type.getRank() == 0 || type.getNumElements() == 0)
    return std::nullopt;
  int64_t shares = type.getNumElements() / nest::kShareElements;
  if (isFlat)
    return SharedRows{type.getNumElements(), 64, shares};
  if (!first)
    return SharedRows{type.getDimSize(0), 1, shares};
  auto loops = dyn_cast<nest::OpLoopsInterface>(first);
  std::optional<SharedRows> found;
  if (loops)
    found = loops.getSharedRows(chosen.front().walk, inMemory, limits);
  // Other nests number the rows by their first dimension.
  bool fits = found && found->size == type.getDimSize(found->dim) &&
              (found->dim == 0 || chosen.size() == 1);
  return fits ? found : std::nullopt;
}

ShareAttr NestChooser::chooseShare() {
  if (!limits.hasSeveralNests || chosen.empty() || copiesResults())
    return {};
  int64_t dim = 0;
  bool hasOwn = llvm::any_of(chosen, [](const ChosenNest &nest) {
    return hasLoopsOfItsOwn(nest.stored.front().getDefiningOp());
  });
  std::optional<SharedRows> found;
  if (rows > 0)
    found = shareOfRows();
  else if (!hasOwn)
    found = shareOfPositions();
  else if (chosen.size() == 1)
    found = shareOfOwn(chosen.front().stored.front().getDefiningOp(), dim);
  if (!found)
    return {};
  int64_t shares =
      std::min({found->shares, found->size / found->unit, nest::kMostShares});
  if (shares < 2)
    return {};
  if (!hasOwn)
    dim = found->dim;
  return ShareAttr::get(kernel.getContext(), dim, found->size, found->unit,
                        shares, rows > 0 ? blockOfRows() : 0);
}

} // namespace weft
