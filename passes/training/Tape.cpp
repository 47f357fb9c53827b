//===- Tape.cpp - inlining, and reverse mode over inlined ops -------------===//

#include "weft/passes/training/Tape.h"

#include "weft/dialects/weft/gradients/ReverseMode.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {

/// The most ops of a function after inlining, and the deepest nesting of calls.
static constexpr uint64_t kMostOps = 250000;
static constexpr size_t kDeepest = 200;

LogicalResult Expander::count(Operation *at, uint64_t ops) {
  created += ops;
  if (created <= kMostOps)
    return success();
  return at->emitOpError("makes the program too large: with its calls inlined "
                         "it has ")
         << created << " ops up to here, the most is " << kMostOps
         << "; call in a weft.while, or fewer times";
}

bool Expander::isExpandable(Operation *op) {
  return isa<func::CallOp, ValueAndGradOp>(op);
}

FailureOr<Expander::Values> Expander::expand(Operation *op, ValueRange operands,
                                             Tape &tape) {
  auto valueAndGrad = dyn_cast<ValueAndGradOp>(op);
  StringRef name = valueAndGrad ? valueAndGrad.getCallee()
                                : cast<func::CallOp>(op).getCallee();
  // The callee exists and has these types, as both ops verify.
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
  if (stack.size() > kDeepest)
    return op->emitOpError("is the innermost of more than ")
           << kDeepest
           << " calls inside each other; inline some of the "
              "functions";
  auto results = valueAndGrad
                     ? differentiate(valueAndGrad, callee, operands, tape)
                     : inlineBody(callee, operands, tape);
  stack.pop_back();
  return results;
}

LogicalResult Expander::expandWithin(Operation *op) {
  if (op->getNumRegions() == 0)
    return success();
  SmallVector<Operation *> inner;
  op->walk([&](Operation *nested) {
    if (isExpandable(nested))
      inner.push_back(nested);
  });
  for (Operation *nested : inner) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(nested);
    SmallVector<Operation *> tape;
    FailureOr<Values> results = expand(nested, nested->getOperands(), tape);
    if (failed(results))
      return failure();
    nested->replaceAllUsesWith(*results);
    nested->erase();
  }
  return success();
}

FailureOr<Expander::Values>
Expander::inlineBody(func::FuncOp callee, ValueRange operands, Tape &tape) {
  IRMapping mapping;
  mapping.map(callee.getArguments(), operands);
  Block &body = callee.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (!isExpandable(&op)) {
      tape.push_back(builder.clone(op, mapping));
      if (failed(count(&op, 1)) || failed(expandWithin(tape.back())))
        return failure();
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
  // Each differentiated argument is a separate value while gradients are
  // summed, as one value may be passed for two arguments.
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
  SmallVector<Operation *> backward, before(body);
  Value one = constantLike(builder, op.getLoc(), results->front().getType(), 1);
  backward.push_back(one.getDefiningOp());
  FailureOr<Values> gradients = buildReverse(
      builder, op.getLoc(), body, results->front(), one, inputs, backward);
  if (failed(gradients) || failed(count(op, backward.size())))
    return failure();
  for (auto [gradient, input] : llvm::zip_equal(*gradients, inputs))
    results->push_back(
        gradient ? gradient
                 : constantLike(builder, op.getLoc(), input.getType(), 0));
  eraseReplaced(before, body, *results);
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

} // namespace weft
