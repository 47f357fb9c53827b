//===- Ports.cpp - attributes of arguments and results --------------------===//

#include "weft/dialects/weft/Ports.h"

#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/dialects/weft/Weft.h"

using namespace mlir;
using namespace weft;

Type FunctionPort::type() const {
  return isArgument ? function.getArgumentTypes()[index]
                    : function.getResultTypes()[index];
}

DictionaryAttr FunctionPort::attributes() const {
  return isArgument ? function.getArgAttrDict(index)
                    : function.getResultAttrDict(index);
}

void FunctionPort::set(StringRef name, Attribute attribute) const {
  if (isArgument && attribute)
    function.setArgAttr(index, name, attribute);
  else if (isArgument)
    function.removeArgAttr(index, name);
  else if (attribute)
    function.setResultAttr(index, name, attribute);
  else
    function.removeResultAttr(index, name);
}

InFlightDiagnostic FunctionPort::refuse() const {
  return emitError(function.getLoc())
         << "@" << function.getName() << ": "
         << (isArgument ? "argument " : "result ") << index;
}

std::optional<unsigned> weft::donatedResult(FunctionOpInterface function,
                                            unsigned argument) {
  auto to = function.getArgAttrOfType<IntegerAttr>(argument, kDonatedAttr);
  if (!to || to.getValue().uge(function.getNumResults()))
    return std::nullopt;
  return static_cast<unsigned>(to.getValue().getZExtValue());
}

bool weft::hasPortOnPart(FunctionOpInterface function) {
  auto isOnPart = [](Attribute attribute) {
    auto layout = dyn_cast_or_null<LayoutAttr>(attribute);
    return layout && !layout.getLayout().part.empty();
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isOnPart(function.getArgAttr(i, kLayoutAttr)))
      return true;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (isOnPart(function.getResultAttr(i, kLayoutAttr)))
      return true;
  return false;
}

static LogicalResult verifyDonation(const FunctionPort &port,
                                    Attribute attribute,
                                    SmallVectorImpl<int64_t> &takenBy) {
  auto to = dyn_cast<IntegerAttr>(attribute);
  if (!port.isArgument || !to || !to.getType().isSignlessInteger(64))
    return port.refuse() << ": " << kDonatedAttr << " is " << attribute
                         << "; on an argument, write the number of the result "
                            "that reuses its memory, as 0 : i64";
  auto number = donatedResult(port.function, port.index);
  if (!number)
    return port.refuse() << " is donated to result " << to.getInt()
                         << ", the function has " << takenBy.size();
  Type result = port.function.getResultTypes()[*number];
  auto from = dyn_cast<RankedTensorType>(port.type());
  auto into = dyn_cast<RankedTensorType>(result);
  if (!from || !into || from.getRank() != into.getRank() ||
      from.getElementType() != into.getElementType())
    return port.refuse() << " of type " << port.type()
                         << " is donated to result " << *number << " of type "
                         << result << "; donate it to a result of its type";
  if (takenBy[*number] >= 0)
    return port.refuse() << " and argument " << takenBy[*number]
                         << " are both donated to result " << *number
                         << "; a result reuses the memory of one";
  takenBy[*number] = port.index;
  return success();
}

/// Checks an annotation against the tensor. Layouts are valid for their own
/// mesh.
static LogicalResult verifyLayout(const FunctionPort &port, Attribute attribute,
                                  MeshAttr mesh) {
  auto layout = dyn_cast<LayoutAttr>(attribute);
  auto tensor = dyn_cast<RankedTensorType>(port.type());
  if (!layout || !tensor)
    return port.refuse() << ": the annotation is no layout of a ranked tensor";
  if (mesh && layout.getMesh() != mesh)
    return port.refuse() << ": the layout's mesh is not the module's "
                            "weft.mesh; use one mesh for all annotations";
  int64_t dims = layout.getLayout().dims.size();
  if (dims != tensor.getRank())
    return port.refuse() << ": layout has " << dims
                         << " dimensions, the tensor " << tensor.getRank()
                         << "; give each dimension a list of axes";
  return success();
}

static LogicalResult verifyGlobalType(const FunctionPort &port,
                                      Attribute attribute) {
  auto local = dyn_cast<RankedTensorType>(port.type());
  auto type = dyn_cast<TypeAttr>(attribute);
  auto global =
      type ? dyn_cast<RankedTensorType>(type.getValue()) : RankedTensorType();
  if (local && global && global.getRank() == local.getRank() &&
      global.hasStaticShape() &&
      global.getElementType() == local.getElementType())
    return success();
  return port.refuse() << " of type " << port.type() << ": " << kGlobalTypeAttr
                       << " is " << attribute
                       << "; write a tensor type of its rank and elements";
}

static LogicalResult verifyPort(const FunctionPort &port, MeshAttr mesh,
                                SmallVectorImpl<int64_t> &takenBy) {
  DictionaryAttr attributes = port.attributes();
  if (!attributes)
    return success();
  if (Attribute donated = attributes.get(kDonatedAttr))
    if (failed(verifyDonation(port, donated, takenBy)))
      return failure();
  if (Attribute layout = attributes.get(kLayoutAttr))
    if (failed(verifyLayout(port, layout, mesh)))
      return failure();
  if (Attribute type = attributes.get(kGlobalTypeAttr))
    if (failed(verifyGlobalType(port, type)))
      return failure();
  if (failed(factsOf(attributes.get(kFactsAttr),
                     [&] { return port.refuse() << ": "; })))
    return failure();
  for (StringRef name : {kNameAttr, kRoleAttr, kReasonAttr})
    if (Attribute text = attributes.get(name); text && !isa<StringAttr>(text))
      return port.refuse() << ": " << name << " is " << text
                           << "; write it as a text in quotes";
  return success();
}

LogicalResult weft::verifyPorts(Operation *module) {
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  for (Region &region : module->getRegions())
    for (FunctionOpInterface function : region.getOps<FunctionOpInterface>()) {
      SmallVector<int64_t> takenBy(function.getNumResults(), -1);
      for (unsigned i = 0; i < function.getNumArguments(); ++i)
        if (failed(verifyPort({function, i, true}, mesh, takenBy)))
          return failure();
      for (unsigned i = 0; i < function.getNumResults(); ++i)
        if (failed(verifyPort({function, i, false}, mesh, takenBy)))
          return failure();
    }
  return success();
}
