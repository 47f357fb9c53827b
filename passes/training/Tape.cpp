//===- Tape.cpp - inlining, and reverse mode over what was inlined
//---------===//

#include "weft/passes/training/Tape.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

namespace {

bool isFloat(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  return type && isa<FloatType>(type.getElementType());
}

Value splat(OpBuilder &builder, Location loc, Type type, double value) {
  auto tensor = withLayout(cast<RankedTensorType>(type), nullptr);
  Attribute element = builder.getFloatAttr(tensor.getElementType(), value);
  return ConstantOp::create(builder, loc,
                            DenseElementsAttr::get(tensor, element));
}

/// While alive, every op the builder inserts joins the tape with the location
/// "gradient of" the op that is being differentiated.
class Recorder : public OpBuilder::Listener {
public:
  Recorder(OpBuilder &builder, SmallVectorImpl<Operation *> &created)
      : builder(builder), created(created), previous(builder.getListener()) {
    builder.setListener(this);
  }
  ~Recorder() override { builder.setListener(previous); }

  void setForward(Location loc) {
    gradientLoc =
        NameLoc::get(StringAttr::get(loc.getContext(), "gradient of"), loc);
  }
  Location getGradientLoc() const { return LocationAttr(gradientLoc); }
  void notifyOperationInserted(Operation *op, OpBuilder::InsertPoint) override {
    op->setLoc(getGradientLoc());
    created.push_back(op);
  }

private:
  OpBuilder &builder;
  SmallVectorImpl<Operation *> &created;
  OpBuilder::Listener *previous;
  LocationAttr gradientLoc;
};

/// Values that depend on `inputs` through float tensors: those a gradient can
/// pass through.
llvm::DenseSet<Value> findActive(ArrayRef<Value> inputs,
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

/// The gradients of op's operands, null where none is wanted or it is zero.
FailureOr<SmallVector<Value>>
operandGradients(Operation *op, OpBuilder &builder,
                 const llvm::DenseMap<Value, Value> &gradients,
                 const llvm::DenseSet<Value> &active) {
  SmallVector<Value> resultGradients, result(op->getNumOperands());
  SmallVector<bool> wanted;
  for (Value value : op->getResults())
    resultGradients.push_back(gradients.lookup(value));
  for (Value operand : op->getOperands())
    wanted.push_back(active.contains(operand));
  if (llvm::none_of(resultGradients, [](Value v) { return bool(v); }) ||
      llvm::none_of(wanted, [](bool w) { return w; }))
    return result;
  auto differentiable = dyn_cast<DifferentiableOpInterface>(op);
  if (!differentiable) {
    op->emitOpError("has no derivative, and the loss depends on it; attach "
                    "DifferentiableOpInterface to it");
    return failure();
  }
  result.clear();
  if (failed(differentiable.buildGradient(builder, resultGradients, wanted,
                                          result)))
    return failure();
  return result;
}

} // namespace

bool Expander::isExpandable(Operation *op) {
  return isa<func::CallOp, ValueAndGradOp>(op);
}

FailureOr<Expander::Values> Expander::expand(Operation *op, ValueRange operands,
                                             Tape &tape) {
  auto valueAndGrad = dyn_cast<ValueAndGradOp>(op);
  StringRef name = valueAndGrad ? valueAndGrad.getCallee()
                                : cast<func::CallOp>(op).getCallee();
  // Both ops verify that they name a function and pass the types it takes.
  auto callee = symbols.lookup<func::FuncOp>(name);
  if (!callee.getBody().hasOneBlock()) {
    InFlightDiagnostic error = op->emitOpError("calls @")
                               << name << ", which has "
                               << callee.getBody().getBlocks().size()
                               << " blocks; a body of 1 can be inlined";
    error.attachNote(callee.getLoc()) << "callee";
    return error;
  }
  if (!stack.insert(callee))
    return op->emitOpError("calls @")
           << name << " from within itself; recursion cannot be inlined";
  auto results = valueAndGrad
                     ? differentiate(valueAndGrad, callee, operands, tape)
                     : inlineBody(callee, operands, tape);
  stack.pop_back();
  return results;
}

FailureOr<Expander::Values> Expander::inlineBody(func::FuncOp callee,
                                                 ValueRange operands,
                                                 Tape &tape) {
  IRMapping mapping;
  mapping.map(callee.getArguments(), operands);
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (!isExpandable(&op)) {
      tape.push_back(builder.clone(op, mapping));
      continue;
    }
    Values inner;
    for (Value operand : op.getOperands())
      inner.push_back(mapping.lookup(operand));
    FailureOr<Values> results = expand(&op, inner, tape);
    if (failed(results))
      return failure();
    mapping.map(op.getResults(), *results);
  }
  Values results;
  for (Value value : body.getTerminator()->getOperands())
    results.push_back(mapping.lookup(value));
  return results;
}

FailureOr<Expander::Values> Expander::differentiate(ValueAndGradOp op,
                                                    func::FuncOp callee,
                                                    ValueRange operands,
                                                    Tape &tape) {
  // Each differentiated argument is a value of its own while gradients are
  // summed: one value may be passed for two arguments.
  Values arguments(operands);
  SmallVector<Operation *> standIns;
  SmallVector<Value> inputs;
  for (int64_t index : op.getWrt()) {
    auto standIn = UnrealizedConversionCastOp::create(
        builder, op.getLoc(), arguments[index].getType(), arguments[index]);
    standIns.push_back(standIn);
    arguments[index] = standIn.getResult(0);
    inputs.push_back(arguments[index]);
  }
  SmallVector<Operation *> body;
  FailureOr<Values> results = inlineBody(callee, arguments, body);
  if (failed(results))
    return failure();
  SmallVector<Operation *> backward;
  {
    Recorder recorder(builder, backward);
    recorder.setForward(op.getLoc());
    FailureOr<Values> gradients =
        reverse(op.getLoc(), results->front(), inputs, body);
    if (failed(gradients))
      return failure();
    llvm::append_range(*results, *gradients);
  }
  ++differentiated;
  gradientOps += backward.size();
  llvm::append_range(tape, body);
  llvm::append_range(tape, backward);
  for (Operation *standIn : standIns) {
    Value source = standIn->getOperand(0);
    llvm::replace(*results, Value(standIn->getResult(0)), source);
    standIn->getResult(0).replaceAllUsesWith(source);
    standIn->erase();
  }
  return results;
}

FailureOr<Expander::Values> Expander::reverse(Location loc, Value loss,
                                              ArrayRef<Value> inputs,
                                              ArrayRef<Operation *> tape) {
  auto &recorder = *static_cast<Recorder *>(builder.getListener());
  llvm::DenseSet<Value> active = findActive(inputs, tape);
  llvm::DenseMap<Value, Value> gradients;
  gradients[loss] = splat(builder, loc, loss.getType(), 1);
  for (Operation *op : llvm::reverse(tape)) {
    recorder.setForward(op->getLoc());
    auto found = operandGradients(op, builder, gradients, active);
    if (failed(found))
      return failure();
    for (auto [operand, gradient] :
         llvm::zip_equal(op->getOperands(), *found)) {
      if (!gradient)
        continue;
      Value &sum = gradients[operand];
      sum =
          sum ? AddOp::create(builder, recorder.getGradientLoc(), sum, gradient)
                    .getResult()
              : gradient;
    }
  }
  recorder.setForward(loc);
  Values results;
  for (Value input : inputs) {
    Value gradient = gradients.lookup(input);
    results.push_back(gradient ? gradient
                               : splat(builder, loc, input.getType(), 0));
  }
  return results;
}

} // namespace weft
