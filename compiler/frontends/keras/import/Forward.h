//===- Forward.h - a model's calls as weft ops -------------------*- C++ -*-===//
//
// Private to the Keras front end: the parts of importStep.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_FORWARD_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_FORWARD_H

#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// A layout for the model's layers, by name; null entries are not annotated.
using OutputLayouts = std::map<std::string, ResolvedLayout>;

struct ForwardResult {
  llvm::SmallVector<Value> outputs;
  llvm::SmallVector<Value> masks;     ///< of the outputs; null: none
  llvm::SmallVector<Value> penalties; ///< scalars that calls add to the loss
};

/// Runs the layers on `inputs` and `variables` (one value for each of the
/// model's; variables that training updates are replaced by the updated
/// values).
mlir::FailureOr<ForwardResult>
buildForward(mlir::OpBuilder &builder, const Model &model,
             llvm::MutableArrayRef<Value> variables,
             llvm::ArrayRef<Value> inputs, bool training,
             const OutputLayouts &layouts, mlir::Attribute mesh);

/// Adds the penalties of calls, and those of weights by their regularizers, to
/// the loss.
Value withPenalties(Tensors &t, const Model &model,
                    llvm::ArrayRef<Value> variables,
                    llvm::ArrayRef<Value> penalties, Value loss);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_FORWARD_H
