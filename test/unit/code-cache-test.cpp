// The cache of compiled code: its limits, several processes, and folders that
// others can write to.
#include "catch2/catch.hpp"
#include "weft/base/AtomicFile.h"
#include "weft/compiler/codegen/CodeCache.h"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

TEST_CASE("keys depend on the borders of the fields") {
  const std::string zero(1, 0);
  CHECK(keyOfCode({"a", "b"}) == keyOfCode({"a", "b"}));
  CHECK(keyOfCode({"ab", ""}) != keyOfCode({"a", "b"}));
  CHECK(keyOfCode({"a" + zero, "b"}) != keyOfCode({"a", zero + "b"}));
}

namespace {
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/weft-code-cache-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string entry(const std::string &key) const {
    return path + "/llvmcache-" + key;
  }
  uint64_t bytes() const {
    uint64_t sum = 0;
    for (const auto &file : fs::directory_iterator(path))
      sum += file.file_size();
    return sum;
  }
  size_t files() const {
    return size_t(std::distance(fs::directory_iterator(path), {}));
  }
};
} // namespace

static std::vector<char> codeOf(const std::string &key, size_t bytes) {
  std::vector<char> code(bytes);
  for (size_t i = 0; i < bytes; ++i)
    code[i] = char(i * 7 + key.back());
  return code;
}

static bool has(const Folder &folder, const std::string &key, size_t bytes,
                const CacheLimits &limits = {}) {
  llvm::SmallVector<char> code;
  if (!readCachedCode(folder.path, key, code, limits))
    return false;
  CHECK(std::vector<char>(code.begin(), code.end()) == codeOf(key, bytes));
  return true;
}

static void setAge(const std::string &path, int hours) {
  fs::last_write_time(path, fs::file_time_type::clock::now() -
                                std::chrono::hours(hours));
}

TEST_CASE("an entry is read back, and a damaged one is not") {
  Folder folder;
  writeCachedCode(folder.path, "a", codeOf("a", 100));
  CHECK(has(folder, "a", 100));
  CHECK_FALSE(has(folder, "b", 100));
  std::ofstream(folder.entry("a"), std::ios::app) << "more";
  CHECK_FALSE(has(folder, "a", 100));
}

TEST_CASE("entries take no more than the limit, and those used last stay") {
  Folder folder;
  CacheLimits limits{.bytes = 100000};
  writeCachedCode(folder.path, "used", codeOf("used", 9000), limits);
  for (int i = 0; i < 60; ++i) {
    std::string key = "k" + std::to_string(i);
    writeCachedCode(folder.path, key, codeOf(key, 9000), limits);
    CHECK(folder.bytes() <= limits.bytes);
    setAge(folder.entry(key), 100 - i); // k0 is the oldest
    setAge(folder.entry("used"), 24 * 3);
    CHECK(has(folder, "used", 9000, limits)); // a read makes it the newest
  }
  CHECK(has(folder, "k59", 9000));
  CHECK_FALSE(has(folder, "k0", 9000));
  writeCachedCode(folder.path, "large", codeOf("large", 100001), limits);
  CHECK_FALSE(has(folder, "large", 100001));
  CHECK(has(folder, "k59", 9000));
}

TEST_CASE("entries not used for a month are removed, by reads and by writes") {
  Folder folder;
  for (const char *key : {"old", "young", "used"})
    writeCachedCode(folder.path, key, codeOf(key, 1000));
  setAge(folder.entry("old"), 24 * 31);
  setAge(folder.entry("young"), 24 * 29);
  REQUIRE(has(folder, "used", 1000));
  CHECK(fs::exists(folder.entry("old"))); // the folder was scanned today
  setAge(folder.path + "/pruned", 25);
  REQUIRE(has(folder, "used", 1000));
  CHECK_FALSE(fs::exists(folder.entry("old")));
  CHECK(fs::exists(folder.entry("young")));
  REQUIRE(has(folder, "young", 1000)); // now used today
  setAge(folder.entry("used"), 24 * 31);
  writeCachedCode(folder.path, "more", codeOf("more", 1000),
                  {.bytes = 16000}); // a write that scans the folder
  CHECK(fs::exists(folder.entry("young")));
  CHECK_FALSE(fs::exists(folder.entry("used")));
}

TEST_CASE("a sixteenth of a large limit is written between two scans") {
  Folder folder;
  CacheLimits limits{.bytes = 400000};
  uint64_t most = 0;
  for (int i = 0; i < 2000; ++i) { // 20 times the limit
    std::string key = std::to_string(i);
    writeCachedCode(folder.path, key, codeOf(key, 4000), limits);
    most = std::max(most, folder.bytes());
  }
  // The probability is e^-16 that no scan happens while as many bytes as the
  // limit are written.
  CHECK(most < limits.bytes + limits.bytes);
  CHECK(most > limits.bytes / 2);
}

