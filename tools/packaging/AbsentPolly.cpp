// Stubs of Polly's passes, which Debian's libLLVMLTO.a needs and no Debian
// archive has. LLD uses them only in links of bitcode, which Weft does not
// make.

#include "llvm/Plugins/PassPlugin.h"

llvm::PassPluginLibraryInfo getPollyPluginInfo();

llvm::PassPluginLibraryInfo getPollyPluginInfo() {
  return {LLVM_PLUGIN_API_VERSION, "none", "0", [](llvm::PassBuilder &) {},
          nullptr};
}
