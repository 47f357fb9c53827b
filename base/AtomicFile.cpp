//===- AtomicFile.cpp - a file replaced whole or not at all ---------------===//

#include "weft/base/AtomicFile.h"

#include <cerrno>
#include <climits>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <unistd.h>

namespace weft {

void removeAbandonedFiles(int folder) {
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

AtomicFile &AtomicFile::operator=(AtomicFile &&other) noexcept {
  if (this != &other) {
    discard();
    take(other);
  }
  return *this;
}

static bool isWrittenDirectly(const std::string &path,
                              const struct stat *existing) {
  bool isOfSystem =
      (path.starts_with("/dev/") && !path.starts_with("/dev/shm/")) ||
      path.starts_with("/proc/");
  return isOfSystem || (existing && !S_ISREG(existing->st_mode));
}

static std::string folderOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos ? "." : path.substr(0, slash + 1);
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

int AtomicFile::open(const std::string &path, AtomicFileOptions given) {
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

int AtomicFile::commit() {
  int error = 0;
  if (!temporary.empty()) {
    if (options.lasting && fsync(file) != 0)
      error = errno;
    if (!error && renameat(folder, temporary.c_str(), folder, target.c_str()))
      error = errno;
    if (!error)
      temporary.clear(); // There is nothing to remove.
    // EINVAL means that the file system cannot sync folders.
    if (!error && options.lasting && fsync(folder) != 0 && errno != EINVAL)
      error = errno;
  }
  if (file >= 0 && close(std::exchange(file, -1)) != 0 && !error)
    error = errno;
  discard();
  return error;
}

void AtomicFile::discard() {
  if (!temporary.empty())
    unlinkat(folder, temporary.c_str(), 0);
  temporary.clear();
  for (int *descriptor : {&file, &folder})
    if (*descriptor >= 0)
      close(std::exchange(*descriptor, -1));
}

void AtomicFile::take(AtomicFile &other) {
  options = other.options;
  file = std::exchange(other.file, -1);
  folder = std::exchange(other.folder, -1);
  target = std::move(other.target);
  temporary = std::exchange(other.temporary, {});
}

int AtomicFile::openDirectly(const std::string &path, bool isPipe) {
  file = ::open(path.c_str(), O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY |
                                  (isPipe ? O_NONBLOCK : 0));
  if (file < 0)
    return errno;
  // From here on writes wait for the reader again.
  if (isPipe && fcntl(file, F_SETFL, O_APPEND) < 0)
    return errno;
  return 0;
}

int AtomicFile::openFolder(const std::string &path, bool exists) {
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

int AtomicFile::createTemporary(const struct stat *replaced) {
  for (int attempt = 0; attempt < 100; ++attempt) {
    uint64_t number;
    if (getrandom(&number, sizeof number, 0) != sizeof number)
      return errno;
    char name[32];
    std::snprintf(name, sizeof name, ".weft-%016llx.tmp",
                  static_cast<unsigned long long>(number));
    file =
        openat(folder, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
               replaced ? 0600 : options.mode);
    if (file < 0 && errno != EEXIST)
      return errno;
    if (file < 0)
      continue;
    temporary = name;
    // The link count is 0 if another writer removed it before it was locked.
    struct stat made;
    bool isOurs = flock(file, LOCK_EX | LOCK_NB) == 0 || errno == EOPNOTSUPP ||
                  errno == ENOLCK;
    if (isOurs && fstat(file, &made) == 0 && made.st_nlink == 1)
      return replaced ? takeMode(*replaced, made) : 0;
    close(std::exchange(file, -1));
    temporary.clear();
  }
  return EEXIST;
}

int AtomicFile::takeMode(const struct stat &replaced, const struct stat &made) {
  mode_t mode = replaced.st_mode & 0777;
  if (replaced.st_uid != made.st_uid && geteuid() == 0)
    // The owner stays the writer if this fails (a network's file system).
    static_cast<void>(fchown(file, replaced.st_uid, gid_t(-1)) == 0);
  if (replaced.st_gid != made.st_gid &&
      fchown(file, uid_t(-1), replaced.st_gid) != 0)
    mode &= ~mode_t(070);
  return fchmod(file, mode) == 0 ? 0 : errno;
}

GrowingFile::~GrowingFile() {
  if (file >= 0)
    close(file);
}

int GrowingFile::open(const std::string &path, mode_t mode) {
  file = ::open(path.c_str(),
                O_WRONLY | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW | O_CLOEXEC,
                mode);
  return file < 0 ? errno : 0;
}
int GrowingFile::append(std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(file, bytes.data(), bytes.size());
    if (written < 0 && errno != EINTR)
      return errno;
    bytes.remove_prefix(written > 0 ? size_t(written) : 0);
  }
  return 0;
}

} // namespace weft
