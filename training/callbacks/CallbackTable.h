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

#include "weft/base/config/Json.h"
#include "weft/training/callbacks/Callback.h"

namespace weft {

/// Makes a callback; messages begin with `where`.
Result<std::shared_ptr<Callback>> makeCallback(const keras::Json &said,
                                               const std::string &where);
Result<std::shared_ptr<Callback>> makeCallback(const std::string &text,
                                               const std::string &where);

const keras::Table<Callback> &callbackTable();

/// The callback's class and options, without the files that it writes: what a
/// run and the one that it resumes must share.
nlohmann::json settingsOf(const Callback &callback);

} // namespace weft

#endif // WEFT_TRAINING_CALLBACKS_CALLBACKTABLE_H
