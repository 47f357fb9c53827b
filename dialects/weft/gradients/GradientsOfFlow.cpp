//===- GradientsOfFlow.cpp - derivatives of loops and branches ------------===//
//
// The gradient of a branch runs the branch again. The gradient of a loop runs
// all iterations backwards; each iteration runs the body again on the state
// that was saved before it.
//
//   %y = for 10 (%x) { yield f(i, v) }
//   %y, %s = for 10 (%x, zeros) { yield f(i, v), s with v at i }
//   %dx = for 10 (%dy, %s) { j = 9 - i; yield df(j, s[j])^T g }
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/gradients/GradientBuilder.h"
#include "weft/dialects/weft/gradients/ReverseMode.h"
#include "weft/dialects/weft/ops/FlowOps.h"

#include "llvm/ADT/BitVector.h"

using namespace mlir;
using namespace weft;

LogicalResult OptimizationBarrierOp::buildGradient(OpGradients &g) {
  g.operands = llvm::to_vector(g.results);
  return success();
}

/// The gradients, with zeros in place of null gradients.
static SmallVector<Value> orZeros(OpBuilder &builder, Location loc,
                                  ArrayRef<Value> gradients, TypeRange types) {
  SmallVector<Value> result;
  for (auto [gradient, type] : llvm::zip_equal(gradients, types))
    result.push_back(gradient ? gradient : constantLike(builder, loc, type, 0));
  return result;
}

//===----------------------------------------------------------------------===//
// checkpoint, case
//===----------------------------------------------------------------------===//

LogicalResult CheckpointOp::buildGradient(OpGradients &g) {
  // A barrier on the gradients, so that nothing is recomputed before they are
  // ready.
  SmallVector<Value> behind(getInputs());
  for (Value gradient : g.results)
    if (gradient)
      behind.push_back(gradient);
  auto barrier = OptimizationBarrierOp::create(
      g.builder, getLoc(), TypeRange(ValueRange(behind)), behind);
  ValueRange inputs = barrier.getResults().take_front(getInputs().size());
  size_t next = inputs.size();
  SmallVector<Value> gradients;
  for (Value gradient : g.results)
    gradients.push_back(gradient ? barrier.getResult(next++) : Value());
  auto found =
      reverseRegion(g.builder, getLoc(), getBody(), inputs, gradients, inputs);
  if (failed(found))
    return failure();
  for (auto [operand, gradient, want] :
       llvm::zip_equal(g.operands, *found, g.wanted))
    operand = want ? gradient : Value();
  return success();
}

/// Fills one region of a branch's gradient, which takes the inputs and then the
/// gradients of the results that have gradients.
static LogicalResult fillGradientBranch(CaseOp op, Region &forward,
                                        Region &into,
                                        ValueRange resultGradients,
                                        TypeRange inputTypes,
                                        ArrayRef<unsigned> wantedInputs) {
  Block &block = into.emplaceBlock();
  for (Type type : inputTypes)
    block.addArgument(type, op.getLoc());
  auto builder = OpBuilder::atBlockBegin(&block);
  ValueRange arguments =
      ValueRange(block.getArguments()).take_front(op.getInputs().size());
  size_t next = arguments.size();
  SmallVector<Value> gradients, inputs;
  for (Value gradient : resultGradients)
    gradients.push_back(gradient ? block.getArgument(next++) : Value());
  SmallVector<Type> types;
  for (unsigned index : wantedInputs) {
    inputs.push_back(arguments[index]);
    types.push_back(arguments[index].getType());
  }
  auto found = reverseRegion(builder, op.getLoc(), forward, arguments,
                             gradients, inputs);
  if (failed(found))
    return failure();
  YieldOp::create(builder, op.getLoc(),
                  orZeros(builder, op.getLoc(), *found, types));
  return success();
}

LogicalResult CaseOp::buildGradient(OpGradients &g) {
  SmallVector<Value> inputs(getInputs());
  for (Value gradient : g.results)
    if (gradient)
      inputs.push_back(gradient);
  SmallVector<unsigned> wantedInputs;
  SmallVector<Type> types;
  for (auto [index, input] : llvm::enumerate(getInputs()))
    if (g.wanted[index + 1]) { // The inputs come after the selector.
      wantedInputs.push_back(index);
      types.push_back(input.getType());
    }
  auto backward = CaseOp::create(g.builder, getLoc(), types, getSelector(),
                                 inputs, getBranches().size());
  for (auto [forward, into] :
       llvm::zip_equal(getBranches(), backward.getBranches()))
    if (failed(fillGradientBranch(*this, forward, into, g.results,
                                  TypeRange(ValueRange(inputs)), wantedInputs)))
      return failure();
  for (auto [index, gradient] :
       llvm::zip_equal(wantedInputs, backward.getResults()))
    g.operands[index + 1] = gradient;
  return success();
}

