//===- LinkPlainObject.h - a shared object of one object --------*- C++ -*-===//
//
// lld takes a millisecond to start, which is a third of what a program of one
// op takes altogether. Such a program is one object with code and constants,
// which may call libm:
//
//   header | symbols, names, hash, relocations | code, constants, calls   r-x
//   addresses of libm's functions | .dynamic                              rw-
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_LINKPLAINOBJECT_H
#define WEFT_COMPILER_CODEGEN_CPU_LINKPLAINOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace weft::cpu {

/// What `ld.lld -shared` makes of an object for x86-64, without section
/// headers. False, with nothing written, where the object is for another
/// processor or has more in it than said above; then linkObjects() has to link
/// it.
bool linkPlainObject(llvm::ArrayRef<char> object,
                     llvm::SmallVectorImpl<char> &sharedObject);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_LINKPLAINOBJECT_H
