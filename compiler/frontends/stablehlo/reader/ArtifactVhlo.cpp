//===- ArtifactVhlo.cpp - attributes and types of vhlo in bytecode --------===//

#include "weft/compiler/frontends/stablehlo/reader/Artifact.h"
#include "weft/dialects/plan/LocalArrays.h"

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

/// The types that have a code only.
Type VhloBytecode::scalar(uint64_t code) const {
  MLIRContext *c = getContext();
  switch (code) {
  case 9:
    return IndexType::get(c);
  case 22: // a token carries no data
    return RankedTensorType::get({0}, IntegerType::get(c, 1));
  case 33:
    return NoneType::get(c);
  case 34:
    return FloatTF32Type::get(c);
  case 38:
    return Float6E2M3FNType::get(c);
  case 39:
    return Float6E3M2FNType::get(c);
  default:
    return plan::typeOfCode(code, &ElementFacts::vhlo, c);
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
