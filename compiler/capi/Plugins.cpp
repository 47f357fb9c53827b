//===- Plugins.cpp - dialects and passes of one's own ---------------------===//

#include "weft/compiler/capi/Handles.h"

#include "mlir/Tools/Plugins/DialectPlugin.h"
#include "mlir/Tools/Plugins/PassPlugin.h"

#include <dlfcn.h>

using namespace mlir;

/// The file that holds the code at the address; null where none is known.
static const void *imageOf(const void *address) {
  Dl_info info;
  return dladdr(address, &info) ? info.dli_fbase : nullptr;
}

/// Is MLIR in a library of its own, which plug-ins find? One that holds MLIR
/// itself, as the wheel's does, would see a second MLIR in each plug-in.
static bool sharesMlir() {
  return imageOf(reinterpret_cast<const void *>(&weft_compiler_load_plugin)) !=
         imageOf(reinterpret_cast<const void *>(&DialectPlugin::load));
}

/// What a plug-in's function says, or why it says nothing.
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
  // It finds MLIR and Weft by what it is linked to, so none of its own symbols
  // has to be seen by others. Nothing unloads it: ops may be in use.
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return compiler->refuse(std::string(dlerror()) + // names the path
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
    compiler->context.appendDialectRegistry(registry);
  }
  if (passes.registerPassRegistryCallbacks)
    passes.registerPassRegistryCallbacks();
  return 0;
}
