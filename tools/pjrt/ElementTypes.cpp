//===- ElementTypes.cpp - element types of JAX and of plans ---------------===//

#include "weft/tools/pjrt/ElementTypes.h"

#include <cstdlib>

using namespace weft::pjrt;
using weft::plan::DType;

static constexpr ElementType kTypes[] = {
    {kPred, DType::i1, 1, "bool", 1},
    {kS8, DType::i8, 1, "int8", 2},
    {kS16, DType::i16, 2, "int16", 3},
    {kS32, DType::i32, 4, "int32", 4},
    {kS64, DType::i64, 8, "int64", 5},
    {kU8, DType::ui8, 1, "uint8", 6},
    {kU16, DType::ui16, 2, "uint16", 7},
    {kU32, DType::ui32, 4, "uint32", 8},
    {kU64, DType::ui64, 8, "uint64", 9},
    {kF16, DType::f16, 2, "float16", 10},
    {kBF16, DType::bf16, 2, "bfloat16", 16},
    {kF32, DType::f32, 4, "float32", 11},
    {kF64, DType::f64, 8, "float64", 12},
    {kC64, DType::c64, 8, "complex64", 15},
    {kC128, DType::c128, 16, "complex128", 18},
    {kF8E5M2, DType::f8E5M2, 1, "float8_e5m2", 19},
    {kF8E4M3FN, DType::f8E4M3FN, 1, "float8_e4m3fn", 20},
    {kS4, DType::i4, 1, "int4", 21},
    {kU4, DType::ui4, 1, "uint4", 22},
    {kF8E4M3B11FNUZ, DType::f8E4M3B11FNUZ, 1, "float8_e4m3b11fnuz", 23},
    {kF8E5M2FNUZ, DType::f8E5M2FNUZ, 1, "float8_e5m2fnuz", 24},
    {kF8E4M3FNUZ, DType::f8E4M3FNUZ, 1, "float8_e4m3fnuz", 25},
    {kS2, DType::i2, 1, "int2", 26},
    {kU2, DType::ui2, 1, "uint2", 27},
    {kF8E4M3, DType::f8E4M3, 1, "float8_e4m3", 28},
    {kF8E3M4, DType::f8E3M4, 1, "float8_e3m4", 29},
    {kF4E2M1FN, DType::f4E2M1FN, 1, "float4_e2m1fn", 32},
    {kF8E8M0FNU, DType::f8E8M0FNU, 1, "float8_e8m0fnu", 33},
};

const ElementType *weft::pjrt::elementType(BufferType type) {
  for (const ElementType &entry : kTypes)
    if (entry.type == type)
      return &entry;
  return nullptr;
}

const ElementType &weft::pjrt::elementType(DType type) {
  for (const ElementType &entry : kTypes)
    if (entry.planned == type)
      return entry;
  std::abort(); // a plan has no other types
}

std::string weft::pjrt::elementTypeNames() {
  std::string names;
  for (const ElementType &entry : kTypes)
    names += (names.empty() ? "" : ", ") + std::string(entry.name);
  return names;
}
