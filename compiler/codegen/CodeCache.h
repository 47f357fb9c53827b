//===- CodeCache.h - compiled code on disk ----------------------*- C++ -*-===//
//
//   std::string key = keyOfCode({version, target, text});
//   if (!readCachedCode(folder, key, code))
//     writeCachedCode(folder, key, code = compile(text));
//
//
// The cache has kernels' objects and whole programs, by a hash of all their
// inputs. An empty folder name means no cache.
//
// Whoever can write to the folder can make its readers run code, so it is used
// only if it belongs to the user of the process and nobody else may write it
// (refusalOfCache returns the reason). See docs/trust.md.
//
// Entries without a use for a month are removed, and the least recently used
// ones while there is more than a gigabyte. Processes do not coordinate this:
// each write scans the folder with a probability of 16 times its share of the
// limit, so that about a sixteenth of the limit is written between two scans,
// by however many processes; and the first use on a day scans. An entry that is
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

/// The user's cache folder: $XDG_CACHE_HOME/weft, else ~/.cache/weft; empty if
/// neither is known.
std::string codeCacheFolder();

/// The reason why a folder is not used as a cache, and how to change that;
/// empty for a usable folder, or one that does not exist yet.
std::string refusalOfCache(llvm::StringRef folder);

/// The SHA-256 of the fields and their lengths.
std::string keyOfCode(llvm::ArrayRef<llvm::StringRef> fields);

/// Reads an entry; false if it is absent or damaged.
bool readCachedCode(llvm::StringRef folder, llvm::StringRef key,
                    llvm::SmallVectorImpl<char> &code,
                    const CacheLimits &limits = {});
/// Writes an entry. Never fails: a cache that cannot be written is not used.
void writeCachedCode(llvm::StringRef folder, llvm::StringRef key,
                     llvm::ArrayRef<char> code, const CacheLimits &limits = {});

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CODECACHE_H
