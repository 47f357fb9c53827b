//===- SplitReductions.cpp - long reductions for many processors ----------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_SPLITREDUCTIONS
#include "weft/passes/kernels/Passes.h.inc"

/// The least elements of a block of threads for which a split is worthwhile:
/// fewer take a few microseconds, as does a second launch.
static constexpr int64_t kLeastElements = 64 << 10;
/// The least elements of a slice: 256 threads with 16 each.
static constexpr int64_t kLeastOfSlice = 4 << 10;
/// Slices for each multiprocessor; several, so that no multiprocessor is idle
/// for long.
static constexpr int64_t kSlicesOfProcessor = 2;
/// Limits for a CPU: the least elements of a reduction whose slices several workers
/// compute, the most results of one that has no rows to share, and the slices'
/// "processors".
static constexpr int64_t kLeastOfHost = 256 << 10, kMostKeptOfHost = 7,
                         kProcessorsOfHost = 16;
/// Kept columns that a block of threads reduces together.
static constexpr int64_t kColumnsOfBlock = 32;

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

namespace {
/// The launch of a reduction without a split: the number of blocks of threads
/// (one for a row or for some columns), and the elements that each block
/// reads.
struct Launch {
  int64_t blocks, elements;
};
} // namespace

static Launch launchOf(ReduceOp op) {
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  int64_t kept = cast<RankedTensorType>(op.getType()).getNumElements(),
          length = 1;
  for (int64_t dim : op.getDims())
    length *= shape[dim];
  bool areRows = op.getDims().back() + 1 == int64_t(shape.size());
  int64_t together = areRows ? 1 : std::min(kept, kColumnsOfBlock);
  return {kept / std::max<int64_t>(together, 1), length * together};
}

/// Whether one worker would compute a long reduction of a CPU.
static bool isLongOfHost(ReduceOp op) {
  return op.getType().getNumElements() <= kMostKeptOfHost &&
         op.getInput().getType().getNumElements() >= kLeastOfHost;
}

namespace {
/// A split of dimension `dim` of the input into two: `slices` and the rest.
struct Split {
  int64_t dim, slices;
};
} // namespace

/// The least divisor of `size` in [wanted, most], else the largest divisor up
/// to `most`.
static int64_t slicesOf(int64_t size, int64_t wanted, int64_t most) {
  int64_t best = 1;
  for (int64_t slices = 1; slices <= std::min(size, most); ++slices)
    if (size % slices == 0) {
      best = slices;
      if (slices >= wanted)
        break;
    }
  return best;
}

/// The split of a reduction that keeps more multiprocessors busy; nothing if it
/// is short, has enough blocks, or its sizes have no suitable divisors.
static std::optional<Split> splitOf(ReduceOp op, int64_t processors) {
  if (op.getDims().empty())
    return std::nullopt;
  ArrayRef<int64_t> shape = shapeOf(op.getInput());
  auto [blocks, elements] = launchOf(op);
  if (elements < kLeastElements || blocks < 1 || blocks >= processors)
    return std::nullopt;
  int64_t wanted = llvm::divideCeil(kSlicesOfProcessor * processors, blocks),
          most = elements / kLeastOfSlice, outer = 1;
  for (int64_t dim : op.getDims()) {
    int64_t slices = slicesOf(shape[dim], llvm::divideCeil(wanted, outer),
                              std::max<int64_t>(most / outer, 1));
    if (slices < shape[dim])
      return outer * slices > 1 ? std::optional(Split{dim, slices})
                                : std::nullopt;
    outer *= slices; // Each element of the dimension is a slice.
  }
  return std::nullopt;
}

/// Whether an element of the op's result needs only elements at the same
/// position, in operands of the same shape.
static bool isElementwise(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         op->getNumOperands() > 0 &&
         llvm::all_of(op->getOperands(), [&](Value operand) {
           return shapeOf(operand) == shapeOf(op->getResult(0));
         });
}

