//===- LoadCompiler.cpp - libraries that only some commands need ----------===//

#include "weft/tools/weft/Commands.h"

#include <dlfcn.h>

using namespace weft;
using namespace weft::tool;

Result<const CompilerCommands *> weft::tool::loadCompiler() {
  // The library is found by this program's run path, and never closed.
  void *library = dlopen("libWeftCommands.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{std::string("the compiler cannot be loaded: ") + dlerror() +
                 "; install Weft again, or build the target WeftCommands"};
  return static_cast<const CompilerCommands *>(
      dlsym(library, "weftCompilerCommands"));
}

Result<const StepCommands *> weft::tool::loadStepCommands() {
  void *library = dlopen("libWeftStepCommands.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Error{std::string("the training loop cannot be loaded: ") +
                 dlerror() +
                 "; install Weft again, or build the target WeftStepCommands"};
  return static_cast<const StepCommands *>(dlsym(library, "weftStepCommands"));
}
