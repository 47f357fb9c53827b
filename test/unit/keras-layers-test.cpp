// Each class and option of docs/keras.md has a small model in
// test/fixtures/layers. Its prediction and its training steps are interpreted
// and compared with figures of Keras.

#include "weft/base/config/OptionWriter.h"
#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/compiler/frontends/keras/layers/QuantizationConfig.h"
#include "weft/compiler/frontends/keras/operations/Operation.h"
#include "weft/compiler/frontends/keras/optimizers/Wrappers.h"
#include "weft/data/formats/Npz.h"
#include "weft/data/initializers/Initializers.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/Interpret.h"
#include "weft/passes/training/Passes.h"
#include "weft/test/unit/distance.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

#include <filesystem>
#include <fstream>
#include <set>

namespace keras = weft::keras;
using keras::Json;
using weft::Array;
using weft::Tensor;

static const std::string kFolder = std::string(WEFT_FIXTURES) + "/layers";

/// Returns the files FAMILY.json or FAMILY.npz of every family.
static std::vector<std::filesystem::path> files(const std::string &extension) {
  std::vector<std::filesystem::path> out;
  for (const auto &entry : std::filesystem::directory_iterator(kFolder))
    if (entry.path().extension() == extension)
      out.push_back(entry.path());
  std::sort(out.begin(), out.end());
  return out;
}

static const Json &cases() {
  static const Json read = [] {
    Json out = Json::array();
    for (const std::filesystem::path &file : files(".json")) {
      std::ifstream in(file);
      for (Json &one : Json::parse(in))
        out.push_back(std::move(one));
    }
    return out;
  }();
  return read;
}

static const std::map<std::string, Array> &figures() {
  static const std::map<std::string, Array> read = [] {
    std::map<std::string, Array> out;
    for (const std::filesystem::path &file : files(".npz")) {
      auto arrays = weft::readNpz(file.string());
      REQUIRE(arrays);
      for (weft::NamedArray &array : *arrays)
        REQUIRE(out.emplace(array.name, std::move(array.array)).second);
    }
    return out;
  }();
  return read;
}

static Tensor tensorOf(const Array &array, mlir::Type type) {
  Tensor out(mlir::cast<mlir::RankedTensorType>(type));
  REQUIRE(out.size() == array.count());
  for (int64_t i = 0; i < out.size(); ++i)
    out.isFloat() ? out.setReal(i, array.at(i))
                  : out.setInteger(i, int64_t(array.at(i)));
  return out;
}

static std::string nameOf(mlir::Attribute attribute) {
  return mlir::cast<mlir::StringAttr>(attribute).str();
}

namespace {
/// One case, with its values by port name after the steps that ran.
class Case {
public:
  explicit Case(const Json &json)
      : name(json["name"]), steps(json["steps"]),
        tolerance(json.value("tolerance", 0.0)),
        isGiven(json.value("given", false)),
        model(keras::readModel(json["model"].dump())) {}

  void checkInitial();
  void checkPrediction();
  void checkTraining();

private:
  void checkShown(const std::string &prefix);
  const Array &figure(const std::string &key) const {
    auto found = figures().find(name + "/" + key);
    INFO(name << "/" << key);
    REQUIRE(found != figures().end());
    return found->second;
  }
  bool has(const std::string &key) const {
    return figures().count(name + "/" + key);
  }
  mlir::OwningOpRef<mlir::ModuleOp> module(weft::StepKind step);
  Tensor argument(const std::string &port, mlir::Type type) const;
  void run(mlir::func::FuncOp function);
  void compare(const std::string &port, const std::string &key,
               double tolerance) const;

  std::string name;
  int steps;
  double tolerance; ///< a larger one for narrow types; 0: none
  bool isGiven;     ///< whether the first values are not those of the JSON
  weft::Result<keras::Model> model = weft::Error{};
  mlir::MLIRContext context;
  std::map<std::string, Tensor> values;
};
} // namespace

mlir::OwningOpRef<mlir::ModuleOp> Case::module(weft::StepKind step) {
  keras::ImportOptions options;
  options.batchSize = figures().lower_bound(name + "/x/")->second.shape[0];
  const std::string weights = name + "/sample_weight";
  for (auto found = figures().lower_bound(weights);
       found != figures().end() && found->first.starts_with(weights); ++found) {
    std::string output = found->first.substr(weights.size());
    const weft::Shape &shape = found->second.shape;
    if (!options.sampleWeights)
      options.sampleWeights.emplace();
    (*options.sampleWeights)[output.empty() ? "" : output.substr(1)].assign(
        shape.begin() + 1, shape.end());
  }
  auto made = keras::importStep(&context, *model, nullptr, step, options);
  REQUIRE(mlir::succeeded(made));
  REQUIRE(mlir::succeeded(mlir::verify(**made)));
  mlir::PassManager passes(&context);
  passes.addPass(weft::createDifferentiatePass());
  REQUIRE(mlir::succeeded(passes.run(**made)));
  return std::move(*made);
}

