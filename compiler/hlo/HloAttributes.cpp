//===- HloAttributes.cpp - shapes and attributes as XLA prints them -------===//

#include "weft/compiler/hlo/HloNames.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/coll/Pairing.h"
#include "weft/layout/DeviceGroups.h"

#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

static std::string elementText(Type type) {
  if (type.isInteger(1))
    return "pred";
  if (auto integer = dyn_cast<IntegerType>(type))
    return (integer.isUnsigned() ? "u" : "s") +
           std::to_string(integer.getWidth());
  if (auto complex = dyn_cast<ComplexType>(type))
    return "c" +
           std::to_string(2 * complex.getElementType().getIntOrFloatBitWidth());
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return llvm::StringRef(text).lower();
}

std::string hlo::shapeText(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return elementText(type) + "[]";
  std::string text = elementText(tensor.getElementType()) + "[" +
                     llvm::join(llvm::map_range(tensor.getShape(),
                                                [](int64_t size) {
                                                  return std::to_string(size);
                                                }),
                                ",") +
                     "]";
  if (tensor.getRank() == 0)
    return text;
  text += "{";
  for (int64_t dim = tensor.getRank(); dim-- > 0;)
    text += std::to_string(dim) + (dim ? "," : "}");
  return text;
}

std::string hlo::shapeText(TypeRange types) {
  if (types.size() == 1)
    return shapeText(types.front());
  return "(" +
         llvm::join(
             llvm::map_range(types, [](Type type) { return shapeText(type); }),
             ", ") +
         ")";
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

template <typename Range> static std::string braced(const Range &numbers) {
  std::string text = "{";
  for (auto [i, number] : llvm::enumerate(numbers))
    text += (i ? "," : "") + std::to_string(number);
  return text + "}";
}

/// The text of a value; empty for attributes that are printed elsewhere.
static std::string valueText(StringRef name, Attribute value) {
  if (isa<LayoutAttr, ReduceKindAttr, ElementsAttr>(value) &&
      !isa<DenseI64ArrayAttr>(value))
    return "";
  if (auto list = dyn_cast<DenseI64ArrayAttr>(value))
    return braced(list.asArrayRef());
  if (isa<UnitAttr>(value))
    return "true";
  if (auto number = dyn_cast<IntegerAttr>(value)) {
    SmallVector<int64_t, 1> one{number.getValue().getSExtValue()};
    return name == hlo::attributeName(name) ? std::to_string(one[0])
                                            : braced(one);
  }
  std::string text;
  llvm::raw_string_ostream(text) << value;
  StringRef word(text); // "less" of #weft<compare_kind less>
  return word.starts_with("#") && word.consume_back(">")
             ? word.drop_front(word.find_last_of(" <") + 1).str()
             : text;
}

std::string hlo::attributesText(Operation *op) {
  std::string text;
  for (NamedAttribute entry : op->getAttrDictionary()) {
    StringRef name = entry.getName();
    if (name == "reason" || name.contains('.'))
      continue; // This is metadata, or an attribute that passes added.
    std::string value = valueText(name, entry.getValue());
    if (!value.empty())
      text += ", " + attributeName(name).str() + "=" + value;
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Devices
//===----------------------------------------------------------------------===//

/// Whether the op communicates: it has an effect on the links between devices.
static bool communicates(Operation *op) {
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  SmallVector<MemoryEffects::EffectInstance> all;
  if (effects)
    effects.getEffects(all);
  return llvm::any_of(all, [](const MemoryEffects::EffectInstance &effect) {
    return effect.getResource() == coll::Links::get();
  });
}

/// The mesh in the op's attributes.
static MeshAttr meshOf(Operation *op) {
  for (NamedAttribute entry : op->getAttrDictionary())
    if (auto layout = dyn_cast<LayoutAttr>(entry.getValue()))
      return layout.getMesh();
  return {};
}

std::string hlo::devicesText(Operation *op, int64_t &channels) {
  MeshAttr attribute = communicates(op) ? meshOf(op) : MeshAttr();
  if (!attribute)
    return "";
  const Mesh mesh = attribute.getMesh();
  std::string text = ", channel_id=" + std::to_string(++channels);
  SmallVector<std::string> lists;
  auto add = [&](ArrayRef<int64_t> positions) {
    lists.push_back(braced(llvm::map_to_vector(
        positions, [&](int64_t at) { return deviceAt(mesh, at); })));
  };
  bool pairs = isa<coll::PairingOpInterface>(op);
  if (auto pairing = dyn_cast<coll::PairingOpInterface>(op)) {
    for (auto [sender, receiver] : pairing.getPairs())
      add({sender, receiver});
  } else {
    auto group = op->getAttrOfType<LayoutAttr>("group");
    DeviceGroups all =
        groupsOver(mesh.axes, group ? coll::groupAxes(group) : allAxes(mesh));
    for (const DeviceGroup &members : all.groups)
      add(members);
  }
  text += pairs ? ", source_target_pairs={" : ", replica_groups={";
  text += llvm::join(lists, ",") + "}";
  return pairs ? text : text + ", use_global_device_ids=true";
}

//===----------------------------------------------------------------------===//
// The origin of an instruction
//===----------------------------------------------------------------------===//

static std::string quoted(StringRef text) {
  std::string out = "\"";
  llvm::raw_string_ostream stream(out);
  llvm::printEscapedString(text, stream);
  return out + "\"";
}

std::string hlo::metadataText(Operation *op) {
  std::string text, name;
  if (auto reason = op->getAttrOfType<StringAttr>("reason"))
    name = reason.getValue().str();
  op->getLoc()->walk([&](Location part) {
    if (auto named = dyn_cast<NameLoc>(part); named && name.empty())
      name = named.getName().str();
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file || file.getLine() == 0)
      return WalkResult::advance();
    text = " source_file=" + quoted(file.getFilename()) +
           " source_line=" + std::to_string(file.getLine());
    return WalkResult::interrupt();
  });
  if (!name.empty())
    text = " op_name=" + quoted(name) + text;
  return text.empty() ? "" : ", metadata={" + text.substr(1) + "}";
}
