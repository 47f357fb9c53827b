//===- LoopNest.cpp - the loops around an element -------------------------===//

#include "weft/compiler/codegen/elements/LoopNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

LoopNest::LoopNest(Location loc)
    : builder(loc.getContext()), loc(loc),
      accessGroup(LLVM::AccessGroupAttr::get(loc.getContext())) {}

Value LoopNest::constant(int64_t value) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getI64IntegerAttr(value));
}
Value LoopNest::constant(int64_t value, Type type) {
  return arith::ConstantOp::create(builder, loc,
                                   builder.getIntegerAttr(type, value));
}
Value LoopNest::resized(Value position, Type type) {
  unsigned from = position.getType().getIntOrFloatBitWidth(),
           to = type.getIntOrFloatBitWidth();
  if (from == to)
    return position;
  return from > to
             ? arith::TruncIOp::create(builder, loc, type, position).getResult()
             : arith::ExtUIOp::create(builder, loc, type, position).getResult();
}
Value LoopNest::add(Value a, Value b) {
  return arith::AddIOp::create(builder, loc, a, b);
}
Value LoopNest::mul(Value a, int64_t factor) {
  return factor == 1 ? a
                     : arith::MulIOp::create(builder, loc, a,
                                             constant(factor, a.getType()))
                           .getResult();
}

Value LoopNest::clampedToSize(Value position, int64_t size, int64_t tile,
                              Value &exists) {
  if (size % tile == 0)
    return position;
  Value is = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                                   position, constant(size));
  exists =
      exists ? arith::AndIOp::create(builder, loc, exists, is).getResult() : is;
  return arith::MinUIOp::create(builder, loc, position, constant(size - 1));
}

Value LoopNest::openLoop(int64_t n, ValueRange carried) {
  return openLoop(constant(0), constant(n), carried);
}

Value LoopNest::openLoop(Value begin, Value end, ValueRange carried) {
  return openStridedLoop(begin, end, constant(1), carried);
}

Value LoopNest::openStridedLoop(Value begin, Value end, Value step,
                                ValueRange carried) {
  auto loop = scf::ForOp::create(
      builder, loc, begin, end, step, carried,
      [](OpBuilder &inner, Location where, Value, ValueRange values) {
        scf::YieldOp::create(inner, where, values);
      });
  levels.push_back(loop);
  enterDepth(depth());
  return loop.getInductionVar();
}

LogicalResult LoopNest::loop(Value begin, Value end, Value step,
                             function_ref<LogicalResult(Value)> body) {
  return loop(begin, end, step, {}, [&](Value i, ValueRange) -> Carried {
    return failed(body(i)) ? Carried(failure()) : SmallVector<Value>();
  });
}

LogicalResult LoopNest::loop(int64_t n,
                             function_ref<LogicalResult(Value)> body) {
  return loop(constant(0), constant(n), constant(1), body);
}

void LoopNest::each(Value begin, Value end, Value step,
                    function_ref<void(Value)> body) {
  (void)loop(begin, end, step, [&](Value i) {
    body(i);
    return success();
  });
}

void LoopNest::each(Value begin, Value end, function_ref<void(Value)> body) {
  each(begin, end, constant(1), body);
}

void LoopNest::eachOrOnce(int64_t n, function_ref<void(Value)> body) {
  n == 1 ? body(constant(0)) : each(n, body);
}

void LoopNest::each(int64_t n, function_ref<void(Value)> body) {
  each(constant(0), constant(n), body);
}

void LoopNest::eachOf(int64_t n, int64_t step, function_ref<void(Value)> body) {
  each(constant(0), constant(n), constant(step), body);
}

LoopNest::Carried
LoopNest::loop(Value begin, Value end, Value step, ValueRange first,
               function_ref<Carried(Value, ValueRange)> body) {
  unsigned outer = depth();
  Value i = openStridedLoop(begin, end, step, first);
  scf::ForOp loop = levels.back();
  Carried next = body(i, loop.getRegionIterArgs());
  if (failed(next))
    return failure();
  loop.getBody()->getTerminator()->setOperands(*next);
  closeLoops(outer);
  return SmallVector<Value>(loop.getResults());
}

LoopNest::Carried
LoopNest::loop(int64_t n, ValueRange first,
               function_ref<Carried(Value, ValueRange)> body) {
  return loop(constant(0), constant(n), constant(1), first, body);
}

/// Builds the loops over the sizes from at.size() on.
static LoopNest::Carried
loopsIn(LoopNest &nest, ArrayRef<int64_t> sizes, ValueRange at,
        ValueRange carried,
        function_ref<LoopNest::Carried(ValueRange, ValueRange)> body) {
  if (at.size() == sizes.size())
    return body(at, carried);
  return nest.loop(sizes[at.size()], carried, [&](Value i, ValueRange inner) {
    LoopNest::Values all(at);
    all.push_back(i);
    return loopsIn(nest, sizes, all, inner, body);
  });
}

LoopNest::Carried
LoopNest::loops(ArrayRef<int64_t> sizes, ValueRange first,
                function_ref<Carried(ValueRange, ValueRange)> body) {
  return loopsIn(*this, sizes, {}, first, body);
}

LoopNest::Values LoopNest::fold(Value begin, Value end, Value step,
                                ValueRange first,
                                function_ref<Values(Value, ValueRange)> body) {
  return *loop(
      begin, end, step, first,
      [&](Value i, ValueRange carried) -> Carried { return body(i, carried); });
}

void LoopNest::closeLoops(unsigned depth) {
  if (depth == levels.size())
    return;
  Operation *outermost = levels[depth];
  levels.truncate(depth);
  builder.setInsertionPointAfter(outermost);
  ++closed;
}

void LoopNest::enterDepth(unsigned depth) {
  if (depth < levels.size())
    builder.setInsertionPoint(levels[depth]);
  else if (levels.empty())
    builder.setInsertionPoint(end);
  else
    builder.setInsertionPoint(
        levels.back().getBody(),
        levels.back().getBody()->without_terminator().end());
}

unsigned LoopNest::depthOf(Value position, unsigned otherwise) {
  for (auto [level, loop] : llvm::enumerate(levels))
    if (loop.getInductionVar() == position)
      return level + 1;
  return otherwise;
}

void LoopNest::markParallel() {
  MLIRContext *context = builder.getContext();
  auto annotation =
      LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, {}, {}, {}, {}, {}, {},
                                    {}, {}, {}, {}, {}, accessGroup);
  levels.back()->setAttr("llvm.loop_annotation", annotation);
}

void LoopNest::markInterleaved(int64_t chains) {
  MLIRContext *context = builder.getContext();
  auto interleave = LLVM::LoopInterleaveAttr::get(
      context, builder.getI32IntegerAttr(int32_t(chains)));
  auto annotation =
      LLVM::LoopAnnotationAttr::get(context, {}, {}, interleave, {}, {}, {}, {},
                                    {}, {}, {}, {}, {}, {}, {}, {});
  levels.back()->setAttr("llvm.loop_annotation", annotation);
}

void LoopNest::markPlain() {
  auto annotation = LLVM::LoopAnnotationAttr::get(
      builder.getContext(), /*disableNonforced=*/builder.getBoolAttr(true), {},
      {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
  levels.back()->setAttr("llvm.loop_annotation", annotation);
}

} // namespace weft::elements
