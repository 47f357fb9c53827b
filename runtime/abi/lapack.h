//===- lapack.h - the LAPACK that programs call -----------------*- C++ -*-===//
//
// A process that has a LAPACK of its own, as Python with SciPy, gives a runtime
// the addresses of its routines:
//
//   {"dgetrf", "dgesdd", ...}   {dgetrf_, dgesdd_, ...}   "SciPy 1.17.1"
//
// Without a call, programs use the files of WEFT_LAPACK_LIBRARIES (separated by
// colons), or libopenblas.so.0 or liblapack.so.3 of the system. Part of the C
// API, like weft.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_LAPACK_H
#define WEFT_RUNTIME_ABI_LAPACK_H

#include "weft/runtime/abi/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Sets where programs that have not run yet find routines of LAPACK and BLAS:
/// `names` such as "dgetrf", with the addresses of Fortran's functions with
/// integers of 32 bits. `source` says in messages whose they are. Programs that
/// have run keep theirs.
weft_error *weft_runtime_set_lapack(weft_runtime *runtime, const char *source,
                                    const char *const *names,
                                    void *const *addresses, size_t count);

#ifdef __cplusplus
}
#endif

#endif /* WEFT_RUNTIME_ABI_LAPACK_H */
