//===- weft-fuzz.cpp - random programs, global and partitioned
//-------------===//
//
//   weft-fuzz --seed S --count N [--ops K] [--fresh M]
//
// Program i of N is that of seed S+i; M more follow from a new seed, which is
// printed. Each is propagated, partitioned and
// interpreted on every device, and compared with its global meaning. A program
// that fails is printed with its seed; the exit status is then 1.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/test/fuzz/RandomProgram.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include <random>

using namespace mlir;
using namespace weft;

namespace {

/// Does partitioning keep the meaning of this program?
bool holds(MLIRContext &context, const std::string &text, uint64_t seed) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  if (!module)
    return false;
  OwningOpRef<ModuleOp> partitioned(module->clone());
  PassManager pm(&context);
  pm.addPass(createPropagateLayoutsPass());
  pm.addPass(createSinkReshardsPass());
  pm.addPass(createMergeReshardsPass());
  pm.addPass(createVerifyLayoutsPass());
  pm.addPass(createPartitionPass());
  pm.addPass(createCombineAllReducesPass());
  if (failed(pm.run(*partitioned)))
    return false;
  CompareOptions options;
  options.seed = seed;
  options.tolerance = 0;
  auto entry = [](ModuleOp program) {
    return program.lookupSymbol<func::FuncOp>("main");
  };
  return succeeded(
      compareWithGlobal(entry(*module), entry(*partitioned), options));
}

struct Arguments {
  uint64_t seed = 1, count = 100, ops = 8, fresh = 0;
};

bool parse(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; i += 2) {
    llvm::StringRef name = argv[i];
    uint64_t *target = name == "--seed"    ? &arguments.seed
                       : name == "--count" ? &arguments.count
                       : name == "--ops"   ? &arguments.ops
                       : name == "--fresh" ? &arguments.fresh
                                           : nullptr;
    if (!target || i + 1 == argc ||
        llvm::StringRef(argv[i + 1]).getAsInteger(10, *target)) {
      llvm::errs() << "usage: weft-fuzz [--seed S] [--count N] [--ops K] "
                      "[--fresh M]\n";
      return false;
    }
  }
  return true;
}

/// How many of the programs from this seed on do not keep their meaning.
uint64_t countFailures(MLIRContext &context, uint64_t first, uint64_t count,
                       const ProgramOptions &options) {
  uint64_t failures = 0;
  for (uint64_t seed = first; seed < first + count; ++seed) {
    std::string text = randomProgram(seed, options);
    if (holds(context, text, seed))
      continue;
    ++failures;
    llvm::errs() << "seed " << seed << " fails:\n" << text;
  }
  llvm::outs() << count - failures << " of " << count
               << " programs keep their meaning\n";
  return failures;
}

} // namespace

int main(int argc, char **argv) {
  Arguments arguments;
  if (!parse(argc, argv, arguments))
    return 2;
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
  ProgramOptions options;
  options.ops = static_cast<unsigned>(arguments.ops);
  uint64_t failures =
      countFailures(context, arguments.seed, arguments.count, options);
  if (arguments.fresh) {
    uint64_t seed = std::random_device{}();
    llvm::outs() << "new seed " << seed << ": ";
    failures += countFailures(context, seed, arguments.fresh, options);
  }
  return failures ? 1 : 0;
}
