//===- LaunchNests.cpp - the one nest of a kernel that is a launch --------===//
//
// Chooses the elements, columns or terms of a GPU thread. The numbers follow
// from the hardware and are not measured: a thread loads 16 bytes at once at
// most, and few threads leave processors idle.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/nest/RowWalk.h"
#include "weft/dialects/nest/TileWalk.h"
#include "weft/dialects/nest/TransposedWalk.h"
#include "weft/dialects/nest/UpdateWalk.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/passes/nests/NestChooser.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;

namespace weft {

using nest::isDataConstant;

/// Chooses the elements of a thread: at most 16 bytes of the widest type, fewer
/// if the code is long; 1 if threads of one element leave processors idle.
int64_t NestChooser::chooseSide(ArrayRef<Value> values, bool isFlat) {
  constexpr int64_t kBytes = 16, kMostOps = 512;
  RankedTensorType type = typeOf(values[0]);
  int64_t count = type.getNumElements(),
          ops = std::distance(block.begin(), block.end());
  if (limits.block.threads == 0 || type.getRank() == 0 ||
      count < limits.block.threads * limits.block.processors)
    return 1;
  int64_t widest = 1;
  SmallVector<Value> all(values);
  llvm::append_range(all, block.getArguments());
  for (Value value : all)
    if (typeOf(value).getNumElements() >= count)
      widest = std::max(widest, bytesOf(typeOf(value).getElementType()));
  int64_t side = std::max<int64_t>(kBytes / widest, 1),
          line = isFlat ? count : type.getShape().back();
  while (side > 1 && (line % side != 0 || side * ops > kMostOps))
    side /= 2;
  return side;
}

/// Chooses the walk of sums, if each nest is a launch: tiles, or one or several
/// threads for each sum.
Attribute NestChooser::chooseSums(Operation *sum) {
  llvm::SmallPtrSet<Operation *, 16> inside;
  for (Operation &op : block)
    if (!isDataConstant(&op))
      inside.insert(&op);
  if (Attribute tiles = nest::chooseTiles(
          sum, limits, nest::mayRoundToTf32(sum, precision),
          [&](Value value) { return !inside.contains(value.getDefiningOp()); }))
    return tiles;
  return nest::chooseTerms(sum, limits);
}

/// The registers of a thread that keeps that many columns of a row: of each
/// argument with columns, and of a value computed from them.
static int64_t heldRegisters(Block &block, int64_t dims, int64_t held) {
  constexpr int64_t kRegister = 4;
  int64_t bytes = held * kRegister;
  for (Value argument : block.getArguments()) {
    RankedTensorType type = typeOf(argument);
    ArrayRef<int64_t> columns =
        type.getShape().drop_front(std::min(dims, type.getRank()));
    if (ShapedType::getNumElements(columns) > 1)
      bytes += held * bytesOf(type.getElementType());
  }
  return bytes / kRegister;
}

/// The registers of a thread that reads and stores `together` columns of a row
/// at once. Each argument and result needs an address and its columns.
static int64_t togetherRegisters(Block &block, int64_t dims, int64_t together,
                                 ArrayRef<Value> results) {
  constexpr int64_t kRegister = 4, kAddress = 2;
  int64_t registers = heldRegisters(block, dims, together) +
                      kAddress * (block.getNumArguments() + results.size());
  for (Value result : results)
    registers +=
        together * bytesOf(typeOf(result).getElementType()) / kRegister;
  return registers;
}

/// Adds the nest of a sum and the values that follow from it: one, or, where
/// tiles have parts, one for the parts and one that adds them up.
void NestChooser::addSums(Operation *sum, ArrayRef<Value> values) {
  Attribute walk = chooseSums(sum);
  auto tiles = dyn_cast<nest::TilesAttr>(walk);
  if (!tiles || tiles.getParts() == 1)
    return addNest(values, walk);
  OpBuilder builder(sum->getContext());
  builder.setInsertionPointAfter(sum);
  Value sums = sum->getResult(0);
  RankedTensorType type = typeOf(sums);
  SmallVector<int64_t> shape = {tiles.getParts()};
  llvm::append_range(shape, type.getShape());
  auto parts =
      nest::PartsOp::create(builder, sum->getLoc(), type.clone(shape), sums);
  auto all = ReduceOp::create(builder, sum->getLoc(), ReduceKind::Sum, parts,
                              ArrayRef<int64_t>{0}, type.getElementType());
  sums.replaceAllUsesExcept(all, parts);
  SmallVector<Value> finals = llvm::map_to_vector(values, [&](Value value) {
    return value == sums ? all.getResult() : value;
  });
  stored.remove(sums);
  stored.insert_range(finals);
  stored.insert(parts);
  addNest({parts.getResult()}, walk);
  constexpr int64_t kManyParts = 16; // two for each of eight threads
  addNest(finals, nest::chooseTerms(all, limits, kManyParts));
}

/// Chooses a walk over rows: a warp takes a row of up to 1024 columns, a block
/// a longer row. Lanes keep the elements of a row that they read, unless that
/// needs much code or many registers; then they read several before they wait
/// for the first.
Attribute NestChooser::chooseRows(int64_t dims, ArrayRef<Value> values) {
  constexpr int64_t kColumnsOfWarp = 1024, kMostHeld = 64, kBytes = 16;
  int64_t most = 1, widest = 1, side = kBytes,
          ops = std::distance(block.begin(), block.end());
  SmallVector<Value> all(values);
  for (Operation &op : block)
    if (op.hasTrait<ReductionNest>())
      all.push_back(op.getOperand(0));
  auto columnsOf = [&](Value value) {
    return typeOf(value).getShape().drop_front(dims);
  };
  for (Value value : all)
    most = std::max(most, ShapedType::getNumElements(columnsOf(value)));
  for (Value value : all) {
    ArrayRef<int64_t> columns = columnsOf(value);
    if (ShapedType::getNumElements(columns) < most || columns.empty())
      continue;
    widest = std::max(widest, bytesOf(typeOf(value).getElementType()));
    while (columns.back() % side != 0)
      side /= 2;
  }
  int64_t lanes =
      most > kColumnsOfWarp ? limits.block.threads : limits.rowLanes;
  side = std::min(side, std::max<int64_t>(kBytes / widest, 1));
  while (side > 1 && most < side * lanes)
    side /= 2;
  int64_t held = llvm::alignTo(llvm::divideCeil(most, lanes), side);
  if (held <= kMostHeld && held * ops <= limits.block.heldOps &&
      heldRegisters(block, dims, held) <= limits.block.heldRegisters)
    return nest::RowsAttr::get(kernel.getContext(), dims, lanes, held, side, 1);
  int64_t together = std::max<int64_t>(limits.block.loads, 1);
  while (together > 1 &&
         (together * lanes > most || together * ops > limits.block.heldOps ||
          togetherRegisters(block, dims, together, values) >
              limits.block.heldRegisters))
    together /= 2;
  return nest::RowsAttr::get(kernel.getContext(), dims, lanes, 0, 1, together);
}

/// Warns of an op whose threads take many steps one after the other: nothing
/// stops a GPU that computes for seconds.
static void warnOfLongThreads(Operation *own, Attribute walk,
                              StringRef target) {
  constexpr int64_t kMostSteps = 1 << 22;
  auto op = dyn_cast<nest::OpLoopsInterface>(own);
  if (!op || !isa<nest::OwnAttr>(walk))
    return;
  nest::OwnLoops loops = op.getOwnLoops();
  int64_t threads = 1;
  for (auto [dim, size] : loops.independent)
    threads *= std::max<int64_t>(size, 1);
  if (int64_t steps = loops.work / threads; steps > kMostSteps)
    own->emitWarning() << "'" << own->getName() << "' of "
                       << own->getOperand(0).getType() << " takes " << steps
                       << " steps one after the other in "
                       << (threads == 1 ? "one thread"
                                        : "each of " + std::to_string(threads) +
                                              " threads")
                       << " on " << target
                       << "; give it more rows, or compile for cpu devices";
}

/// Forms the only nest of a kernel, if each nest is a launch: by sums, row by
/// row, by an op's own loops, by transposed tiles, or by elements.
bool NestChooser::formOneNest(std::string &why) {
  Operation *end = block.getTerminator();
  llvm::SetVector<Value> all(end->operand_begin(), end->operand_end());
  for (Value value : all)
    if (!value.getDefiningOp() || isDataConstant(value.getDefiningOp())) {
      why = "it returns an argument or a constant";
      return false;
    }
  SmallVector<Operation *> ops = nest::opsOf(block);
  if (!nest::fitsOneNest(ops, all.getArrayRef(), why))
    return false;
  std::string unused;
  std::optional<int64_t> dims = nest::rowDimsOf(ops);
  if (dims && !nest::checkRowWalk(ops, all.getArrayRef(), *dims, unused))
    dims = std::nullopt;
  Operation *sum = nest::sumOf(ops, all.getArrayRef(), unused);
  if (sum && !dims) {
    addSums(sum, all.getArrayRef());
  } else if (dims) {
    addNest(all.getArrayRef(), chooseRows(*dims, all.getArrayRef()));
  } else if (Operation *own = nest::ownOf(ops, all.getArrayRef(), unused)) {
    Attribute walk = nest::chooseOwn(own, limits);
    warnOfLongThreads(own, walk, limits.name);
    addNest(all.getArrayRef(), walk);
  } else if (Attribute turned = chooseTurned(all.getArrayRef())) {
    addNest(all.getArrayRef(), turned);
  } else {
    addElements(all);
  }
  return true;
}

} // namespace weft
