// Debian's libLLVMLTO.a asks for Polly's passes, which Debian has no archive of.
// LLD reaches it in links of bitcode alone, which Weft does not make.

#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {},
          nullptr};
}
