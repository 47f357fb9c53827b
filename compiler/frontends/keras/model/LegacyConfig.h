//===- LegacyConfig.h - configs of Keras 2 and of .h5 files -----*- C++ -*-===//
//
// Private to the Keras front end. Keras 2, and Keras 3 in .h5 files, write
// configs in an older form, which becomes that of Keras 3's to_json():
//
//   {"class_name": "Dense", "config": {"batch_input_shape": [null, 8], ...},
//    "inbound_nodes": [[["x", 0, 0, {}]]]}
//   {"module": "keras.layers", "class_name": "Dense", "config": {...},
//    "inbound_nodes": [{"args": [{"class_name": "__keras_tensor__", ...}], ...}]}
//
// The rules are those of Keras' own reader (keras/src/legacy/saving). Keys that
// only Keras 2 has are removed where their values change nothing; others stay,
// so that the reader of the layer refuses them by name.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_LEGACYCONFIG_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_LEGACYCONFIG_H

#include "weft/base/config/Json.h"
#include "weft/base/config/Table.h"

namespace weft::keras {

struct LegacyNotes {
  bool isKeras2 = false;
  /// What Keras 3 computes in another way than the Keras that wrote the file.
  std::vector<std::string> warnings;
  std::string refusal; ///< the first part that has no form in Keras 3
  void warn(const std::string &text);
};

/// Whether the JSON, which is a whole file, was written by Keras 1 or 2.
bool isLegacyJson(const Json &json);
/// A model in the form of Keras 3. `training` is the training_config of an .h5
/// file, or null.
Json modernModel(const Json &json, const Json &training, LegacyNotes &notes);
/// One entry of "layers", without its calls.
Json modernLayer(const Json &entry, LegacyNotes &notes);
/// The config of a model whose class is Sequential or Functional.
Json modernGraph(const std::string &className, const Json &config,
                 LegacyNotes &notes);
/// The compile_config of a training_config; `outputs` are the names of the
/// model's outputs.
Json modernCompile(const Json &training,
                   const std::vector<std::string> &outputs, LegacyNotes &notes);

/// Keys that this class of the table does not have are removed if they are
/// null, or if `dropped` has them with that value, or with null for any value.
void dropUnknown(Json &config, const TableRow &row, const Json &dropped);
/// An object in the form in which Keras 3 finds it by its module and class.
Json inModule(const char *module, const std::string &className, Json config);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_LEGACYCONFIG_H