//===----------------------------------------------------------------------===//
// for: saving the carried values
//===----------------------------------------------------------------------===//

static RankedTensorType stackType(Type type, int64_t count) {
  auto tensor = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape(tensor.getShape());
  shape.insert(shape.begin(), count);
  return RankedTensorType::get(shape, tensor.getElementType());
}

/// The start of slice `index` of a stack: `index`, then a zero for each
/// dimension of the value.
static SmallVector<Value> stackStarts(OpBuilder &builder, Location loc,
                                      Value index, RankedTensorType type) {
  Value zero = ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(cast<RankedTensorType>(index.getType()),
                             builder.getZeroAttr(builder.getI32Type())));
  SmallVector<Value> starts(type.getRank() + 1, zero);
  starts.front() = index;
  return starts;
}

Operation *ForOp::saveForGradient(OpBuilder &builder) {
  int64_t count = getCount();
  if (count == 0)
    return *this; // The results are the initial values.
  SmallVector<int64_t> saved;
  SmallVector<Value> inits(getInits());
  for (auto [index, init] : llvm::enumerate(getInits())) {
    saved.push_back(isInvariant(index) ? -1
                                       : static_cast<int64_t>(inits.size()));
    if (saved.back() < 0)
      continue;
    RankedTensorType type = stackType(init.getType(), count);
    inits.push_back(ConstantOp::create(builder, getLoc(), splatData(0, type)));
  }
  auto saving = ForOp::create(builder, getLoc(), TypeRange(ValueRange(inits)),
                              builder.getI64IntegerAttr(count), inits,
                              builder.getDenseI64ArrayAttr(saved));
  unsigned carried = getInits().size();
  saving.getBody().takeBody(getBody());
  Block &body = saving.getBody().front();
  auto end = cast<YieldOp>(body.getTerminator());
  builder.setInsertionPoint(end);
  for (unsigned index = 0; index < carried; ++index) {
    if (saved[index] < 0)
      continue;
    auto type = cast<RankedTensorType>(inits[index].getType());
    Value stack = body.addArgument(inits[saved[index]].getType(), getLoc());
    Value row = ReshapeOp::create(builder, getLoc(), saving.getCarried()[index],
                                  stackType(type, 1).getShape());
    Value stacked = DynamicUpdateSliceOp::create(
        builder, getLoc(), stack, row,
        stackStarts(builder, getLoc(), saving.getCounter(), type));
    end.getValuesMutable().append(stacked);
  }
  for (unsigned index = 0; index < carried; ++index)
    getResult(index).replaceAllUsesWith(saving.getResult(index));
  return saving;
}

//===----------------------------------------------------------------------===//
// for: the backward loop
//===----------------------------------------------------------------------===//

namespace {
/// Builds the backward loop.
class BackwardLoop {
public:
  BackwardLoop(ForOp forward, OpGradients &g [[clang::lifetimebound]])
      : forward(forward), g(g), builder(g.builder), loc(g.loc),
        saved(*forward.getSaved()) {}
  LogicalResult build();

private:
  void findActive();
  llvm::BitVector reachedFrom(unsigned carried);
  SmallVector<Value> bodyArguments(OpBuilder &inner, Block &block);
  LogicalResult fillBody(ForOp backward);

  ForOp forward;
  OpGradients &g;
  OpBuilder &builder;
  Location loc;
  ArrayRef<int64_t> saved;
  SmallVector<unsigned> active; ///< numbers of carried values with a gradient
};
} // namespace

/// The yielded values that a carried value affects in one iteration, through
/// floats.
llvm::BitVector BackwardLoop::reachedFrom(unsigned carried) {
  llvm::DenseSet<Value> changed{forward.getCarried()[carried]};
  for (Operation &op : forward.getBody().front().without_terminator())
    if (llvm::any_of(op.getOperands(),
                     [&](Value value) { return changed.contains(value); }))
      for (Value result : op.getResults())
        if (isDifferentiable(getElementTypeOrSelf(result)))
          changed.insert(result);
  llvm::BitVector reached(saved.size());
  for (unsigned index = 0; index < saved.size(); ++index)
    reached[index] = changed.contains(forward.getYielded()[index]);
  return reached;
}

