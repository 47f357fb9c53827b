//===- Policy.h - types of variables and of computation ----------*- C++ -*-===//
//
// keras.DTypePolicy: the element types of a layer's variables, and of its
// computation and results.
//
//   "mixed_bfloat16"   variables float32, computation bfloat16
//   "float64"          both float32: JAX has no float64 by default
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_POLICY_H
#define WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_POLICY_H

#include <optional>
#include <string>
#include <vector>

namespace weft::keras {

struct Policy {
  std::string variable = "float32", compute = "float32";

  /// The policy with this name, if it is supported.
  static std::optional<Policy> named(const std::string &name) {
    if (name == "mixed_bfloat16")
      return Policy{"float32", "bfloat16"};
    if (name == "mixed_float16")
      return Policy{"float32", "float16"};
    if (name == "bfloat16" || name == "float16")
      return Policy{name, name};
    if (name == "float32" || name == "float64")
      return Policy{};
    return std::nullopt;
  }
  static std::vector<std::string> names() {
    return {"float32",  "float64",       "mixed_bfloat16",
            "bfloat16", "mixed_float16", "float16"};
  }
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_SCHEMA_POLICY_H
