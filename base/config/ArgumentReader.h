//===- ArgumentReader.h - arguments from JSON --------------------*- C++ -*-===//
//
// Includes Json.h, so needs exceptions. Keras writes a slice as
//   {"class_name": "__slice__", "config": {"start": 1, "stop": null, "step": null}}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_ARGUMENTREADER_H
#define WEFT_BASE_CONFIG_ARGUMENTREADER_H

#include "weft/base/config/Argument.h"
#include "weft/base/config/Json.h"

#include <functional>

namespace weft::keras {

/// Returns the position of the tensor that a keras_history names.
using TensorReader = std::function<int64_t(const Json &)>;

/// Reads an argument; records an error for a value that is none of the kinds.
Argument readArgument(const Json &json, const TensorReader &tensor,
                      const std::string &where, Status &status);

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_ARGUMENTREADER_H
