// Keras models are imported; ports, layouts and donation are checked, and the
// modules must verify. The values are compared with Keras in test/exec.

#include "weft/compiler/frontends/keras/import/Import.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "weft/dialects/weft/Weft.h"

#include "catch2/catch.hpp"

#include <cstdlib>
#include <fstream>
#include <sstream>

using namespace weft;
using namespace weft::keras;

static std::string readText(const std::string &name) {
  std::ifstream in(std::string(WEFT_FIXTURES) + "/" + name);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

/// Returns the verified module as text, or "error: " and the first diagnostic.
static std::string imported(const Model &model,
                            const Distribution *distribution, StepKind step,
                            const ImportOptions &options = {}) {
  mlir::MLIRContext context;
  std::string diagnostic;
  mlir::ScopedDiagnosticHandler handler(&context, [&](mlir::Diagnostic &d) {
    if (diagnostic.empty())
      diagnostic = "error: " + d.str();
    return mlir::success();
  });
  auto module = importStep(&context, model, distribution, step, options);
  if (failed(module) || failed(mlir::verify(**module)))
    return diagnostic;
  std::string text;
  llvm::raw_string_ostream stream(text);
  (*module)->print(stream);
  return text;
}

static Model modelOf(const std::string &name,
                     const ModelOptions &options = {}) {
  weft::Result<Model> model = readModel(readText(name), options);
  REQUIRE(model.message() == "");
  drawSeeds(*model, 1337);
  return *model;
}

static bool has(const std::string &text, const std::string &part) {
  return text.find(part) != text.npos;
}

static Distribution distributionOf(const std::string &name) {
  weft::Result<Distribution> distribution = readDistribution(readText(name));
  REQUIRE(distribution.message() == "");
  return *distribution;
}

TEST_CASE("the functional seed's train step") {
  Model model = modelOf("seed-functional-mlp/model.json");
  Distribution distribution =
      distributionOf("seed-functional-mlp/distribution-mp-2x4.json");
  std::string text = imported(model, &distribution, StepKind::Train, {16});
  INFO(text);
  CHECK(has(text, "func.func @train("));
  CHECK(has(text, "func.func private @loss("));
  CHECK(has(text, "weft.value_and_grad @loss("));
  CHECK(has(text, "wrt [0, 1, 2]"));
  CHECK(has(text, "weft.rng_bits"));
  CHECK(has(text, "reason \"layout_map \\22d2/output\\22\""));
  CHECK(has(text, "weft.name = \"rm_sprop/d1_kernel_velocity\""));
  CHECK(has(text, "weft.reason = \"batch axis \\22data\\22\""));
  CHECK(has(text, "tensor<16x28x28x1xf32>"));
  CHECK(has(text, "weft.donated = 4 : i64"));
  CHECK(has(text, "weft.name = \"metrics/loss\""));
}

TEST_CASE("the sequential seed's steps") {
  Model model = modelOf("seed-sequential-mnist/model.json");
  std::string train =
      imported(model, nullptr, StepKind::Train, {128, SampleWeights{}});
  INFO(train);
  CHECK(has(train, "weft.name = \"adam/d2_bias_velocity\""));
  CHECK(has(train, "weft.name = \"sample_weight\""));
  CHECK(has(train, "weft.name = \"metrics/accuracy\""));
  CHECK(has(train, "tensor<128xi32>"));
  CHECK_FALSE(has(train, "weft.layout"));
  std::string evaluate = imported(model, nullptr, StepKind::Evaluate, {128});
  CHECK(has(evaluate, "func.func @evaluate("));
  CHECK_FALSE(has(evaluate, "adam/"));
  std::string predict = imported(model, nullptr, StepKind::Predict, {16});
  CHECK(has(predict, "weft.name = \"y\""));
}

TEST_CASE("every activation, loss and optimizer gives a module that verifies") {
  for (const char *name : {"elu", "exponential", "gelu", "hard_sigmoid",
                           "leaky_relu", "linear", "relu6", "selu", "sigmoid",
                           "silu", "softmax", "softplus", "softsign", "tanh"}) {
    INFO(name);
    std::string text = readText("seed-functional-mlp/model.json");
    size_t at = text.find("\"relu\"");
    text.replace(at, 6, "\"" + std::string(name) + "\"");
    weft::Result<Model> model = readModel(text);
    REQUIRE(model.message() == "");
    CHECK(has(imported(*model, nullptr, StepKind::Train), "@train"));
  }
  for (
      const char *loss :
      {"mse", "mae", "bce", "categorical_crossentropy",
       "sparse_categorical_crossentropy",
       R"({"class_name": "CategoricalCrossentropy", "config": {"from_logits": true, "label_smoothing": 0.1}})",
       R"({"class_name": "BinaryCrossentropy", "config": {"from_logits": true, "reduction": "mean_with_sample_weight"}})"})
    for (
        const char *optimizer :
        {"sgd", "rmsprop", "adam",
         R"({"class_name": "SGD", "config": {"momentum": 0.9, "nesterov": true}})",
         R"({"class_name": "RMSprop", "config": {"momentum": 0.9, "centered": true}})",
         R"({"class_name": "Adam", "config": {"amsgrad": true}})"}) {
      INFO(loss << " " << optimizer);
      ModelOptions options;
      options.loss = loss;
      options.optimizer = optimizer;
      options.metrics = std::vector<std::string>{"accuracy"};
      Model model = modelOf("keras/functional_uncompiled.json", options);
      CHECK(has(imported(model, nullptr, StepKind::Train, {8, SampleWeights{}}),
                "@train"));
    }
}

TEST_CASE("a model that cannot be imported is an error") {
  Model model = modelOf("keras/functional_uncompiled.json");
  CHECK(imported(model, nullptr, StepKind::Evaluate) ==
        "error: compile_config: the model has no loss; give it with --loss, "
        "--optimizer and --metrics");
  ModelOptions options;
  options.loss = "sparse_categorical_crossentropy";
  options.metrics = std::vector<std::string>{"mae"};
  CHECK(imported(modelOf("keras/functional_uncompiled.json", options), nullptr,
                 StepKind::Train) ==
        "error: compile_config: metric \"mae\" wants one label for each "
        "prediction, the loss class numbers; use metrics that fit the loss");
  CHECK(imported(model, nullptr, StepKind::Predict, {0}) ==
        "error: the batch size is 0; it must be positive");
  Model mlp = modelOf("seed-functional-mlp/model.json");
  Distribution distribution =
      distributionOf("seed-functional-mlp/distribution-mp-2x4.json");
  distribution.rules[0].layout = weft::Layout::replicated(3);
  CHECK(
      imported(mlp, &distribution, StepKind::Train) ==
      "error: layout_map \"d1/kernel\": has 3 dimensions, \"d1/kernel\" has 2; "
      "a layout has one entry for each dimension, or fewer");
}
