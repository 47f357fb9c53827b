//===- CodeCache.cpp - compiled code on disk ------------------------------===//
//
// An entry is the file llvmcache-KEY: 32 bytes of SHA-256 over the code, then
// the code. Its modification time is at most a day before its last use, as not
// all file systems keep access times. The modification time of the file
// "pruned" is the time of the last scan of the whole folder.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/CodeCache.h"

#include "weft/base/AtomicFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/SHA256.h"

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <tuple>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace weft;

static constexpr llvm::StringLiteral kPrefix = "llvmcache-";
static constexpr char kStamp[] = "pruned";
static constexpr time_t kDay = 24 * 60 * 60;
static constexpr size_t kDigest = 32;

std::string weft::codeCacheFolder() {
  if (const char *cache = std::getenv("XDG_CACHE_HOME"); cache && *cache)
    return std::string(cache) + "/weft";
  if (const char *home = std::getenv("HOME"); home && *home)
    return std::string(home) + "/.cache/weft";
  return "";
}

static std::string refusalOf(llvm::StringRef folder, const struct stat &info) {
  std::string begin = folder.str() + ": is not used for compiled code: it ";
  char mode[8];
  std::snprintf(mode, sizeof mode, "%04o", unsigned(info.st_mode & 07777));
  if (info.st_uid != geteuid())
    return begin + "belongs to user " + std::to_string(info.st_uid) +
           ", this process to user " + std::to_string(geteuid()) +
           "; name a folder of your own with XDG_CACHE_HOME";
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return begin + "has mode " + mode +
           ", so that others can write to it; empty it if they may have, then "
           "chmod go-w " +
           folder.str();
  return "";
}

std::string weft::refusalOfCache(llvm::StringRef folder) {
  struct stat info;
  if (folder.empty() || stat(folder.str().c_str(), &info) != 0 ||
      !S_ISDIR(info.st_mode))
    return "";
  return refusalOf(folder, info);
}

std::string weft::keyOfCode(llvm::ArrayRef<llvm::StringRef> fields) {
  llvm::SHA256 hash;
  for (llvm::StringRef field : fields) {
    hash.update(std::to_string(field.size()) + ":");
    hash.update(field);
  }
  std::array<uint8_t, 32> sum = hash.final();
  return llvm::toHex(sum, /*LowerCase=*/true);
}

static std::array<uint8_t, kDigest> digest(llvm::StringRef bytes) {
  return llvm::SHA256::hash(llvm::ArrayRef(
      reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size()));
}

namespace {

/// A file descriptor, closed by the destructor.
struct Descriptor {
  int file;
  explicit Descriptor(int file) : file(file) {}
  Descriptor(const Descriptor &) = delete;
  ~Descriptor() {
    if (file >= 0)
      close(file);
  }
};

/// The open folder of a cache; negative if it is not used.
struct Folder : Descriptor {
  explicit Folder(llvm::StringRef path)
      : Descriptor(path.empty() ? -1
                                : ::open(path.str().c_str(),
                                         O_RDONLY | O_DIRECTORY | O_CLOEXEC)) {
    struct stat info;
    if (file >= 0 &&
        (fstat(file, &info) != 0 || !refusalOf(path, info).empty()))
      close(std::exchange(file, -1));
  }
};

struct Entry {
  std::string name;
  time_t used;
  uint64_t bytes;
};

} // namespace

