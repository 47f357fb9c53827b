// A pipeline has the bits of the loop over microbatches that it replaces, for
// any schedule and number of microbatches: in the interpreter, where an op has
// one order of sums.
#include "weft/base/pipeline/Generators.h"
#include "weft/passes/interpret/Interpret.h"
#include "weft/passes/training/Passes.h"
#include "weft/test/unit/ParsedProgram.h"

#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

#include <random>

using namespace weft;
using namespace mlir;
using namespace weft::test;

namespace {
const std::string kernel = "tensor<4x4xf32>";

std::string text(int number) { return std::to_string(number); }

/// The loss of `stages` layers with a residual over the first and the last.
std::string lossOf(int stages, const std::string &rows) {
  std::string out = "func.func private @loss(";
  for (int s = 0; s < stages; ++s)
    out += "%w" + text(s) + ": " + kernel + ", ";
  out += "%x: " + rows + ", %y: " + rows + ") -> tensor<f32> {\n";
  std::string value = "%x";
  auto put = [&](const std::string &name, const std::string &from, int stage) {
    out += name + " = weft.constrain " + from + " to #s" + text(stage) + " : " +
           rows + " -> " + rows + "\n";
  };
  for (int s = 0; s < stages; ++s) {
    std::string n = text(s);
    put("%in" + n, value, s);
    out += "%d" + n + " = weft.dot %in" + n + ", %w" + n +
           " contract [1] x [0] : " + rows + ", " + kernel + " -> " + rows +
           "\n";
    out += "%t" + n + " = weft.tanh %d" + n + " : " + rows + "\n";
    value = "%t" + n;
    if (s + 1 == stages && stages > 1) {
      put("%from", "%o0", 0);
      put("%skip", "%from", s);
      out += "%sum = weft.add %t" + n + ", %skip : " + rows + "\n";
      value = "%sum";
    }
    put("%o" + n, value, s);
    value = "%o" + n;
  }
  out += "%e = weft.sub " + value + ", %y : " + rows +
         "\n%q = weft.mul %e, %e : " + rows +
         "\n%r = weft.reduce sum %q dims [0, 1] : " + rows +
         " -> tensor<f32>\nreturn %r : tensor<f32>\n}\n}\n";
  return out;
}

/// A train step of these layers for `batch` samples.
std::string stepOf(int stages, int batch, int microbatches,
                   const std::string &schedule) {
  std::string rows = "tensor<" + text(batch) + "x4xf32>",
              out = "#mesh = #weft.mesh<\"stage\"=" + text(stages) + ">\n";
  for (int s = 0; s < stages; ++s)
    out += "#s" + text(s) +
           " = #weft.layout<#mesh, [{}, {}], at = {\"stage\" = " + text(s) +
           "}>\n";
  out += "module attributes {weft.mesh = #mesh, weft.microbatches = " +
         text(microbatches) + " : i64" +
         (schedule.empty()
              ? ""
              : ", weft.pipeline = {axis = \"stage\", schedule = " + schedule +
                    "}") +
         "} {\n";
  std::string named, typed, types, updated, results, wrt;
  for (int s = 0; s < stages; ++s) {
    std::string comma = s ? ", " : "", at = "#s" + text(s);
    named += "%w" + text(s) + ", ";
    typed += "%w" + text(s) + ": " + kernel + " {weft.layout = " + at +
             ", weft.role = \"weight\", weft.donated = " + text(s) +
             " : i64}, ";
    types += kernel + ", ";
    results += kernel + " {weft.layout = " + at + "}, ";
    wrt += comma + text(s);
    updated += "%u" + text(s) + ", ";
  }
  std::string last = "#s" + text(stages - 1);
  out += "func.func @train(" + typed + "%x: " + rows +
         " {weft.layout = #s0, weft.role = \"input\"}, %y: " + rows +
         " {weft.layout = " + last + ", weft.role = \"label\"}) -> (" +
         results + "tensor<f32>) {\n" + "%l, %g:" + text(stages) +
         " = weft.value_and_grad @loss(" + named + "%x, %y) wrt [" + wrt +
         "] : (" + types + rows + ", " + rows + ") -> (tensor<f32>, " +
         types.substr(0, types.size() - 2) + ")\n";
  for (int s = 0; s < stages; ++s)
    out += "%u" + text(s) + " = weft.sub %w" + text(s) + ", %g#" + text(s) +
           " : " + kernel + "\n";
  out += "return " + updated + "%l : " + types + "tensor<f32>\n}\n";
  return out + lossOf(stages, rows);
}

/// The results of a step on random numbers.
Tensors resultsOf(const std::string &text) {
  ParsedProgram program(text);
  PassManager passes(&program.context);
  passes.addPass(createDifferentiatePass());
  passes.addPass(createCanonicalizerPass());
  passes.addPass(createCSEPass());
  passes.addPass(createDivideBatchPass());
  passes.addPass(createPipelineStagesPass());
  REQUIRE(succeeded(passes.run(*program.module)));
  func::FuncOp function = program.function("train");
  bool isPipeline = text.find("weft.pipeline") != text.npos;
  CHECK((program.module
             ->walk([](Operation *op) {
               return op->hasAttr("weft.ordered") ? WalkResult::interrupt()
                                                  : WalkResult::advance();
             })
             .wasInterrupted()) == isPipeline);
  std::mt19937_64 random(5);
  Tensors arguments;
  for (Type type : function.getArgumentTypes()) {
    Tensor tensor(cast<RankedTensorType>(type));
    for (int64_t i = 0; i < tensor.size(); ++i)
      tensor.setReal(i, double(random() % 2001) / 1000 - 1);
    arguments.push_back(tensor);
  }
  FailureOr<Tensors> results = interpretFunction(function, arguments);
  REQUIRE(succeeded(results));
  return *results;
}

void checkBits(const std::string &schedule, int stages, int microbatches) {
  INFO(schedule << ", " << stages << " stages, " << microbatches
                << " microbatches");
  constexpr int batch = 13; // which most numbers do not divide
  Tensors one = resultsOf(stepOf(stages, batch, microbatches, "")),
          staged = resultsOf(stepOf(stages, batch, microbatches, schedule));
  REQUIRE(one.size() == staged.size());
  for (auto [a, b] : llvm::zip_equal(one, staged)) {
    bool isEqual = a.size() == b.size();
    for (int64_t i = 0; isEqual && i < a.size(); ++i)
      isEqual = a.real(i) == b.real(i);
    CHECK(isEqual);
  }
}
} // namespace

TEST_CASE("named schedules have the bits of one stage") {
  for (int stages : {2, 3, 4})
    for (int microbatches : {2, 3, 5, 8, 13})
      for (const char *schedule : {"\"gpipe\"", "\"1f1b\"", "\"zb-h1\""})
        checkBits(schedule, stages, microbatches);
}

TEST_CASE("lists have the bits of one stage") {
  checkBits(R"(["F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3"])", 2, 4);
  checkBits(R"(["F0 F1 F2 F3 I0 I1 W0 I2 W1 I3 W2 W3",
                "F0 F1 I0 F2 I1 F3 I2 I3 W0 W1 W2 W3"])",
            2, 4);
  checkBits(R"(["F0 F1 B0 B1", "F0 F1 I0 W0 I1 W1", "F0 B0 F1 B1"])", 3, 2);
}
