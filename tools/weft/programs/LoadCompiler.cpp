//===- LoadCompiler.cpp - libraries that only some commands need ----------===//

#include "weft/tools/weft/Commands.h"

#include <dlfcn.h>

using namespace weft::tool;

const CompilerCommands *weft::tool::loadCompiler() {
  // The library is found by this program's run path, and never closed.
  void *library = dlopen("libWeftCommands.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(std::string("the compiler cannot be loaded: ") + dlerror() +
                "; install Weft again, or build the target WeftCommands"),
           nullptr;
  return static_cast<const CompilerCommands *>(
      dlsym(library, "weftCompilerCommands"));
}

const StepCommands *weft::tool::loadStepCommands() {
  void *library = dlopen("libWeftStepCommands.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(std::string("the training loop cannot be loaded: ") +
                dlerror() +
                "; install Weft again, or build the target WeftStepCommands"),
           nullptr;
  return static_cast<const StepCommands *>(dlsym(library, "weftStepCommands"));
}
