//===- ArtifactShardings.cpp - attributes of sdy in bytecode --------------===//

#include "weft/compiler/frontends/stablehlo/reader/Artifact.h"
#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace weft;

namespace {

class ShardyBytecode : public BytecodeDialectInterface {
public:
  explicit ShardyBytecode(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}
  Attribute readAttribute(DialectBytecodeReader &reader) const override;

private:
  LogicalResult readList(DialectBytecodeReader &reader, ArrayAttr &out) const;
  Attribute readAxis(DialectBytecodeReader &reader) const;
  Attribute readDim(DialectBytecodeReader &reader) const;
  Attribute readMesh(DialectBytecodeReader &reader) const;
  Attribute readSharding(DialectBytecodeReader &reader, bool unreduced) const;
  Attribute skipRule(DialectBytecodeReader &reader) const;
};

LogicalResult ShardyBytecode::readList(DialectBytecodeReader &reader,
                                       ArrayAttr &out) const {
  SmallVector<Attribute> values;
  uint64_t count;
  if (failed(reader.readVarInt(count)))
    return failure();
  for (; count; --count)
    if (failed(reader.readAttribute(values.emplace_back())))
      return failure();
  out = ArrayAttr::get(getContext(), values);
  return success();
}

/// Reads an axis: its name, and an array [skip, size] for a sub-axis.
Attribute ShardyBytecode::readAxis(DialectBytecodeReader &reader) const {
  StringRef name;
  DenseI64ArrayAttr digit;
  if (failed(reader.readString(name)) ||
      failed(reader.readOptionalAttribute(digit)))
    return {};
  auto text = StringAttr::get(getContext(), name);
  if (!digit)
    return text;
  if (digit.size() != 2) {
    reader.emitError() << "a part of an axis has " << digit.size()
                       << " numbers, not 2";
    return {};
  }
  return stablehlo::makeSubAxis(text, digit[0], digit[1]);
}

Attribute ShardyBytecode::readDim(DialectBytecodeReader &reader) const {
  ArrayAttr axes;
  bool closed, given;
  uint64_t priority = 0;
  if (failed(readList(reader, axes)) || failed(reader.readBool(closed)) ||
      failed(reader.readVarIntWithFlag(priority, given)))
    return {};
  return stablehlo::makeShardedDim(axes, closed, given ? priority : 0);
}

Attribute ShardyBytecode::readMesh(DialectBytecodeReader &reader) const {
  ArrayAttr axes;
  SmallVector<int64_t> devices;
  if (failed(readList(reader, axes)) ||
      failed(reader.readSignedVarInts(devices)))
    return {};
  SmallVector<Attribute> names, sizes;
  for (Attribute axis : axes) {
    auto pair = dyn_cast<ArrayAttr>(axis);
    if (!pair || pair.size() != 2) {
      reader.emitError() << "a mesh has an axis " << axis;
      return {};
    }
    names.push_back(pair[0]);
    sizes.push_back(pair[1]);
  }
  return stablehlo::makeMesh(getContext(), names, sizes, devices);
}

Attribute ShardyBytecode::readSharding(DialectBytecodeReader &reader,
                                       bool unreduced) const {
  Attribute mesh;
  ArrayAttr dims, replicated, sums;
  if (failed(reader.readAttribute(mesh)) || failed(readList(reader, dims)) ||
      failed(readList(reader, replicated)) ||
      (unreduced && failed(readList(reader, sums))))
    return {};
  if (auto symbol = dyn_cast<FlatSymbolRefAttr>(mesh))
    mesh = symbol.getAttr();
  return stablehlo::makeSharding(mesh, dims.getValue(), replicated, sums);
}

/// Reads the rule of a custom call, which is not kept (parseShardyAttribute).
Attribute ShardyBytecode::skipRule(DialectBytecodeReader &reader) const {
  SmallVector<int64_t> numbers; // sizes, then lists of factors of each kind
  ArrayAttr operands, results;
  uint64_t isCustom;
  if (failed(reader.readSignedVarInts(numbers)) ||
      failed(readList(reader, operands)) || failed(readList(reader, results)))
    return {};
  for (int kind = 0; kind < 4; ++kind)
    if (failed(reader.readSignedVarInts(numbers)))
      return {};
  return failed(reader.readVarInt(isCustom)) ? Attribute()
                                             : UnitAttr::get(getContext());
}

Attribute ShardyBytecode::readAttribute(DialectBytecodeReader &reader) const {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  Builder b(getContext());
  switch (code) {
  case 0:  // manual axes
  case 7:  // shardings of several values
  case 11: // a list of axes
  case 12: // a list of such lists
  case 16: {
    ArrayAttr values;
    return failed(readList(reader, values)) ? Attribute() : values;
  }
  case 1: { // an axis of a mesh
    StringRef name;
    int64_t size;
    if (failed(reader.readString(name)) ||
        failed(reader.readSignedVarInt(size)))
      return {};
    return b.getArrayAttr({b.getStringAttr(name), b.getI64IntegerAttr(size)});
  }
  case 2:
    return readMesh(reader);
  case 3: {
    int64_t skip, size;
    if (failed(reader.readSignedVarInt(skip)) ||
        failed(reader.readSignedVarInt(size)))
      return {};
    return b.getDenseI64ArrayAttr({skip, size});
  }
  case 4:
    return readAxis(reader);
  case 5:
    return readDim(reader);
  case 6:
    return readSharding(reader, /*unreduced=*/false);
  case 8: { // the factors of a dimension, in the rule of a custom call
    SmallVector<int64_t> factors;
    return failed(reader.readSignedVarInts(factors))
               ? Attribute()
               : b.getDenseI64ArrayAttr(factors);
  }
  case 9: { // the dimensions of a tensor, in such a rule
    ArrayAttr dims;
    return failed(readList(reader, dims)) ? Attribute() : dims;
  }
  case 10:
    return skipRule(reader);
  case 15:
    return readSharding(reader, /*unreduced=*/true);
  default:
    reader.emitError() << "sdy's attribute " << code << " is not read";
    return {};
  }
}

} // namespace

std::unique_ptr<DialectInterface>
stablehlo::makeShardyBytecode(Dialect *dialect) {
  return std::make_unique<ShardyBytecode>(dialect);
}