/// Regular files whose names start with `prefix`. Files that other processes
/// remove meanwhile are left out.
static std::vector<Entry> entriesOf(int folder, llvm::StringRef prefix) {
  std::vector<Entry> entries;
  DIR *list =
      fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  while (const dirent *entry = list ? readdir(list) : nullptr) {
    struct stat info;
    if (llvm::StringRef(entry->d_name).starts_with(prefix) &&
        fstatat(folder, entry->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(info.st_mode))
      entries.push_back({entry->d_name, info.st_mtime, uint64_t(info.st_size)});
  }
  if (list)
    closedir(list);
  return entries;
}

/// Removes abandoned temporary files, entries over the age limit and, if the
/// entries exceed the size limit, the least recently used entries until a
/// quarter of it is free. Several processes may prune at once.
static void prune(llvm::StringRef path, int folder, const CacheLimits &limits) {
  AtomicFile stamp;
  if (stamp.open((path + "/" + kStamp).str(),
                 {.mode = 0600, .lasting = false}) == 0)
    stamp.commit();
  removeAbandonedFiles(folder);
  time_t now = std::time(nullptr);
  // Versions before 0.1.0 used other names for temporary files.
  for (const Entry &entry : entriesOf(folder, ""))
    if (llvm::StringRef(entry.name).ends_with(".tmp") &&
        !llvm::StringRef(entry.name).starts_with(".weft-") &&
        now - entry.used > kDay)
      unlinkat(folder, entry.name.c_str(), 0);
  std::vector<Entry> entries = entriesOf(folder, kPrefix);
  llvm::sort(entries, [](const Entry &a, const Entry &b) {
    return std::tie(a.used, a.name) < std::tie(b.used, b.name);
  });
  uint64_t total = 0;
  for (const Entry &entry : entries)
    total += entry.bytes;
  uint64_t wanted = total > limits.bytes ? limits.bytes / 4 * 3 : limits.bytes;
  time_t oldest = now - time_t(limits.age.count());
  for (const Entry &entry : entries) {
    if (entry.used >= oldest && total <= wanted)
      break;
    // Another process may have removed the file.
    unlinkat(folder, entry.name.c_str(), 0);
    total -= entry.bytes;
  }
}

static bool wasPrunedToday(int folder) {
  struct stat info;
  return fstatat(folder, kStamp, &info, AT_SYMLINK_NOFOLLOW) == 0 &&
         std::time(nullptr) - info.st_mtime < kDay;
}

/// Whether a write of this size scans the folder: see CodeCache.h.
static bool looksAtFolder(uint64_t bytes, const CacheLimits &limits) {
  uint32_t number;
  if (getrandom(&number, sizeof number, 0) != sizeof number)
    return true;
  return double(number) / 4294967296.0 * double(limits.bytes) <
         double(bytes) * 16;
}

bool weft::readCachedCode(llvm::StringRef path, llvm::StringRef key,
                          llvm::SmallVectorImpl<char> &code,
                          const CacheLimits &limits) {
  Folder folder(path);
  if (folder.file < 0)
    return false;
  Descriptor file(openat(folder.file, (kPrefix + key).str().c_str(),
                         O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info;
  if (file.file < 0 || fstat(file.file, &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != geteuid())
    return false;
  auto buffer = llvm::MemoryBuffer::getOpenFile(
      llvm::sys::fs::convertFDToNativeFile(file.file), key,
      uint64_t(info.st_size), /*RequiresNullTerminator=*/false,
      /*IsVolatile=*/true);
  if (!buffer || (*buffer)->getBufferSize() <= kDigest)
    return false;
  llvm::StringRef sum = (*buffer)->getBuffer().take_front(kDigest),
                  bytes = (*buffer)->getBuffer().drop_front(kDigest);
  std::array<uint8_t, kDigest> expected = digest(bytes);
  if (sum !=
      llvm::StringRef(reinterpret_cast<const char *>(expected.data()), kDigest))
    return false;
  code.assign(bytes.begin(), bytes.end());
  if (std::time(nullptr) - info.st_mtime >= kDay)
    futimens(file.file, nullptr);
  if (!wasPrunedToday(folder.file))
    prune(path, folder.file, limits);
  return true;
}

static bool writeAll(int file, llvm::ArrayRef<char> bytes) {
  while (!bytes.empty()) {
    ssize_t count = ::write(file, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    bytes = bytes.drop_front(size_t(count));
  }
  return true;
}

void weft::writeCachedCode(llvm::StringRef path, llvm::StringRef key,
                           llvm::ArrayRef<char> code,
                           const CacheLimits &limits) {
  if (path.empty() || code.size() + kDigest > limits.bytes)
    return;
  if (llvm::StringRef parent = llvm::sys::path::parent_path(path);
      !parent.empty() && llvm::sys::fs::create_directories(parent))
    return;
  ::mkdir(path.str().c_str(), 0700); // may exist already
  Folder folder(path);
  if (folder.file < 0)
    return;
  std::array<uint8_t, kDigest> sum =
      digest(llvm::StringRef(code.data(), code.size()));
  AtomicFile entry;
  if (entry.open((path + "/" + kPrefix + key).str(),
                 {.mode = 0600, .lasting = false}) != 0 ||
      !writeAll(entry.descriptor(),
                {reinterpret_cast<const char *>(sum.data()), sum.size()}) ||
      !writeAll(entry.descriptor(), code) || entry.commit() != 0)
    return;
  if (looksAtFolder(code.size() + kDigest, limits) ||
      !wasPrunedToday(folder.file))
    prune(path, folder.file, limits);
}
