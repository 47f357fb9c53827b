//===- main.cpp - the command line of weft ---------------------------------===//
//
// Only names of flags live here; Commands.h has what they mean.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/weft/Commands.h"

#include "CLI/CLI.hpp"

#include <cstdio>

using namespace weft::tool;

static void addModelFlags(CLI::App &app, ModelFlags &flags, bool training) {
  app.add_option("model", flags.model, "model.json or model.keras")
      ->required();
  app.add_option("--distribution", flags.distribution,
                 "DataParallel or ModelParallel as a JSON file");
  app.add_flag("--data-parallel", flags.dataParallel,
               "split batches over all of --devices");
  app.add_option("--devices", flags.devices,
                 "cpu:N (default: as many as the mesh has, else cpu:1)");
  app.add_option("--batch-size", flags.batchSize, "samples in a step")
      ->capture_default_str();
  app.add_option("--shape", flags.shapes,
                 "NAME=16x128 fixes unknown dimensions of an input; repeated");
  app.add_option("--target", flags.target,
                 "native, cpu:avx512, cpu:avx2 or cpu:generic")
      ->capture_default_str();
  app.add_flag("--timing", flags.timing, "print the time of each pass");
  if (!training)
    return;
  app.add_option("--optimizer", flags.optimizer, "a Keras name or JSON");
  app.add_option("--learning-rate", flags.learningRate, "of the optimizer");
  app.add_option("--loss", flags.loss, "a Keras name or JSON");
  app.add_option("--metrics", flags.metrics, "Keras names, comma-separated");
  app.add_option("--seed", flags.seed,
                 "as keras.utils.set_random_seed (default: drawn, printed)");
}

static void addDataFlags(CLI::App &app, DataFlags &flags) {
  app.add_option("--data", flags.data, "f.npz with x, y or x_train, y_train");
  app.add_option("--x", flags.x, "[NAME=]f.npz:key[0:1280]; repeated");
  app.add_option("--y", flags.y, "[NAME=]f.npz:key; repeated");
  app.add_option("--sample-weight", flags.sampleWeight,
                 "[NAME=]f.npz:key; repeated");
  app.add_option("--divide-by", flags.divideBy, "divide inputs in float32");
  app.add_flag("--add-channel", flags.addChannel,
               "append a dimension of 1 to inputs");
}

static void addFit(CLI::App &app, FitFlags &flags) {
  addModelFlags(app, flags.model, true);
  addDataFlags(app, flags.data);
  app.add_option("--validation-data", flags.data.validationData, "f.npz");
  app.add_option("--validation-split", flags.data.validationSplit,
                 "last part of the data, as Keras");
  app.add_option("--epochs", flags.epochs, "passes over the data")
      ->capture_default_str();
  app.add_option("--steps-per-epoch", flags.stepsPerEpoch, "batches an epoch");
  app.add_option("--max-steps", flags.maxSteps, "stop after N steps altogether");
  app.add_flag("--no-shuffle", flags.noShuffle, "keep the order of the data");
  app.add_flag("--drop-remainder", flags.dropRemainder,
               "leave out a short last batch");
  app.add_flag("--init-only", flags.initOnly, "stop after initialising");
  app.add_option("--weights", flags.weights, "f.keras, f.weights.h5 or f.npz");
  app.add_option("--save", flags.save, "f.keras, for Keras to load");
  app.add_option("--save-weights", flags.saveWeights,
                 "f.npz: every variable by its path");
  app.add_option("--history", flags.history, "out.json");
  app.add_flag("--history-steps", flags.historySteps,
               "one value for each batch in --history");
  app.add_option("--stats", flags.stats, "times, memory and bytes as JSON");
  app.add_flag("--verify", flags.verify,
               "first compare all stages in the reference interpreter");
  app.add_flag("--json", flags.json, "one JSON object on standard output");
  app.add_option("--verbose", flags.verbose, "0, 1 (bar) or 2 (lines)")
      ->capture_default_str();
  app.footer("Example:\n  weft fit model.json --data mnist.npz --divide-by 255 "
             "--data-parallel\n    --devices cpu:8 --epochs 3 --batch-size 128 "
             "--save trained.keras");
}

