//===- Annotations.cpp - the mesh and the layouts of ports ----------------===//

#include "weft/compiler/capi/Handles.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace weft;

/// The module's mesh; null after an error.
static MeshAttr meshOf(weft_module *module) {
  auto mesh = module->op.get()->getAttrOfType<MeshAttr>(kMeshAttr);
  if (!mesh)
    module->compiler->refuse(
        "the module has no mesh; give it one with weft_module_set_mesh");
  return mesh;
}

/// Checks that the module is at stage `imported`, the only one at which this
/// API sets annotations.
static bool mayAnnotate(weft_module *module) {
  if (module->stage == Stage::imported)
    return true;
  module->compiler->refuse("the module is at stage '" +
                           stages()[unsigned(module->stage)].name.str() +
                           "', annotations are those of stage 'imported'; "
                           "annotate a module before it is lowered");
  return false;
}

int weft_module_set_mesh(weft_module *module, const char *text) {
  weft_compiler *compiler = module->compiler;
  compiler->begin();
  if (!mayAnnotate(module))
    return 1;
  Mesh mesh;
  std::string why = text ? parseMesh(text, mesh) : "is NULL";
  if (!why.empty())
    return compiler->refuse("the mesh '" + std::string(text ? text : "") +
                            "': " + why + "; write it as data=2,model=4");
  auto attribute = MeshAttr::get(&compiler->context(), mesh);
  auto present = module->op.get()->getAttrOfType<MeshAttr>(kMeshAttr);
  if (present && present != attribute)
    return compiler->refuse(
        "the module has a mesh, which its layouts name; write the other mesh "
        "into its text");
  module->op.get()->setAttr(kMeshAttr, attribute);
  module->values.reset();
  return 0;
}

static std::vector<FunctionPort> portsOf(ModuleOp module, StringRef name) {
  std::vector<FunctionPort> ports;
  auto isMeant = [&](DictionaryAttr said) {
    auto its = said ? said.getAs<StringAttr>(kNameAttr) : StringAttr();
    return its && its.getValue() == name;
  };
  for (auto function : module.getOps<func::FuncOp>()) {
    if (!function.isPublic())
      continue;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isMeant(function.getArgAttrDict(i)))
        ports.push_back({function, i, true});
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      if (isMeant(function.getResultAttrDict(i)))
        ports.push_back({function, i, false});
  }
  return ports;
}

/// Parses an annotation for the port; null after an error.
static LayoutAttr parseLayout(weft_compiler *compiler, const FunctionPort &port,
                              const std::string &text, MeshAttr mesh,
                              const std::string &name) {
  Layout layout;
  auto type = dyn_cast<RankedTensorType>(port.type());
  std::string why =
      type ? parseCommandText(text, mesh.getMesh(), layout) : "it is no tensor";
  if (why.empty())
    why = invalidReason(mesh.getMesh(), layout, type.getRank());
  if (why.empty())
    return LayoutAttr::get(mesh, layout);
  compiler->refuse("the layout '" + text + "' of '" + name + "': " + why +
                   "; write a place for each dimension, as [data,-]");
  return {};
}

int weft_module_set_layout(weft_module *module, const char *port,
                           const char *text) {
  weft_compiler *compiler = module->compiler;
  compiler->begin();
  MeshAttr mesh = mayAnnotate(module) ? meshOf(module) : MeshAttr();
  if (!mesh)
    return 1;
  std::string name = port ? port : "";
  std::vector<FunctionPort> ports = portsOf(*module->op, name);
  if (ports.empty())
    return compiler->refuse("no argument or result is called '" + name +
                            "'; weft_module_value lists their names");
  SmallVector<LayoutAttr> layouts;
  for (const FunctionPort &one : ports) {
    layouts.push_back(text ? parseLayout(compiler, one, text, mesh, name)
                           : LayoutAttr());
    if (text && !layouts.back())
      return 1;
  }
  for (auto [one, layout] : llvm::zip_equal(ports, layouts))
    one.set(kLayoutAttr, layout);
  module->values.reset();
  return 0;
}
