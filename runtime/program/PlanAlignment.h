//===- PlanAlignment.h - may the numbers of a plan be read? -----*- C++ -*-===//
//
// FlatBuffers' verifier checks where vectors lie, but not that their elements
// of 8 bytes lie at multiples of 8, as those of every honest writer do.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_PLANALIGNMENT_H
#define WEFT_RUNTIME_PROGRAM_PLANALIGNMENT_H

#include "weft/runtime/abi/plan_generated.h"

namespace weft::runtime {
/// Are all shapes, devices and layouts of a verified plan aligned?
bool isAligned(const plan::Program &program);
} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PLANALIGNMENT_H
