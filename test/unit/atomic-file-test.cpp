// Files that are replaced whole or not at all: base/AtomicFile.h through
// OutputFile, which all commands write with.
#include "catch2/catch.hpp"
#include "weft/data/files/Files.h"

#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <set>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

/// The types of the files that were synced. fsync below replaces the C
/// library's and records them.
static std::vector<mode_t> synced;
extern "C" int fsync(int file) {
  struct stat info;
  fstat(file, &info);
  synced.push_back(info.st_mode & S_IFMT);
  return int(syscall(SYS_fsync, file));
}

namespace {
/// An empty folder, removed at the end.
struct Folder {
  std::string path;
  Folder() {
    char name[] = "/tmp/weft-atomic-file-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(const std::string &name) const {
    return path + "/" + name;
  }
  std::set<std::string> files() const {
    std::set<std::string> names;
    for (const auto &entry : fs::directory_iterator(path))
      names.insert(entry.path().filename());
    return names;
  }
};
} // namespace

static void put(const std::string &path, const std::string &text) {
  std::ofstream(path) << text;
}

static std::string get(const std::string &path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

static mode_t modeOf(const std::string &path) {
  struct stat info;
  REQUIRE(stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

static Status save(const std::string &path, const std::string &text) {
  auto file = OutputFile::open(path);
  if (!file)
    return file.error();
  file->write(text);
  return file->commit();
}

/// Ends a process that writes `path`, as if it were killed.
static void dieWriting(const std::string &path) {
  pid_t child = fork();
  if (child == 0) {
    auto file = OutputFile::open(path);
    file->write("half");
    _exit(0); // no destructor runs
  }
  waitpid(child, nullptr, 0);
}

TEST_CASE("a link at the name of a temporary file is not followed") {
  Folder folder;
  put(folder / "victim", "precious");
  // The link has the name that versions up to 0.1.0 wrote to.
  fs::create_symlink(folder / "victim",
                     folder / ("out.npz.tmp" + std::to_string(getpid())));
  REQUIRE(save(folder / "out.npz", "new"));
  CHECK(get(folder / "victim") == "precious");
  CHECK(get(folder / "out.npz") == "new");
}

TEST_CASE("temporary files have names that nobody can know before") {
  Folder folder;
  auto first = OutputFile::open(folder / "a"),
       second = OutputFile::open(folder / "a");
  REQUIRE(first);
  REQUIRE(second);
  std::set<std::string> names = folder.files();
  REQUIRE(names.size() == 2);
  for (const std::string &name : names) {
    CHECK(name.size() == 26);
    CHECK(name.starts_with(".weft-"));
    CHECK(name.ends_with(".tmp"));
  }
}

TEST_CASE("a file keeps its permissions when it is written again") {
  Folder folder;
  for (mode_t mode : {0600, 0640, 0666, 0755}) {
    put(folder / "out", "old");
    REQUIRE(chmod((folder / "out").c_str(), mode) == 0);
    auto file = OutputFile::open(folder / "out");
    REQUIRE(file);
    for (const std::string &name : folder.files())
      CHECK(modeOf(folder / name) == mode); // the temporary file, too
    file->write("new");
    REQUIRE(file->commit());
    CHECK(modeOf(folder / "out") == mode);
    CHECK(get(folder / "out") == "new");
  }
  mode_t mask = umask(027);
  REQUIRE(save(folder / "fresh", "new"));
  umask(mask);
  CHECK(modeOf(folder / "fresh") == 0640);
}

TEST_CASE("the file of a killed process is removed by the next writer") {
  Folder folder;
  dieWriting(folder / "out");
  REQUIRE(folder.files().size() == 1);
  auto living = OutputFile::open(folder / "other");
  REQUIRE(living);
  CHECK(folder.files().size() == 1); // the file of the killed process is gone
  REQUIRE(save(folder / "out", "new"));
  CHECK(folder.files().size() == 2); // that of `living` is kept
  living->write("whole");
  REQUIRE(living->commit());
  CHECK(folder.files() == std::set<std::string>{"other", "out"});
}

TEST_CASE("files that only look abandoned are kept") {
  Folder folder;
  put(folder / "precious", "text");
  fs::create_symlink(folder / "precious",
                     folder / ".weft-0123456789abcdef.tmp");
  put(folder / ".weft-0123456789abcdeF.tmp", "another name");
  fs::create_directory(folder / ".weft-aaaaaaaaaaaaaaaa.tmp");
  mkfifo((folder / ".weft-bbbbbbbbbbbbbbbb.tmp").c_str(), 0600);
  REQUIRE(save(folder / "out", "new"));
  CHECK(folder.files().size() == 6);
  CHECK(get(folder / "precious") == "text");
}

TEST_CASE("without commit the old file is as it was") {
  Folder folder;
  put(folder / "out", "old");
  {
    auto file = OutputFile::open(folder / "out");
    REQUIRE(file);
    file->write("new");
  }
  CHECK(folder.files() == std::set<std::string>{"out"});
  CHECK(get(folder / "out") == "old");
}

TEST_CASE("a link stays, and the file it points to is replaced") {
  Folder folder;
  fs::create_directory(folder / "disk");
  put(folder / "disk/real", "old");
  fs::create_symlink("disk/real", folder / "latest");
  REQUIRE(save(folder / "latest", "new"));
  CHECK(fs::is_symlink(folder / "latest"));
  CHECK(get(folder / "disk/real") == "new");
  CHECK(fs::is_empty(folder / "disk") == false);
  CHECK(folder.files() == std::set<std::string>{"disk", "latest"});

  fs::create_symlink("nowhere", folder / "dangling");
  Status dangling = save(folder / "dangling", "new");
  REQUIRE_FALSE(dangling);
  CHECK(dangling.message() == folder / "dangling" +
                                  ": cannot be written: No such file or "
                                  "directory; check the path");
}

TEST_CASE("a link of somebody else in a shared folder is refused") {
  if (geteuid() != 0)
    return; // only root can make one
  Folder folder;
  put(folder / "victim", "precious");
  REQUIRE(chmod(folder.path.c_str(), 01777) == 0);
  fs::create_symlink(folder / "victim", folder / "out");
  REQUIRE(lchown((folder / "out").c_str(), 12345, 12345) == 0);
  Status refused = save(folder / "out", "new");
  REQUIRE_FALSE(refused);
  CHECK(refused.message() ==
        folder / "out" + ": cannot be written: Permission denied; check "
                         "the permissions of the file and its folder");
  CHECK(get(folder / "victim") == "precious");
}

TEST_CASE("a pipe is written directly and stays one") {
  Folder folder;
  REQUIRE(mkfifo((folder / "pipe").c_str(), 0600) == 0);
  int reader = open((folder / "pipe").c_str(), O_RDONLY | O_NONBLOCK);
  REQUIRE(save(folder / "pipe", "text"));
  char text[8] = {};
  CHECK(read(reader, text, sizeof text) == 4);
  close(reader);
  Status alone = save(folder / "pipe", "text"); // instead of waiting for ever
  CHECK(alone.message() ==
        folder / "pipe" + ": cannot be written: No such device or address; of "
                          "a pipe, start the process that reads it first");
  CHECK(fs::is_fifo(folder / "pipe"));
  CHECK(folder.files().size() == 1);
}

TEST_CASE("the file is on the disk before its name is, and its folder after") {
  Folder folder;
  synced.clear();
  REQUIRE(save(folder / "out", "new"));
  CHECK(synced == std::vector<mode_t>{S_IFREG, S_IFDIR});
  synced.clear();
  AtomicFile cached;
  REQUIRE(cached.open(folder / "entry", {.mode = 0600, .lasting = false}) == 0);
  REQUIRE(cached.commit() == 0);
  CHECK(synced.empty());
  CHECK(modeOf(folder / "entry") == 0600);
}

TEST_CASE("nothing can be written where there is no folder") {
  Folder folder;
  Status none = save(folder / "no/out", "new");
  REQUIRE_FALSE(none);
  CHECK(none.message().find("No such file or directory") != std::string::npos);
  Status itself = save(folder.path, "new");
  REQUIRE_FALSE(itself);
  CHECK(itself.message().find("is a directory") != std::string::npos);
}