/// Checks that the drawn seeds and the initial values are those of Keras.
void Case::checkInitial() {
  INFO(name);
  REQUIRE(model.message() == "");
  if (isGiven)
    return;
  keras::drawSeeds(*model, 1337);
  for (const keras::Variable &variable : model->variables) {
    INFO(variable.path);
    const Array &want = figure("initial/" + variable.path);
    if (variable.isSeedState()) {
      CHECK(want.at(0) == double(*variable.seed));
      continue;
    }
    auto found = weft::initialize(
        keras::variableFacts(variable).initializer.text,
        variable.seed ? std::optional<uint32_t>(uint32_t(*variable.seed))
                      : std::nullopt,
        weft::Shape(variable.shape.begin(), variable.shape.end()),
        weft::elementTypeNamed(variable.dtype)
            .value_or(weft::ElementType::Float32));
    REQUIRE(found);
    REQUIRE(found->shape == want.shape);
    // Orthogonal initializers differ by rounding; initializers-test compares
    // the others exactly.
    for (int64_t i = 0; i < want.count(); ++i)
      CHECK(found->at(i) == Approx(want.at(i)).epsilon(1e-6).margin(1e-6));
  }
}

Tensor Case::argument(const std::string &port, mlir::Type type) const {
  if (port == "x")
    return tensorOf(figures().lower_bound(name + "/x/")->second, type);
  if (has(port)) // x/NAME, y, y/NAME, sample_weight
    return tensorOf(figure(port), type);
  if (has("initial/" + port))
    return tensorOf(figure("initial/" + port), type);
  Tensor first(mlir::cast<mlir::RankedTensorType>(type));
  for (const keras::OptimizerVariable &variable : model->optimizerVariables())
    if (variable.path == port && first.isFloat())
      for (int64_t i = 0; i < first.size(); ++i)
        first.setReal(i, variable.first);
  return first;
}

void Case::run(mlir::func::FuncOp function) {
  weft::Tensors arguments;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    std::string port = nameOf(function.getArgAttr(i, weft::kNameAttr));
    if (!values.count(port))
      values[port] = argument(port, function.getArgumentTypes()[i]);
    arguments.push_back(values[port]);
  }
  auto results = weft::interpretFunction(function, arguments);
  REQUIRE(mlir::succeeded(results));
  for (unsigned i = 0; i < results->size(); ++i)
    values[nameOf(function.getResultAttr(i, weft::kNameAttr))] = (*results)[i];
}

void Case::compare(const std::string &port, const std::string &key,
                   double tolerance) const {
  const Array &want = figure(key);
  INFO(name << ": " << port);
  REQUIRE(values.count(port));
  Tensor got = values.at(port);
  if (got.size() == 2 && want.count() == 1 && port.starts_with("metrics/")) {
    // The metric is a sum and a count.
    Tensor mean(mlir::RankedTensorType::get({}, got.getElementType()));
    mean.setReal(0, got.real(0) / got.real(1));
    got = mean;
  }
  REQUIRE(got.size() == want.count());
  double scale = 1e-2,
         worst = 0; // a gradient may be only the rounding error of 0
  for (int64_t i = 0; i < got.size(); ++i) {
    double value = got.isFloat() ? got.real(i) : double(got.integer(i));
    worst = std::max(worst, weft::test::distance(value, want.at(i)));
    scale = std::max(scale, std::abs(want.at(i)));
  }
  CHECK(worst / scale <= std::max(tolerance, this->tolerance));
}

void Case::checkPrediction() {
  auto built = module(weft::StepKind::Predict);
  values.clear();
  run(built->lookupSymbol<mlir::func::FuncOp>("predict"));
  for (const keras::Variable &variable : model->variables)
    if (has("predicted/" + variable.path))
      compare(variable.path, "predicted/" + variable.path, 0);
  if (has("predict"))
    return compare("y", "predict", 5e-6);
  for (unsigned output = 0; output < model->outputs.size(); ++output)
    compare("y/" + model->outputName(output),
            "predict/" + model->outputName(output), 5e-6);
}

void Case::checkTraining() {
  auto built = module(weft::StepKind::Train);
  values.clear();
  for (int step = 0; step < steps; ++step) {
    run(built->lookupSymbol<mlir::func::FuncOp>("train"));
    if (step == 0)
      checkShown("metric/");
  }
  checkShown("last/");
  for (const keras::Variable &variable : model->variables)
    compare(variable.path, "final/" + variable.path, 2e-5);
  for (const keras::OptimizerVariable &variable : model->optimizerVariables())
    compare(variable.path, "optimizer/" + variable.path, 2e-5);
}

