//===- DType.h - sizes and names of element types ---------------*- C++ -*-===//

#ifndef WEFT_RUNTIME_PROGRAM_DTYPE_H
#define WEFT_RUNTIME_PROGRAM_DTYPE_H

#include "weft/runtime/abi/plan_generated.h"

namespace weft::runtime {

using plan::DType;

bool isValid(DType dtype);
/// The bytes of an element; i1 takes one.
int64_t elementBytes(DType dtype);
bool isFloat(DType dtype);
/// The name of a type: f32, i64, ...
const char *name(DType dtype);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_DTYPE_H
