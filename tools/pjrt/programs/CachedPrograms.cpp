//===- CachedPrograms.cpp - the cache of code, for known_programs.py ------===//
//
// Functions with which Python stores jaxlib's results for programs among the
// compiler's entries, by the same rules: CodeCache.h.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/CodeCache.h"

#include <cstdlib>
#include <cstring>

using namespace weft;

/// Reads an entry to memory for free(), and its size; null if there is none.
extern "C" __attribute__((visibility("default"))) void *
weft_pjrt_read_cached(const char *key, size_t *bytes) {
  llvm::SmallVector<char> code;
  if (!readCachedCode(codeCacheFolder(), key, code))
    return nullptr;
  void *copy = std::malloc(code.size());
  if (copy)
    std::memcpy(copy, code.data(), code.size());
  *bytes = code.size();
  return copy;
}

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_free_cached(void *memory) {
  std::free(memory);
}

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_write_cached(const char *key, const char *code, size_t bytes) {
  writeCachedCode(codeCacheFolder(), key, llvm::ArrayRef<char>(code, bytes));
}
