//===- LoadCompiler.cpp - the compiler, when a command needs it -----------===//

#include "weft/tools/weft/Commands.h"

#include <dlfcn.h>

using namespace weft::tool;

const CompilerCommands *weft::tool::loadCompiler() {
  // Found by this program's run path; never closed.
  void *library = dlopen("libWeftCommands.so", RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return fail(std::string("the compiler cannot be loaded: ") + dlerror() +
                "; install Weft again, or build the target WeftCommands"),
           nullptr;
  return static_cast<const CompilerCommands *>(
      dlsym(library, "weftCompilerCommands"));
}
