//===- weft-opt.cpp - passes on the command line --------------------------===//

#include "weft/compiler/Register.h"
#include "weft/compiler/codegen/Passes.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/compiler/frontends/stablehlo/reader/TextFaults.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Support/FileUtilities.h"
#include "mlir/Tools/mlir-opt/MlirOptMain.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/mman.h>
#include <unistd.h>

/// Replaces standard input by a file in memory with these bytes.
static bool giveAsInput(llvm::StringRef bytes) {
  int copy = ::memfd_create("weft-opt", MFD_CLOEXEC);
  while (copy >= 0 && !bytes.empty()) {
    ssize_t written = ::write(copy, bytes.data(), bytes.size());
    if (written <= 0)
      return false;
    bytes = bytes.drop_front(size_t(written));
  }
  return copy >= 0 && ::lseek(copy, 0, SEEK_SET) == 0 && ::dup2(copy, 0) == 0;
}

/// Checks text before MLIR's parser reads it. Other failures are MLIR's to
/// report.
static bool isSound(const std::string &file) {
  bool isInput = file == "-";
  auto config = mlir::MlirOptMainConfig::createFromCLOptions();
  if (config.shouldShowDialects() || config.shouldListPasses() ||
      (isInput && ::isatty(0)))
    return true;
  std::string error;
  auto buffer = mlir::openInputFile(file, &error);
  if (!buffer)
    return true;
  llvm::StringRef text = buffer->getBuffer();
  auto fault = weft::stablehlo::isArtifact(text)
                   ? std::nullopt
                   : weft::stablehlo::findTextFault(text);
  if (fault) {
    auto [line, column] = weft::stablehlo::placeOf(text, fault->offset);
    llvm::errs() << file << ":" << line << ":" << column
                 << ": error: " << fault->message << "\n";
  }
  return !fault && (!isInput || giveAsInput(text));
}

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  weft::registerUpstreamDialects(registry);
  weft::registerAll(registry);
  mlir::registerTransformsPasses();
  weft::registerAllPasses();
  weft::registerWeftCodegenPasses();
  auto [input, output] = mlir::registerAndParseCLIOptions(
      argc, argv, "Weft's optimiser\n", registry);
  if (!isSound(input))
    return 1;
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, input, output, registry));
}