static void addEvaluate(CLI::App &app, EvaluateFlags &flags, bool predict) {
  addModelFlags(app, flags.model, true);
  addDataFlags(app, flags.data);
  app.add_option("--weights", flags.weights, "f.keras, f.weights.h5 or f.npz");
  app.add_flag("--json", flags.json, "one JSON object on standard output");
  app.add_option("--verbose", flags.verbose, "0, 1 (bar) or 2 (lines)");
  if (predict)
    app.add_option("--out", flags.out, "p.npy")->required();
}

static void addCompile(CLI::App &app, CompileFlags &flags) {
  addModelFlags(app, flags.model, true);
  app.add_option("--step", flags.model.step, "train, evaluate or predict");
  app.add_option("--emit", flags.emit,
                 "imported, differentiated, sharded, partitioned, scheduled, "
                 "kernels or plan");
  app.add_option("-o,--out", flags.out, "file (- for stdout)");
}

static void addExplain(CLI::App &app, ExplainFlags &flags) {
  addModelFlags(app, flags.model, true);
  app.add_option("--step", flags.model.step, "train, evaluate or predict");
  app.add_flag("--json", flags.json, "one JSON object");
}

static void addReshard(CLI::App &app, ReshardFlags &flags) {
  app.add_option("--mesh", flags.mesh, "x=4,y=2")->required();
  app.add_option("--shape", flags.shape, "16x16x16")->required();
  app.add_option("--from", flags.from, "[y,-,x]")->required();
  app.add_option("--to", flags.to, "[-,(x,y),-]")->required();
  app.add_option("--dtype", flags.dtype, "element type");
  app.add_flag("--no-exchange", flags.noExchange, "standard collectives only");
  app.add_flag("--json", flags.json, "one JSON object");
}

int main(int argc, char **argv) {
  CLI::App app{"Weft trains Keras models on a mesh of devices and shows what "
               "it does.",
               "weft"};
  app.require_subcommand(1);
  app.set_version_flag("--version", "weft 0.1.0 (MLIR 22.1, program ABI 1)");
  app.option_defaults()->multi_option_policy(
      CLI::MultiOptionPolicy::TakeLast);
  int status = 0;

  FitFlags fit;
  auto *fitApp = app.add_subcommand("fit", "train a model");
  addFit(*fitApp, fit);
  fitApp->callback([&] { status = runFit(fit); });

  EvaluateFlags evaluate, predict;
  auto *evaluateApp = app.add_subcommand("evaluate", "loss and metrics");
  addEvaluate(*evaluateApp, evaluate, false);
  evaluateApp->callback([&] { status = runEvaluate(evaluate); });
  auto *predictApp = app.add_subcommand("predict", "outputs as .npy");
  addEvaluate(*predictApp, predict, true);
  predictApp->callback([&] { status = runPredict(predict); });

  CompileFlags compile;
  auto *compileApp =
      app.add_subcommand("compile", "a program file, or the IR of a stage");
  addCompile(*compileApp, compile);
  compileApp->add_flag("--verify", compile.verify,
                       "first compare all stages in the reference interpreter");
  compileApp->callback([&] { status = runCompile(compile); });

  ExplainFlags explain, layout;
  auto *explainApp = app.add_subcommand(
      "explain", "communication, its reasons and memory, before running");
  addExplain(*explainApp, explain);
  explainApp->callback([&] { status = runExplain(explain); });
  auto *layoutApp =
      app.add_subcommand("layout", "draw the shards of each variable");
  addModelFlags(*layoutApp, layout.model, true);
  layoutApp->add_flag("--json", layout.json, "one JSON object");
  layoutApp->callback([&] { status = runLayout(layout); });

  bool devicesJson = false;
  auto *devicesApp = app.add_subcommand("devices", "what can be used");
  devicesApp->add_flag("--json", devicesJson, "one JSON object");
  devicesApp->callback([&] { status = runDevices(devicesJson); });

  ReshardFlags reshard;
  auto *reshardApp = app.add_subcommand(
      "reshard", "the cheapest way from one layout to another");
  addReshard(*reshardApp, reshard);
  reshardApp->callback([&] { status = runReshardCommand(reshard); });

  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  return status;
}
