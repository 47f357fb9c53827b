//===- Compile.cpp - weft compile ------------------------------------------===//

#include "weft/tools/weft/OutputFile.h"
#include "weft/tools/weft/SavedModel.h"
#include "weft/tools/weft/StepCompiler.h"
#include "weft/tools/weft/VerifyStages.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace weft::tool;

int weft::tool::runCompile(const CompileFlags &flags) {
  std::optional<Stage> stage;
  if (!flags.emit.empty()) {
    stage = parseStage(flags.emit);
    if (!stage) {
      std::string known;
      for (const StageInfo &info : stages())
        known += (known.empty() ? "" : ", ") + info.name.str();
      return fail("--emit " + flags.emit + ": no such stage; use one of " +
                  known);
    }
  } else if (flags.out.empty() && !flags.verify) {
    return fail("--out is missing: name the program file, or print a stage "
                "with --emit");
  }
  if (!flags.out.empty() && flags.out != "-")
    if (Status writable = tryOutput(flags.out); !writable)
      return fail(writable.message());
  auto steps = StepCompiler::open(flags.model);
  if (!steps)
    return 1;
  if (flags.verify &&
      !verifyStages(*steps, flags.model.step, flags.model.batchSize))
    return 1;
  if (!stage && flags.out.empty())
    return 0;
  std::string bytes;
  if (stage) {
    auto module = steps->reach(flags.model.step, flags.model.batchSize, *stage);
    if (!module)
      return 1;
    llvm::raw_string_ostream(bytes) << *module;
  } else {
    auto image = steps->compile(flags.model.step, flags.model.batchSize);
    if (!image)
      return 1;
    bytes.assign(image->begin(), image->end());
  }
  if (flags.out.empty() || flags.out == "-") {
    llvm::outs() << bytes;
    return 0;
  }
  std::string error = writeOutputFile(flags.out, bytes);
  return error.empty() ? 0 : fail(error);
}
