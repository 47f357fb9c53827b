//===- Update.h - new weights from gradients --------------------*- C++ -*-===//
//
// Private to the Keras front end.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_UPDATE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_UPDATE_H

#include "weft/compiler/frontends/keras/import/Ports.h"

namespace weft::keras {

/// Adds the optimizer's step: replaces the trainable variables, whose gradients
/// are given in their order, and the optimizer's variables in `values`.
void updateWeights(mlir::OpBuilder &builder, const Model &model,
                   llvm::SmallVector<Value> gradients, StepValues &values);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_UPDATE_H
