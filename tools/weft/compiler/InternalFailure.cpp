//===- InternalFailure.cpp - when Weft itself is wrong --------------------===//

#include "weft/tools/weft/compiler/InternalFailure.h"

#include "weft/tools/weft/programs/OutputFile.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>
#include <cstdio>
#include <unistd.h>

using namespace weft;

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

void weft::tool::endInternally(const std::string &model,
                               mlir::ModuleOp imported, Stage reached) {
  Stage failed = Stage(std::min(unsigned(reached) + 1, unsigned(Stage::plan)));
  llvm::SmallString<128> path;
  llvm::sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
  llvm::sys::path::append(path, "weft-reproducer-" + llvm::Twine(::getpid()) +
                                    ".mlir");
  std::string file(path.str());
  std::string error = writeOutputFile(file, reproducer(imported, failed));
  std::fprintf(stderr,
               "weft: internal failure: %s: the stage '%s' cannot be reached; "
               "%s: please report it\n",
               model.c_str(), nameOf(failed).c_str(),
               error.empty() ? ("its IR and pipeline are in " + file).c_str()
                             : error.c_str());
  std::fflush(nullptr);
  ::_exit(70);
}
