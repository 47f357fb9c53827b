//===- LinkPlainObject.h - a shared object of one object --------*- C++ -*-===//
//
// A linker for plain objects: lld takes a millisecond to start, a third of the
// time to compile a program of one op. Such a program is one object with code
// and constants, which may call libm:
//
//   header | symbols, relocations, hash, names | code, constants, calls   r-x
//   addresses of libm's functions | .dynamic                              rw-
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CPU_LINKPLAINOBJECT_H
#define WEFT_COMPILER_CODEGEN_CPU_LINKPLAINOBJECT_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"

namespace weft::cpu {

/// Links an object for x86-64 as `ld.lld -shared` does, without section
/// headers. Returns false and writes nothing if the object is for another
/// processor, or has sections, symbols or relocations that are not in plain
/// objects; linkObjects() then links it.
bool linkPlainObject(llvm::ArrayRef<char> object,
                     llvm::SmallVectorImpl<char> &sharedObject);

} // namespace weft::cpu

#endif // WEFT_COMPILER_CODEGEN_CPU_LINKPLAINOBJECT_H
