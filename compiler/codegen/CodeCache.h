//===- CodeCache.h - compiled code on disk ----------------------*- C++ -*-===//
//
//   if (!readCachedCode(folder, keyOfCode({version, target, text}), code)) {
//     code = ...;
//     writeCachedCode(folder, key, code);
//   }
//
// Kernels' objects and whole programs, by a hash of all that they are made of.
// A folder keeps what was used within a month, up to a gigabyte. An empty name
// is no cache.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CODECACHE_H
#define WEFT_COMPILER_CODEGEN_CODECACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace weft {

/// Where a person's cache is: $XDG_CACHE_HOME/weft, else ~/.cache/weft; empty
/// where neither is known.
std::string codeCacheFolder();

/// SHA-256 of the parts, each with its end.
std::string keyOfCode(llvm::ArrayRef<llvm::StringRef> parts);

/// False for an entry that is absent or damaged.
bool readCachedCode(llvm::StringRef folder, llvm::StringRef key,
                    llvm::SmallVectorImpl<char> &code);
/// Never fails: a cache that cannot be written is no cache.
void writeCachedCode(llvm::StringRef folder, llvm::StringRef key,
                     llvm::ArrayRef<char> code);

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CODECACHE_H
