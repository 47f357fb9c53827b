// Nested models: the order of layers, paths, seeds, refusals.

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/compiler/frontends/keras/model/SavedPaths.h"

#include "catch2/catch.hpp"

#include <fstream>
#include <sstream>

using namespace weft::keras;

static std::string readText(const std::string &name) {
  std::ifstream in(std::string(WEFT_FIXTURES) + "/" + name);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

static std::string replaced(std::string text, const std::string &from,
                            const std::string &to) {
  size_t at = text.find(from);
  REQUIRE(at != text.npos);
  return text.replace(at, from.size(), to);
}

static std::string pathOf(const Model &model, const std::string &path) {
  for (const SavedPath &saved : savedPaths(model))
    if (saved.path == path)
      return saved.savedPath;
  return "none";
}

static const char *const kDense =
    R"({"class_name": "Dense", "config": {"name": "NAME", "units": 3}})";

static std::string dense(const std::string &name) {
  return replaced(kDense, "NAME", name);
}

/// Returns a Sequential of 4 features around a nested Sequential, whose config
/// ends with `nested`.
static std::string around(const std::string &nested) {
  return R"({"class_name": "Sequential", "config": {"name": "outer", "build_input_shape": [null, 4],
    "layers": [{"class_name": "Sequential", "config": {"name": "inner", )" +
         nested + "}}, " + dense("head") + "]}}";
}

TEST_CASE("a nested model's layers stand where it stands") {
  weft::Result<Model> model = readModel(readText("nested/model.json"));
  REQUIRE(model.message() == "");
  std::vector<std::string> names;
  for (const Node &node : model->nodes)
    names.push_back(model->layers[node.layer].name);
  CHECK(names == std::vector<std::string>{
                     "x", "side_a", "side_b", "side", "up", "core_a", "core_b",
                     "core", "tower_drop", "down", "base_drop", "base", "tower",
                     "side_a", "side_b", "side", "head"});
  CHECK(model->draws.size() == 9);
  CHECK(pathOf(*model, "side_a/kernel") ==
        "layers/functional/layers/dense/vars/0");
  CHECK(pathOf(*model, "core_b/bias") ==
        "layers/sequential/layers/functional/layers/dense_1/vars/1");
  CHECK(pathOf(*model, "down/kernel") ==
        "layers/sequential/layers/sequential/layers/dense/vars/0");
  CHECK(pathOf(*model, "head/bias") == "layers/dense/vars/1");
}

TEST_CASE("layers of a nested Sequential without build_config have its name") {
  weft::Result<Model> model = readModel(around(
      R"("build_input_shape": [null, 4], "layers": [)" + dense("a") + "]"));
  REQUIRE(model.message() == "");
  CHECK(model->variables[0].path == "inner/a/kernel");
  CHECK(model->variables[2].path == "outer/head/kernel");
  weft::Result<Model> waits =
      readModel(around(R"("layers": [)" + dense("a") + "]"));
  REQUIRE(waits.message() == "");
  CHECK(waits->variables[0].path == "outer/inner/a/kernel");
}

TEST_CASE("each layer of a nested model says itself whether it is frozen") {
  weft::Result<Model> model = readModel(around(
      R"("trainable": false, "layers": [)" + dense("a") + ", " +
      replaced(dense("b"), "\"units\"", "\"trainable\": false, \"units\"") +
      "]"));
  REQUIRE(model.message() == "");
  CHECK(model->variables[0].trainable);
  CHECK(!model->variables[2].trainable);
  CHECK(model->variables[4].trainable);
}

TEST_CASE("a nested model and the one around it may have layers of one name") {
  weft::Result<Model> model = readModel(around(
      R"("build_input_shape": [null, 3], "layers": [)" + dense("head") + "]"));
  REQUIRE(model.message() == "");
  CHECK(model->variables[0].path == "inner/head/kernel");
  CHECK(model->variables[2].path == "outer/head/kernel");
  // Keras gives both the path head/kernel if the layers were built alone.
  std::string alone = replaced(kDense, "\"Dense\"", R"("Dense",
    "build_config": {"input_shape": [null, 4]})");
  std::string text = replaced(
      around(R"("build_input_shape": [null, 4], "layers": [)" +
             replaced(alone, "NAME", "head") + "]"),
      "}}, " + dense("head"), "}}, " + replaced(alone, "NAME", "head"));
  model = readModel(text);
  REQUIRE(model.message() == "");
  CHECK(model->variables[0].path == "inner/head/kernel");
  CHECK(model->variables[2].path == "head/kernel");
  CHECK(pathOf(*model, "inner/head/kernel") ==
        "layers/sequential/layers/dense/vars/0");
  CHECK(pathOf(*model, "head/kernel") == "layers/dense/vars/0");
}

TEST_CASE("a frozen model has frozen layers only") {
  std::string text = readText("seed-functional-mlp/model.json");
  std::string frozen =
      replaced(text, "{\"name\": \"functional\", \"trainable\": true",
               "{\"name\": \"functional\", \"trainable\": false");
  CHECK(readModel(frozen).message() ==
        "the model has \"trainable\" = false, and its variable "
        "\"d1/kernel\" is trainable; freeze all layers, or make the model "
        "trainable");
  for (size_t at; (at = frozen.find("\"trainable\": true")) != frozen.npos;)
    frozen.replace(at, 17, "\"trainable\": false");
  weft::Result<Model> model = readModel(frozen);
  REQUIRE(model.message() == "");
  CHECK(model->trained().empty());
}

TEST_CASE("sizes that the model leaves open are those of the data") {
  ModelOptions options;
  options.shapesOfData = [] {
    return std::map<std::string, std::vector<int64_t>>{{"", {7, 4}}};
  };
  auto shapeUnder = [&](const std::string &shape) {
    weft::Result<Model> model = readModel(
        R"({"class_name": "Sequential", "config": {"name": "s", "layers": [
        {"class_name": "InputLayer", "config": {"name": "i", "batch_shape": )" +
            shape + "}}, " + dense("d") + "]}}",
        options);
    return model ? model->nodes[0].shape : std::vector<int64_t>{};
  };
  CHECK(shapeUnder("[null, null, 4]") == std::vector<int64_t>{7, 4});
  CHECK(shapeUnder("[null, 5, 4]") == std::vector<int64_t>{5, 4});
  CHECK(shapeUnder("[null, null]") == std::vector<int64_t>{});
}

TEST_CASE("layers that cannot be nested are refused by name") {
  std::string text = readText("nested/model.json");
  std::string layer = dense("a");
  CHECK(
      readModel(
          around(
              R"("layers": [{"class_name": "InputLayer", "config": {"name": "i",
      "batch_shape": [null, 5]}}, )" +
              layer + "]"))
          .message() ==
      "layer \"inner\": takes samples of shape (5), but is called with (4)"
      "; fix the model in Keras and save it again");
  CHECK(readModel(around(R"("layers": [)" + layer + ", " + layer + "]"))
            .message() ==
        "layer \"a\" is written twice; layers of a model need different names");
  CHECK(readModel(
            replaced(
                text, "\"input_layers\": [\"side_in\", 0, 0]",
                "\"input_layers\": [[\"side_in\", 0, 0], [\"side_in\", 0, 0]]"))
            .message() ==
        "layer \"side\": takes 2 tensors, but is called with 1; fix the model "
        "in Keras and save it again");
}
