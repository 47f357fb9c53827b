#include "weft/runtime/program/DType.h"

#include "weft/layout/ElementBytes.h"

namespace weft::runtime {

bool isValid(DType dtype) { return dtype <= DType::MAX; }

int64_t elementBytes(DType dtype) {
  // The switch has no default, so that the compiler warns of a missing type.
  switch (dtype) {
  case DType::c128:
    return weft::elementBytes(64, /*components=*/2);
  case DType::c64:
    return weft::elementBytes(32, /*components=*/2);
  case DType::f64:
  case DType::i64:
  case DType::ui64:
    return weft::elementBytes(64);
  case DType::f32:
  case DType::i32:
  case DType::ui32:
    return weft::elementBytes(32);
  case DType::f16:
  case DType::bf16:
  case DType::i16:
  case DType::ui16:
    return weft::elementBytes(16);
  case DType::i8:
  case DType::ui8:
  case DType::f8E4M3FN:
  case DType::f8E5M2:
  case DType::f8E4M3:
  case DType::f8E3M4:
  case DType::f8E4M3FNUZ:
  case DType::f8E5M2FNUZ:
  case DType::f8E4M3B11FNUZ:
  case DType::f8E8M0FNU:
    return weft::elementBytes(8);
  case DType::i4:
  case DType::ui4:
  case DType::f4E2M1FN:
    return weft::elementBytes(4);
  case DType::i2:
  case DType::ui2:
    return weft::elementBytes(2);
  case DType::i1:
    return weft::elementBytes(1);
  }
  return 0; // isValid has refused other types
}

bool isFloat(DType dtype) {
  return dtype == DType::f32 || dtype == DType::f64 || dtype == DType::f16 ||
         dtype == DType::bf16 || dtype == DType::f8E4M3FN ||
         dtype == DType::f8E5M2 || dtype >= DType::f8E4M3;
}

const char *name(DType dtype) { return plan::EnumNameDType(dtype); }

} // namespace weft::runtime
