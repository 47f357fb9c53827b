//===- Read.cpp - text and portable artifacts of StableHLO ----------------===//

#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/compiler/frontends/stablehlo/reader/Artifact.h"
#include "weft/compiler/frontends/stablehlo/reader/ReaderDialects.h"
#include "weft/compiler/frontends/stablehlo/reader/TextFaults.h"
#include "weft/dialects/plan/LocalArrays.h"

#include "mlir/Bytecode/BytecodeImplementation.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace weft;

void stablehlo::registerDialects(DialectRegistry &registry) {
  registerReaderDialects(registry);
  // Producers leave arith.constant between ops of StableHLO; quantized types are
  // refused by name.
  registry
      .insert<arith::ArithDialect, func::FuncDialect, quant::QuantDialect>();
}

static constexpr llvm::StringLiteral kBytecode = "ML\xefR";

bool stablehlo::isArtifact(StringRef bytes) {
  return bytes.starts_with(kBytecode);
}

bool stablehlo::looksLikeProgram(StringRef bytes) {
  if (isArtifact(bytes))
    return true;
  return bytes.contains("stablehlo.") || bytes.contains("func.func");
}

/// Turns properties, and the entries of dimension numbers, into attributes.
static void flatten(Operation *op) {
  if (!op->isRegistered())
    if (auto properties =
            dyn_cast_or_null<DictionaryAttr>(op->getPropertiesAsAttribute()))
      for (NamedAttribute entry : properties)
        op->setDiscardableAttr(entry.getName(), entry.getValue());
  for (StringRef numbers : {"dimension_numbers", "scatter_dimension_numbers",
                            "dot_dimension_numbers"})
    if (auto dims = op->getAttrOfType<DictionaryAttr>(numbers))
      for (NamedAttribute entry : dims)
        op->setAttr(entry.getName(), entry.getValue());
}

LogicalResult stablehlo::checkText(StringRef text, StringRef name,
                                   MLIRContext *context) {
  auto fault = findTextFault(text);
  if (!fault)
    return success();
  auto [line, column] = placeOf(text, fault->offset);
  return emitError(FileLineColLoc::get(context, name, line, column))
         << fault->message;
}

/// Reads the types that builtin bytecode has only since MLIR 23, and that occur
/// around Shardy's ops.
static LogicalResult readNewerBuiltin(DialectBytecodeReader &reader,
                                      StringRef dialect, Type &type) {
  uint64_t code;
  if (dialect == "builtin" && succeeded(reader.readVarInt(code)))
    type = plan::typeOfCode(code, &ElementFacts::builtin, reader.getContext());
  return success();
}

OwningOpRef<ModuleOp> stablehlo::read(StringRef bytes, StringRef name,
                                      MLIRContext *context) {
  if (!isArtifact(bytes) && failed(checkText(bytes, name, context)))
    return {};
  for (StringRef dialect : {"stablehlo", "chlo", "sdy", "vhlo", "func"})
    context->getOrLoadDialect(dialect);
  for (StringRef dialect : {"sdy", "vhlo"})
    attachOpProperties(context->getLoadedDialect(dialect));
  ParserConfig config(context);
  config.getBytecodeReaderConfig().attachTypeCallback(readNewerBuiltin);
  auto module = parseSourceString<ModuleOp>(bytes, config, name);
  if (module)
    module->walk(flatten);
  return module;
}
