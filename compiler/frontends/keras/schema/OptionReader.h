//===- OptionReader.h - options from JSON ------------------------*- C++ -*-===//
//
// Private to the Keras front end, as Json.h is. A worked example:
//
//   readOptions(dropout, {"rate": 1.5}, "layer \"drop\"", error)
//     error  layer "drop": "rate" is 1.5; it must lie between 0 and 1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_OPTIONREADER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_OPTIONREADER_H

#include "weft/compiler/frontends/keras/schema/Json.h"
#include "weft/compiler/frontends/keras/schema/Options.h"

namespace weft::keras {

/// Sets the object's members from the fields; refuses fields that are neither
/// options nor read before.
void readOptions(Configured &object, Fields &fields);

/// The config's policy; refuses those that are not supported.
Policy readPolicy(Fields &config, const char *key = "dtype");

/// An object as written in a file: "mse", {"class_name", "config"} or a
/// function.
struct Identifier {
  std::string written; ///< the name in the file
  bool isName = false; ///< a name or a function, which have no config
  Json config = Json::object();
};
Identifier readIdentifier(const Json &json, const std::string &where,
                          std::string &error);

/// The object that the JSON names; null and an error if it is not in the table.
std::shared_ptr<Configured> readObject(const Json &json, const AnyTable &table,
                                       const std::string &where,
                                       std::string &error);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_OPTIONREADER_H
