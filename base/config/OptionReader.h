//===- OptionReader.h - options from JSON ------------------------*- C++ -*-===//
//
// Includes Json.h, so needs exceptions. A worked example:
//
//   Fields fields(config, "layer \"drop\"", status);   // of {"rate": 1.5}
//   readOptions(dropout, fields);
//     the error  layer "drop": "rate" is 1.5; it must lie between 0 and 1
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_OPTIONREADER_H
#define WEFT_BASE_CONFIG_OPTIONREADER_H

#include "weft/base/config/Json.h"
#include "weft/base/config/Options.h"

namespace weft::keras {

/// Sets the object's members from the fields. Refuses fields that are not
/// options, except those that were read before.
void readOptions(Configured &object, Fields &fields);

/// Reads the policy of the config; refuses unsupported policies.
Policy readPolicy(Fields &config, const char *key = "dtype");

/// An object as written in a file: "mse", {"class_name": ..., "config": ...},
/// or a function.
struct Identifier {
  std::string written; ///< the name in the file
  bool isName = false; ///< whether it is a name or function without config
  Json config = Json::object();
};
Identifier readIdentifier(const Json &json, const std::string &where,
                          Status &status);

/// Reads the layers and calls of a model, as Options::graph does.
void readInnerGraph(Fields &fields, const AnyTable &table, bool isChain,
                    InnerGraph &graph);

/// Makes the object that the JSON names; returns null if the table does not
/// have it. Appends to the error in this case, and for refused options.
std::shared_ptr<Configured> readObject(const Json &json, const AnyTable &table,
                                       const std::string &where,
                                       Status &status);

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_OPTIONREADER_H
