//===- WindowNests.cpp - convolution and pooling --------------------------===//

#include "weft/compiler/codegen/elements/OwnNests.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/elements/WindowPlace.h"
#include "weft/dialects/weft/ops/WindowOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

/// The sizes of the loops over a window's elements.
static SmallVector<int64_t> sizesOf(const WindowList &windows) {
  return llvm::map_to_vector(windows,
                             [](const Window &window) { return window.size; });
}

/// Opens one loop for each dimension; workers may share one of these loops, and
/// threads of a GPU share all.
static ElementIndex openSharedLoops(ElementEmitter &e,
                                    ArrayRef<int64_t> shape) {
  SmallVector<Value> dims;
  for (auto [dim, size] : llvm::enumerate(shape))
    dims.push_back(e.openSharedLoop(dim, size));
  return e.makeIndex(dims, e.depth());
}

LogicalResult emitReduceWindow(ElementEmitter &e, ReduceWindowOp op) {
  RankedTensorType type = typeOf(op.getResult()), from = typeOf(op.getInput());
  Type elementType = type.getElementType();
  ElementIndex index = openSharedLoops(e, type.getShape());
  Value neutral = emitNeutral(e.builder, e.loc, op.getKind(), elementType);
  WindowList windows = op.getWindows();
  if (from.getNumElements() == 0) {
    e.store(neutral, e.memoryOf(op.getResult()), elementType,
            e.linearIndex(type.getShape(), index));
    return success();
  }
  unsigned outer = e.depth();
  auto combine = [&](ValueRange k,
                     ValueRange best) -> FailureOr<SmallVector<Value>> {
    WindowPlace place{e, {}};
    SmallVector<Value> dims;
    for (auto [dim, window] : llvm::enumerate(windows))
      dims.push_back(
          place.at(window, index.dims[dim], k[dim], from.getDimSize(dim)));
    FailureOr<Value> value =
        e.element(op.getInput(), e.makeIndex(dims, e.depth()));
    if (failed(value))
      return failure();
    e.enterDepth(e.depth());
    Value seen =
        place.orElse(extendScalar(e.builder, e.loc, from.getElementType(),
                                  elementType, *value),
                     neutral);
    return SmallVector<Value>{emitCombine(e.builder, e.loc, op.getKind(),
                                          elementType, best[0], seen)};
  };
  auto result = e.loops(sizesOf(windows), neutral, combine);
  if (failed(result))
    return failure();
  e.store(result->front(), e.memoryOf(op.getResult()), elementType,
          e.linearIndex(type.getShape(), e.makeIndex(index.dims, outer)));
  return success();
}

/// Whether select(best, other) keeps the best so far.
static Value emitStays(ElementEmitter &e, CompareKind select, Type type,
                       Value best, Value other) {
  bool larger = select == CompareKind::GE;
  if (isa<FloatType>(type))
    return arith::CmpFOp::create(e.builder, e.loc,
                                 larger ? arith::CmpFPredicate::OGE
                                        : arith::CmpFPredicate::OLE,
                                 best, other);
  using P = arith::CmpIPredicate;
  bool u = isUnsigned(type);
  P predicate = larger ? (u ? P::uge : P::sge) : (u ? P::ule : P::sle);
  return arith::CmpIOp::create(e.builder, e.loc, predicate, best, other);
}

FailureOr<Value> selectedPosition(ElementEmitter &e, SelectAndScatterOp op,
                                  ArrayRef<Value> window) {
  RankedTensorType type = typeOf(op.getInput());
  Type elementType = type.getElementType();
  Value none = e.constant(-1);
  WindowList windows = op.getWindows();
  auto choose = [&](ValueRange k,
                    ValueRange best) -> FailureOr<SmallVector<Value>> {
    WindowPlace place{e, {}};
    SmallVector<Value> dims;
    for (auto [dim, each] : llvm::enumerate(windows))
      dims.push_back(place.at(each, window[dim], k[dim], type.getDimSize(dim)));
    FailureOr<Value> value =
        e.element(op.getInput(), e.makeIndex(dims, e.depth()));
    if (failed(value))
      return failure();
    e.enterDepth(e.depth());
    OpBuilder &b = e.builder;
    Value isFirst = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::eq,
                                          best[1], none);
    Value truth = arith::ConstantOp::create(b, e.loc, b.getBoolAttr(true));
    Value stays = emitStays(e, op.getSelect(), elementType, best[0], *value);
    Value better = arith::OrIOp::create(
        b, e.loc, isFirst, arith::XOrIOp::create(b, e.loc, stays, truth));
    if (place.inside)
      better = arith::AndIOp::create(b, e.loc, better, place.inside);
    Value linear = e.linearIndex(type.getShape(), e.makeIndex(dims, e.depth()));
    return SmallVector<Value>{
        arith::SelectOp::create(b, e.loc, better, *value, best[0]),
        arith::SelectOp::create(b, e.loc, better, linear, best[1])};
  };
  Value zero = emitNeutral(e.builder, e.loc, ReduceKind::Sum, elementType);
  auto best = e.loops(sizesOf(windows), {zero, none}, choose);
  return failed(best) ? FailureOr<Value>(failure()) : (*best)[1];
}

