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
// A target that is a symbolic link stays a link: the file that it points to is
// replaced. A dangling link is refused (ENOENT). In a folder with the sticky
// bit that anybody may write, such as /tmp, so is a link whose owner is neither
// the user nor the folder's owner (EACCES). A path that is no regular file (a
// pipe, a device), or that is in /proc or in /dev outside of /dev/shm, is
// written directly. A pipe without a reader is refused (ENXIO), as opening it
// would wait for a reader.
//
// This is the only code of Weft that creates files, apart from temporary ones
// that tools/check/check_files.py lists; it checks that.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_ATOMICFILE_H
#define WEFT_BASE_ATOMICFILE_H

#include <string>
#include <string_view>
#include <utility>

#include <sys/stat.h>

namespace weft {

/// Removes the files of the user's ended writers from an open folder.
void removeAbandonedFiles(int folder);

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
  AtomicFile &operator=(AtomicFile &&other) noexcept;
  ~AtomicFile() { discard(); }

  /// Opens the temporary file, or a path that is written directly; returns 0 or
  /// an errno value.
  int open(const std::string &path, AtomicFileOptions given = {});

  /// The descriptor to write to; -1 before open() and after commit().
  int descriptor() const { return file; }

  /// Replaces the target by the file. Returns 0 or an errno value. After an
  /// error the target is unchanged, unless only syncing the folder or closing
  /// the file failed, or the path is written directly.
  int commit();

  /// Removes the temporary file; the target is unchanged. Bytes that were
  /// written directly stay.
  void discard();

private:
  void take(AtomicFile &other);
  int openDirectly(const std::string &path, bool isPipe);
  /// Follows links and opens the target's folder. Sets `folder`, and `target`
  /// to the name in it.
  int openFolder(const std::string &path, bool exists);
  int createTemporary(const struct stat *replaced);
  /// Copies group and permissions of the replaced file, and as root its owner.
  /// A group that cannot be kept loses its permissions.
  int takeMode(const struct stat &replaced, const struct stat &made);

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
  ~GrowingFile();

  /// Creates the file, with the permissions that the umask leaves of `mode`;
  /// returns 0 or an errno value.
  int open(const std::string &path, mode_t mode = 0666);
  /// Appends all bytes; returns 0 or an errno value.
  int append(std::string_view bytes);

private:
  int file = -1;
};

} // namespace weft

#endif // WEFT_BASE_ATOMICFILE_H
