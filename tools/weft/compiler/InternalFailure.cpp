//===- InternalFailure.cpp - when Weft itself is wrong --------------------===//

#include "weft/tools/weft/compiler/InternalFailure.h"

#include "weft/base/AtomicFile.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>

#include <sys/random.h>
#include <unistd.h>

using namespace weft;
namespace fs = std::filesystem;

static constexpr llvm::StringLiteral kPrefix = "weft-reproducer-";

static std::string nameOf(Stage stage) {
  return stages()[unsigned(stage)].name.str();
}

std::string weft::tool::reproducer(mlir::ModuleOp imported, Stage failed) {
  std::string text =
      "// weft compile FILE --from=imported --emit=" + nameOf(failed) + "\n";
  llvm::raw_string_ostream stream(text);
  imported.print(stream);
  return text + "\n";
}

/// The user's reproducers in the folder, the newest first. Links are none.
static std::vector<fs::path> reproducersIn(const std::string &folder) {
  std::vector<std::pair<fs::file_time_type, fs::path>> found;
  std::error_code error;
  for (fs::directory_iterator at(folder, error), end; !error && at != end;
       at.increment(error)) {
    std::string name = at->path().filename();
    struct stat info;
    if (llvm::StringRef(name).starts_with(kPrefix) &&
        llvm::StringRef(name).ends_with(".mlir") &&
        ::lstat(at->path().c_str(), &info) == 0 && S_ISREG(info.st_mode) &&
        info.st_uid == ::geteuid())
      found.emplace_back(at->last_write_time(error), at->path());
  }
  llvm::sort(found, std::greater<>());
  std::vector<fs::path> paths;
  for (const auto &entry : found)
    paths.push_back(entry.second);
  return paths;
}

std::string weft::tool::writeReproducer(const std::string &folder,
                                        const std::string &text,
                                        std::string &file) {
  constexpr size_t kKept = 3;
  std::vector<fs::path> older = reproducersIn(folder);
  for (size_t i = kKept; i < older.size(); ++i)
    ::unlink(older[i].c_str());
  uint64_t number = 0;
  if (::getrandom(&number, sizeof number, 0) != sizeof number)
    return std::string("no random name: ") + std::strerror(errno);
  file = folder + "/" + kPrefix.str() +
         llvm::utohexstr(number, /*LowerCase=*/true, /*Width=*/16) + ".mlir";
  GrowingFile created;
  int error = created.open(file, 0600);
  if (!error)
    error = created.append(text);
  return error ? file + ": cannot be written: " + std::strerror(error) : "";
}

void weft::tool::endInternally(const std::string &model,
                               mlir::ModuleOp imported, Stage reached) {
  Stage failed = Stage(std::min(unsigned(reached) + 1, unsigned(Stage::plan)));
  llvm::SmallString<128> folder;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, folder);
  std::string file;
  std::string error =
      writeReproducer(std::string(folder), reproducer(imported, failed), file);
  std::fprintf(stderr,
               "weft: internal failure: %s: the stage '%s' cannot be reached; "
               "%s: please report it\n",
               model.c_str(), nameOf(failed).c_str(),
               error.empty() ? ("its IR and pipeline are in " + file).c_str()
                             : error.c_str());
  std::fflush(nullptr);
  ::_exit(70);
}
