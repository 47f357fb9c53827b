//===- ElementTypes.cpp - element types of JAX and of plans ---------------===//

#include "weft/tools/pjrt/ElementTypes.h"

#include <cstdlib>

using namespace weft::pjrt;
using weft::plan::DType;

static constexpr ElementType kTypes[] = {
    {kPred, DType::i1, 1, "bool", "i1", "false"},
    {kS8, DType::i8, 1, "int8", "i8", "0"},
    {kS16, DType::i16, 2, "int16", "i16", "0"},
    {kS32, DType::i32, 4, "int32", "i32", "0"},
    {kS64, DType::i64, 8, "int64", "i64", "0"},
    {kU8, DType::ui8, 1, "uint8", "ui8", "0"},
    {kU16, DType::ui16, 2, "uint16", "ui16", "0"},
    {kU32, DType::ui32, 4, "uint32", "ui32", "0"},
    {kU64, DType::ui64, 8, "uint64", "ui64", "0"},
    {kF16, DType::f16, 2, "float16", "f16", "0.0"},
    {kBF16, DType::bf16, 2, "bfloat16", "bf16", "0.0"},
    {kF32, DType::f32, 4, "float32", "f32", "0.0"},
    {kF64, DType::f64, 8, "float64", "f64", "0.0"},
    {kC64, DType::c64, 8, "complex64", "complex<f32>", "(0.0, 0.0)"},
    {kC128, DType::c128, 16, "complex128", "complex<f64>", "(0.0, 0.0)"},
    {kF8E5M2, DType::f8E5M2, 1, "float8_e5m2", "f8E5M2", "0.0"},
    {kF8E4M3FN, DType::f8E4M3FN, 1, "float8_e4m3fn", "f8E4M3FN", "0.0"},
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
