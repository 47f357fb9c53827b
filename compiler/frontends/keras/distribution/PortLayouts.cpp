//===- PortLayouts.cpp - layouts of a step that is IR ---------------------===//

#include "weft/compiler/frontends/keras/distribution/PortLayouts.h"

#include "weft/base/PortRole.h"
#include "weft/base/config/Json.h"
#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

static std::string textOf(func::FuncOp function, unsigned argument,
                          StringRef name) {
  auto text = function.getArgAttrOfType<StringAttr>(argument, name);
  return text ? text.str() : "";
}

static bool isOfBatch(func::FuncOp function, unsigned argument) {
  std::optional<Role> role = roleNamed(textOf(function, argument, kRoleAttr));
  return role && holdsBatch(*role);
}

static std::vector<int64_t> shapeOf(func::FuncOp function, unsigned argument) {
  return cast<RankedTensorType>(function.getArgumentTypes()[argument])
      .getShape()
      .vec();
}

/// The layout of an argument: a slot has that of its weight.
static ResolvedLayout layoutOf(func::FuncOp function, unsigned argument,
                               const Distribution &distribution,
                               const ResolvedLayouts &layouts) {
  std::vector<int64_t> shape = shapeOf(function, argument);
  if (isOfBatch(function, argument))
    return batchLayout(distribution, shape);
  PortFacts facts = verifiedFactsOf(function.getArgAttr(argument, kFactsAttr));
  auto weight = layouts.variables.find(facts.weight);
  if (!facts.weight.empty() && weight != layouts.variables.end() &&
      weight->second.layout.dims.size() == shape.size())
    return {weight->second.layout, "a slot of " + inQuotes(facts.weight)};
  return layouts.variables.at(textOf(function, argument, kNameAttr));
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
  std::vector<NamedShape> variables;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (!isOfBatch(function, i))
      variables.push_back(
          {textOf(function, i, kNameAttr), shapeOf(function, i)});
  auto layouts = resolveLayouts(distribution, variables);
  if (!layouts)
    return layouts.error();
  auto mesh = MeshAttr::get(function.getContext(), distribution.mesh);
  function->getParentOfType<ModuleOp>()->setAttr(kMeshAttr, mesh);
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    layOut(function, i, layoutOf(function, i, distribution, *layouts), mesh);
  return std::move(layouts->rules);
}
