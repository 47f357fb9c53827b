//===- FormRolls.cpp - slices and concatenations that turn a value ---------===//

#include "weft/passes/sharding/Passes.h"

#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/PatternMatch.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"

namespace weft {
#define GEN_PASS_DEF_FORMROLLSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
/// Elements of a value along one dimension: `length` of them from `start` on.
struct Segment {
  Value source;
  int64_t start = 0, length = 0;
};
using Segments = llvm::SmallVector<Segment, 4>;
} // namespace

static int64_t sizeOf(Value value, unsigned dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

/// Appends a segment, joined to the last one where that ends at its start.
static void append(Segments &all, const Segment &segment) {
  if (segment.length == 0)
    return;
  if (!all.empty() && all.back().source == segment.source &&
      all.back().start + all.back().length == segment.start)
    all.back().length += segment.length;
  else
    all.push_back(segment);
}

/// The elements from `start` on of what the segments are together.
static Segments part(const Segments &all, int64_t start, int64_t length) {
  Segments found;
  int64_t at = 0;
  for (const Segment &segment : all) {
    int64_t first = std::max(at, start);
    int64_t last = std::min(at + segment.length, start + length);
    if (first < last)
      append(found, {segment.source, segment.start + first - at, last - first});
    at += segment.length;
  }
  return found;
}

/// Whether the slice takes neighbouring elements of one dimension and all of the
/// others.
static bool slicesOnly(SliceOp op, unsigned dim) {
  auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
  for (unsigned other = 0; other < shape.size(); ++other) {
    bool isAll = op.getStart()[other] == 0 &&
                 op.getLimit()[other] == shape[other] &&
                 op.getStride()[other] == 1;
    if (other == dim ? op.getStride()[dim] != 1 : !isAll)
      return false;
  }
  return true;
}

static bool rollsOnly(RollOp op, unsigned dim) {
  for (auto [other, shift] : llvm::enumerate(op.getShift()))
    if (other != dim && shift != 0)
      return false;
  return true;
}

/// What a value is along a dimension, seen through the ops that only move
/// elements along it.
static Segments segmentsOf(Value value, unsigned dim, unsigned depth = 8) {
  Segments all;
  int64_t size = sizeOf(value, dim);
  Operation *def = depth == 0 ? nullptr : value.getDefiningOp();
  if (auto joined = dyn_cast_or_null<ConcatenateOp>(def);
      joined && joined.getDim() == dim) {
    for (Value input : joined.getInputs())
      for (const Segment &segment : segmentsOf(input, dim, depth - 1))
        append(all, segment);
  } else if (auto slice = dyn_cast_or_null<SliceOp>(def);
             slice && slicesOnly(slice, dim)) {
    return part(segmentsOf(slice.getInput(), dim, depth - 1),
                slice.getStart()[dim], size);
  } else if (auto roll = dyn_cast_or_null<RollOp>(def);
             roll && rollsOnly(roll, dim) && size > 0) {
    int64_t shift = ((roll.getShift()[dim] % size) + size) % size;
    Segments inner = segmentsOf(roll.getInput(), dim, depth - 1);
    for (const Segment &segment : part(inner, size - shift, shift))
      append(all, segment);
    for (const Segment &segment : part(inner, 0, size - shift))
      append(all, segment);
  } else {
    append(all, {value, 0, size});
  }
  return all;
}

/// The value as a slice or a roll of a value that is further back than its op's
/// operands; null if it is neither.
static Value asOneMove(Value value, unsigned dim, PatternRewriter &rewriter) {
  Segments all = segmentsOf(value, dim);
  if (all.empty() || all.size() > 2)
    return {};
  Value source = all.front().source;
  Operation *def = value.getDefiningOp();
  if (!isa<ConcatenateOp>(def) && def->getOperand(0) == source)
    return {};
  int64_t size = sizeOf(source, dim);
  auto type = cast<RankedTensorType>(source.getType());
  llvm::SmallVector<int64_t> zeros(type.getRank(), 0), ones(type.getRank(), 1);
  if (all.size() == 1 && all.front().length == size)
    return source;
  if (all.size() == 1) {
    llvm::SmallVector<int64_t> starts = zeros, limits(type.getShape());
    starts[dim] = all.front().start;
    limits[dim] = all.front().start + all.front().length;
    return SliceOp::create(rewriter, value.getLoc(), source, starts, limits,
                           ones);
  }
  bool isTurned = all.back().source == source && all.back().start == 0 &&
                  all.front().start == all.back().length &&
                  all.front().start + all.front().length == size;
  if (!isTurned)
    return {};
  llvm::SmallVector<int64_t> shift = zeros;
  shift[dim] = all.front().length;
  return RollOp::create(rewriter, value.getLoc(), source, shift);
}

namespace {
/// concatenate(slice x from a, slice x to a) is a roll of x.
struct ConcatenationToMove : OpRewritePattern<ConcatenateOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(ConcatenateOp op,
                                PatternRewriter &rewriter) const override {
    Value move = asOneMove(op.getResult(), op.getDim(), rewriter);
    if (!move)
      return rewriter.notifyMatchFailure(op, "it turns no value");
    rewriter.replaceOp(op, move);
    return success();
  }
};

/// A slice of a concatenation or of a roll is one move of what these moved.
struct SliceToMove : OpRewritePattern<SliceOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(SliceOp op,
                                PatternRewriter &rewriter) const override {
    auto shape = cast<RankedTensorType>(op.getInput().getType()).getShape();
    if (!isa_and_nonnull<ConcatenateOp, RollOp, SliceOp>(
            op.getInput().getDefiningOp()))
      return rewriter.notifyMatchFailure(op, "its input is not moved");
    for (unsigned dim = 0; dim < shape.size(); ++dim) {
      if (op.getResult().getType() == op.getInput().getType() ||
          !slicesOnly(op, dim))
        continue;
      Value move = asOneMove(op.getResult(), dim, rewriter);
      if (!move)
        continue;
      rewriter.replaceOp(op, move);
      return success();
    }
    return rewriter.notifyMatchFailure(op, "it is more than one move");
  }
};

/// Two rolls of a dimension are one.
struct RollOfMove : OpRewritePattern<RollOp> {
  using OpRewritePattern::OpRewritePattern;
  LogicalResult matchAndRewrite(RollOp op,
                                PatternRewriter &rewriter) const override {
    for (unsigned dim = 0; dim < op.getShift().size(); ++dim) {
      if (!rollsOnly(op, dim) || !isa_and_nonnull<ConcatenateOp, RollOp>(
                                     op.getInput().getDefiningOp()))
        continue;
      if (Value move = asOneMove(op.getResult(), dim, rewriter)) {
        rewriter.replaceOp(op, move);
        return success();
      }
    }
    return rewriter.notifyMatchFailure(op, "its input is no roll");
  }
};

struct FormRolls : weft::impl::FormRollsPassBase<FormRolls> {
  void runOnOperation() override {
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh || mesh.getMesh().size() == 1)
      return; // A single device moves nothing to others.
    RewritePatternSet patterns(&getContext());
    patterns.add<ConcatenationToMove, SliceToMove, RollOfMove>(&getContext());
    if (failed(applyPatternsGreedily(getOperation(), std::move(patterns))))
      signalPassFailure();
  }
};
} // namespace
