//===- Adapters.h - the functions that call LAPACK's routines ---*- C++ -*-===//
//
// Private to base/lapack: the functions of RoutineTable.cpp, by theme.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_LAPACK_ADAPTERS_H
#define WEFT_BASE_LAPACK_ADAPTERS_H

#include "weft/base/lapack/Routine.h"

namespace weft::lapack {

using Adapters = std::array<Adapter, 4>;

// Factors and solutions.
extern const Adapters kGetrf, kPotrf, kTrsm, kGeqrf, kGeqp3, kOrgqr, kOrmqr,
    kGtsv, kTrsyl;
// Spectra and the forms that lead to them.
extern const Adapters kSyevd, kGesdd, kGesvd, kGeev, kGees, kGehrd, kSytrd;

} // namespace weft::lapack

#endif // WEFT_BASE_LAPACK_ADAPTERS_H
