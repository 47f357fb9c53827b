//===- CodeCache.h - compiled code on disk ----------------------*- C++ -*-===//
//
//   std::string key = keyOfCode({version, target, text});
//   if (!readCachedCode(folder, key, code))
//     writeCachedCode(folder, key, code = compile(text));
//
//
// Kernels' objects and whole programs, by a hash of all that they are made of.
// An empty name is no cache.
//
// Who can write to the folder can have code of theirs run by all who read it:
// it is used only where it belongs to the user of the process and nobody else
// may write it (refusalOfCache says why not). docs/trust.md is about that.
//
// Entries that nobody has used for a month are removed, and those used longest
// ago while there is more than a gigabyte. Processes need not agree on when:
// each write looks at the whole folder with a probability of 16 times its share
// of the limit, so that a sixteenth of it is written between two looks, by
// however many processes; and the first use on a day looks. An entry that is
// removed while another process reads it is read to its end; one that is
// removed before is compiled again.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_CODECACHE_H
#define WEFT_COMPILER_CODEGEN_CODECACHE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringRef.h"

#include <chrono>
#include <string>

namespace weft {

struct CacheLimits {
  uint64_t bytes = uint64_t(1) << 30;
  std::chrono::seconds age =
      std::chrono::hours(24 * 30); ///< since the last use
};

/// Where a person's cache is: $XDG_CACHE_HOME/weft, else ~/.cache/weft; empty
/// where neither is known.
std::string codeCacheFolder();

/// The reason why a folder is not used as a cache, and how to change that; empty for one
/// that is used, or that is still to be made.
std::string refusalOfCache(llvm::StringRef folder);

/// SHA-256 of the parts, each with its end.
std::string keyOfCode(llvm::ArrayRef<llvm::StringRef> parts);

/// False for an entry that is absent or damaged.
bool readCachedCode(llvm::StringRef folder, llvm::StringRef key,
                    llvm::SmallVectorImpl<char> &code,
                    const CacheLimits &limits = {});
/// Never fails: a cache that cannot be written is no cache.
void writeCachedCode(llvm::StringRef folder, llvm::StringRef key,
                     llvm::ArrayRef<char> code, const CacheLimits &limits = {});

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CODECACHE_H
