//===- WholeFile.h - a file that is replaced whole or not at all -*- C++ -*-===//
//
//   weft::WholeFile file;
//   int error = file.open("out.npz");         // 0, or an errno value
//   if (!error && write(file.descriptor(), bytes, size) == size)
//     error = file.commit();                  // renamed to out.npz
//
// The bytes go to a new file beside the target, .weft-<16 random digits>.tmp,
// which commit() renames; without commit() it is removed. O_EXCL makes it, so
// nothing that lies there already is opened or followed. It has the permission
// bits and the group of the file that it replaces, or the process's umask.
// Access control lists and other attributes are not kept.
//
// While it is written it is locked (flock). The next writer to the folder
// removes files of this kind that nobody has locked: those of processes that
// were killed.
//
// A target that is a symbolic link stays one: the file it points to is
// replaced. A link to nothing is refused (ENOENT), as is a link of another
// user in a folder that anybody may write, such as /tmp (EACCES). A path that
// is no regular file (a pipe, a device), or that lies in /dev or /proc, is
// written directly.
//
// The only code of Weft that creates files; tools/check/check_files.py holds
// it to that. Header only, as compiler and runtime both use it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_WHOLEFILE_H
#define WEFT_RUNTIME_ABI_WHOLEFILE_H

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <utility>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

