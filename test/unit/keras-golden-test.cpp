// Train steps of the two seed-* fixtures are imported, differentiated and
// interpreted. Their figures are compared with those of Keras on JAX for the
// same models, weights and data.

#include "weft/compiler/frontends/keras/import/Import.h"
#include "weft/data/formats/Npz.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/Interpret.h"
#include "weft/passes/training/Passes.h"
#include "weft/test/unit/distance.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

#include <fstream>
#include <sstream>

namespace keras = weft::keras;
using weft::Array;
using weft::Tensor;

static const std::string kFixtures = WEFT_FIXTURES;

static std::string readText(const std::string &path) {
  std::ifstream in(path);
  std::stringstream out;
  out << in.rdbuf();
  return out.str();
}

static Tensor tensorOf(const Array &array, mlir::Type type) {
  Tensor out(mlir::cast<mlir::RankedTensorType>(type));
  REQUIRE(out.size() == array.count());
  for (int64_t i = 0; i < out.size(); ++i)
    out.isFloat() ? out.setReal(i, array.at(i))
                  : out.setInteger(i, int64_t(array.at(i)));
  return out;
}

static Array arrayOf(const std::string &source) {
  weft::Result<Array> array = weft::loadArray(source);
  INFO(source);
  REQUIRE(array);
  return *array;
}

/// Returns the largest difference divided by the largest magnitude.
static double difference(const Tensor &tensor, const Array &array) {
  double worst = 0, scale = 1e-30;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    double value =
        tensor.isFloat() ? tensor.real(i) : double(tensor.integer(i));
    worst = std::max(worst, weft::test::distance(value, array.at(i)));
    scale = std::max(scale, std::abs(array.at(i)));
  }
  return worst / scale;
}

namespace {
/// One training run of a fixture: values by port name.
struct Run {
  std::string folder;
  std::map<std::string, Tensor> values;

  std::string golden(const std::string &key) const {
    return folder + "/golden.npz:" + key;
  }
  Tensor first(mlir::func::FuncOp train, unsigned argument) const;
  void step(mlir::func::FuncOp train, const Array &x, const Array &y);
};
} // namespace

static std::string nameOf(mlir::Attribute attribute) {
  return mlir::cast<mlir::StringAttr>(attribute).str();
}

/// Returns an argument of the first step: a weight has its golden initial
/// value; optimizer state is zero, except for the learning rate.
Tensor Run::first(mlir::func::FuncOp train, unsigned argument) const {
  mlir::Type type = train.getArgumentTypes()[argument];
  std::string name = nameOf(train.getArgAttr(argument, weft::kNameAttr));
  weft::Result<Array> array = weft::loadArray(golden("initial/" + name));
  if (array)
    return tensorOf(*array, type);
  if (name.find("learning_rate") != name.npos)
    return tensorOf(arrayOf(golden("optimizer/" + name)), type);
  return Tensor(mlir::cast<mlir::RankedTensorType>(type));
}

void Run::step(mlir::func::FuncOp train, const Array &x, const Array &y) {
  weft::Tensors arguments;
  for (unsigned i = 0; i < train.getNumArguments(); ++i) {
    std::string name = nameOf(train.getArgAttr(i, weft::kNameAttr));
    mlir::Type type = train.getArgumentTypes()[i];
    if (name == "x" || name == "y")
      values[name] = tensorOf(name == "x" ? x : y, type);
    else if (!values.count(name))
      values[name] = first(train, i);
    arguments.push_back(values[name]);
  }
  auto results = weft::interpretFunction(train, arguments);
  REQUIRE(mlir::succeeded(results));
  for (unsigned i = 0; i < results->size(); ++i)
    values[nameOf(train.getResultAttr(i, weft::kNameAttr))] = (*results)[i];
}

static mlir::OwningOpRef<mlir::ModuleOp> trainModule(mlir::MLIRContext &context,
                                                     const std::string &folder,
                                                     int64_t batchSize) {
  weft::Result<keras::Model> model =
      keras::readModel(readText(folder + "/model.json"));
  REQUIRE(model.message() == "");
  auto module = keras::importStep(&context, *model, nullptr,
                                  weft::StepKind::Train, {batchSize});
  REQUIRE(mlir::succeeded(module));
  mlir::PassManager passes(&context);
  passes.addPass(weft::createDifferentiatePass());
  REQUIRE(mlir::succeeded(passes.run(**module)));
  return std::move(*module);
}

TEST_CASE("ten steps of the functional seed are Keras' steps") {
  mlir::MLIRContext context;
  Run run{kFixtures + "/seed-functional-mlp", {}};
  auto module = trainModule(context, run.folder, 16);
  auto train = module->lookupSymbol<mlir::func::FuncOp>("train");
  Array x = arrayOf(run.golden("x")), y = arrayOf(run.golden("y"));
  Array losses = arrayOf(run.golden("steps/loss"));
  for (int64_t step = 0; step < 10; ++step) {
    int64_t begin = step % 8 * 16;
    run.step(train, weft::rows(x, begin, begin + 16),
             weft::rows(y, begin, begin + 16));
    INFO("step " << step);
    CHECK(run.values["metrics/loss"].real(0) ==
          Approx(losses.at(step)).epsilon(2e-6));
  }
  for (const char *name : {"d1/kernel", "d2/kernel", "d2/bias",
                           "seed_generator/seed_generator_state"}) {
    INFO(name);
    CHECK(difference(run.values[name],
                     arrayOf(run.golden("final/" + std::string(name)))) < 1e-4);
  }
  for (const char *name :
       {"rm_sprop/iteration", "rm_sprop/d1_kernel_velocity"}) {
    INFO(name);
    CHECK(difference(run.values[name],
                     arrayOf(run.golden("optimizer/" + std::string(name)))) <
          1e-4);
  }
}

TEST_CASE("steps of the sequential seed are Keras' steps") {
  mlir::MLIRContext context;
  Run run{kFixtures + "/seed-sequential-mnist", {}};
  auto module = trainModule(context, run.folder, 128);
  auto train = module->lookupSymbol<mlir::func::FuncOp>("train");
  std::string data = std::string(WEFT_EXAMPLES) + "/data/mnist24k.npz:";
  Array x = weft::convert(arrayOf(data + "x_train[0:256]"),
                          weft::ElementType::Float32);
  for (int64_t i = 0; i < x.count(); ++i)
    x.data<float>()[i] /= 255.0f;
  Array y = arrayOf(data + "y_train[0:256]");
  Array losses = arrayOf(run.golden("steps/loss"));
  Array accuracies = arrayOf(run.golden("steps/accuracy"));
  for (int64_t step = 0; step < 2; ++step) {
    run.step(train, weft::rows(x, step * 128, step * 128 + 128),
             weft::rows(y, step * 128, step * 128 + 128));
    INFO("step " << step);
    CHECK(run.values["metrics/loss"].real(0) ==
          Approx(losses.at(step)).epsilon(1e-5));
    CHECK(run.values["metrics/accuracy"].real(0) ==
          Approx(accuracies.at(step)).epsilon(1e-6));
  }
}