/// The value with `split.dim` as two dimensions. Elementwise ops that only this
/// reduction reads are rebuilt on reshaped operands, so that they stay in its
/// kernel.
static Value reshaped(OpBuilder &builder, Value value, const Split &split) {
  SmallVector<int64_t> shape(shapeOf(value));
  shape[split.dim] /= split.slices;
  shape.insert(shape.begin() + split.dim, split.slices);
  Operation *def = value.getDefiningOp();
  if (!def || !def->hasOneUse() || !isElementwise(def))
    return ReshapeOp::create(builder, value.getLoc(), value, shape);
  SmallVector<Value> operands =
      llvm::map_to_vector(def->getOperands(), [&](Value operand) {
        return reshaped(builder, operand, split);
      });
  Type type = cast<RankedTensorType>(value.getType()).clone(shape);
  Operation *made = builder.create(
      OperationState(def->getLoc(), def->getName().getStringRef(), operands,
                     TypeRange(type), def->getAttrs()));
  return made->getResult(0);
}

/// Erases the ops that compute the value, as far as they have no uses left.
static void eraseUnread(Value value) {
  Operation *def = value.getDefiningOp();
  if (!def || !def->use_empty() || !isPure(def))
    return;
  SmallVector<Value> operands(def->getOperands());
  def->erase();
  llvm::for_each(operands, eraseUnread);
}

/// Replaces a reduction by a reduction of each slice and a reduction of the
/// results.
static void splitReduction(ReduceOp op, const Split &split) {
  OpBuilder builder(op);
  Value input = op.getInput();
  Value value = reshaped(builder, input, split);
  SmallVector<int64_t> first, second;
  for (int64_t dim = 0, left = 0, end = shapeOf(value).size(); dim < end;
       ++dim) {
    // Dimensions after the split dimension have moved by one.
    bool isReduced =
        llvm::is_contained(op.getDims(), dim > split.dim ? dim - 1 : dim);
    if (isReduced && dim > split.dim) {
      first.push_back(dim);
      continue;
    }
    if (isReduced)
      second.push_back(left);
    ++left;
  }
  Type element = cast<RankedTensorType>(op.getType()).getElementType();
  Value slices = ReduceOp::create(builder, op.getLoc(), op.getKind(), value,
                                  first, element);
  Value all = ReduceOp::create(builder, op.getLoc(), op.getKind(), slices,
                               second, element);
  op.replaceAllUsesWith(all);
  op.erase();
  eraseUnread(input);
}

/// Whether the op reduces dimensions of one element alone, to that element. A
/// sum of floats adds it to 0, which -0 becomes.
static bool reducesNothing(ReduceOp op) {
  Type element = op.getInput().getType().getElementType();
  bool keepsBits = op.getKind() == ReduceKind::Max ||
                   op.getKind() == ReduceKind::Min || element.isInteger();
  return keepsBits && element == op.getType().getElementType() &&
         llvm::all_of(op.getDims(), [&](int64_t dim) {
           return shapeOf(op.getInput())[dim] == 1;
         });
}

static void replaceByReshape(ReduceOp op) {
  OpBuilder builder(op);
  op.replaceAllUsesWith(ReshapeOp::create(builder, op.getLoc(), op.getInput(),
                                          shapeOf(op.getResult()))
                            .getResult());
  op.erase();
}

namespace {
struct SplitReductionsPass : impl::SplitReductionsBase<SplitReductionsPass> {
  using SplitReductionsBase::SplitReductionsBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    auto limits = nest::targetLimits(target);
    if (!limits)
      return;
    bool isOfHost = limits->isOfHost();
    int64_t processors =
        isOfHost ? kProcessorsOfHost : limits->block.processors;
    SmallVector<std::pair<ReduceOp, Split>> found;
    getOperation().walk([&](ReduceOp op) {
      if (reducesNothing(op))
        return replaceByReshape(op);
      if (isOfHost && !isLongOfHost(op))
        return;
      if (auto split = splitOf(op, processors))
        found.emplace_back(op, *split);
    });
    for (auto &[op, split] : found)
      splitReduction(op, split);
    reductions += found.size();
  }
};
} // namespace
} // namespace weft
