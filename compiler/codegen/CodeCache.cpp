//===- CodeCache.cpp - compiled code on disk ------------------------------===//
//
// An entry is the file llvmcache-KEY (a name that LLVM's pruning asks for): 32
// bytes of SHA-256 over the code, then the code. It is written under another
// name and renamed, so readers never see half of it.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/CodeCache.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/CachePruning.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/SHA256.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace weft;

std::string weft::codeCacheFolder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/weft";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/weft";
  return "";
}

static std::array<uint8_t, 32> digest(llvm::StringRef bytes) {
  return llvm::SHA256::hash(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

static std::string fileOf(llvm::StringRef folder, llvm::StringRef key) {
  return (folder + "/llvmcache-" + key).str();
}

/// Looks at the folder a few times an hour at most.
static void prune(llvm::StringRef folder) {
  llvm::CachePruningPolicy policy;
  policy.Expiration = std::chrono::hours(24 * 30);
  policy.MaxSizeBytes = uint64_t(1) << 30;
  llvm::pruneCache(folder, policy);
}

std::string weft::keyOfCode(llvm::ArrayRef<llvm::StringRef> parts) {
  llvm::SHA256 hash;
  for (llvm::StringRef part : parts) {
    hash.update(part);
    hash.update(llvm::StringRef("\0", 1));
  }
  std::array<uint8_t, 32> sum = hash.final();
  return llvm::toHex(sum, /*LowerCase=*/true);
}

bool weft::readCachedCode(llvm::StringRef folder, llvm::StringRef key,
                          llvm::SmallVectorImpl<char> &code) {
  if (folder.empty())
    return false;
  auto buffer = llvm::MemoryBuffer::getFile(
      fileOf(folder, key), /*IsText=*/false, /*RequiresNullTerminator=*/false);
  if (!buffer || (*buffer)->getBufferSize() <= 32)
    return false;
  llvm::StringRef sum = (*buffer)->getBuffer().take_front(32),
                  bytes = (*buffer)->getBuffer().drop_front(32);
  std::array<uint8_t, 32> expected = digest(bytes);
  if (sum !=
      llvm::StringRef(reinterpret_cast<const char *>(expected.data()), 32))
    return false;
  code.assign(bytes.begin(), bytes.end());
  return true;
}

void weft::writeCachedCode(llvm::StringRef folder, llvm::StringRef key,
                           llvm::ArrayRef<char> code) {
  if (folder.empty() || llvm::sys::fs::create_directories(folder))
    return;
  int descriptor;
  llvm::SmallString<128> temporary;
  if (llvm::sys::fs::createUniqueFile(folder + "/%%%%%%%%.tmp", descriptor,
                                      temporary))
    return;
  llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
  std::array<uint8_t, 32> sum =
      digest(llvm::StringRef(code.data(), code.size()));
  stream.write(reinterpret_cast<const char *>(sum.data()), sum.size());
  stream.write(code.data(), code.size());
  stream.close();
  bool broken = stream.has_error();
  stream.clear_error();
  if (broken || llvm::sys::fs::rename(temporary, fileOf(folder, key)))
    llvm::sys::fs::remove(temporary);
  else
    prune(folder);
}
