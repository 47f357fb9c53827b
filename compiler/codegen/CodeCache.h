//===- CodeCache.h - compiled code on disk ----------------------*- C++ -*-===//
//
//   std::string key = keyOfCode({version, target, text});
//   if (!readCachedCode(folder, key, code))
//     writeCachedCode(folder, key, code = compile(text));
//
// The cache holds objects of kernels and whole programs. The key is a hash of
// all their inputs. An empty folder name means no cache.
//
// Anyone who can write to the folder can make its readers run code, so it is
// used only if it belongs to the user of the process and no other may write it
// (refusalOfCache returns the reason). See docs/trust.md.
//
// A scan of the folder removes entries without a use for a month. If more than
// a gigabyte is left, it removes the least recently used entries down to three
// quarters of that. Processes do not coordinate this. Each write scans with a
// probability of 16 times its share of the limit, so that about a sixteenth of
// the limit is written between two scans, by any number of processes. The first
// use after a day without a scan scans, too. A process that reads an entry can
// read it to the end after its removal.
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
      std::chrono::hours(24 * 30); ///< age since the last use
};

/// The user's cache folder: $XDG_CACHE_HOME/weft, else ~/.cache/weft; empty if
/// neither is known.
std::string codeCacheFolder();

/// The reason why a folder is not used as a cache, and how to change that;
/// empty for a usable folder, and for a path without a folder.
std::string refusalOfCache(llvm::StringRef folder);

/// The SHA-256, in hexadecimal digits, of the fields, each after its length.
std::string keyOfCode(llvm::ArrayRef<llvm::StringRef> fields);

/// Reads an entry; false if it is absent or damaged, or the folder is not used.
bool readCachedCode(llvm::StringRef folder, llvm::StringRef key,
                    llvm::SmallVectorImpl<char> &code,
                    const CacheLimits &limits = {});
/// Writes an entry. Never fails: a cache that cannot be written is not used.
void writeCachedCode(llvm::StringRef folder, llvm::StringRef key,
                     llvm::ArrayRef<char> code, const CacheLimits &limits = {});

} // namespace weft

#endif // WEFT_COMPILER_CODEGEN_CODECACHE_H
