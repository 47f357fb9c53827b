//===- KernelSplit.cpp - one launch shared by several workers -------------===//

#include "weft/compiler/codegen/cpu/DotShape.h"
#include "weft/compiler/codegen/cpu/NestCode.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

/// A part below some ten microseconds costs more to hand over than it saves.
static constexpr int64_t kPartElements = 16 * 1024,
                         kPartMultiplyAdds = 512 * 1024;
static constexpr int64_t kMostParts = 64;

/// A contraction of one dimension of rows, whose result has them side by side.
static std::optional<KernelSplit> splitOfDot(const DotShape &shape,
                                             DotRows shared) {
  if (!shape.batch.empty() || shape.rows.size() != 1 ||
      shape.columns.size() != 1 || shape.contract.size() > 1)
    return std::nullopt;
  int64_t rows = shape.rows[0].size, columns = shape.columns[0].size;
  if (shape.rows[0].result != columns)
    return std::nullopt;
  int64_t depth = shape.contract.empty() ? 1 : shape.contract[0].size;
  return KernelSplit(rows, shared.tile,
                     std::min(rows * columns * depth / kPartMultiplyAdds,
                              rows / (shared.tile * shared.partTiles)));
}

/// The kernel's only op with results: along its longest loop of those that do
/// not depend on each other.
std::optional<KernelSplit> KernelEmitter::splitOfWhole() {
  Operation *whole = nullptr;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (op.getNumResults() == 0 || !stored.contains(op.getResult(0)) ||
        isDataConstant(&op))
      continue;
    if (whole)
      return std::nullopt;
    whole = &op;
  }
  for (auto [value, pointer] :
       llvm::zip_equal(kernel.getBody().front().getTerminator()->getOperands(),
                       resultPointers))
    if (elements.memoryOf(value) != pointer)
      return std::nullopt;
  auto code = dyn_cast_or_null<NestCodeOpInterface>(whole);
  if (!code || elementCount(whole->getResult(0)) == 0)
    return std::nullopt;
  OwnLoops loops = code.getLoops();
  std::optional<KernelSplit> best;
  RankedTensorType type = tensorType(whole->getResult(0));
  for (auto [dim, size] : loops.independent) {
    // Neighbours in memory stay together: shorter inner loops cost more than
    // sharing them saves.
    int64_t unit =
        dim + 1 == type.getRank() ? 256 / bytesOf(type.getElementType()) : 1;
    if (size % unit != 0 ||
        (best && std::min(size / unit, kMostParts) <=
                     std::min(best->rows / best->unit, kMostParts)))
      continue;
    best = KernelSplit(size, unit, loops.work / kPartElements);
    best->dim = dim;
  }
  return best;
}

/// Every nest must be of the same rows, and read what nests before it have
/// stored at its own position only: then parts need not wait for each other.
std::optional<KernelSplit> KernelEmitter::findSplit() {
  if (llvm::any_of(kernel.getBody().front(),
                   [](Operation &op) { return op.hasTrait<OwnLoopNest>(); }))
    return splitOfWhole();
  SmallVector<Value> roots;
  DotOp dot;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (op.getNumResults() != 1 || !stored.contains(op.getResult(0)) ||
        isDataConstant(&op))
      continue;
    if (isa<ReduceOp>(op) || (isa<DotOp>(op) && !roots.empty()))
      return std::nullopt;
    dot = isa<DotOp>(op) ? cast<DotOp>(op) : dot;
    roots.push_back(op.getResult(0));
  }
  for (auto [value, pointer] :
       llvm::zip_equal(kernel.getBody().front().getTerminator()->getOperands(),
                       resultPointers))
    if (elements.memoryOf(value) != pointer)
      return std::nullopt; // copied at the end, perhaps from another part
  if (roots.empty())
    return std::nullopt;
  RankedTensorType type = tensorType(roots[0]);
  llvm::SetVector<Value> all(roots.begin(), roots.end());
  for (Value root : ArrayRef<Value>(roots).drop_front(dot ? 1 : 0))
    if (tensorType(root).getShape() != type.getShape() ||
        readsElsewhere(root, all))
      return std::nullopt;
  if (type.getRank() == 0 || type.getNumElements() == 0)
    return std::nullopt;
  if (!dot && isFlat(roots, elements))
    return KernelSplit(type.getNumElements(), 64,
                       type.getNumElements() / kPartElements);
  if (!dot)
    return KernelSplit(type.getDimSize(0), 1,
                       type.getNumElements() / kPartElements);
  std::optional<DotShape> shape = dotShape(elements, dot);
  if (!shape)
    return std::nullopt;
  std::optional<DotRows> shared = floatDotRows(*this, *shape);
  std::optional<KernelSplit> split =
      splitOfDot(*shape, shared.value_or(DotRows{1, 1}));
  // Other nests count the rows by their first dimension.
  return split && split->rows == type.getDimSize(0) ? split : std::nullopt;
}

void KernelEmitter::chooseSplit() {
  std::optional<KernelSplit> found = findSplit();
  if (!found)
    return;
  found->parts =
      std::min({found->parts, found->rows / found->unit, kMostParts});
  if (found->parts < 2)
    return;
  // Whole units are spread evenly; the rows that fill none go to the last.
  int64_t units = found->rows / found->unit;
  auto boundary = [&](Value part) -> Value {
    return arith::DivUIOp::create(builder, loc, elements.mul(part, units),
                                  partCount);
  };
  Value next = elements.add(part, elements.constant(1));
  found->firstUnit = boundary(part);
  found->lastUnit = boundary(next);
  found->isLast = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                        next, partCount);
  found->begin = elements.mul(found->firstUnit, found->unit);
  found->end = arith::SelectOp::create(
      builder, loc, found->isLast, elements.constant(found->rows),
      elements.mul(found->lastUnit, found->unit));
  split = *found;
}

Value KernelEmitter::openSplitLoop(int64_t n) {
  if (!split)
    return elements.openLoop(n);
  int64_t each = n / split->rows;
  return elements.openLoop(elements.mul(split->begin, each),
                           elements.mul(split->end, each));
}

Value KernelEmitter::openPartLoop(int64_t dim, int64_t n) {
  if (!split || split->dim != dim)
    return elements.openLoop(n);
  if (split->unit == 1)
    return openSplitLoop(n);
  // The part's units, and a unit's elements in a loop of known length.
  Value unit = elements.openLoop(split->firstUnit, split->lastUnit);
  Value within = elements.openLoop(split->unit);
  return elements.add(elements.mul(unit, split->unit), within);
}

/// `NAME.part` and `NAME.parts`: see weft_kernel_part_fn in weft.h.
void KernelEmitter::exportParts(LLVM::LLVMFuncOp body) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(kernel);
  std::string name = kernel.getName().str();
  Type i32 = builder.getI32Type();
  LLVM::GlobalOp::create(builder, loc, i32, /*isConstant=*/true,
                         LLVM::Linkage::External, name + ".parts",
                         builder.getI32IntegerAttr(split->parts));
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  Type i64 = builder.getI64Type();
  createCaller(name + ".part", body, {pointer, pointer, i64, i64});
}

} // namespace weft::cpu
