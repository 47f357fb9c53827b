#include "weft/runtime/program/DType.h"

#include "weft/base/ElementTypes.h"

namespace weft::runtime {

bool isValid(DType dtype) { return dtype <= DType::MAX; }

int64_t elementBytes(DType dtype) {
  return int64_t(byteWidth(ElementType(dtype)));
}

bool isFloat(DType dtype) { return weft::isFloat(ElementType(dtype)); }

const char *name(DType dtype) {
  return factsOf(ElementType(dtype)).name.data();
}

} // namespace weft::runtime
