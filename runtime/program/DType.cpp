#include "weft/runtime/program/DType.h"

namespace weft::runtime {

bool isValid(DType dtype) { return dtype <= DType::MAX; }

int64_t elementBytes(DType dtype) {
  switch (dtype) {
  case DType::c128:
    return 16;
  case DType::c64:
  case DType::f64:
  case DType::i64:
  case DType::ui64:
    return 8;
  case DType::f32:
  case DType::i32:
  case DType::ui32:
    return 4;
  case DType::f16:
  case DType::bf16:
  case DType::i16:
  case DType::ui16:
    return 2;
  default:
    return 1;
  }
}

bool isFloat(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 ||
         dtype == DType::bf16 || dtype == DType::f8E4M3FN ||
         dtype == DType::f8E5M2 || dtype >= DType::f8E4M3;
}

const char *name(DType dtype) { return plan::EnumNameDType(dtype); }

} // namespace weft::runtime
