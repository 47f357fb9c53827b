//===- CustomStep.h - a training step of one's own ---------------*- C++ -*-===//
//
// The operations of keras.Model.train_step, for a custom training loop:
//
//   CustomStep step(&context, *model, {.batchSize = 64}, &distribution);
//   if (failed(step.begin()))
//     return failure();
//   auto found = step.valueAndGrad([&](Tensors &t, ArrayRef<Tensor> outputs,
//                                      const Batch &batch) {
//     return t.meanAll(myLoss(t, batch.labels[0], outputs[0]));
//   });
//   if (failed(found))
//     return failure();
//   step.apply(found->gradients);           // by the model's optimizer
//   step.show("loss", found->loss);
//   OwningOpRef<ModuleOp> module = step.finish();  // stage `imported`
//
// Gradients may be changed between valueAndGrad and apply, and at() builds
// further values. examples/training/custom_loop.cpp is a whole program.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_CUSTOMSTEP_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_CUSTOMSTEP_H

#include "weft/compiler/frontends/keras/import/Ports.h"

namespace weft::keras {

class CustomStep {
public:
  /// Requires a loss or a metric in the model for each output whose labels the
  /// loss uses. `distribution` may be null, for one device.
  CustomStep(mlir::MLIRContext *context,
             const Model &model [[clang::lifetimebound]],
             const ImportOptions &options, const Distribution *distribution);

  /// Begins the function; emits errors if the model has no optimizer, if the
  /// optimizer scales losses or does not fit the weights, and for layouts that
  /// do not fit the model.
  mlir::LogicalResult begin();
  /// Computes the loss, a scalar of f32, from the model's outputs in training.
  using Loss = llvm::function_ref<Tensor(
      Tensors &t, llvm::ArrayRef<Tensor> outputs, const Batch &batch)>;
  struct LossAndGradients {
    Value loss;
    llvm::SmallVector<Value> gradients; ///< one for each of model.trained()
  };
  /// Calls the model and the loss, adds the losses of layers and weights
  /// (add_loss, regularizers), and updates the states that the calls change.
  /// May be called once in a step.
  mlir::FailureOr<LossAndGradients> valueAndGrad(Loss loss);
  /// Adds the optimizer's step.
  void apply(llvm::SmallVector<Value> gradients);
  /// Returns the scalar from the step as the result metrics/NAME.
  void show(const std::string &name, Value scalar);
  mlir::OwningOpRef<mlir::ModuleOp> finish();

  /// Makes a builder for values of the step that are not part of the loss.
  Tensors at(const std::string &name) {
    return Tensors(builder, mlir::NameLoc::get(builder.getStringAttr(name)));
  }

private:
  mlir::OpBuilder builder;
  const Model &model;
  const Distribution *distribution;
  StepPorts ports;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  mlir::func::FuncOp function;
  StepValues before, values;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_CUSTOMSTEP_H
