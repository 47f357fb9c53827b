// An internal failure leaves a reproducer: the imported module, and above it
// the command that compiles it up to the stage of the failure.

#include "weft/tools/weft/compiler/InternalFailure.h"

#include "weft/compiler/Register.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

using namespace mlir;

TEST_CASE(
    "a reproducer is the imported module below the command that goes on") {
  DialectRegistry registry;
  weft::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto parse = [&](const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context);
  };
  auto module = parse("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                      "  return %x : tensor<4xf32>\n}\n");
  REQUIRE(module);
  std::string text = weft::tool::reproducer(*module, weft::Stage::partitioned);
  CHECK(text.find(
            "// weft compile FILE --from=imported --emit=partitioned\n") == 0);
  auto again = parse(text);
  REQUIRE(again);
  CHECK(weft::tool::reproducer(*again, weft::Stage::partitioned) == text);
}
