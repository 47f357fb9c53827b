//===- ArtifactTokens.cpp - StableHLO's own type in bytecode --------------===//

#include "weft/compiler/frontends/stablehlo/reader/Artifact.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/IR/BuiltinTypes.h"

using namespace mlir;
using namespace weft;

namespace {
class StablehloBytecode : public BytecodeDialectInterface {
public:
  explicit StablehloBytecode(Dialect *dialect)
      : BytecodeDialectInterface(dialect) {}
  Attribute readAttribute(DialectBytecodeReader &reader) const override {
    reader.emitError("stablehlo's attributes are not read; only those of vhlo "
                     "are");
    return {};
  }
  /// Reads a token as an empty tensor, as it carries no data.
  Type readType(DialectBytecodeReader &reader) const override {
    uint64_t code;
    if (failed(reader.readVarInt(code)))
      return {};
    if (code == 0)
      return RankedTensorType::get({0}, IntegerType::get(getContext(), 1));
    reader.emitError() << "stablehlo's type " << code << " is not read";
    return {};
  }
};
} // namespace

std::unique_ptr<DialectInterface>
stablehlo::makeStablehloBytecode(Dialect *dialect) {
  return std::make_unique<StablehloBytecode>(dialect);
}
