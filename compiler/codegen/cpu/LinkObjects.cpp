//===- LinkObjects.cpp - lld in this process ------------------------------===//

#include "weft/compiler/codegen/cpu/LowerKernel.h"

#include "lld/Common/Driver.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <mutex>

LLD_HAS_DRIVER(elf)

namespace weft::cpu {

static constexpr size_t kMostInMemory = size_t(4) << 20;

namespace {
/// A folder that no other user may enter, removed with its content: in memory,
/// if that is possible and the content is small.
struct TemporaryFolder {
  llvm::SmallString<128> path;
  std::error_code error;
  explicit TemporaryFolder(size_t bytes) {
    bool isSmall = bytes <= kMostInMemory;
    if (isSmall && makeIn("/dev/shm"))
      return;
    llvm::SmallString<128> place;
    llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, place);
    if (!makeIn(place))
      error = std::error_code(errno, std::generic_category());
  }
  bool makeIn(llvm::StringRef place) {
    std::string made = (place + "/weft-linkXXXXXX").str();
    if (!::mkdtemp(made.data()))
      return false;
    path = made;
    return true;
  }
  ~TemporaryFolder() {
    // Files stay in the folder for temporary files if they cannot be removed.
    if (!error)
      error = llvm::sys::fs::remove_directories(path);
  }
  std::string file(const llvm::Twine &name) const {
    return (path + "/" + name).str();
  }
};
} // namespace

/// The advice in errors about temporary files, from which the linker reads
/// objects.
static constexpr const char *kMend =
    "; free some space for temporary files, or name another folder with TMPDIR";

std::string linkObjects(llvm::ArrayRef<llvm::SmallVector<char>> objects,
                        llvm::SmallVectorImpl<char> &sharedObject) {
  size_t bytes = 0;
  for (const llvm::SmallVector<char> &object : objects)
    bytes += object.size();
  TemporaryFolder folder(bytes);
  if (folder.error)
    return "no temporary folder: " + folder.error.message() + kMend;
  std::string output = folder.file("kernels.so");
  std::vector<std::string> words{"ld.lld",
                                 "-shared",
                                 "--threads=1",
                                 "--build-id=none",
                                 "--hash-style=gnu",
                                 "-z",
                                 "noexecstack",
                                 "-o",
                                 output};
  for (size_t i = 0; i < objects.size(); ++i) {
    words.push_back(folder.file(llvm::Twine(i) + ".o"));
    std::error_code error;
    llvm::raw_fd_ostream stream(words.back(), error);
    if (error)
      return words.back() + ": " + error.message() + kMend;
    stream.write(objects[i].data(), objects[i].size());
    stream.close();
    if (stream.has_error()) {
      error = stream.error();
      stream.clear_error();
      return words.back() + ": " + error.message() + kMend;
    }
  }
  std::vector<const char *> arguments;
  for (const std::string &word : words)
    arguments.push_back(word.c_str());
  std::string messages;
  llvm::raw_string_ostream log(messages);
  {
    static std::mutex oneAtATime;
    std::lock_guard<std::mutex> lock(oneAtATime);
    lld::Result result =
        lld::lldMain(arguments, log, log, {{lld::Gnu, &lld::elf::link}});
    if (result.retCode != 0)
      return "linking failed: " + messages;
  }
  auto buffer = llvm::MemoryBuffer::getFile(output, /*IsText=*/false,
                                            /*RequiresNullTerminator=*/false);
  if (!buffer)
    return output + ": " + buffer.getError().message();
  sharedObject.assign((*buffer)->getBufferStart(), (*buffer)->getBufferEnd());
  return "";
}

} // namespace weft::cpu
