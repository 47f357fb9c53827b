//===- weft-lsp-server.cpp - Weft's text in editors -----------------------===//
//
// A language server of MLIR with Weft's dialects: errors while typing, types of
// values, and their uses. See docs/embedding.md for how an editor starts it.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/Register.h"
#include "weft/compiler/codegen/Passes.h"
#include "weft/compiler/frontends/stablehlo/Import.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/SourceMgr.h"

/// MLIR's parser, and the function that the linker puts in its place.
mlir::LogicalResult
parse(const llvm::SourceMgr &, mlir::Block *, const mlir::ParserConfig &,
      mlir::AsmParserState *,
      mlir::AsmParserCodeCompleteContext *) __asm__("__real_" WEFT_MLIR_PARSER);
mlir::LogicalResult parseChecked(
    const llvm::SourceMgr &, mlir::Block *, const mlir::ParserConfig &,
    mlir::AsmParserState *,
    mlir::AsmParserCodeCompleteContext *) __asm__("__wrap_" WEFT_MLIR_PARSER);

/// Parses a document, unless its text would crash the parser.
mlir::LogicalResult
parseChecked(const llvm::SourceMgr &source, mlir::Block *block,
             const mlir::ParserConfig &config, mlir::AsmParserState *state,
             mlir::AsmParserCodeCompleteContext *completion) {
  const llvm::MemoryBuffer *text =
      source.getMemoryBuffer(source.getMainFileID());
  if (mlir::failed(weft::stablehlo::checkText(
          text->getBuffer(), text->getBufferIdentifier(), config.getContext())))
    return mlir::failure();
  return parse(source, block, config, state, completion);
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::registerUpstreamDialects(registry);
  weft::registerAll(registry);
  mlir::registerTransformsPasses();
  weft::registerAllPasses();
  weft::registerWeftCodegenPasses();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