/// Reads and writes entries as one of several processes. The exit status is 0
/// if every entry that was read is right.
static void useCache(const Folder &folder, int number,
                     const CacheLimits &limits) {
  bool right = true;
  for (int i = 0; i < 300; ++i) {
    std::string key = std::to_string((i * 7 + number * 13) % 90);
    std::vector<char> expected = codeOf(key, 3000);
    llvm::SmallVector<char> code;
    if (readCachedCode(folder.path, key, code, limits))
      right &= std::vector<char>(code.begin(), code.end()) == expected;
    else
      writeCachedCode(folder.path, key, expected, limits);
  }
  _exit(right ? 0 : 1);
}

TEST_CASE("several processes write, read and remove at once") {
  Folder folder;
  CacheLimits limits{.bytes = 100000}; // room for 33 of the 90 entries
  std::vector<pid_t> children;
  for (int number = 0; number < 6; ++number) {
    pid_t child = fork();
    if (child == 0)
      useCache(folder, number, limits);
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = -1;
    waitpid(child, &status, 0);
    CHECK(status == 0);
  }
  CHECK(folder.bytes() <= 2 * limits.bytes);
  for (const auto &file : fs::directory_iterator(folder.path))
    CHECK_FALSE(file.path().filename().string().ends_with(".tmp"));
}

TEST_CASE("files of killed processes are removed by the next scan") {
  Folder folder;
  std::ofstream(folder.path + "/0123abcd.tmp") << "of version 0.1.0";
  setAge(folder.path + "/0123abcd.tmp", 25);
  pid_t child = fork();
  if (child == 0) {
    AtomicFile file;
    file.open(folder.entry("a"), {.mode = 0600, .lasting = false});
    _exit(0);
  }
  waitpid(child, nullptr, 0);
  REQUIRE(folder.files() == 2);
  writeCachedCode(folder.path, "b", codeOf("b", 10)); // the first use today
  CHECK(folder.files() == 2);                         // b, and `pruned`
  CHECK(has(folder, "b", 10));
}

TEST_CASE("a folder that others can write to is not used") {
  Folder folder;
  CHECK(refusalOfCache(folder.path) == "");
  CHECK(refusalOfCache("") == "");
  CHECK(refusalOfCache(folder.path + "/new") == "");
  writeCachedCode(folder.path, "a", codeOf("a", 100));
  for (mode_t mode : {0720, 0702, 01777}) {
    REQUIRE(chmod(folder.path.c_str(), mode) == 0);
    char text[8];
    std::snprintf(text, sizeof text, "%04o", unsigned(mode));
    CHECK(refusalOfCache(folder.path) ==
          folder.path + ": is not used for compiled code: it has mode " + text +
              ", so that others can write to it; empty it if they may have, "
              "then chmod go-w " +
              folder.path);
    CHECK_FALSE(has(folder, "a", 100));
    writeCachedCode(folder.path, "b", codeOf("b", 100));
    CHECK_FALSE(fs::exists(folder.entry("b")));
  }
  REQUIRE(chmod(folder.path.c_str(), 0755) == 0);
  CHECK(has(folder, "a", 100));
}

TEST_CASE("entries and folders of another user are not used") {
  if (geteuid() != 0)
    return; // only root can give files away
  Folder folder;
  writeCachedCode(folder.path, "a", codeOf("a", 100));
  REQUIRE(chown(folder.entry("a").c_str(), 12345, 12345) == 0);
  CHECK_FALSE(has(folder, "a", 100));
  REQUIRE(chown(folder.entry("a").c_str(), 0, 0) == 0);
  REQUIRE(chown(folder.path.c_str(), 12345, 12345) == 0);
  CHECK_FALSE(has(folder, "a", 100));
  CHECK(refusalOfCache(folder.path) ==
        folder.path +
            ": is not used for compiled code: it belongs to user 12345, this "
            "process to user 0; name a folder of your own with "
            "XDG_CACHE_HOME");
}

TEST_CASE("an entry is no link, and a new folder is nobody else's") {
  Folder folder;
  std::string place = folder.path + "/a/b";
  writeCachedCode(place, "a", codeOf("a", 100));
  CHECK(fs::status(place).permissions() == fs::perms::owner_all);
  fs::create_symlink("llvmcache-a", place + "/llvmcache-b");
  llvm::SmallVector<char> code;
  CHECK(readCachedCode(place, "a", code));
  CHECK_FALSE(readCachedCode(place, "b", code));
}
