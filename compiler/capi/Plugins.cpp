//===- Plugins.cpp - dialects and passes of one's own ---------------------===//

#include "weft/compiler/capi/Handles.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <dlfcn.h>

using namespace mlir;

/// The address to which the file with this code is loaded; null if unknown.
static const void *imageOf(const void *address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

/// Whether MLIR is in a library of its own, which plug-ins can find. Otherwise,
/// as in the wheel, each plug-in would load a second MLIR.
static bool sharesMlir() {
  return imageOf(reinterpret_cast<const void *>(&weft_compiler_load_plugin)) !=
         imageOf(reinterpret_cast<const void *>(&DialectPlugin::load));
}

/// Calls a plug-in's function, which fills `info`; a plug-in may lack it.
/// Returns an error if the plug-in was built for another version of MLIR's
/// plug-ins, else empty.
template <typename Info>
static std::string ask(void *library, const char *function, Info &info) {
  void *found = dlsym(library, function);
  if (!found)
    return "";
  info = reinterpret_cast<Info (*)()>(found)();
  if (info.apiVersion == MLIR_PLUGIN_API_VERSION)
    return "";
  return std::string(function) + " is of version " +
         std::to_string(info.apiVersion) + " of MLIR's plug-ins, wanted is " +
         std::to_string(MLIR_PLUGIN_API_VERSION) +
         "; build it with this Weft's MLIR";
}

int weft_compiler_load_plugin(weft_compiler *compiler, const char *path) {
  compiler->begin();
  if (!path)
    return compiler->refuse("the path of the plug-in is NULL; name a library");
  if (!sharesMlir())
    return compiler->refuse(
        "this Weft holds MLIR in its own library, which plug-ins cannot share; "
        "load it into an installed Weft (docs/embedding.md)",
        path);
  // A plug-in is linked to MLIR and Weft, so its own symbols need not be
  // global. It is never unloaded, as its ops may be in use.
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return compiler->refuse(std::string(dlerror()) + // the text names the path
                            "; build it with weft::WeftPlugin");
  DialectPluginLibraryInfo dialects = {};
  PassPluginLibraryInfo passes = {};
  for (const std::string &why :
       {ask(library, "mlirGetDialectPluginInfo", dialects),
        ask(library, "mlirGetPassPluginInfo", passes)})
    if (!why.empty())
      return compiler->refuse(why, path);
  if (!dialects.registerDialectRegistryCallbacks &&
      !passes.registerPassRegistryCallbacks)
    return compiler->refuse("has neither mlirGetDialectPluginInfo nor "
                            "mlirGetPassPluginInfo; export one of them",
                            path);
  if (dialects.registerDialectRegistryCallbacks) {
    DialectRegistry registry;
    dialects.registerDialectRegistryCallbacks(&registry);
    compiler->context().appendDialectRegistry(registry);
  }
  if (passes.registerPassRegistryCallbacks)
    passes.registerPassRegistryCallbacks();
  return 0;
}
