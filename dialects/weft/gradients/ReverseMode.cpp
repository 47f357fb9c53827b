//===- ReverseMode.cpp - gradients of a straight line of ops --------------===//

#include "weft/dialects/weft/gradients/ReverseMode.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/gradients/GradientBuilder.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

GradientRecorder::GradientRecorder(OpBuilder &builder,
                                   SmallVectorImpl<Operation *> &created)
    : builder(builder), created(created), block(builder.getInsertionBlock()),
      previous(builder.getListener()) {
  builder.setListener(this);
}

GradientRecorder::~GradientRecorder() { builder.setListener(previous); }

void GradientRecorder::setForward(Location forward) {
  gradientLoc =
      NameLoc::get(StringAttr::get(forward.getContext(), kGradientOf), forward);
}

void GradientRecorder::notifyOperationInserted(Operation *op,
                                               OpBuilder::InsertPoint) {
  if (op->getBlock() != block)
    return; // The ops of a region are not differentiated one by one.
  op->setLoc(getGradientLoc());
  created.push_back(op);
}

static bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isDifferentiable(type.getElementType());
}

Value weft::constantLike(OpBuilder &builder, Location loc, Type type,
                         double value) {
  auto tensor = withLayout(cast<RankedTensorType>(type), nullptr);
  return ConstantOp::create(builder, loc, splatData(value, tensor));
}

/// Values that depend on `inputs` through float tensors, so that a gradient can
/// pass through them.
static llvm::DenseSet<Value> findActive(ValueRange inputs,
                                        ArrayRef<Operation *> tape) {
  llvm::DenseSet<Value> active(inputs.begin(), inputs.end());
  for (Operation *op : tape) {
    if (!llvm::any_of(op->getOperands(),
                      [&](Value v) { return active.contains(v); }))
      continue;
    for (Value result : op->getResults())
      if (isFloat(result))
        active.insert(result);
  }
  return active;
}

namespace {
/// Walks backwards over the tape once.
class ReverseWalk {
public:
  ReverseWalk(OpBuilder &builder [[clang::lifetimebound]],
              GradientRecorder &recorder [[clang::lifetimebound]],
              llvm::DenseSet<Value> active)
      : builder(builder), recorder(recorder), active(std::move(active)) {}
  LogicalResult visit(Operation *&op);
  void add(Value value, Value gradient);
  Value gradientOf(Value value) const { return gradients.lookup(value); }

private:
  OpBuilder &builder;
  GradientRecorder &recorder;
  llvm::DenseSet<Value> active;
  llvm::DenseMap<Value, Value> gradients;
};
} // namespace

void ReverseWalk::add(Value value, Value gradient) {
  if (!gradient)
    return;
  Value &sum = gradients[value];
  sum = sum ? AddOp::create(builder, recorder.getGradientLoc(), sum, gradient)
                  .getResult()
            : gradient;
}

/// The op, or an op with additional results that replaces it.
static Operation *withSavedValues(Operation *op,
                                  DifferentiableOpInterface differentiable) {
  OpBuilder inPlace(op);
  return differentiable.saveForGradient(inPlace);
}

LogicalResult ReverseWalk::visit(Operation *&op) {
  auto isKnown = [&](Value value) { return gradients.contains(value); };
  auto isActive = [&](Value value) { return active.contains(value); };
  if (llvm::none_of(op->getResults(), isKnown) ||
      llvm::none_of(op->getOperands(), isActive))
    return success();
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable)
    return op->emitOpError("has no derivative, and the loss depends on it; "
                           "attach DifferentiableOpInterface to it");
  SmallVector<Value> resultGradients;
  SmallVector<bool> wanted;
  for (Value result : op->getResults())
    resultGradients.push_back(gradients.lookup(result));
  op = withSavedValues(op, differentiable);
  resultGradients.resize(op->getNumResults());
  for (Value operand : op->getOperands())
    wanted.push_back(isActive(operand));
  recorder.setForward(op->getLoc());
  OpGradients found(builder, op, resultGradients, wanted);
  if (failed(cast<DifferentiableOpInterface>(op).buildGradient(found)))
    return failure();
  for (auto [operand, gradient] :
       llvm::zip_equal(op->getOperands(), found.operands))
    add(operand, gradient);
  return success();
}

FailureOr<SmallVector<Value>>
weft::buildReverse(OpBuilder &builder, Location loc,
                   MutableArrayRef<Operation *> tape, ValueRange outputs,
                   ValueRange outputGradients, ValueRange inputs,
                   SmallVectorImpl<Operation *> &created) {
  GradientRecorder recorder(builder, created);
  recorder.setForward(loc);
  ReverseWalk walk(builder, recorder, findActive(inputs, tape));
  for (auto [output, gradient] : llvm::zip_equal(outputs, outputGradients))
    walk.add(output, gradient);
  for (Operation *&op : llvm::reverse(tape))
    if (failed(walk.visit(op)))
      return failure();
  SmallVector<Value> results;
  for (Value input : inputs)
    results.push_back(walk.gradientOf(input));
  return results;
}

void weft::eraseReplaced(ArrayRef<Operation *> before,
                         ArrayRef<Operation *> after,
                         MutableArrayRef<Value> values) {
  llvm::DenseMap<Value, Value> now;
  for (auto [old, op] : llvm::zip_equal(before, after))
    if (old != op)
      for (OpResult result : old->getResults())
        now[result] = op->getResult(result.getResultNumber());
  for (Value &value : values)
    if (Value replaced = now.lookup(value))
      value = replaced;
  for (auto [old, op] : llvm::zip_equal(before, after))
    if (old != op)
      old->erase();
}

FailureOr<SmallVector<Value>> weft::reverseRegion(OpBuilder &builder,
                                                  Location loc, Region &region,
                                                  ValueRange arguments,
                                                  ValueRange yieldedGradients,
                                                  ValueRange inputs) {
  IRMapping mapping;
  mapping.map(region.getArguments(), arguments);
  SmallVector<Operation *> before, created;
  for (Operation &op : region.front().without_terminator())
    before.push_back(builder.clone(op, mapping));
  SmallVector<Value> yielded;
  for (Value value : region.front().getTerminator()->getOperands())
    yielded.push_back(mapping.lookup(value));
  SmallVector<Operation *> tape(before);
  auto gradients = buildReverse(builder, loc, tape, yielded, yieldedGradients,
                                inputs, created);
  if (failed(gradients))
    return failure();
  eraseReplaced(before, tape, *gradients);
  // Ops are visited in reverse order, so uses come before definitions.
  for (Operation *op : llvm::reverse(tape)) {
    bool isResult = llvm::any_of(op->getResults(), [&](Value result) {
      return llvm::is_contained(*gradients, result);
    });
    if (!isResult && isOpTriviallyDead(op))
      op->erase();
  }
  return gradients;
}
