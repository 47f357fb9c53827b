//===- CallbackTable.h - the callbacks that fit has -------------*- C++ -*-===//
//
//   auto made = makeCallback("EarlyStopping(patience=3)"s, "--callback");
//   made = makeCallback(
//       R"({"class_name": "EarlyStopping", "config": {"patience": 3}})"s, "");
//
// A callback is written as in a Keras script, or as an object of JSON.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_TRAINING_CALLBACKS_CALLBACKTABLE_H
#define WEFT_RUNTIME_TRAINING_CALLBACKS_CALLBACKTABLE_H

#include "weft/runtime/training/callbacks/Callback.h"

namespace weft {

/// Makes a callback; messages begin with `where`.
Result<std::unique_ptr<Callback>> makeCallback(const nlohmann::json &said,
                                               const std::string &where);
Result<std::unique_ptr<Callback>> makeCallback(const std::string &text,
                                               const std::string &where);

/// Parses a call, or a name alone, to {"class_name": NAME, "config": {...}},
/// and returns an object of JSON as it is; arguments of a call without a name
/// are called "0", "1" and so on. Nested calls are such objects, too.
Result<nlohmann::json> readPythonCall(const std::string &text);

} // namespace weft

#endif // WEFT_RUNTIME_TRAINING_CALLBACKS_CALLBACKTABLE_H
