//===- SavedConfig.h - the config.json of a saved model ---------*- C++ -*-===//
//
// The model's own text with the compile_config that training used. A model.json
// that was read with --optimizer adam --learning-rate 0.01 --loss mse has:
//
//   "compile_config": {"optimizer": {"module": "keras.optimizers",
//       "class_name": "Adam", "config": {"name": "adam", "learning_rate":
//       0.009999999776482582, ...}, "registered_name": null},
//     "loss": "mse", "loss_weights": null, "metrics": null, ...}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_MODEL_SAVEDCONFIG_H
#define WEFT_COMPILER_FRONTENDS_KERAS_MODEL_SAVEDCONFIG_H

#include "weft/compiler/frontends/keras/model/Model.h"

namespace weft::keras {

/// The model's config.json as Keras writes it; the unchanged text if no option
/// replaced a part of compile_config.
std::string savedConfig(const Model &model);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_MODEL_SAVEDCONFIG_H