namespace weft {

/// Removes what writers that no longer live have left in an open folder.
inline void removeAbandonedFiles(int folder) {
  DIR *list =
      fdopendir(openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!list)
    return;
  while (const dirent *entry = readdir(list)) {
    std::string_view name = entry->d_name;
    if (name.size() != 26 || !name.starts_with(".weft-") ||
        !name.ends_with(".tmp") ||
        name.substr(6, 16).find_first_not_of("0123456789abcdef") !=
            std::string_view::npos)
      continue;
    int file = openat(folder, entry->d_name,
                      O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (file < 0)
      continue;
    struct stat info;
    if (fstat(file, &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == geteuid() && flock(file, LOCK_EX | LOCK_NB) == 0)
      unlinkat(folder, entry->d_name, 0);
    close(file);
  }
  closedir(list);
}

struct WholeFileOptions {
  mode_t mode = 0666; ///< of a target that is new, less the umask
  /// The data is on the disk before commit() returns, and abandoned files in
  /// the folder are removed. A cache needs neither: it checks what it reads,
  /// and tidies its folder when it prunes it.
  bool lasting = true;
};

class WholeFile {
public:
  WholeFile() = default;
  WholeFile(WholeFile &&other) noexcept { take(other); }
  WholeFile &operator=(WholeFile &&other) noexcept {
    if (this != &other) {
      discard();
      take(other);
    }
    return *this;
  }
  ~WholeFile() { discard(); }

  /// 0, or the errno value of what failed.
  int open(const std::string &path, WholeFileOptions given = {}) {
    options = given;
    struct stat info;
    bool exists = stat(path.c_str(), &info) == 0;
    if (!exists && errno != ENOENT)
      return errno;
    if (isWrittenDirectly(path, exists ? &info : nullptr)) {
      file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY);
      return file < 0 ? errno : 0;
    }
    if (exists && faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0)
      return errno;
    if (int error = openFolder(path, exists))
      return error;
    if (options.lasting)
      removeAbandonedFiles(folder);
    int error = createTemporary(exists ? &info : nullptr);
    if (error)
      discard();
    return error;
  }

  /// Open for writing; -1 before open() and after commit().
  int descriptor() const { return file; }

  /// Puts the file in the target's place: 0, or an errno value, and then the
  /// target is as it was.
  int commit() {
    int error = 0;
    if (!temporary.empty()) {
      if (options.lasting && fsync(file) != 0)
        error = errno;
      if (!error && renameat(folder, temporary.c_str(), folder, target.c_str()))
        error = errno;
      if (!error)
        temporary.clear(); // nothing to remove
      // A file system that cannot sync folders says EINVAL.
      if (!error && options.lasting && fsync(folder) != 0 && errno != EINVAL)
        error = errno;
    }
    if (file >= 0 && close(std::exchange(file, -1)) != 0 && !error)
      error = errno;
    discard();
    return error;
  }

  /// Leaves the target as it is.
  void discard() {
    if (!temporary.empty())
      unlinkat(folder, temporary.c_str(), 0);
    temporary.clear();
    for (int *descriptor : {&file, &folder})
      if (*descriptor >= 0)
        close(std::exchange(*descriptor, -1));
  }

private:
  void take(WholeFile &other) {
    options = other.options;
    file = std::exchange(other.file, -1);
    folder = std::exchange(other.folder, -1);
    target = std::move(other.target);
    temporary = std::exchange(other.temporary, {});
  }

  static bool isWrittenDirectly(const std::string &path,
                                const struct stat *existing) {
    bool isOfSystem =
        (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) ||
        path.starts_with("/proc/");
    return isOfSystem || (existing && !S_ISREG(existing->st_mode));
  }

  /// Whether somebody else may have put this link there to have us write
  /// elsewhere: the rule of Linux' protected_symlinks.
  static bool isForeignLink(const std::string &path) {
    struct stat link, parent;
    if (lstat(path.c_str(), &link) != 0 || !S_ISLNK(link.st_mode) ||
        stat(folderOf(path).c_str(), &parent) != 0)
      return false;
    bool isShared = (parent.st_mode & S_ISVTX) && (parent.st_mode & S_IWOTH);
    return isShared && link.st_uid != geteuid() && link.st_uid != parent.st_uid;
  }

  static std::string folderOf(const std::string &path) {
    size_t slash = path.rfind('/');
    return slash == std::string::npos ? "." : path.substr(0, slash + 1);
  }

  /// Where the target really is: `folder` and, in it, `target`.
  int openFolder(const std::string &path, bool exists) {
    struct stat info;
    std::string place = path;
    if (lstat(path.c_str(), &info) == 0 && S_ISLNK(info.st_mode)) {
      if (!exists)
        return ENOENT;
      if (isForeignLink(path))
        return EACCES;
      char *real = realpath(path.c_str(), nullptr);
      if (!real)
        return errno;
      place = real;
      std::free(real);
    }
    std::string parent = folderOf(place);
    target = place.substr(parent == "." ? 0 : parent.size());
    if (target.empty())
      return EISDIR;
    folder = ::open(parent.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return folder < 0 ? errno : 0;
  }

  int createTemporary(const struct stat *replaced) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      uint64_t number;
      if (getrandom(&number, sizeof number, 0) != sizeof number)
        return errno;
      char name[32];
      std::snprintf(name, sizeof name, ".weft-%016llx.tmp",
                    static_cast<unsigned long long>(number));
      file = openat(folder, name,
                    O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                    replaced ? 0600 : options.mode);
      if (file < 0 && errno != EEXIST)
        return errno;
      if (file < 0)
        continue;
      temporary = name;
      // Another writer may have removed it before it was locked.
      struct stat made;
      bool isOurs = flock(file, LOCK_EX | LOCK_NB) == 0 ||
                    errno == EOPNOTSUPP || errno == ENOLCK;
      if (isOurs && fstat(file, &made) == 0 && made.st_nlink == 1)
        return replaced ? takeMode(*replaced, made) : 0;
      close(std::exchange(file, -1));
      temporary.clear();
    }
    return EEXIST;
  }

  /// Owner, group and permissions of the file that is replaced. A group that
  /// cannot be kept loses its permissions.
  int takeMode(const struct stat &replaced, const struct stat &made) {
    mode_t mode = replaced.st_mode & 0777;
    if (replaced.st_uid != made.st_uid && geteuid() == 0)
      // Where this fails (a network's file system) the file is the writer's.
      static_cast<void>(fchown(file, replaced.st_uid, gid_t(-1)) == 0);
    if (replaced.st_gid != made.st_gid &&
        fchown(file, uid_t(-1), replaced.st_gid) != 0)
      mode &= ~mode_t(070);
    return fchmod(file, mode) == 0 ? 0 : errno;
  }

  WholeFileOptions options;
  int file = -1, folder = -1;
  std::string target, temporary; ///< names in `folder`
};

/// A file that grows while others read it, such as a log: new, or an error.
/// Nothing that lies there already is opened or followed.
class GrowingFile {
public:
  GrowingFile() = default;
  GrowingFile(GrowingFile &&other) noexcept
      : file(std::exchange(other.file, -1)) {}
  GrowingFile &operator=(GrowingFile &&other) noexcept {
    std::swap(file, other.file);
    return *this;
  }
  ~GrowingFile() {
    if (file >= 0)
      close(file);
  }

  /// 0, or an errno value.
  int open(const std::string &path) {
    file = ::open(
        path.c_str(),
        O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, 0666);
    return file < 0 ? errno : 0;
  }
  /// Adds all of it, or says why not.
  int append(std::string_view bytes) {
    while (!bytes.empty()) {
      ssize_t written = ::write(file, bytes.data(), bytes.size());
      if (written < 0 && errno != EINTR)
        return errno;
      bytes.remove_prefix(written > 0 ? size_t(written) : 0);
    }
    return 0;
  }

private:
  int file = -1;
};

} // namespace weft

#endif // WEFT_RUNTIME_ABI_WHOLEFILE_H
