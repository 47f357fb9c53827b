//===- recomputation-test.cpp - the code of chains of moved elements ------===//
//
// Each round of a chain reads the one before it at two or more positions. The
// emitter counts the elements that the code of all kernels computes: a program
// of twice as many rounds may have twice as many.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/kernels/Passes.h"
#include "weft/passes/kernels/Recomputation.h"
#include "weft/test/fuzz/ProgramCheck.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

namespace {

/// A chain whose `round` computes %v{i+1} from %v{i}, both of `type`; # is i, @
/// is i + 1.
struct Chain {
  const char *name, *type, *round;
};

constexpr Chain kChains[] = {
    {"concatenate and slice", "tensor<8xf32>",
     "%r# = weft.reverse %v# dims [0] : tensor<8xf32>\n"
     "%e# = weft.exp %r# : tensor<8xf32>\n"
     "%c# = weft.concatenate %v#, %e# dim 0 : (tensor<8xf32>, "
     "tensor<8xf32>) -> tensor<16xf32>\n"
     "%v@ = weft.slice %c# from [1] to [16] by [2] : tensor<16xf32> -> "
     "tensor<8xf32>\n"},
    {"roll", "tensor<8xf32>",
     "%r# = weft.roll %v# by [3] : tensor<8xf32>\n"
     "%v@ = weft.mul %v#, %r# : tensor<8xf32>\n"},
    {"large values", "tensor<300x300xf32>",
     "%r# = weft.transpose %v# [1, 0] : tensor<300x300xf32> -> "
     "tensor<300x300xf32>\n"
     "%v@ = weft.add %v#, %r# : tensor<300x300xf32>\n"},
    {"pad and slice", "tensor<8xf32>",
     "%s# = weft.slice %v# from [0] to [7] by [1] : tensor<8xf32> -> "
     "tensor<7xf32>\n"
     "%p# = weft.pad %s# low [1] high [0] interior [0] : tensor<7xf32> -> "
     "tensor<8xf32>\n"
     "%v@ = weft.add %v#, %p# : tensor<8xf32>\n"},
    {"reshape", "tensor<4x6xf32>",
     "%f# = weft.reshape %v# : tensor<4x6xf32> -> tensor<6x4xf32>\n"
     "%t# = weft.transpose %f# [1, 0] : tensor<6x4xf32> -> tensor<4x6xf32>\n"
     "%v@ = weft.add %v#, %t# : tensor<4x6xf32>\n"},
    {"keys of generators", "tensor<2xui32>",
     "%b# = weft.rng_bits %v# : tensor<2xui32> -> tensor<2x2xui32>\n"
     "%s# = weft.slice %b# from [0, 0] to [1, 2] by [1, 1] : "
     "tensor<2x2xui32> -> tensor<1x2xui32>\n"
     "%v@ = weft.reshape %s# : tensor<1x2xui32> -> tensor<2xui32>\n"},
    {"rows and their sums", "tensor<4x6xf32>",
     "%m# = weft.reduce sum %v# dims [1] : tensor<4x6xf32> -> tensor<4xf32>\n"
     "%w# = weft.broadcast %m# dims [0] : tensor<4xf32> -> tensor<4x6xf32>\n"
     "%v@ = weft.add %v#, %w# : tensor<4x6xf32>\n"},
};

std::string replaced(std::string text, unsigned round) {
  for (auto [mark, number] : {std::pair('#', round), {'@', round + 1}})
    for (size_t at; (at = text.find(mark)) != std::string::npos;)
      text.replace(at, 1, std::to_string(number));
  return text;
}

std::string programOf(const Chain &chain, unsigned rounds) {
  std::string type = chain.type;
  std::string text = "func.func @main(%v0: " + type + ") -> " + type + " {\n";
  for (unsigned round = 0; round < rounds; ++round)
    text += replaced(chain.round, round);
  return text + "return %v" + std::to_string(rounds) + " : " + type + "\n}\n";
}

/// Returns a program of `rounds` rounds of x = x[1:]; sum += x[0].
std::string shorterAndShorter(unsigned rounds) {
  auto type = [](unsigned n) {
    return "tensor<" + std::to_string(n) + "xf32>";
  };
  std::string text = "func.func @main(%x0: " + type(rounds + 1) +
                     ") -> tensor<1xf32> {\n"
                     "%s0 = weft.constant dense<0.0> : tensor<1xf32>\n";
  for (unsigned i = 0; i < rounds; ++i) {
    std::string from = type(rounds + 1 - i), to = type(rounds - i);
    text += replaced(
        "%x@ = weft.slice %x# from [1] to [" + std::to_string(rounds + 1 - i) +
            "] by [1] : " + from + " -> " + to +
            "\n%h# = weft.slice %x@ from [0] to [1] by [1] : " + to +
            " -> tensor<1xf32>\n" + "%s@ = weft.add %s#, %h# : tensor<1xf32>\n",
        i);
  }
  return text + "return %s" + std::to_string(rounds) + " : tensor<1xf32>\n}\n";
}

/// Returns the number of elements that the code of a program's kernels
/// computes.
uint64_t computationsOf(MLIRContext &context, const std::string &text) {
  OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(module);
  PassManager pm(&context);
  pm.addPass(createOutlineKernels());
  REQUIRE(succeeded(pm.run(*module)));
  CHECK(excessOfCode(*module) == "");
  return computationsIn(*module);
}

TEST_CASE(
    "a chain of moved elements becomes code in proportion to its length") {
  ProgramCheck check;
  for (const Chain &chain : kChains) {
    INFO(chain.name);
    uint64_t few = computationsOf(check.context(), programOf(chain, 20)),
             many = computationsOf(check.context(), programOf(chain, 40));
    CHECK(many < 3 * few);
    CHECK(few < uint64_t(20) * 4 * kMostComputed);
  }
}

TEST_CASE("a chain of sources becomes code in proportion to its length") {
  ProgramCheck check;
  uint64_t few = computationsOf(check.context(), shorterAndShorter(40)),
           many = computationsOf(check.context(), shorterAndShorter(80));
  CHECK(many < 3 * few);
}

} // namespace
