//===- Differentiate.cpp - a loss and its gradients -----------------------===//

#include "weft/compiler/frontends/keras/import/Differentiate.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The order of arguments: weights, then the variables that training updates
/// without gradients.
static SmallVector<unsigned> argumentOrder(const Model &model) {
  SmallVector<unsigned> order;
  for (bool isUpdated : {false, true})
    for (unsigned i = 0; i < model.variables.size(); ++i)
      if (model.variables[i].isUpdated == isUpdated)
        order.push_back(i);
  return order;
}

/// Creates the function, which takes the variables in order, the batch, and the
/// scale if there is one; it returns the results of `loss`, then the states.
static FailureOr<func::FuncOp> createLoss(OpBuilder &builder, ModuleOp module,
                                          const Model &model,
                                          ArrayRef<unsigned> order,
                                          TypeRange types, Batch batch,
                                          bool hasScale, LossFunction loss) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(module.getBody());
  Location loc = NameLoc::get(builder.getStringAttr("loss"));
  auto function = func::FuncOp::create(builder, builder.getUnknownLoc(), "loss",
                                       builder.getFunctionType(types, {}));
  function.setPrivate();
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToEnd(entry);
  auto argument = entry->args_begin();
  SmallVector<Value> local(model.variables.size());
  for (unsigned variable : order)
    local[variable] = *argument++;
  batch.each([&](Value &value) { value = *argument++; });
  auto made = loss(local, batch, hasScale ? Value(*argument) : Value());
  if (failed(made))
    return failure();
  SmallVector<Value> returned = std::move(*made);
  for (unsigned variable : order)
    if (model.variables[variable].isUpdated)
      returned.push_back(local[variable]);
  func::ReturnOp::create(builder, loc, returned);
  function.setFunctionType(
      builder.getFunctionType(types, ValueRange(returned).getTypes()));
  return function;
}

FailureOr<Differentiated>
weft::keras::valueAndGrad(OpBuilder &builder, ModuleOp module,
                          const Model &model, StepValues &values, Value scale,
                          LossFunction loss) {
  SmallVector<unsigned> order = argumentOrder(model), updated;
  SmallVector<int64_t> wrt;
  SmallVector<Value> operands;
  for (auto [position, variable] : llvm::enumerate(order)) {
    if (model.variables[variable].isUpdated)
      updated.push_back(variable);
    else if (model.variables[variable].trainable)
      wrt.push_back(int64_t(position));
    operands.push_back(values.variables[variable]);
  }
  values.batch.each([&](Value &value) { operands.push_back(value); });
  if (scale)
    operands.push_back(scale);
  FailureOr<func::FuncOp> function =
      createLoss(builder, module, model, order, ValueRange(operands).getTypes(),
                 values.batch, bool(scale), loss);
  if (failed(function))
    return failure();
  SmallVector<Type> types(function->getResultTypes());
  for (int64_t position : wrt)
    types.push_back(operands[position].getType());
  auto gradient = ValueAndGradOp::create(
      builder, NameLoc::get(builder.getStringAttr("loss")), types, "loss",
      operands, wrt);
  ValueRange results = gradient.getResults();
  Differentiated out;
  llvm::append_range(out.gradients, results.take_back(wrt.size()));
  results = results.drop_back(wrt.size());
  for (auto [variable, value] :
       llvm::zip_equal(updated, results.take_back(updated.size())))
    values.variables[variable] = value;
  llvm::append_range(out.results, results.drop_back(updated.size()));
  return out;
}
