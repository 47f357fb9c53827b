//===- PlanAlignment.h - may the numbers of a plan be read? -----*- C++ -*-===//
//
// FlatBuffers' verifier checks the positions of vectors, but not that elements
// of 8 bytes are at multiples of 8, as every correct writer puts them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_PLANALIGNMENT_H
#define WEFT_RUNTIME_PROGRAM_PLANALIGNMENT_H

#include "weft/runtime/abi/plan_generated.h"

namespace weft::runtime {
/// Whether all vectors of 8-byte numbers and of sub-axes that readPlan reads
/// from a verified plan are aligned.
bool isAligned(const plan::Program &program);
} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PLANALIGNMENT_H
