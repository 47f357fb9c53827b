// Distribution files and the rules of LayoutMap, compared with Keras' answers.

#include "weft/compiler/frontends/keras/distribution/Distribution.h"

#include "catch2/catch.hpp"
#include <nlohmann/json.hpp>

#include <fstream>
#include <sstream>

using namespace weft;
using namespace weft::keras;
using Json = nlohmann::ordered_json;

static std::string readText(const std::string &name) {
  std::ifstream in(std::string(WEFT_FIXTURES) + "/" + name);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

static std::string fileWith(const Json &rules, const std::string &regex) {
  Json mesh = {{"shape", {2, 4}}, {"axis_names", {"data", "model"}}};
  Json file = {
      {"class_name", "ModelParallel"},
      {"config",
       {{"device_mesh", mesh}, {"layout_map", rules}, {"regex", regex}}}};
  return file.dump();
}

static Json axesOf(const Distribution &distribution, const Layout &layout) {
  Json out = Json::array();
  for (const SubAxes &axes : layout.dims)
    out.push_back(axes.empty()
                      ? Json(nullptr)
                      : Json(distribution.mesh.axes[axes[0].axis].name));
  return out;
}

TEST_CASE("rules match as in Keras, in each mode") {
  Json lookups = Json::parse(readText("layoutmap/lookups.json"));
  unsigned compared = 0;
  for (const char *mode : {"fullmatch", "search", "first-match"})
    for (const Json &row : lookups["rows"]) {
      std::string map = row["map"], path = row["path"];
      INFO(mode << " " << map << " " << path);
      weft::Result<Distribution> distribution =
          readDistribution(fileWith(lookups["maps"][map], mode));
      REQUIRE(distribution.message() == "");
      RuleLookup found = findRule(*distribution, path);
      const Json &expected = row[mode];
      ++compared;
      if (expected.contains("layout")) {
        CHECK(found.status);
        Json axes =
            found.rule < 0
                ? Json(nullptr)
                : axesOf(*distribution, distribution->rules[found.rule].layout);
        CHECK(axes == expected["layout"]);
      } else {
        CHECK(found.status.message().find("path \"" + path +
                                          "\" matches several keys") == 0);
      }
    }
  CHECK(compared > 100);
}

TEST_CASE("every distribution of the seeds is resolved") {
  weft::Result<Model> model =
      readModel(readText("seed-functional-mlp/model.json"));
  REQUIRE(model.message() == "");
  weft::Result<Distribution> distribution = readDistribution(
      readText("seed-functional-mlp/distribution-mp-2x4.json"), 8);
  REQUIRE(distribution.message() == "");
  weft::Result<ResolvedLayouts> layouts = resolveLayouts(*distribution, *model);
  REQUIRE(layouts.message() == "");
  const Mesh &mesh = distribution->mesh;
  CHECK(toString(mesh, layouts->variables["d1/kernel"].layout) ==
        "[{}, {\"model\"}]");
  CHECK(layouts->variables["d1/kernel"].reason == "layout_map \"d1/kernel\"");
  CHECK(layouts->variables["d2/kernel"].layout.isReplicated());
  CHECK(toString(mesh, layouts->inputs["input_layer"].layout) ==
        "[{\"data\"}, {}, {}, {}]");
  CHECK(toString(mesh, layouts->outputs["d2"].layout) == "[{\"data\"}, {}]");
  REQUIRE(layouts->rules.size() == 3);
  CHECK(layouts->rules[0].status == "used");
  CHECK(layouts->rules[1].status == "dead");
  CHECK(layouts->rules[1].closest[0] == "d2/bias");
  CHECK(layouts->rules[2].status == "used");
}

TEST_CASE("keys of a Sequential built by script match") {
  weft::Result<Model> model =
      readModel(readText("seed-sequential-mnist/model.json"));
  REQUIRE(model.message() == "");
  Json rules = {{"sequential/d1/kernel", {nullptr, "model"}},
                {"d2/kernel", {{"data", "model"}, nullptr}},
                {"(sequential/)?d2/k.*", {nullptr}},
                {"d1/bias", {"model:(2)2"}}};
  weft::Result<Distribution> distribution =
      readDistribution(fileWith(rules, "fullmatch"));
  REQUIRE(distribution.message() == "");
  weft::Result<ResolvedLayouts> layouts = resolveLayouts(*distribution, *model);
  REQUIRE(layouts.message() == "");
  const Mesh &mesh = distribution->mesh;
  CHECK(toString(mesh, layouts->variables["d1/kernel"].layout) ==
        "[{}, {\"model\"}]");
  CHECK(toString(mesh, layouts->variables["d2/kernel"].layout) ==
        "[{\"data\", \"model\"}, {}]");
  CHECK(toString(mesh, layouts->variables["d1/bias"].layout) ==
        "[{\"model\":(2)2}]");
  CHECK(layouts->rules[2].status == "shadowed");
}

TEST_CASE("a distribution of one's own in tables") {
  weft::Result<Model> model =
      readModel(readText("seed-functional-mlp/model.json"));
  REQUIRE(model.message() == "");
  weft::Result<Distribution> distribution = readDistribution(R"(
    {"class_name": "Distribution", "config": {
      "device_mesh": {"shape": [2, 4], "axis_names": ["rows", "columns"]},
      "variable_layouts": {"d1/.*": ["rows", "columns"]},
      "tensor_layouts": {"d1/.*": ["rows"]},
      "data_layout": ["columns", "rows", null]}})");
  REQUIRE(distribution.message() == "");
  weft::Result<ResolvedLayouts> layouts = resolveLayouts(*distribution, *model);
  REQUIRE(layouts.message() == "");
  const Mesh &mesh = distribution->mesh;
  CHECK(toString(mesh, layouts->variables["d1/kernel"].layout) ==
        "[{\"rows\"}, {\"columns\"}]");
  CHECK(layouts->variables["d1/kernel"].reason == "variable_layouts \"d1/.*\"");
  CHECK(layouts->variables["d2/kernel"].layout.isReplicated());
  CHECK(toString(mesh, layouts->outputs["d1"].layout) == "[{\"rows\"}, {}]");
  CHECK(layouts->outputs.size() == 1);
  CHECK(toString(mesh, layouts->inputs["input_layer"].layout) ==
        "[{\"columns\"}, {\"rows\"}, {}, {}]");
  CHECK(toString(mesh, batchLayout(*distribution, {32}).layout) ==
        "[{\"columns\"}]");
  CHECK(toString(mesh, batchLayout(*distribution, {32, 10}).layout) ==
        "[{\"columns\"}, {\"rows\"}]");
  REQUIRE(layouts->rules.size() == 2);
  CHECK(layouts->rules[0].matches == std::vector<std::string>{"d1/kernel"});
  CHECK(layouts->rules[1].matches == std::vector<std::string>{"d1/output"});
}

namespace {
/// Splits the longest dimension of each weight over all devices.
class FullySharded : public Strategy {
public:
  explicit FullySharded(const Mesh &mesh [[clang::lifetimebound]],
                        size_t extra = 0)
      : mesh(mesh), extra(extra) {}
  std::string name() const override { return "fully sharded"; }
  std::optional<Layout>
  variableLayout(const NamedShape &variable) const override {
    Layout out = Layout::replicated(int64_t(variable.shape.size() + extra));
    if (!variable.shape.empty())
      out.dims[std::max_element(variable.shape.begin(), variable.shape.end()) -
               variable.shape.begin()] = {weft::fullAxis(mesh, 0)};
    return out;
  }
  std::optional<Layout>
  tensorLayout(const std::string &path,
               llvm::ArrayRef<int64_t> shape) const override {
    if (path != "d2/output")
      return std::nullopt;
    CHECK(shape == llvm::ArrayRef<int64_t>{-1, 10});
    return Layout::replicated(1);
  }
  std::optional<Layout>
  dataLayout(llvm::ArrayRef<int64_t> shape) const override {
    Layout out = Layout::replicated(int64_t(shape.size()));
    out.dims.back() = {weft::fullAxis(mesh, 0)};
    return out;
  }

private:
  const Mesh &mesh;
  size_t extra;
};
} // namespace

TEST_CASE("a strategy of one's own in C++") {
  weft::Result<Model> model =
      readModel(readText("seed-functional-mlp/model.json"));
  REQUIRE(model.message() == "");
  Distribution distribution = dataParallel(8);
  const Mesh mesh = distribution.mesh;
  distribution.strategy = std::make_shared<FullySharded>(mesh);
  weft::Result<ResolvedLayouts> layouts = resolveLayouts(distribution, *model);
  REQUIRE(layouts.message() == "");
  CHECK(toString(mesh, layouts->variables["d1/kernel"].layout) ==
        "[{\"batch\"}, {}]");
  CHECK(toString(mesh, layouts->variables["d2/bias"].layout) ==
        "[{\"batch\"}]");
  CHECK(layouts->variables["d2/bias"].reason == "fully sharded");
  CHECK(layouts->outputs.at("d2").layout.dims.size() == 2);
  CHECK(toString(mesh, layouts->inputs["input_layer"].layout) ==
        "[{}, {}, {}, {\"batch\"}]");
  distribution.strategy = std::make_shared<FullySharded>(mesh, 1);
  CHECK(resolveLayouts(distribution, *model).message() ==
        "the layout of \"d1/kernel\" by fully sharded has 3 dimensions, the "
        "tensor 2; a layout has one entry for each dimension, or fewer");
}

TEST_CASE("data parallel files") {
  weft::Result<Distribution> file =
      readDistribution(readText("seed-functional-mlp/distribution-dp8.json"));
  REQUIRE(file.message() == "");
  CHECK(file->mesh.size() == 8);
  CHECK(file->batchAxis == "batch");
  weft::Result<Distribution> all =
      readDistribution(R"({"class_name": "DataParallel", "config": {}})", 4);
  REQUIRE(all.message() == "");
  CHECK(all->mesh.size() == 4);
  weft::Result<Distribution> listed = readDistribution(
      R"({"class_name": "DataParallel", "config": {"devices": ["cpu:1", "cpu:0"]}})",
      4);
  REQUIRE(listed.message() == "");
  CHECK(listed->mesh.devices == std::vector<int64_t>{1, 0});
}

TEST_CASE("names of devices are read to their end") {
  for (const char *name : {"gpu:0", "cpu:0x", "cpu", "cpu:-1", "cpu:4"}) {
    std::string text =
        R"({"class_name": "DataParallel", "config": {"devices": [")" +
        std::string(name) + R"("]}})";
    CHECK(readDistribution(text, 4).message() ==
          "config: device \"" + std::string(name) +
              "\" does not exist; names are cpu:0 to cpu:3");
  }
  CHECK(readDistribution(
            R"({"class_name": "DataParallel", "config": {"devices": ["x"]}})")
            .message() ==
        "config: device \"x\" does not exist; names are such as \"cpu:0\"");
}

