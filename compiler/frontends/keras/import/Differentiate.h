//===- Differentiate.h - a loss and its gradients ----------------*- C++ -*-===//
//
// Private to the Keras front end. The counterpart of jax.value_and_grad(loss,
// has_aux=True) for a function of the model's variables and a batch.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_DIFFERENTIATE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_DIFFERENTIATE_H

#include "weft/compiler/frontends/keras/import/Ports.h"

namespace weft::keras {

/// Computes the scalar that is differentiated, then other values, from the
/// variables, the batch and `scale`, which may be null. Replaces the variables
/// that training updates by their new values.
using LossFunction =
    llvm::function_ref<mlir::FailureOr<llvm::SmallVector<Value>>(
        llvm::MutableArrayRef<Value> variables, const Batch &batch,
        Value scale)>;

struct Differentiated {
  llvm::SmallVector<Value> results;   ///< the loss function's results
  llvm::SmallVector<Value> gradients; ///< one for each of model.trained()
};

/// Writes the function @loss into the module and calls it together with its
/// derivative. Replaces the states that @loss updates in `values`.
mlir::FailureOr<Differentiated> valueAndGrad(mlir::OpBuilder &builder,
                                             mlir::ModuleOp module,
                                             const Model &model,
                                             StepValues &values, Value scale,
                                             LossFunction loss);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_DIFFERENTIATE_H