LogicalResult emitSelectAndScatter(ElementEmitter &e, SelectAndScatterOp op) {
  RankedTensorType type = typeOf(op.getResult()),
                   windowsType = typeOf(op.getSource());
  Type elementType = type.getElementType();
  Value pointer = e.memoryOf(op.getResult());
  ElementIndex index = openSharedLoops(e, type.getShape());
  Value zero = emitNeutral(e.builder, e.loc, ReduceKind::Sum, elementType);
  e.store(zero, pointer, elementType, e.linearIndex(type.getShape(), index));
  e.beginNest();
  if (windowsType.getNumElements() == 0)
    return success();
  index = openSharedLoops(e, windowsType.getShape());
  unsigned outer = e.depth();
  FailureOr<Value> best = selectedPosition(e, op, index.dims);
  FailureOr<Value> source =
      e.element(op.getSource(), e.makeIndex(index.dims, outer));
  if (failed(best) || failed(source))
    return failure();
  e.enterDepth(outer);
  OpBuilder &b = e.builder;
  Value exists = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::sge,
                                       *best, e.constant(0));
  Value more = arith::SelectOp::create(b, e.loc, exists, *source,
                                       zeroOf(e, elementType));
  Value at = arith::MaxSIOp::create(b, e.loc, *best, e.constant(0));
  Value sum = emitCombine(b, e.loc, ReduceKind::Sum, elementType,
                          e.load(pointer, elementType, at), more);
  e.store(sum, pointer, elementType, at);
  return success();
}

namespace {
/// The loops of a convolution: outermost samples and positions, then the
/// kernel, innermost the output features, to which sums are added in memory.
struct ConvolutionNest {
  ElementEmitter &e;
  ConvolutionOp op;
  RankedTensorType lhs, rhs, result;
  Type elementType;
  SmallVector<Value> place; ///< position in the result; the feature is null
  WindowList windows;

  ConvolutionNest(ElementEmitter &e [[clang::lifetimebound]], ConvolutionOp op)
      : e(e), op(op), lhs(typeOf(op.getLhs())), rhs(typeOf(op.getRhs())),
        result(typeOf(op.getResult())), elementType(result.getElementType()),
        windows(op.getWindows()) {}

  int64_t features() { return result.getDimSize(op.getResultDims()[1]); }
  Value linear(Value feature) {
    SmallVector<Value> dims(place);
    dims[op.getResultDims()[1]] = feature;
    return e.linearIndex(result.getShape(), e.makeIndex(dims, e.depth()));
  }
  /// The group of an output feature, times `size`.
  Value groupStart(Value feature, int64_t groups, int64_t size) {
    Value group = arith::DivUIOp::create(e.builder, e.loc, feature,
                                         constant(features() / groups));
    return e.mul(group, size);
  }
  Value constant(int64_t value) { return e.constant(value); }
  Value productOf(Value x, Value weight) {
    return emitProduct(
        e, elementType,
        extendScalar(e.builder, e.loc, lhs.getElementType(), elementType, x),
        extendScalar(e.builder, e.loc, rhs.getElementType(), elementType,
                     weight));
  }
  LogicalResult emit();
};
} // namespace

LogicalResult ConvolutionNest::emit() {
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims(),
                    out = op.getResultDims();
  Value pointer = e.memoryOf(op.getResult());
  for (auto [dim, size] : llvm::enumerate(result.getShape()))
    place.push_back(static_cast<int64_t>(dim) == out[1]
                        ? Value()
                        : e.openSharedLoop(dim, size));
  e.each(features(), [&](Value feature) {
    e.markParallel();
    e.store(zeroOf(e, elementType), pointer, elementType, linear(feature));
  });
  if (lhs.getNumElements() == 0 || rhs.getNumElements() == 0)
    return success();
  SmallVector<Value> from(lhs.getRank()), with(rhs.getRank());
  SmallVector<Value> k;
  for (const Window &window : windows)
    k.push_back(e.openLoop(window.size));
  with[r[1]] = e.openLoop(rhs.getDimSize(r[1]));
  WindowPlace seen{e, {}};
  for (auto [i, window] : llvm::enumerate(windows)) {
    from[l[2 + i]] =
        seen.at(window, place[out[2 + i]], k[i], lhs.getDimSize(l[2 + i]));
    with[r[2 + i]] = k[i];
  }
  int64_t featureGroups = op.getFeatureGroups(),
          batchGroups = op.getBatchGroups();
  unsigned shared = e.depth();
  Value feature = e.openLoop(features());
  e.markParallel();
  from[l[0]] = place[out[0]];
  from[l[1]] = with[r[1]];
  with[r[0]] = feature;
  if (batchGroups > 1)
    from[l[0]] = e.add(from[l[0]], groupStart(feature, batchGroups,
                                              result.getDimSize(out[0])));
  if (featureGroups > 1)
    from[l[1]] = e.add(
        from[l[1]], groupStart(feature, featureGroups, rhs.getDimSize(r[1])));
  // Without groups all features read the same element.
  unsigned known = featureGroups * batchGroups > 1 ? e.depth() : shared;
  FailureOr<Value> x = e.element(op.getLhs(), e.makeIndex(from, known));
  FailureOr<Value> weight =
      e.element(op.getRhs(), e.makeIndex(with, e.depth()));
  if (failed(x) || failed(weight))
    return failure();
  e.enterDepth(e.depth());
  Value zero = zeroOf(e, elementType);
  Value product = seen.orElse(productOf(*x, *weight), zero);
  Value at = linear(feature);
  Value sum = emitCombine(e.builder, e.loc, ReduceKind::Sum, elementType,
                          e.load(pointer, elementType, at), product);
  e.store(sum, pointer, elementType, at);
  return success();
}

LogicalResult emitConvolution(ElementEmitter &emitter, ConvolutionOp op) {
  return ConvolutionNest(emitter, op).emit();
}

} // namespace weft::elements
