//===- ElementTypes.h - the types of a tensor's elements --------*- C++ -*-===//
//
//   ElementType type = *elementTypeNamed("bfloat16");   // BFloat16
//   size_t bytes = byteWidth(type);                     // 2
//   std::string_view text = factsOf(type).name;         // "bf16"
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_ELEMENTTYPES_H
#define WEFT_BASE_ELEMENTTYPES_H

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string_view>

namespace weft {

/// The types of ElementTypes.def, in its order.
enum class ElementType : uint8_t {
#define WEFT_ELEMENT(NAME, name, Name, ...) Name,
#include "weft/base/ElementTypes.def"
};

enum class ElementKind : uint8_t { Float, Bool, Signed, Unsigned, Complex };

struct ElementFacts {
  std::string_view name; ///< name in plans and messages: f32
  ElementKind kind;
  int bits;               ///< the bits of both components, for a complex number
  std::string_view numpy; ///< name in NumPy, Keras and JAX: float32
  int pjrt;               ///< PJRT_Buffer_Type
  int xla;                ///< PrimitiveType of xla_data.proto
  int vhlo;               ///< type code in VHLO's bytecode
  int builtin;            ///< type code that MLIR's bytecode has since MLIR 23

  /// The bytes of an element in memory: at least one.
  constexpr size_t bytes() const { return size_t(bits + 7) / 8; }
};

inline constexpr ElementFacts kElementTypes[] = {
#define WEFT_ELEMENT(NAME, name, Name, kind, bits, numpy, Type, ...)           \
  {#name, ElementKind::kind, bits, numpy, __VA_ARGS__},
#include "weft/base/ElementTypes.def"
};
inline constexpr int elementTypeCount = std::size(kElementTypes);

constexpr const ElementFacts &factsOf(ElementType type) {
  return kElementTypes[size_t(type)];
}
constexpr size_t byteWidth(ElementType type) { return factsOf(type).bytes(); }
/// The name of a type in NumPy and Keras: float32, bfloat16, bool, ...
constexpr std::string_view name(ElementType type) {
  return factsOf(type).numpy;
}
std::optional<ElementType> elementTypeNamed(std::string_view name);
constexpr bool isFloat(ElementType type) {
  return factsOf(type).kind == ElementKind::Float;
}
/// The type of arrays that hold all values of `type`: Float32 for floats of at
/// most eight bits, Int8 and UInt8 for shorter integers, else `type` itself.
ElementType carrierOf(ElementType type);
/// The type of a number's components: Float32 for Complex64; a real type is its
/// own component.
ElementType componentType(ElementType type);

} // namespace weft

#endif // WEFT_BASE_ELEMENTTYPES_H
