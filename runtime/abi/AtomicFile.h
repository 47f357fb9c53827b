//===- AtomicFile.h - a file replaced whole or not at all -------*- C++ -*-===//
//
//   weft::AtomicFile file;
//   int error = file.open("out.npz");         // 0, or an errno value
//   if (!error && write(file.descriptor(), bytes, size) == size)
//     error = file.commit();                  // renamed to out.npz
//
// The bytes go to a new file beside the target, .weft-<16 random digits>.tmp,
// which commit() renames; without commit() it is removed. It is created with
// O_EXCL, so no existing file or link is opened. It has the permission bits and
// the group of the file that it replaces, or else those of
// AtomicFileOptions::mode that the umask leaves. Access control lists and other
// attributes are not kept.
//
// While it is written it is locked (flock). The same user's next writer to the
// folder removes files of this kind that nobody has locked: those of processes
// that were killed.
//
// A target that is a symbolic link stays one: the file that it points to is
// replaced. A dangling link is refused (ENOENT). In a folder with the sticky
// bit that anybody may write, such as /tmp, so is a link whose owner is neither
// the user nor the folder's owner (EACCES). A path that is no regular file (a
// pipe, a device), or that is in /proc or in /dev outside of /dev/shm, is
// written directly. A pipe without a reader is refused (ENXIO), as opening it
// would wait for one.
//
// This is the only code of Weft that creates files, apart from temporary ones
// that tools/check/check_files.py lists; it checks that. Header only, as
// compiler and runtime both use it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_ATOMICFILE_H
#define WEFT_RUNTIME_ABI_ATOMICFILE_H

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

/// Removes the files of the user's ended writers from an open folder.
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

struct AtomicFileOptions {
  mode_t mode = 0666; ///< permissions of a new target, before the umask
  /// Whether the data is on the disk before commit() returns, and abandoned
  /// files in the folder are removed. A cache needs neither: it checks entries
  /// that it reads, and removes such files when it prunes its folder.
  bool lasting = true;
};

class AtomicFile {
public:
  AtomicFile() = default;
  AtomicFile(AtomicFile &&other) noexcept { take(other); }
  AtomicFile &operator=(AtomicFile &&other) noexcept {
    if (this != &other) {
      discard();
      take(other);
    }
    return *this;
  }
  ~AtomicFile() { discard(); }

  /// Opens the temporary file, or a path that is written directly; returns 0 or
  /// an errno value.
  int open(const std::string &path, AtomicFileOptions given = {}) {
    options = given;
    struct stat info;
    bool exists = stat(path.c_str(), &info) == 0;
    if (!exists && errno != ENOENT)
      return errno;
    if (isWrittenDirectly(path, exists ? &info : nullptr)) {
      return openDirectly(path, exists && S_ISFIFO(info.st_mode));
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

  /// The descriptor to write to; -1 before open() and after commit().
  int descriptor() const { return file; }

  /// Replaces the target by the file. Returns 0 or an errno value. After an
  /// error the target is unchanged, unless only syncing the folder or closing
  /// the file failed, or the path is written directly.
  int commit() {
    int error = 0;
    if (!temporary.empty()) {
      if (options.lasting && fsync(file) != 0)
        error = errno;
      if (!error && renameat(folder, temporary.c_str(), folder, target.c_str()))
        error = errno;
      if (!error)
        temporary.clear(); // nothing to remove
      // EINVAL means that the file system cannot sync folders.
      if (!error && options.lasting && fsync(folder) != 0 && errno != EINVAL)
        error = errno;
    }
    if (file >= 0 && close(std::exchange(file, -1)) != 0 && !error)
      error = errno;
    discard();
    return error;
  }

  /// Removes the temporary file; the target is unchanged. Bytes that were
  /// written directly stay.
  void discard() {
    if (!temporary.empty())
      unlinkat(folder, temporary.c_str(), 0);
    temporary.clear();
    for (int *descriptor : {&file, &folder})
      if (*descriptor >= 0)
        close(std::exchange(*descriptor, -1));
  }

private:
  void take(AtomicFile &other) {
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

  int openDirectly(const std::string &path, bool isPipe) {
    file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY |
                                    (isPipe ? O_NONBLOCK : 0));
    if (file < 0)
      return errno;
    // Writes wait for the reader again.
    if (isPipe && fcntl(file, F_SETFL, O_APPEND) < 0)
      return errno;
    return 0;
  }

  /// Whether another user may have put this link there to redirect our writes:
  /// the rule of Linux' protected_symlinks.
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

  /// Follows links and opens the target's folder. Sets `folder`, and `target`
  /// to the name in it.
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
      // The link count is 0 if another writer removed it before it was locked.
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

  /// Copies group and permissions of the replaced file, and as root its owner.
  /// A group that cannot be kept loses its permissions.
  int takeMode(const struct stat &replaced, const struct stat &made) {
    mode_t mode = replaced.st_mode & 0777;
    if (replaced.st_uid != made.st_uid && geteuid() == 0)
      // The owner stays the writer if this fails (a network's file system).
      static_cast<void>(fchown(file, replaced.st_uid, gid_t(-1)) == 0);
    if (replaced.st_gid != made.st_gid &&
        fchown(file, uid_t(-1), replaced.st_gid) != 0)
      mode &= ~mode_t(070);
    return fchmod(file, mode) == 0 ? 0 : errno;
  }

  AtomicFileOptions options;
  int file = -1, folder = -1;
  std::string target, temporary; ///< names in `folder`
};

/// A file that grows while others read it, such as a log. It is created, or
/// there is an error: no existing file or link is opened.
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

  /// Creates the file, with the permissions that the umask leaves of `mode`;
  /// returns 0 or an errno value.
  int open(const std::string &path, mode_t mode = 0666) {
    file = ::open(
        path.c_str(),
        O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC, mode);
    return file < 0 ? errno : 0;
  }
  /// Appends all bytes; returns 0 or an errno value.
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

#endif // WEFT_RUNTIME_ABI_ATOMICFILE_H
