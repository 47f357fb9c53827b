//===- ElementTypes.cpp - the types of a tensor's elements ----------------===//

#include "weft/base/ElementTypes.h"

namespace weft {

std::optional<ElementType> elementTypeNamed(std::string_view name) {
  for (int i = 0; i < elementTypeCount; ++i)
    if (kElementTypes[i].numpy == name)
      return ElementType(i);
  return std::nullopt;
}

ElementType carrierOf(ElementType type) {
  const ElementFacts &facts = factsOf(type);
  switch (facts.kind) {
  case ElementKind::Float:
    return facts.bits <= 8 ? ElementType::Float32 : type;
  case ElementKind::Signed:
    return facts.bits < 8 ? ElementType::Int8 : type;
  case ElementKind::Unsigned:
    return facts.bits < 8 ? ElementType::UInt8 : type;
  case ElementKind::Bool:
  case ElementKind::Complex:
    break;
  }
  return type;
}

ElementType componentType(ElementType type) {
  const ElementFacts &facts = factsOf(type);
  if (facts.kind != ElementKind::Complex)
    return type;
  return facts.bits == 64 ? ElementType::Float32 : ElementType::Float64;
}

} // namespace weft
