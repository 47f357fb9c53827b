//===- Update.h - new weights from gradients --------------------*- C++ -*-===//
//
// Private to the Keras front end.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_UPDATE_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_UPDATE_H

#include "weft/compiler/frontends/keras/import/Ports.h"

namespace weft::keras {

/// Adds the optimizer's step, which replaces the trainable variables and the
/// optimizer's variables in `values`. `gradients` has the order of the former.
void updateWeights(mlir::OpBuilder &builder, const Model &model,
                   llvm::SmallVector<Value> gradients, StepValues &values);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_UPDATE_H
