//===- ElementTypes.cpp - element types by PJRT's numbers -----------------===//

#include "weft/tools/pjrt/ElementTypes.h"

using namespace weft;

const ElementFacts *pjrt::elementType(BufferType type) {
  for (const ElementFacts &facts : kElementTypes)
    if (facts.pjrt == type)
      return &facts;
  return nullptr;
}

std::string pjrt::elementTypeNames() {
  std::string names;
  for (const ElementFacts &facts : kElementTypes)
    names.append(names.empty() ? "" : ", ").append(facts.numpy);
  return names;
}
