//===- SavedPaths.h - where Keras saves each variable -----------*- C++ -*-===//
//
// In a .keras or .weights.h5 file, a layer's group is named after its class and
// its number among the layers of that class, not after the layer. For
//
//   Input -> Flatten -> Dense(200, no bias, name="d1") -> Dense(10, name="d2")
//
//   d1/kernel            layers/dense/vars/0
//   d2/kernel, d2/bias   layers/dense_1/vars/0, layers/dense_1/vars/1
//   rm_sprop/iteration   optimizer/vars/0, and so on in Keras' order
//
// States of random numbers are not saved, as in Keras. Variables of an inner
// optimizer are saved among the outer one's and, once more, in a group of their
// own.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_SAVEDPATHS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_SAVEDPATHS_H

#include "weft/compiler/frontends/keras/model/Model.h"

namespace weft::keras {

struct SavedPath {
  std::string path, savedPath;
  bool ofOptimizer = false;
  /// Whether the value is saved a second time and not read there: that of an
  /// inner optimizer, or of a weight that is normalized.
  bool isCopy = false;
};
std::vector<SavedPath> savedPaths(const Model &model);
/// The paths in files of Keras before 3.10, or of later versions.
std::vector<SavedPath> savedPaths(const Model &model, bool isBefore310);
/// Whether Keras before 3.10 wrote the model's file.
bool isSavedBefore310(const Model &model);

/// A group of the file and its attribute `name`; layers without variables also
/// have a group, except functions and the inputs of a Sequential.
struct SavedGroup {
  std::string path, name;
};
std::vector<SavedGroup> savedGroups(const Model &model);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_SAVEDPATHS_H
