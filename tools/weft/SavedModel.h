//===- SavedModel.h - a Keras model's files ---------------------*- C++ -*-===//
//
//   auto values = savedValues(archive.weights, savedVariables(model), "m.keras");
//   saveModel("trained.keras", model, *state.save());
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_SAVEDMODEL_H
#define WEFT_TOOLS_WEFT_SAVEDMODEL_H

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/tools/weft/SavedWeights.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::tool {

std::vector<SavedVariable> savedVariables(const keras::Model &model);

/// A .keras file that Keras loads; `values` by variable path.
Status saveModel(const std::string &path, const keras::Model &model,
                 const std::vector<NamedArray> &values);

/// The weights of such a file alone, .weights.h5.
Status saveModelWeights(const std::string &path, const keras::Model &model,
                        const std::vector<NamedArray> &values);

/// Adds to the ports' metadata what a training loop needs to know of the model:
///
///   {..., "saved": "layers/dense/vars/0"}    a variable's place in a .keras file
///   {"layer": "images"}                      of the only input or output
///   {"classes": 10}                          labels are classes
///
/// A weight of `saved`, the values in the model's file, loses its initializer: a
/// compiled step must not begin with other weights than the model it was.
void describePorts(mlir::func::FuncOp step, const keras::Model &model,
                   const std::vector<NamedArray> &saved);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_SAVEDMODEL_H
