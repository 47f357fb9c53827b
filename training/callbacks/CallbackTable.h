//===- CallbackTable.h - the callbacks that fit has -------------*- C++ -*-===//
//
//   auto made = makeCallback("EarlyStopping(patience=3)"s, "callback");
//   made = makeCallback(
//       R"({"class_name": "EarlyStopping", "config": {"patience": 3}})"s, "");
//
// A callback is written as in a Keras script, or as an object of JSON.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_CALLBACKS_CALLBACKTABLE_H
#define WEFT_TRAINING_CALLBACKS_CALLBACKTABLE_H

#include "weft/training/callbacks/Callback.h"

namespace weft {

/// Makes a callback; messages begin with `where`.
Result<std::unique_ptr<Callback>> makeCallback(const nlohmann::json &said,
                                               const std::string &where);
Result<std::unique_ptr<Callback>> makeCallback(const std::string &text,
                                               const std::string &where);

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_CALLBACKTABLE_H