TEST_CASE("broken files are refused") {
  auto reason = [](const std::string &text, int64_t devices = 8) {
    return readDistribution(text, devices).message();
  };
  CHECK(reason(fileWith({{"a", {"nope"}}}, "fullmatch")) ==
        "layout_map \"a\": axis \"nope\" is not in the mesh; its axes are "
        "data, model");
  CHECK(reason(fileWith({{"a", {"data", "data"}}}, "fullmatch"))
            .find("layout_map \"a\": axis \"data\" is used twice") == 0);
  CHECK(reason(fileWith({{"a", {"data"}}}, "regexp")) ==
        "config: \"regex\" is \"regexp\"; known are first-match, fullmatch, "
        "search");
  CHECK(reason(fileWith({{"a", {"data"}}}, "search"), 4) ==
        "device_mesh: the mesh has 8 devices, there are 4; give more with "
        "--devices cpu:8");
  std::string text = readText("seed-functional-mlp/distribution-mp-2x4.json");
  size_t at = text.find("\"d1/bias\"");
  CHECK(reason(text.replace(at, 9, "\"d1/kernel\"")) ==
        "key \"d1/kernel\" is written twice; remove one of them");
  CHECK(reason(R"({"class_name": "DataParallel", "config": {"mesh": 1}})") ==
        "config: unknown field \"mesh\"; known fields are auto_shard_dataset, "
        "device_mesh, devices, pipeline, placements");
  CHECK(findRule(*readDistribution(fileWith({{"(a", {"data"}}}, "search")), "x")
            .status.message() ==
        "layout_map \"(a\": pattern is refused at position 2: "
        "missing closing parenthesis; write it as for "
        "Python's re");
  std::string nested = "(a*)*b";
  CHECK(findRule(*readDistribution(fileWith({{nested, {"data"}}}, "fullmatch")),
                 std::string(40, 'a'))
            .rule == -1);
}