/// Finds the carried values that depend on wanted inputs and affect a result
/// with a gradient.
void BackwardLoop::findActive() {
  unsigned count = saved.size();
  SmallVector<llvm::BitVector> reaches;
  llvm::BitVector fromInputs(count), toResults(count);
  for (unsigned index = 0; index < count; ++index) {
    bool isFloat =
        isDifferentiable(getElementTypeOrSelf(forward.getCarried()[index]));
    reaches.push_back(isFloat ? reachedFrom(index) : llvm::BitVector(count));
    fromInputs[index] = isFloat && g.wanted[index];
    toResults[index] = bool(g.results[index]);
  }
  for (bool changed = true; changed;) {
    llvm::BitVector oldFrom = fromInputs, oldTo = toResults;
    for (unsigned index = 0; index < count; ++index) {
      if (fromInputs[index])
        fromInputs |= reaches[index];
      if (reaches[index].anyCommon(toResults))
        toResults.set(index);
    }
    changed = oldFrom != fromInputs || oldTo != toResults;
  }
  fromInputs &= toResults;
  active.assign(fromInputs.set_bits_begin(), fromInputs.set_bits_end());
}

/// The loop's state before iteration count - 1 - %i. The block's arguments are
/// the counter, the gradients, and a stack or an invariant value for each
/// carried value; the stacks themselves come last.
SmallVector<Value> BackwardLoop::bodyArguments(OpBuilder &inner, Block &block) {
  GradientBuilder in{inner, loc};
  Tensor last = in.integers(forward.getCount() - 1, {}, inner.getI32Type());
  Value time = last - in(block.getArgument(0));
  SmallVector<Value> arguments{time};
  ValueRange sources =
      ValueRange(block.getArguments()).drop_front(1 + active.size());
  for (auto [index, stack] : llvm::enumerate(saved)) {
    if (stack < 0) {
      arguments.push_back(sources[index]);
      continue;
    }
    auto type = cast<RankedTensorType>(forward.getCarried()[index].getType());
    Value row = DynamicSliceOp::create(inner, loc, sources[index],
                                       stackStarts(inner, loc, time, type),
                                       stackType(type, 1).getShape());
    arguments.push_back(ReshapeOp::create(inner, loc, row, type.getShape()));
  }
  // The forward body uses a stack only to save values in it.
  for (auto [index, stack] : llvm::enumerate(saved))
    if (stack >= 0)
      arguments.push_back(sources[index]);
  return arguments;
}

LogicalResult BackwardLoop::fillBody(ForOp backward) {
  Block &block = backward.getBody().emplaceBlock();
  block.addArgument(RankedTensorType::get({}, builder.getI32Type()), loc);
  for (Value init : backward.getInits())
    block.addArgument(init.getType(), loc);
  auto inner = OpBuilder::atBlockBegin(&block);
  SmallVector<Value> arguments = bodyArguments(inner, block);
  SmallVector<Value> yieldedGradients(forward.getInits().size()), inputs;
  for (auto [position, index] : llvm::enumerate(active)) {
    yieldedGradients[index] = block.getArgument(1 + position);
    inputs.push_back(arguments[1 + index]);
  }
  auto found = reverseRegion(inner, loc, forward.getBody(), arguments,
                             yieldedGradients, inputs);
  if (failed(found))
    return failure();
  SmallVector<Value> yielded =
      orZeros(inner, loc, *found, TypeRange(ValueRange(inputs)));
  llvm::append_range(yielded,
                     block.getArguments().drop_front(1 + active.size()));
  YieldOp::create(inner, loc, yielded);
  return success();
}

LogicalResult BackwardLoop::build() {
  findActive();
  SmallVector<Value> gradients;
  SmallVector<Type> types;
  for (unsigned index : active) {
    gradients.push_back(g.results[index]);
    types.push_back(forward.getInits()[index].getType());
  }
  SmallVector<Value> inits = orZeros(builder, loc, gradients, types);
  for (auto [index, stack] : llvm::enumerate(saved))
    inits.push_back(stack < 0 ? forward.getInits()[index]
                              : forward.getResult(stack));
  auto backward =
      ForOp::create(builder, loc, TypeRange(ValueRange(inits)),
                    forward.getCountAttr(), inits, DenseI64ArrayAttr());
  if (failed(fillBody(backward)))
    return failure();
  for (auto [position, index] : llvm::enumerate(active))
    g.operands[index] = backward.getResult(position);
  return success();
}

LogicalResult ForOp::buildGradient(OpGradients &g) {
  if (getCount() == 0) {
    g.operands = llvm::to_vector(g.results);
    return success();
  }
  return BackwardLoop(*this, g).build();
}
