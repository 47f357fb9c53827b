//===- ProgramWork.h - how much a run of a program computes -----*- C++ -*-===//
//
// An estimate of a program's work, used to skip optimizations: 50 ms of them
// are wasted on a program that runs for 10 us, as do most programs at the start
// of a script.
//
//   plan.launch @elementwise_add_32(%x, %y)     32 elements, one op: 128
//   plan.launch @dot_16x784x200(%a, %b, %c)     16 * 784 * 200: 2,508,800
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_DRIVER_PROGRAMWORK_H
#define WEFT_COMPILER_DRIVER_PROGRAMWORK_H

#include "weft/dialects/plan/Plan.h"

namespace weft {

/// The iterations that a loop is assumed to have if their number is unknown:
/// its code is worth optimizing.
inline constexpr double kUnknownRounds = 100'000;

/// Instructions of a device in one run, to an order of magnitude.
double workOfProgram(plan::ProgramOp program);

/// The most work of all devices for which compile time counts more than speed:
/// a run takes some ten microseconds longer, compiling takes a third to a tenth
/// of the time.
inline constexpr double kBriefWork = 128 * 1024;

} // namespace weft

#endif // WEFT_COMPILER_DRIVER_PROGRAMWORK_H