/// Checks the loss and all metrics after the first step ("metric/"), or the
/// metrics that accumulate over steps after the last one ("last/").
void Case::checkShown(const std::string &prefix) {
  bool isFirst = prefix == "metric/";
  if (isFirst)
    compare("metrics/loss", "loss", 5e-6);
  for (const keras::OutputLoss &of : model->losses)
    if (std::string name = model->outputName(of.output) + "_loss";
        isFirst && model->losses.size() > 1)
      compare("metrics/" + name, prefix + name, 5e-6);
  for (const keras::OutputMetric &of : model->metrics)
    if (isFirst ||
        (has(prefix + of.name) &&
         !of.metric->variables(model->outputShape(of.output)).empty()))
      compare("metrics/" + of.name, prefix + of.name, 5e-6);
}

TEST_CASE("every case begins, predicts and trains as in Keras") {
  for (const Json &json : cases()) {
    Case one(json);
    one.checkInitial();
    one.checkPrediction();
    one.checkTraining();
  }
}

/// Calls `met` with every serialized object of a class in the JSON.
static void walk(const Json &json,
                 const std::function<void(const Json &)> &met) {
  if (json.is_object() && json.contains("class_name") &&
      json.contains("config"))
    met(json);
  if (json.is_structured())
    for (const Json &part : json)
      walk(part, met);
}

/// Returns a value as a table of options has it: an object is the name of its
/// class, a list of one value is that value.
static Json plainValue(const Json &json) {
  if (json.is_object())
    return json.contains("class_name") ? json["class_name"] : json;
  if (json.is_array() && json.size() == 1)
    return json[0];
  return json;
}

/// Whether the module is one of `wanted`, or below one whose name ends with a
/// dot.
static bool isOf(const std::string &module,
                 const std::vector<std::string> &wanted) {
  for (const std::string &name : wanted)
    if (name.back() == '.' ? module.starts_with(name) : module == name)
      return true;
  return false;
}

/// Returns the classes that no case has, and the accepted options that no case
/// sets to a value other than the default.
static std::vector<std::string>
untested(const keras::AnyTable &table,
         const std::vector<std::string> &modules) {
  std::set<std::string> tested;
  for (const Json &json : cases())
    walk(json, [&](const Json &object) {
      Json of = object.value("module", Json());
      if (!of.is_string() || !isOf(of.get<std::string>(), modules))
        return;
      const keras::TableRow *row =
          table.find(object["class_name"].get<std::string>());
      if (!row) // OptimizerMap is in a table of its own
        return;
      for (const auto &option :
           keras::listOptions(*keras::AnyTable::make(*row))) {
        const Json &config = object["config"];
        if (config.contains(option.name) &&
            plainValue(config[option.name]) != option.value)
          tested.insert(std::string(row->name) + "." + option.name);
      }
      tested.insert(row->name);
    });
  std::vector<std::string> out;
  for (const keras::TableRow &row : table.rows) {
    if (!tested.count(row.name))
      out.push_back(row.name);
    for (const auto &option : keras::listOptions(*keras::AnyTable::make(row))) {
      std::string name = std::string(row.name) + "." + option.name;
      if (option.status == keras::OptionStatus::Accepted && !tested.count(name))
        out.push_back(name);
    }
  }
  return out;
}

TEST_CASE("every accepted option has a case that sets it") {
  using Names = std::vector<std::string>;
  CHECK(untested(keras::layerTable(),
                 {"keras.layers", "keras.src.applications."}) == Names{});
  CHECK(untested(keras::operationTable(), {"keras.src.ops."}) == Names{});
  CHECK(untested(keras::lossTable(), {"keras.losses"}) == Names{});
  CHECK(untested(keras::metricTable(), {"keras.metrics"}) == Names{});
  CHECK(untested(keras::optimizerTable(), {"keras.optimizers"}) == Names{});
  CHECK(untested(keras::optimizerMapTable(), {"keras.optimizers"}) == Names{});
  CHECK(untested(keras::scheduleTable(), {"keras.optimizers.schedules"}) ==
        Names{});
  CHECK(untested(keras::initializerTable(), {"keras.initializers"}) == Names{});
  CHECK(untested(keras::regularizerTable(), {"keras.regularizers"}) == Names{});
  CHECK(untested(keras::constraintTable(), {"keras.constraints"}) == Names{});
  CHECK(untested(keras::quantizerTable(), {"keras.quantizers"}) == Names{});
  // Models of float8 do not train; test/keras/check_quantized.py has one.
  CHECK(untested(keras::quantizationTable(), {"keras.quantizers"}) ==
        Names{"Float8QuantizationConfig"});
}
