//===- TrimLoops.cpp - removes unused values of loops ---------------------===//
//
// Derivatives of loops are built value by value: each carried value is saved,
// and each gradient of a slice is a tensor of zeros that contains the slice.
// The pass removes values without uses, and replaces sums of such tensors by
// sums of slices.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/passes/training/Passes.h"

#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/BitVector.h"

namespace weft {
#define GEN_PASS_DEF_TRIMLOOPSPASS
#include "weft/passes/training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static bool isZero(Value value) {
  DenseElementsAttr data;
  if (!matchPattern(value, m_Constant(&data)) || !data.isSplat())
    return false;
  auto number = dyn_cast<FloatAttr>(data.getSplatValue<Attribute>());
  return number && number.getValue().isZero();
}

static std::optional<int64_t> constantInteger(Value value) {
  DenseElementsAttr data;
  if (matchPattern(value, m_Constant(&data)) && data.isSplat())
    if (auto number = dyn_cast<IntegerAttr>(data.getSplatValue<Attribute>()))
      return number.getInt();
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Carried values without uses
//===----------------------------------------------------------------------===//

/// Carried values that a used result or an effect depends on.
static llvm::BitVector findNeeded(ForOp loop) {
  llvm::BitVector needed(loop.getInits().size());
  SmallVector<Value> work;
  llvm::DenseSet<Value> seen;
  auto need = [&](Value value) {
    if (seen.insert(value).second)
      work.push_back(value);
  };
  for (OpResult result : loop->getResults())
    if (!result.use_empty())
      need(loop.getCarried()[result.getResultNumber()]);
  for (Operation &op : loop.getBody().front().without_terminator())
    if (!isMemoryEffectFree(&op))
      llvm::for_each(op.getOperands(), need);
  while (!work.empty()) {
    Value value = work.pop_back_val();
    if (Operation *op = value.getDefiningOp()) {
      llvm::for_each(op->getOperands(), need);
      continue;
    }
    unsigned number = cast<BlockArgument>(value).getArgNumber();
    if (number == 0 || needed.test(number - 1))
      continue;
    needed.set(number - 1);
    need(loop.getYielded()[number - 1]);
  }
  return needed;
}

static bool dropUnneeded(ForOp loop) {
  bool changed = false;
  for (auto [index, result] : llvm::enumerate(loop.getResults()))
    if (loop.isInvariant(index) && !result.use_empty()) {
      result.replaceAllUsesWith(loop.getInits()[index]);
      changed = true;
    }
  llvm::BitVector needed = findNeeded(loop);
  if (needed.all())
    return changed;
  OpBuilder builder(loop);
  SmallVector<Value> inits;
  for (unsigned index : needed.set_bits())
    inits.push_back(loop.getInits()[index]);
  auto trimmed =
      ForOp::create(builder, loop.getLoc(), TypeRange(ValueRange(inits)),
                    loop.getCountAttr(), inits, DenseI64ArrayAttr());
  trimmed.getBody().takeBody(loop.getBody());
  for (auto [position, index] : llvm::enumerate(needed.set_bits()))
    loop.getResult(index).replaceAllUsesWith(trimmed.getResult(position));
  loop.erase();
  Block &block = trimmed.getBody().front();
  llvm::BitVector dropped = needed;
  dropped.flip();
  block.getTerminator()->eraseOperands(dropped);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
  dropped.resize(needed.size() + 1);
  dropped <<= 1; // The counter stays.
  block.eraseArguments(dropped);
  return true;
}

//===----------------------------------------------------------------------===//
// Slices of tensors
//===----------------------------------------------------------------------===//

/// Replaces x + (zeros with u at i) by x with (x at i) + u at i.
static bool addWithin(AddOp sum) {
  auto slice = sum.getRhs().getDefiningOp<DynamicUpdateSliceOp>();
  if (!slice || !slice->hasOneUse() || !isZero(slice.getInput()))
    return false;
  OpBuilder builder(sum);
  Location loc = sum.getLoc();
  Value before = DynamicSliceOp::create(
      builder, loc, sum.getLhs(), slice.getStarts(),
      cast<RankedTensorType>(slice.getUpdate().getType()).getShape());
  Value after = AddOp::create(builder, loc, before, slice.getUpdate());
  Value all = DynamicUpdateSliceOp::create(builder, loc, sum.getLhs(), after,
                                           slice.getStarts());
  sum.replaceAllUsesWith(all);
  sum.erase();
  slice.erase();
  return true;
}

/// Whether the start is another number from 0 to `size` - 1 in each iteration:
/// the loop's counter, or the last iteration minus the counter.
static bool countsTimes(ForOp loop, Value start, int64_t size) {
  int64_t count = loop.getCount();
  if (start == loop.getCounter())
    return count <= size;
  auto back = start.getDefiningOp<SubOp>();
  return back && back.getRhs() == loop.getCounter() &&
         constantInteger(back.getLhs()) == count - 1 && count <= size;
}

/// Whether a slice is set to 0 after it was read, and no other iteration reads
/// it.
static bool isReadOnce(ForOp loop, unsigned index) {
  Value carried = loop.getCarried()[index];
  auto cleared = loop.getYielded()[index].getDefiningOp<DynamicUpdateSliceOp>();
  if (!loop.getResult(index).use_empty() || !cleared || !cleared->hasOneUse() ||
      cleared.getInput() != carried || !isZero(cleared.getUpdate()))
    return false;
  auto slice = cast<RankedTensorType>(cleared.getUpdate().getType());
  auto full = cast<RankedTensorType>(carried.getType());
  bool isDistinct = false;
  for (auto [dim, start] : llvm::enumerate(cleared.getStarts()))
    isDistinct |= slice.getDimSize(dim) == 1 &&
                  countsTimes(loop, start, full.getDimSize(dim));
  return isDistinct && llvm::all_of(carried.getUsers(), [&](Operation *user) {
           auto read = dyn_cast<DynamicSliceOp>(user);
           return user == cleared.getOperation() ||
                  (read && read.getStarts() == cleared.getStarts() &&
                   cast<RankedTensorType>(read.getResult().getType())
                           .getShape() == slice.getShape());
         });
}

static bool keepSlices(ForOp loop) {
  bool changed = false;
  for (Operation &op :
       llvm::make_early_inc_range(loop.getBody().front().without_terminator()))
    if (auto sum = dyn_cast<AddOp>(op))
      changed |= addWithin(sum);
  for (unsigned index = 0; index < loop.getInits().size(); ++index)
    if (isReadOnce(loop, index)) {
      Operation *end = loop.getBody().front().getTerminator();
      Operation *cleared = end->getOperand(index).getDefiningOp();
      end->setOperand(index, loop.getCarried()[index]);
      cleared->erase();
      changed = true;
    }
  return changed;
}

namespace {
class TrimLoopsPass : public weft::impl::TrimLoopsPassBase<TrimLoopsPass> {
public:
  /// Loops are trimmed until nothing changes, as the trimmed loop may have been
  /// the only user of another's results.
  void runOnOperation() override {
    for (bool changed = true; changed;) {
      changed = false;
      SmallVector<ForOp> loops;
      getOperation()->walk([&](ForOp loop) { loops.push_back(loop); });
      for (ForOp loop : loops)
        changed |= keepSlices(loop);
      for (ForOp loop : loops) // Inner loops come before outer loops.
        if (dropUnneeded(loop)) {
          changed = true;
          break;
        }
    }
  }
};
} // namespace
