// Models of every release of Keras 3 are read, seeds are those of Keras, and
// unsupported classes and options are refused.

#include "weft/base/MersenneTwister.h"
#include "weft/compiler/frontends/keras/model/Model.h"

#include "catch2/catch.hpp"

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

static std::vector<std::string> variablePaths(const Model &model) {
  std::vector<std::string> out;
  for (const Variable &variable : model.variables)
    out.push_back(variable.path);
  return out;
}

static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

TEST_CASE("seeds are those of Python's random") {
  MersenneTwister zero = MersenneTwister::python(0),
                  one = MersenneTwister::python(1),
                  known = MersenneTwister::python(1337);
  CHECK(zero.kerasSeed() == 906691060);
  CHECK(zero.kerasSeed() == 413654000);
  CHECK(one.kerasSeed() == 144272510);
  for (int64_t expected : {663307073, 993786079, 572589546, 762227828})
    CHECK(known.kerasSeed() == expected);
}

TEST_CASE("the functional seed: graph, variables, seeds, optimizer") {
  weft::Result<Model> model =
      readModel(readText("seed-functional-mlp/model.json"));
  REQUIRE(model.message() == "");
  CHECK(variablePaths(*model) ==
        std::vector<std::string>{"d1/kernel",
                                 "seed_generator/seed_generator_state",
                                 "d2/kernel", "d2/bias"});
  CHECK(model->variables[0].shape == std::vector<int64_t>{784, 200});
  CHECK(model->nodes.size() == 5);
  CHECK(model->nodes[model->outputs[0]].shape == std::vector<int64_t>{10});
  drawSeeds(*model, 1337);
  CHECK(*model->variables[0].seed == 663307073);
  CHECK(*model->variables[1].seed == 993786079);
  CHECK(*model->variables[2].seed == 572589546);
  CHECK(model->optimizer->className == "RMSprop");
  CHECK(float(model->optimizer->learningRate) == 0.001f);
  CHECK(model->losses[0].loss->className == "MeanSquaredError");
  std::vector<std::string> slots;
  for (const OptimizerVariable &variable : model->optimizerVariables())
    slots.push_back(variable.path);
  CHECK(slots == std::vector<std::string>{"rm_sprop/iteration",
                                          "rm_sprop/learning_rate",
                                          "rm_sprop/d1_kernel_velocity",
                                          "rm_sprop/d2_kernel_velocity",
                                          "rm_sprop/d2_bias_velocity"});
  PortFacts facts = variableFacts(model->variables[0]);
  CHECK(
      facts.initializer.text ==
      R"({"class_name":"GlorotUniform","config":{"seed":null,"input_axes":null,"output_axes":null}})");
  CHECK(facts.seed == 663307073);
  CHECK(!facts.isStatistic);
}

TEST_CASE("the sequential seed") {
  weft::Result<Model> model =
      readModel(readText("seed-sequential-mnist/model.json"));
  REQUIRE(model.message() == "");
  CHECK(
      variablePaths(*model) ==
      std::vector<std::string>{"d1/kernel", "d1/bias", "d2/kernel", "d2/bias"});
  CHECK(model->losses[0].loss->config.find("\"from_logits\":true") !=
        std::string::npos);
  REQUIRE(model->metrics.size() == 1);
  CHECK(model->metrics[0].metric->className == "SparseCategoricalAccuracy");
  CHECK(model->metrics[0].name == "accuracy");
  CHECK(model->optimizerVariables()[3].path == "adam/d1_kernel_velocity");
  CHECK(model->json == readText("seed-sequential-mnist/model.json"));
}

TEST_CASE("every release of Keras 3 writes a model that is read") {
  for (const char *name :
       {"seq", "functional_adam", "functional_mse", "functional_uncompiled",
        "old_head", "old_v3.3.3", "old_v3.6.0", "old_v3.9.2", "old_v3.12.4",
        "old_v3.14.1", "old_v3.15.1"}) {
    INFO(name);
    weft::Result<Model> model =
        readModel(readText(std::string("keras/") + name + ".json"));
    CHECK(model.message() == "");
  }
}

/// Returns the reason why the model cannot be read or, if it can, why it cannot
/// be trained.
static std::string complaint(const std::string &text) {
  auto model = readModel(text);
  return model ? model->compileRefusal : model.message();
}

