//===- PortLayouts.cpp - layouts of a step that is IR ---------------------===//

#include "weft/compiler/frontends/keras/distribution/PortLayouts.h"

#include "weft/base/PortRole.h"
#include "weft/base/config/Json.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"

#include <algorithm>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {
struct Port {
  std::string name, role;
  std::vector<int64_t> shape;
};
} // namespace

static std::string textOf(func::FuncOp function, unsigned argument,
                          StringRef name) {
  auto text = function.getArgAttrOfType<StringAttr>(argument, name);
  return text ? text.str() : "";
}

static std::vector<Port> portsOf(func::FuncOp function) {
  std::vector<Port> out;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto type = cast<RankedTensorType>(function.getArgumentTypes()[i]);
    out.push_back({textOf(function, i, kNameAttr),
                   textOf(function, i, kRoleAttr), type.getShape().vec()});
  }
  return out;
}

static bool isOfBatch(const Port &port) {
  std::optional<Role> role = roleNamed(port.role);
  return role && weft::holdsBatch(*role);
}

/// The weight that a slot belongs to, or null. The slot adam/d1_kernel_momentum
/// has the shape of d1/kernel, and its name contains that path with _ for /.
static const Port *weightOf(const Port &slot, ArrayRef<Port> ports) {
  const Port *found = nullptr;
  for (const Port &port : ports) {
    if (port.role != "weight" || port.shape != slot.shape)
      continue;
    std::string inside = "/" + port.name + "_";
    std::replace(inside.begin() + 1, inside.end(), '/', '_');
    bool isIts = slot.name.find(inside) != slot.name.npos;
    if (isIts && (!found || found->name.size() < port.name.size()))
      found = &port;
  }
  return found;
}

static ResolvedLayout layoutOf(const Port &port, ArrayRef<Port> ports,
                               const Distribution &distribution,
                               const ResolvedLayouts &layouts) {
  if (isOfBatch(port))
    return batchLayout(distribution, port.shape);
  if (port.role == "slot")
    if (const Port *weight = weightOf(port, ports))
      return {layouts.variables.at(weight->name).layout,
              "a slot of " + inQuotes(weight->name)};
  return layouts.variables.at(port.name);
}

static void layOut(func::FuncOp function, unsigned argument,
                   const ResolvedLayout &found, MeshAttr mesh) {
  MLIRContext *context = function.getContext();
  auto layout = LayoutAttr::get(mesh, found.layout);
  function.setArgAttr(argument, kLayoutAttr, layout);
  function.setArgAttr(argument, kReasonAttr,
                      StringAttr::get(context, found.reason));
  if (auto to = donatedResult(function, argument)) {
    function.setResultAttr(*to, kLayoutAttr, layout);
    function.setResultAttr(*to, kReasonAttr,
                           StringAttr::get(context, found.reason));
  }
}

Result<std::vector<RuleStatus>>
weft::keras::layOutPorts(func::FuncOp function,
                         const Distribution &distribution) {
  std::vector<Port> ports = portsOf(function);
  // The rules are resolved for a model that has only these variables.
  Model variables;
  for (const Port &port : ports)
    if (!isOfBatch(port)) {
      variables.variables.emplace_back();
      variables.variables.back().path = port.name;
      variables.variables.back().shape = port.shape;
    }
  auto layouts = resolveLayouts(distribution, variables);
  if (!layouts)
    return Result<std::vector<RuleStatus>>::failure(layouts.error);
  auto mesh = MeshAttr::get(function.getContext(), distribution.mesh);
  function->getParentOfType<ModuleOp>()->setAttr(kMeshAttr, mesh);
  for (auto [i, port] : llvm::enumerate(ports))
    layOut(function, i, layoutOf(port, ports, distribution, *layouts), mesh);
  return {std::move(layouts->rules), ""};
}
