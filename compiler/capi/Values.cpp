//===- Values.cpp - where the values of a program lie ---------------------===//

#include "weft/compiler/capi/Handles.h"
#include "weft/compiler/explain/Provenance.h"
#include "weft/compiler/explain/TensorLayouts.h"
#include "weft/compiler/explain/Timeline.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace weft;

static OwnedValue describe(RankedTensorType type, LayoutAttr layout) {
  OwnedValue value;
  value.dtype = elementName(type.getElementType());
  value.shape.assign(type.getShape().begin(), type.getShape().end());
  if (layout)
    value.layout =
        toCommandText(layout.getMesh().getMesh(), layout.getLayout());
  return value;
}

/// Describes an argument or result; its layout is that of its type, or else of
/// its annotation. Returns nothing if it is no tensor.
static std::optional<OwnedValue> describePort(Type type, DictionaryAttr said,
                                              StringRef madeBy) {
  auto annotation = said ? said.getAs<LayoutAttr>(kLayoutAttr) : LayoutAttr();
  auto global = said ? said.getAs<TypeAttr>(kGlobalTypeAttr) : TypeAttr();
  auto tensor = dyn_cast<RankedTensorType>(global ? global.getValue() : type);
  if (!tensor)
    return std::nullopt;
  LayoutAttr layout = getLayout(type);
  OwnedValue value = describe(tensor, layout ? layout : annotation);
  if (auto name = said ? said.getAs<StringAttr>(kNameAttr) : StringAttr())
    value.name = name.str();
  value.madeBy = madeBy.str();
  return value;
}

static void listPorts(func::FuncOp function, std::vector<OwnedValue> &values) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto value = describePort(function.getArgumentTypes()[i],
                                  function.getArgAttrDict(i), "argument"))
      values.push_back(std::move(*value));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (auto value = describePort(function.getResultTypes()[i],
                                  function.getResultAttrDict(i), "result"))
      values.push_back(std::move(*value));
}

static void listInner(func::FuncOp function, std::vector<OwnedValue> &values) {
  function.walk([&](Operation *op) {
    for (Type type : op->getResultTypes()) {
      LayoutAttr layout = getLayout(type);
      if (!layout)
        continue;
      OwnedValue value = describe(cast<RankedTensorType>(type), layout);
      std::vector<std::string> names = pathsOf(op->getLoc());
      if (names.empty())
        names = linesOf(op->getLoc());
      value.name = names.empty() ? "" : names.front();
      value.madeBy = op->getName().getStringRef().str();
      values.push_back(std::move(value));
    }
  });
}

/// Lists the ports of a plan, which are instructions and not arguments or
/// results of a function.
static void listPlan(plan::ProgramOp program, std::vector<OwnedValue> &values) {
  const Mesh mesh = program.getMesh().getMesh();
  for (const TensorLayout &tensor : tensorLayouts(program))
    values.push_back({tensor.key, tensor.isOutput ? "result" : "argument",
                      tensor.elementType, toCommandText(mesh, tensor.layout),
                      tensor.shape});
}

std::vector<OwnedValue> weft::capi::listValues(ModuleOp module) {
  std::vector<OwnedValue> values;
  for (auto function : module.getOps<func::FuncOp>())
    if (function.isPublic()) {
      listPorts(function, values);
      listInner(function, values);
    }
  for (auto program : module.getOps<plan::ProgramOp>())
    listPlan(program, values);
  return values;
}

int weft_module_value(weft_module *module, size_t value, weft_value *out) {
  module->compiler->begin();
  if (!module->values)
    module->values = capi::listValues(*module->op);
  if (value >= module->values->size())
    return 1;
  const OwnedValue &found = (*module->values)[value];
  *out = {found.name.c_str(), found.madeBy.c_str(), found.dtype.c_str(),
          found.shape.size(), found.shape.data(),   found.layout.c_str()};
  return 0;
}
