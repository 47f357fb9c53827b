//===- Forward.h - a model's calls as weft ops -------------------*- C++ -*-===//
//
// Private to the Keras front end: builds the model's forward pass.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_FORWARD_H
#define WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_FORWARD_H

#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// The layouts of the layers' outputs, by layer name; the output of a layer
/// without an entry is not annotated.
using OutputLayouts = std::map<std::string, ResolvedLayout>;

struct ForwardResult {
  llvm::SmallVector<Value> outputs;
  llvm::SmallVector<Value> masks;     ///< one for each output, or null
  llvm::SmallVector<Value> penalties; ///< scalars that calls add to the loss
};

/// Where layers are: the layouts of their outputs, and their parts of the mesh,
/// by number, and those of their calls, by node; without parts all are on the
/// whole mesh.
struct LayerLayouts {
  const OutputLayouts &outputs;
  llvm::ArrayRef<LayerPlace> places, callPlaces;
  mlir::Attribute mesh;    ///< null without layouts and parts
  bool isPipeline = false; ///< outputs stay in their stage
  bool namesCalls = false; ///< ImportOptions::namesCalls
};

/// The node of the model whose call made an op, or whose gradient it is; none for
/// other ops, and without ImportOptions::namesCalls.
std::optional<unsigned> callOf(mlir::Location location);

/// Runs the layers on `inputs` and `variables` (one value for each of the
/// model's). Variables that training updates are replaced by their new values.
mlir::FailureOr<ForwardResult>
buildForward(mlir::OpBuilder &builder, const Model &model,
             llvm::MutableArrayRef<Value> variables,
             llvm::ArrayRef<Value> inputs, bool training,
             const LayerLayouts &layouts);

/// Adds the penalties of calls and those of the trainable weights' regularizers
/// to the loss.
Value withPenalties(Tensors &t, const Model &model,
                    llvm::ArrayRef<Value> variables,
                    llvm::ArrayRef<Value> penalties, Value loss);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_IMPORT_FORWARD_H