TEST_CASE("unsupported classes and options are refused by name") {
  for (const char *name : {"cnn", "transformer", "nested", "multi", "ops"})
    CHECK(
        readModel(readText(std::string("keras/") + name + ".json")).message() ==
        "");
  std::string text = readText("seed-functional-mlp/model.json");
  CHECK(readModel(replaced(text, "\"class_name\": \"Dropout\"",
                           "\"class_name\": \"StringLookup\""))
            .message()
            .find("layer \"dropout\": layer class \"StringLookup\" is not "
                  "supported; docs/keras.md lists the ") == 0);
  CHECK(readModel(
            replaced(text, "\"units\": 200", "\"units\": 200, \"colour\": 1"))
            .message()
            .find("layer \"d1\": unknown field \"colour\"; known fields are") ==
        0);
  const std::string plain = "{\"module\": \"keras\", \"class_name\": "
                            "\"DTypePolicy\", \"config\": {\"name\": "
                            "\"float32\"}, \"registered_name\": null}, "
                            "\"units\": 200";
  auto withPolicy = [&](const std::string &policy) {
    return readModel(replaced(text, plain, policy + ", \"units\": 200"))
        .message();
  };
  CHECK(withPolicy("\"int8_from_float32\"") == "");
  CHECK(withPolicy("\"float8_from_float32\"") == "");
  CHECK(withPolicy("{\"class_name\": \"QuantizedDTypePolicy\", \"config\": "
                   "{\"mode\": \"int8\", \"source_name\": \"float32\"}}") ==
        "");
  for (const char *policy :
       {"\"int2_from_float32\"",
        "{\"class_name\": \"QuantizedDTypePolicy\", \"config\": {\"mode\": "
        "\"int2\", \"source_name\": \"float32\"}}"})
    CHECK(withPolicy(policy).find("layer \"d1\": type policy "
                                  "\"int2_from_float32\" quantizes weights in "
                                  "a way that is not supported; ") == 0);
  CHECK(complaint(replaced(text, "\"ema_overwrite_frequency\": null",
                           "\"ema_overwrite_frequency\": 0")) ==
        "compile_config: optimizer: RMSprop: \"ema_overwrite_frequency\" is 0; "
        "it must be positive");
  CHECK(
      complaint(replaced(text, "\"loss\": \"mse\"", "\"loss\": \"nce\""))
          .find("compile_config: loss: loss \"nce\" is not supported, did you "
                "mean \"BinaryCrossentropy\"?; supported losses are "
                "MeanSquaredError, ") == 0);
  CHECK(
      complaint(replaced(text, "\"metrics\": null", "\"metrics\": [\"psnr\"]"))
          .find("compile_config: metrics: metric \"psnr\" is not supported") ==
      0);
  CHECK(readModel(replaced(text, "\"name\": \"functional\"",
                           "\"name\": \"functional\", \"name\": \"b\""))
            .message() == "key \"name\" is written twice; remove one of them");
  CHECK(readModel("{").message().find("is no JSON: parse error at line 1") ==
        0);
  CHECK(readModel("[]").message() ==
        "expected an object, found []; fix the model "
        "in Keras and save it again");
  CHECK(readModel(replaced(text, "[null, 28, 28, 1]", "[null, 28, null, 1]"))
            .message() ==
        "layer \"input_layer\": shape (28, null, 1) has an unknown dimension; "
        "give it with --shape input_layer=...");
}

TEST_CASE("no text crashes the reader") {
  std::string text = readText("seed-functional-mlp/model.json");
  for (size_t length = 0; length < text.size(); length += 37)
    CHECK(readModel(text.substr(0, length)).message() != "");
  for (const char *value : {"null", "7", "\"s\"", "[]", "{}", "[[1]]", "-1"})
    for (const char *key :
         {"\"config\": ", "\"layers\": ", "\"inbound_nodes\": ", "\"args\": ",
          "\"keras_history\": ", "\"input_layers\": ", "\"rate\": ",
          "\"units\": ", "\"batch_shape\": ", "\"optimizer\": ",
          "\"loss\": "}) {
      size_t at = text.find(key);
      REQUIRE(at != text.npos);
      std::string broken = text;
      broken.replace(at, std::string(key).size(),
                     key + std::string(value) + ", \"rest\": ");
      CHECK(complaint(broken) != "");
    }
}

TEST_CASE("options complete compile_config") {
  ModelOptions options;
  options.optimizer = "sgd";
  options.learningRate = 0.1;
  options.loss = "sparse_categorical_crossentropy";
  options.metrics = std::vector<std::string>{"accuracy", "mae"};
  weft::Result<Model> model =
      readModel(readText("keras/functional_uncompiled.json"), options);
  REQUIRE(model.message() == "");
  CHECK(model->optimizer->className == "SGD");
  CHECK(float(model->optimizer->learningRate) == 0.1f);
  CHECK(model->metrics.size() == 2);
  CHECK(model->metrics[0].metric->className == "SparseCategoricalAccuracy");
}
