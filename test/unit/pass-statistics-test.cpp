//===- pass-statistics-test.cpp - Passes in builds with assertions --------===//
//
// Compiled with assertions and the checks of undefined behaviour, as in preset
// sanitize: a pass counts, and its counter is the one of libMLIR, which has no
// assertions. Without cmake/llvm-headers the counter has no initial value, and no
// sanitized command starts.
//
//===----------------------------------------------------------------------===//

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

#include <algorithm>
#include <new>

#ifdef NDEBUG
#error "this test is compiled with assertions"
#endif

using namespace mlir;

namespace {

struct CountModules : PassWrapper<CountModules, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(CountModules)
  CountModules() = default;
  CountModules(const CountModules &other) : PassWrapper(other) {}
  StringRef getArgument() const final { return "count-modules"; }
  void runOnOperation() final { ++modules; }
  Statistic modules{this, "modules", "Modules that are seen"};
};

TEST_CASE("a pass with a counter runs in a build with assertions") {
  // Memory of a heap that is not zero.
  alignas(CountModules) unsigned char memory[sizeof(CountModules)];
  std::fill(std::begin(memory), std::end(memory), 190);
  auto *counted = new (memory) CountModules;
  CHECK(counted->modules.getValue() == 0);
  ++counted->modules;
  counted->~CountModules();

  MLIRContext context;
  OwningOpRef<ModuleOp> module(ModuleOp::create(UnknownLoc::get(&context)));
  PassManager passes(&context);
  passes.enableStatistics();
  passes.addPass(std::make_unique<CountModules>());
  CHECK(succeeded(passes.run(*module)));
}

} // namespace
