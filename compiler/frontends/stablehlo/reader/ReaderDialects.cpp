//===- ReaderDialects.cpp - the four dialects that read StableHLO ---------===//

#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"
#include "weft/compiler/frontends/stablehlo/reader/Artifact.h"

#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace weft;

namespace {

/// A dialect that allows any op, as the importer checks them.
class ReaderDialect : public Dialect {
public:
  ReaderDialect(StringRef name, MLIRContext *context, TypeID id)
      : Dialect(name, context, id) {
    allowUnknownOperations();
  }
  std::optional<ParseOpHook>
  getParseOperationHook(StringRef name) const override {
    return ParseOpHook(stablehlo::parsePrettyOp);
  }
};

class StablehloReader : public ReaderDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(StablehloReader)
  static constexpr StringLiteral getDialectNamespace() { return "stablehlo"; }
  explicit StablehloReader(MLIRContext *context)
      : ReaderDialect(getDialectNamespace(), context,
                      TypeID::get<StablehloReader>()) {
    addInterface(stablehlo::makeStablehloBytecode(this));
  }
  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    return stablehlo::parseStablehloAttribute(parser);
  }
  /// Parses !stablehlo.token as an empty tensor, as it carries no data, and
  /// !stablehlo.future<T> as T: its value is there at once.
  Type parseType(DialectAsmParser &parser) const override {
    SmallVector<Type> parts;
    if (succeeded(parser.parseOptionalKeyword("future"))) {
      if (parser.parseLess() || parser.parseTypeList(parts) ||
          parser.parseGreater())
        return {};
      return parts.size() == 1 ? parts.front()
                               : TupleType::get(getContext(), parts);
    }
    if (parser.parseKeyword("token"))
      return {};
    return RankedTensorType::get({0}, IntegerType::get(getContext(), 1));
  }
};

class ChloReader : public ReaderDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ChloReader)
  static constexpr StringLiteral getDialectNamespace() { return "chlo"; }
  explicit ChloReader(MLIRContext *context)
      : ReaderDialect(getDialectNamespace(), context,
                      TypeID::get<ChloReader>()) {}
  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    return stablehlo::parseStablehloAttribute(parser);
  }
};

class ShardyReader : public ReaderDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ShardyReader)
  static constexpr StringLiteral getDialectNamespace() { return "sdy"; }
  explicit ShardyReader(MLIRContext *context)
      : ReaderDialect(getDialectNamespace(), context,
                      TypeID::get<ShardyReader>()) {
    addInterface(stablehlo::makeShardyBytecode(this));
  }
  Attribute parseAttribute(DialectAsmParser &parser, Type) const override {
    return stablehlo::parseShardyAttribute(parser);
  }
};

class VhloReader : public ReaderDialect {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VhloReader)
  static constexpr StringLiteral getDialectNamespace() { return "vhlo"; }
  explicit VhloReader(MLIRContext *context)
      : ReaderDialect(getDialectNamespace(), context,
                      TypeID::get<VhloReader>()) {
    addInterface(stablehlo::makeVhloBytecode(this));
  }
};

} // namespace

void stablehlo::registerReaderDialects(DialectRegistry &registry) {
  registry.insert<StablehloReader, ChloReader, ShardyReader, VhloReader>();
}
