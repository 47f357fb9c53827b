//===- Policy.h - types of variables and of computation ----------*- C++ -*-===//
//
// keras.DTypePolicy: the element types of a layer's variables, and of its
// computation and results; and how model.quantize() changed its weights.
//
//   "mixed_bfloat16"           variables float32, computation bfloat16
//   "float64"                  both float32: JAX has no float64 by default
//   "int8_from_float32"        both float32, and weights of 8 bits with scales
//   "int4/128_from_float32"    weights of 4 bits; 128 rows share a scale
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_POLICY_H
#define WEFT_BASE_CONFIG_POLICY_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace weft::keras {

/// The mode of a policy of quantized weights.
struct Quantization {
  std::string mode; ///< int8, int4, float8, gptq or awq
  int64_t bits = 8;
  int64_t group = 0;      ///< rows of a weight that share a scale; 0: all
  int64_t history = 1024; ///< maxima that a scale of float8 follows
};

struct Policy {
  std::string variable = "float32", compute = "float32";
  std::optional<Quantization> quantization = std::nullopt;

  /// The policy with this name, if it is supported.
  static std::optional<Policy> named(const std::string &name);
  /// The names of the policies without quantized weights.
  static std::vector<std::string> names();
};

} // namespace weft::keras

#endif // WEFT_BASE_CONFIG_POLICY_H
