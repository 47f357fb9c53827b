//===- Read.cpp - text and portable artifacts of StableHLO ----------------===//

#include "weft/compiler/frontends/stablehlo/Artifact.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/compiler/frontends/stablehlo/ReaderDialects.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace weft;

void stablehlo::registerDialects(DialectRegistry &registry) {
  registerReaderDialects(registry);
  registry.insert<func::FuncDialect>();
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

/// Properties become attributes, and the entries of dimension numbers too.
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

/// MLIR's parser calls itself for each bracket, as deep as there is stack.
static LogicalResult checkNesting(StringRef text, StringRef name,
                                  MLIRContext *context) {
  constexpr int kDeepest = 256;
  int depth = 0, line = 1;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    line += c == '\n';
    if (c == '"' || c == '\n') // no string goes over a line's end
      quoted = c == '"' && !quoted;
    else if (quoted && c == '\\')
      ++i;
    else if (!quoted && StringRef("([{<").contains(c))
      ++depth;
    else if (!quoted && StringRef(")]}>").contains(c))
      depth -= depth > 0 && !(c == '>' && i > 0 && text[i - 1] == '-');
    if (depth > kDeepest)
      return emitError(FileLineColLoc::get(context, name, line, 1))
             << "brackets are nested more than " << kDeepest << " deep";
  }
  return success();
}

OwningOpRef<ModuleOp> stablehlo::read(StringRef bytes, StringRef name,
                                      MLIRContext *context) {
  if (!isArtifact(bytes) && failed(checkNesting(bytes, name, context)))
    return {};
  for (StringRef dialect : {"stablehlo", "chlo", "sdy", "vhlo", "func"})
    context->getOrLoadDialect(dialect);
  for (StringRef dialect : {"sdy", "vhlo"})
    attachOpProperties(context->getLoadedDialect(dialect));
  auto module =
      parseSourceString<ModuleOp>(bytes, ParserConfig(context), name);
  if (module)
    module->walk(flatten);
  return module;
}
