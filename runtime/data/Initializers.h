//===- Initializers.h - Keras' initial values -------------------*- C++ -*-===//
//
//   Result<Array> kernel = initialize(
//       R"({"class_name": "GlorotUniform", "config": {"seed": null}})",
//       /*seed=*/663307073, {784, 200});
//
// The values are those of Keras 3 on JAX: uniform draws bit for bit, normal
// draws up to the last steps of the inverse error function, orthogonal
// matrices up to the rounding of the QR factorization.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_INITIALIZERS_H
#define WEFT_RUNTIME_DATA_INITIALIZERS_H

#include "weft/runtime/data/StoredArray.h"

namespace weft {

/// Makes a float32 array of numbers of `type`, whose draws differ for 16 bits.
/// `json` is Keras' serialized initializer, or its name as a JSON string
/// ("zeros", "GlorotUniform"). An integer seed in the config has precedence
/// over `seed`.
Result<Array> initialize(std::string_view json, std::optional<uint32_t> seed,
                         const Shape &shape,
                         ElementType type = ElementType::Float32);

/// The same, drawn when it is read, a block alone. Orthogonal matrices keep a triangle
/// of their shorter side besides (Orthonormal.h).
Result<StoredArray> initialArray(std::string_view json,
                                 std::optional<uint32_t> seed,
                                 const Shape &shape,
                                 ElementType type = ElementType::Float32);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_INITIALIZERS_H
