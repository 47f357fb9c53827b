//===- Hash.h - a hash of bytes ---------------------------------*- C++ -*-===//
//
// Unsafe for bytes that an attacker may choose to make two hashes equal.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_HASH_H
#define WEFT_BASE_HASH_H

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace weft {

/// Computes a variant of FNV-1a over little-endian 8-byte words, the tail by
/// bytes.
/// weft_hash of weft.h returns the same.
inline uint64_t hashBytes(const void *data, size_t bytes) {
  const auto *p = static_cast<const unsigned char *>(data);
  uint64_t hash = 0xcbf29ce484222325ull;
  for (; bytes >= 8; p += 8, bytes -= 8) {
    uint64_t word;
    std::memcpy(&word, p, 8);
    hash = (hash ^ word) * 0x100000001b3ull;
    hash ^= hash >> 32; // Products never move high bits down.
  }
  for (; bytes; ++p, --bytes)
    hash = (hash ^ *p) * 0x100000001b3ull;
  return hash;
}

} // namespace weft

#endif // WEFT_BASE_HASH_H
