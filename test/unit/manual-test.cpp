//===- manual-test.cpp - per-device code against figures of JAX -----------===//
//
// Programs of shard_map and JAX's results, written by test/jax/shard_map.py.
// The interpreter gives these results for the global programs, and for their
// partitioned forms on all devices.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/data/formats/Npz.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/test/unit/PartitionPasses.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/Support/MemoryBuffer.h"

#include "catch2/catch.hpp"

#include <filesystem>

using namespace mlir;
using namespace weft;

namespace {

struct Program {
  explicit Program(const std::string &path) {
    DialectRegistry registry;
    stablehlo::registerDialects(registry);
    registry.insert<WeftDialect, coll::CollDialect>();
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    auto file = llvm::MemoryBuffer::getFile(path);
    REQUIRE(file);
    auto text = stablehlo::read((*file)->getBuffer(), path, &context);
    REQUIRE(text);
    module = stablehlo::import(*text, {});
    REQUIRE(module);
    auto npz =
        NpzFile::open(std::filesystem::path(path).replace_extension(".npz"));
    REQUIRE(npz);
    for (const std::string &key : npz->keys())
      (key[0] == 'i' ? inputs : outputs).push_back(tensor(*npz->read(key)));
  }

  Tensor tensor(const Array &array) {
    REQUIRE(array.type == ElementType::Float32);
    Tensor result(array.shape, Float32Type::get(&context));
    for (int64_t i = 0; i < result.size(); ++i)
      result.setReal(i, array.data<float>()[i]);
    return result;
  }
  func::FuncOp function() { return module->lookupSymbol<func::FuncOp>("main"); }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
  Tensors inputs, outputs;
};

std::vector<std::string> programs() {
  std::vector<std::string> paths;
  for (const auto &file :
       std::filesystem::directory_iterator(WEFT_FIXTURES "/shard_map"))
    if (file.path().extension() == ".mlir")
      paths.push_back(file.path());
  REQUIRE(paths.size() > 20);
  return paths;
}

} // namespace

TEST_CASE("the interpreter gives JAX's results for programs of shard_map") {
  for (const std::string &path : programs()) {
    CAPTURE(path);
    Program program(path);
    auto results = interpretFunction(program.function(), program.inputs);
    REQUIRE(succeeded(results));
    REQUIRE(results->size() == program.outputs.size());
    for (auto [ours, theirs] : llvm::zip(*results, program.outputs)) {
      REQUIRE(ours.getShape() == theirs.getShape());
      for (int64_t i = 0; i < ours.size(); ++i)
        REQUIRE(ours.real(i) == theirs.real(i));
    }
  }
}

TEST_CASE("partitioned programs of shard_map keep their meaning") {
  for (const std::string &path : programs()) {
    CAPTURE(path);
    Program program(path);
    OwningOpRef<ModuleOp> global = program.module->clone();
    PassManager pm(&program.context);
    test::addPartitionWithMoves(pm);
    REQUIRE(succeeded(pm.run(*program.module)));
    CompareOptions options;
    options.tolerance = 0;
    CHECK(
        succeeded(compareWithGlobal(global->lookupSymbol<func::FuncOp>("main"),
                                    program.function(), options)));
  }
}
