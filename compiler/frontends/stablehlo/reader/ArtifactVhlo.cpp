//===- ArtifactVhlo.cpp - attributes and types of vhlo in bytecode --------===//

#include "weft/compiler/frontends/stablehlo/reader/Artifact.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace weft;

namespace {

/// The words of a vhlo enumeration, by the code of the attribute.
ArrayRef<StringLiteral> wordsOf(uint64_t code) {
  static constexpr StringLiteral direction[] = {"EQ", "NE", "GE",
                                                "GT", "LE", "LT"};
  static constexpr StringLiteral comparison[] = {
      "NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
  static constexpr StringLiteral api[] = {
      "UNSPECIFIED", "ORIGINAL", "STATUS_RETURNING", "STATUS_RETURNING_UNIFIED",
      "TYPED_FFI"};
  static constexpr StringLiteral fft[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
  static constexpr StringLiteral precision[] = {"DEFAULT", "HIGH", "HIGHEST"};
  static constexpr StringLiteral algorithm[] = {"DEFAULT", "THREE_FRY",
                                                "PHILOX"};
  static constexpr StringLiteral distribution[] = {"", "UNIFORM", "NORMAL"};
  static constexpr StringLiteral transpose[] = {"INVALID", "NO_TRANSPOSE",
                                                "TRANSPOSE", "ADJOINT"};
  static constexpr StringLiteral accuracy[] = {"DEFAULT", "HIGHEST",
                                               "TOLERANCE"};
  switch (code) {
  case 3:
    return direction;
  case 4:
    return comparison;
  case 5:
    return api;
  case 7:
    return fft;
  case 11:
    return precision;
  case 12:
    return algorithm;
  case 13:
    return distribution;
  case 16:
    return transpose;
  case 19:
    return accuracy;
  default:
    return {};
  }
}

class VhloBytecode : public BytecodeDialectInterface {
public:
  explicit VhloBytecode(Dialect *dialect) : BytecodeDialectInterface(dialect) {}
  Attribute readAttribute(DialectBytecodeReader &reader) const override;
  Type readType(DialectBytecodeReader &reader) const override;

private:
  Attribute readWord(DialectBytecodeReader &reader, uint64_t code) const;
  Attribute readDictionary(DialectBytecodeReader &reader) const;
  Attribute readFloat(DialectBytecodeReader &reader) const;
  Attribute readInteger(DialectBytecodeReader &reader) const;
  Attribute readTensor(DialectBytecodeReader &reader) const;
  Attribute readAlias(DialectBytecodeReader &reader) const;
  Attribute readAccuracy(DialectBytecodeReader &reader) const;
  Type scalar(uint64_t code) const;
  Type readRanked(DialectBytecodeReader &reader, bool encoded) const;
};

Attribute VhloBytecode::readWord(DialectBytecodeReader &reader,
                                 uint64_t code) const {
  uint64_t value;
  if (failed(reader.readVarInt(value)))
    return {};
  ArrayRef<StringLiteral> words = wordsOf(code);
  if (value >= words.size()) {
    reader.emitError() << "an enumeration of " << words.size()
                       << " words has no word " << value;
    return {};
  }
  return StringAttr::get(getContext(), words[value]);
}

Attribute VhloBytecode::readDictionary(DialectBytecodeReader &reader) const {
  uint64_t count;
  if (failed(reader.readVarInt(count)))
    return {};
  NamedAttrList entries;
  for (; count; --count) {
    StringAttr key;
    Attribute value;
    if (failed(reader.readAttribute(key)) ||
        failed(reader.readAttribute(value)))
      return {};
    if (key.empty()) {
      reader.emitError("an entry of a dictionary has no name");
      return {};
    }
    entries.set(key, value);
  }
  return entries.getDictionary(getContext());
}

Attribute VhloBytecode::readFloat(DialectBytecodeReader &reader) const {
  FloatType type;
  if (failed(reader.readType(type)))
    return {};
  FailureOr<APFloat> value =
      reader.readAPFloatWithKnownSemantics(type.getFloatSemantics());
  return failed(value) ? Attribute() : FloatAttr::get(type, *value);
}

Attribute VhloBytecode::readInteger(DialectBytecodeReader &reader) const {
  Type type;
  if (failed(reader.readType(type)))
    return {};
  if (!type.isIntOrIndex()) {
    reader.emitError() << "an integer has type " << type;
    return {};
  }
  FailureOr<APInt> value = reader.readAPIntWithKnownWidth(
      type.isIndex() ? 64 : type.getIntOrFloatBitWidth());
  return failed(value) ? Attribute() : IntegerAttr::get(type, *value);
}

/// Unpacks booleans: bytes, packed bits, or one byte for all (0xFF for true, 0
/// for false); null for another number of bytes.
DenseElementsAttr unpackBooleans(ShapedType type, ArrayRef<char> blob) {
  SmallVector<bool> values;
  size_t count = type.getNumElements();
  if (blob.size() == 1 && (uint8_t(blob[0]) == 0xFF || count != 1)) {
    if (uint8_t(blob[0]) == 0xFF || blob[0] == 0 || count > 8)
      return DenseElementsAttr::get(type, ArrayRef<bool>(blob[0] != 0));
    for (size_t i = 0; i < count; ++i)
      values.push_back(blob[0] >> i & 1);
  } else if (blob.size() == count) {
    for (char byte : blob)
      values.push_back(byte != 0);
  } else if (blob.size() == (count + 7) / 8) {
    for (size_t i = 0; i < count; ++i)
      values.push_back(blob[i / 8] >> (i % 8) & 1);
  } else {
    return {};
  }
  return DenseElementsAttr::get(type, values);
}

Attribute VhloBytecode::readTensor(DialectBytecodeReader &reader) const {
  RankedTensorType type;
  ArrayRef<char> blob;
  if (failed(reader.readType(type)) || failed(reader.readBlob(blob)))
    return {};
  DenseElementsAttr data;
  bool known =
      type.hasStaticShape() && (type.getElementType().isIntOrIndexOrFloat() ||
                                isa<ComplexType>(type.getElementType()));
  if (known && type.getElementType().isInteger(1))
    data = unpackBooleans(type, blob);
  else if (bool splat;
           known && DenseElementsAttr::isValidRawBuffer(type, blob, splat))
    data = DenseElementsAttr::getFromRawBuffer(type, blob);
  if (!data)
    reader.emitError() << "a constant of type " << type << " has "
                       << blob.size() << " bytes of data";
  return data;
}

/// Skips output_operand_alias, which does not affect results.
Attribute VhloBytecode::readAlias(DialectBytecodeReader &reader) const {
  SmallVector<int64_t> output, operand;
  int64_t index;
  if (failed(reader.readSignedVarInts(output)) ||
      failed(reader.readSignedVarInt(index)) ||
      failed(reader.readSignedVarInts(operand)))
    return {};
  return UnitAttr::get(getContext());
}

/// Reads tolerances and a mode, of which the mode is kept.
Attribute VhloBytecode::readAccuracy(DialectBytecodeReader &reader) const {
  int64_t ulps;
  Attribute mode;
  const llvm::fltSemantics &number = APFloat::IEEEdouble();
  if (failed(reader.readAPFloatWithKnownSemantics(number)) ||
      failed(reader.readAPFloatWithKnownSemantics(number)) ||
      failed(reader.readSignedVarInt(ulps)) ||
      failed(reader.readAttribute(mode)))
    return {};
  return mode;
}

Attribute VhloBytecode::readAttribute(DialectBytecodeReader &reader) const {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  if (!wordsOf(code).empty())
    return readWord(reader, code);
  Builder b(getContext());
  switch (code) {
  case 1: {
    SmallVector<Attribute> values;
    return failed(reader.readAttributes(values)) ? Attribute()
                                                 : b.getArrayAttr(values);
  }
  case 2: {
    uint64_t value;
    return failed(reader.readVarInt(value)) ? Attribute()
                                            : b.getBoolAttr(value != 0);
  }
  case 6:
    return readDictionary(reader);
  case 8:
    return readFloat(reader);
  case 9:
    return readInteger(reader);
  case 10:
    return readAlias(reader);
  case 14: {
    StringRef text;
    return failed(reader.readString(text)) ? Attribute()
                                           : b.getStringAttr(text);
  }
  case 15:
    return readTensor(reader);
  case 17: {
    Type type;
    return failed(reader.readType(type)) ? Attribute() : TypeAttr::get(type);
  }
  case 18: {
    SmallVector<int64_t> bounds;
    return failed(reader.readSignedVarInts(bounds))
               ? Attribute()
               : b.getDenseI64ArrayAttr(bounds);
  }
  case 20:
    return readAccuracy(reader);
  default:
    reader.emitError() << "vhlo's attribute " << code << " is not read";
    return {};
  }
}

/// The floating-point types that have a code only; null for other codes.
static Type scalarFloat(MLIRContext *c, uint64_t code) {
  switch (code) {
  case 2:
    return BFloat16Type::get(c);
  case 3:
    return Float16Type::get(c);
  case 4:
    return Float32Type::get(c);
  case 5:
    return Float64Type::get(c);
  case 6:
    return Float8E4M3FNType::get(c);
  case 7:
    return Float8E5M2Type::get(c);
  case 27:
    return Float8E4M3FNUZType::get(c);
  case 28:
    return Float8E5M2FNUZType::get(c);
  case 29:
    return Float8E4M3B11FNUZType::get(c);
  case 34:
    return FloatTF32Type::get(c);
  case 35:
    return Float8E4M3Type::get(c);
  case 36:
    return Float8E3M4Type::get(c);
  case 37:
    return Float4E2M1FNType::get(c);
  case 38:
    return Float6E2M3FNType::get(c);
  case 39:
    return Float6E3M2FNType::get(c);
  case 40:
    return Float8E8M0FNUType::get(c);
  default:
    return {};
  }
}

/// The types that have a code only.
Type VhloBytecode::scalar(uint64_t code) const {
  MLIRContext *c = getContext();
  auto integer = [&](unsigned width) { return IntegerType::get(c, width); };
  auto natural = [&](unsigned width) {
    return IntegerType::get(c, width, IntegerType::Unsigned);
  };
  switch (code) {
  case 0:
    return integer(1);
  case 9:
    return IndexType::get(c);
  case 10:
    return integer(4);
  case 11:
    return integer(8);
  case 12:
    return integer(16);
  case 13:
    return integer(32);
  case 14:
    return integer(64);
  case 15:
    return natural(4);
  case 16:
    return natural(8);
  case 17:
    return natural(16);
  case 18:
    return natural(32);
  case 19:
    return natural(64);
  case 22: // a token carries no data
    return RankedTensorType::get({0}, IntegerType::get(c, 1));
  case 31:
    return integer(2);
  case 32:
    return natural(2);
  case 33:
    return NoneType::get(c);
  default:
    return scalarFloat(c, code);
  }
}

Type VhloBytecode::readRanked(DialectBytecodeReader &reader,
                              bool encoded) const {
  Attribute encoding;
  SmallVector<int64_t> shape;
  Type element;
  if ((encoded && failed(reader.readAttribute(encoding))) ||
      failed(reader.readSignedVarInts(shape)) ||
      failed(reader.readType(element)))
    return {};
  return RankedTensorType::getChecked([&] { return reader.emitError(); }, shape,
                                      element, encoding);
}

Type VhloBytecode::readType(DialectBytecodeReader &reader) const {
  uint64_t code;
  if (failed(reader.readVarInt(code)))
    return {};
  if (Type known = scalar(code))
    return known;
  switch (code) {
  case 1: {
    Type element;
    if (failed(reader.readType(element)))
      return {};
    return ComplexType::getChecked([&] { return reader.emitError(); }, element);
  }
  case 8: {
    SmallVector<Type> inputs, results;
    if (failed(reader.readTypes(inputs)) || failed(reader.readTypes(results)))
      return {};
    return FunctionType::get(getContext(), inputs, results);
  }
  case 20:
  case 21:
    return readRanked(reader, code == 21);
  case 23: {
    SmallVector<Type> parts;
    return failed(reader.readTypes(parts))
               ? Type()
               : TupleType::get(getContext(), parts);
  }
  case 42: { // a future of one value is this value (ConvertStarted.cpp)
    SmallVector<Type> parts;
    if (failed(reader.readTypes(parts)))
      return {};
    return parts.size() == 1 ? parts.front()
                             : TupleType::get(getContext(), parts);
  }
  default:
    reader.emitError() << "vhlo's type " << code << " is not read";
    return {};
  }
}

} // namespace

std::unique_ptr<DialectInterface>
stablehlo::makeVhloBytecode(Dialect *dialect) {
  return std::make_unique<VhloBytecode>(dialect);
}
