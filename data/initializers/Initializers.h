//===- Initializers.h - the first value of a variable -----------*- C++ -*-===//
//
//   Result<Array> kernel = initialize(
//       R"({"class_name": "GlorotUniform", "config": {"seed": null}})",
//       /*seed=*/663307073, {784, 200});
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_INITIALIZERS_INITIALIZERS_H
#define WEFT_DATA_INITIALIZERS_INITIALIZERS_H

#include "weft/data/arrays/StoredArray.h"

namespace weft {

/// Makes a float32 array, or the uint32 state {seed, 0} of a SeedGenerator.
/// Random numbers are those of `type`; types of 16 bits have draws of their
/// own. Other numbers are float32. `json` is Keras' serialized initializer, or
/// its name as a JSON string ("zeros", "GlorotUniform"). An integer seed in the
/// config has precedence over `seed`.
Result<Array> initialize(std::string_view json, std::optional<uint32_t> seed,
                         const Shape &shape,
                         ElementType type = ElementType::Float32);

/// Makes the same array, whose blocks are drawn when they are read. An
/// orthogonal matrix keeps a triangle of its shorter side (Orthonormal.h), and
/// UnitForgetBias all of its values.
Result<StoredArray> initialArray(std::string_view json,
                                 std::optional<uint32_t> seed,
                                 const Shape &shape,
                                 ElementType type = ElementType::Float32);

} // namespace weft

#endif // WEFT_DATA_INITIALIZERS_INITIALIZERS_H
