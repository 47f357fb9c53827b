//===- TrainingFlags.cpp - flags of weft fit, evaluate and predict --------===//

#include "weft/tools/weft/CommandFlags.h"
#include "weft/tools/weft/FitValues.h"
#include "weft/tools/weft/FlagValues.h"

using namespace weft;
using namespace weft::tool;

constexpr const char *kTrained =
    "model.keras, model.h5 or model.json; step.mlir, which python -m "
    "weft.trace writes "
    "of "
    "any Keras model; or step.weft, which weft compile makes of either";
constexpr const char *kWeights =
    "f.keras, f.h5, f.weights.h5, f.weights.json, f.safetensors or f.npz";
/// Adds an option with one value for each occurrence, as the next word may be
/// the model.
static void addRepeated(CLI::App &app, const char *name,
                        std::vector<std::string> &values, const char *what) {
  app.add_option(name, values, what)->allow_extra_args(false);
}

/// Adds an option whose text `read` parses.
template <typename T, typename Value>
static void addValue(CLI::App &app, const char *name, const char *what,
                     T &value, Result<Value> (*read)(const std::string &)) {
  app.add_option_function<std::string>(
      name,
      [name, &value, read](const std::string &text) {
        Result<Value> parsed = read(text);
        if (!parsed)
          throw CLI::ValidationError(name, parsed.message());
        value = std::move(*parsed);
      },
      what);
}

/// Adds the flags for reading data files.
static void addSourceFlags(CLI::App &app, SourceOptions &source) {
  addRepeated(app, "--inputs", source.inputs,
              "[NAME=]a,b: columns of a .csv file that are x; repeated");
  addRepeated(app, "--missing", source.missing,
              "[COLUMN=]VALUE: what an empty field of a .csv file means; "
              "repeated (default: an error)");
  addValue(app, "--data-memory",
           "arrays of up to so many bytes are read whole, of larger ones a "
           "batch at a time (default: 256MiB)",
           source.inMemory, readBytes);
  addValue(app, "--interpolation",
           "of images: bilinear, nearest, bicubic, lanczos3, lanczos5 "
           "(default: bilinear)",
           source.images.interpolation, readInterpolation);
  app.add_flag("--crop-to-aspect-ratio", source.images.cropToAspectRatio,
               "resize the middle of images, without distortion");
  addValue(app, "--class-names", "a,b,c: folders of images, in this order",
           source.images.classNames, readNames);
  app.add_option("--image-seed", source.images.seed,
                 "shuffle the list of images once, before --validation-split, "
                 "as seed of image_dataset_from_directory");
}

/// Adds the flags of inputs, which every command with a model takes.
static void addInputFlags(CLI::App &app, DataFlags &flags) {
  app.add_option("--data", flags.data,
                 "f.npz or f.h5 with x, y or x_train, y_train; t.csv with "
                 "--inputs and --targets; or a folder with a folder of images "
                 "for each class (docs/fit.md)");
  addRepeated(app, "--x", flags.x,
              "[NAME=]f.npz:key[0:1280], f.npy[0:1280] or f.h5:key; repeated");
  app.add_option("--divide-by", flags.divideBy, "divide inputs in float32")
      ->check(isDivisor());
  app.add_flag("--add-channel", flags.addChannel,
               "append a dimension of 1 to inputs");
  addSourceFlags(app, flags.source);
}

/// Adds the flags of labels and weights, which predict has no use for.
static void addLabelFlags(CLI::App &app, DataFlags &flags) {
  addRepeated(app, "--y", flags.y, "[NAME=]f.npz:key or f.npy; repeated");
  addRepeated(app, "--sample-weight", flags.sampleWeight,
              "[NAME=]f.npz:key or f.npy; repeated");
  addRepeated(app, "--targets", flags.source.targets,
              "[NAME=]c: columns of a .csv file that are y; repeated");
}

static void addValidationFlags(CLI::App &app, FitFlags &flags) {
  DataFlags &data = flags.data;
  app.add_option("--validation-data", data.validationData,
                 "f.npz with x, y or x_val, y_val or x_test, y_test");
  addRepeated(app, "--validation-x", data.validationX, "as --x; repeated");
  addRepeated(app, "--validation-y", data.validationY, "as --y; repeated");
  addRepeated(app, "--validation-sample-weight", data.validationWeight,
              "as --sample-weight; repeated");
  app.add_option("--validation-split", data.validationSplit,
                 "last part of the data, as Keras")
      ->check(isFraction());
  app.add_option("--validation-batch-size", data.validationBatchSize,
                 "samples in a validation step (default: --batch-size)")
      ->check(atLeast(1, "give the samples of a step"));
  app.add_option("--validation-steps", flags.validationSteps,
                 "batches of a validation (default: all)")
      ->check(atLeast(1, "leave it out for all of the data"));
  addValue(app, "--validation-freq",
           "2: each second epoch; 1,3,10: these, from 1 (default: 1)",
           flags.validationEpochs, readValidationEpochs);
}

static void addCallbackFlags(CLI::App &app, FitFlags &flags) {
  app.add_option("--config",
                 "fit.json: arguments of Keras' fit and other flags as keys, "
                 "epochs, batch_size, callbacks (docs/fit.md)");
  addRepeated(app, "--callback", flags.callbacks,
              "as in a Keras script: \"EarlyStopping(patience=3)\", or JSON; "
              "repeated (docs/fit.md)");
  auto *backup = app.add_option(
      "--backup", flags.backup,
      "folder of BackupAndRestore: the same command goes on from it");
  app.add_option("--save-every", flags.saveEvery,
                 "steps between backups (default: an epoch)")
      ->check(atLeast(1, "leave it out for each epoch"))
      ->needs(backup);
}

static void addFitFiles(CLI::App &app, FitFlags &flags) {
  app.add_option("--weights", flags.weights, kWeights);
  app.add_option("--save", flags.save, "f.keras, for Keras to load")
      ->check(namesModel());
  app.add_option(
      "--save-weights", flags.saveWeights,
      "f.npz or f.safetensors: every variable by its path; "
      "f.weights.h5 or f.weights.json (in shards), for Keras to load");
  addValue(app, "--max-shard-size",
           "of the weights in a shard of f.weights.json (default: 5GiB)",
           flags.maxShardSize, readBytes);
  app.add_option("--history", flags.history, "out.json");
  app.add_flag("--history-steps", flags.historySteps,
               "one value for each batch in --history");
  app.add_option("--stats", flags.stats, "times, memory and bytes as JSON");
}

static void addFitReports(CLI::App &app, FitFlags &flags) {
  app.add_flag("--verify", flags.verify,
               "first compare all stages in the reference interpreter");
  app.add_flag("--check-numerics", flags.checkNumerics,
               "stop at the first NaN or infinity and name the op and layer "
               "that made it (slow)");
  app.add_flag("--json", flags.json, "one JSON object on standard output");
  app.add_option("--verbose", flags.verbose, "0, 1 (bar) or 2 (lines)")
      ->check(isVerbosity())
      ->capture_default_str();
  app.add_flag("--bar", flags.bar,
               "draw the bar of --verbose 1 in a pipe, too, as Keras does");
}

/// Adds the flags of the model that is trained.
static void addTrained(CLI::App &app, ModelFlags &flags) {
  addModel(app, flags, kTrained);
  addLayoutFlags(app, flags);
  addCollectives(app, flags.collectives);
  addTargetFlags(app, flags);
  addGraphs(app, flags.graphs);
  addShare(app, flags.share);
  addOptimizerFlags(app, flags);
  addLossFlags(app, flags);
  addSeed(app, flags);
  addBatchSize(app, flags);
  addMicrobatchFlags(app, flags);
  addOverlap(app, flags);
  addBudgetFlags(app, flags);
}

void weft::tool::addFit(CLI::App &app, FitFlags &flags) {
  addTrained(app, flags.model);
  addInputFlags(app, flags.data);
  addLabelFlags(app, flags.data);
  addValidationFlags(app, flags);
  app.add_option("--epochs", flags.epochs, "passes over the data")
      ->check(atLeast(0, "0 trains nothing"))
      ->capture_default_str();
  app.add_option("--initial-epoch", flags.initialEpoch,
                 "number of the first epoch, from 0")
      ->check(atLeast(0, "0 is the first"));
  app.add_option("--steps-per-epoch", flags.stepsPerEpoch, "batches an epoch")
      ->check(atLeast(1, "leave it out for all of the data"));
  app.add_option("--max-steps", flags.maxSteps, "stop after N steps altogether")
      ->check(atLeast(0, "0 trains nothing"));
  addValue(app, "--shuffle",
           "true; false; batch, which keeps batches together (default: true)",
           flags.shuffle, readShuffle);
  app.add_flag_callback(
      "--no-shuffle", [&flags] { flags.shuffle = Shuffle::None; },
      "keep the order of the data");
  addValue(app, "--class-weight",
           "0:1.0,1:2.5, or {\"0\": 1.0, \"1\": 2.5}: the weight of samples "
           "of a class",
           flags.data.classWeight, readClassWeight);
  app.add_flag("--drop-remainder", flags.dropRemainder,
               "leave out a short last batch");
  app.add_flag("--init-only", flags.initOnly, "stop after initialising");
  addCallbackFlags(app, flags);
  addFitFiles(app, flags);
  addFitReports(app, flags);
  app.footer("Examples:\n"
             "  weft fit model.keras --data mnist.npz --divide-by 255 "
             "--data-parallel --devices cpu:8 \\\n"
             "    --epochs 3 --batch-size 128 --save trained.keras\n"
             "  weft fit model.json --distribution dist.json --x f.npz:x "
             "--y f.npz:y \\\n"
             "    --optimizer adam --loss mse --history h.json "
             "--stats s.json\n"
             "  weft fit step.mlir --weights model.keras --data mnist.npz "
             "--save trained.keras    (traced)\n"
             "  weft fit step.weft --weights model.keras --data mnist.npz "
             "--save trained.keras    (compiled)\n"
             "  weft fit model.keras --data mnist.npz --validation-split 0.1 "
             "--epochs 50 \\\n"
             "    --callback 'EarlyStopping(patience=3)' --backup state    "
             "(goes on after a kill)\n"
             "  weft fit --config fit.json --epochs 3    (arguments of a "
             "file; those given here win)\n"
             "  weft fit model.keras --data houses.csv --inputs rooms,area "
             "--targets price\n"
             "  weft fit model.keras --data flowers/ --divide-by 255 "
             "--image-seed 1 --validation-split 0.2    (images by class)");
}

void weft::tool::addEvaluate(CLI::App &app, EvaluateFlags &flags,
                             bool predict) {
  addModel(app, flags.model, kTrained);
  addLayoutFlags(app, flags.model);
  addCollectives(app, flags.model.collectives);
  addTargetFlags(app, flags.model);
  addGraphs(app, flags.model.graphs);
  addShare(app, flags.model.share);
  addOverlap(app, flags.model);
  addSeed(app, flags.model);
  addBatchSize(app, flags.model);
  addInputFlags(app, flags.data);
  if (!predict) {
    addLossFlags(app, flags.model);
    addLabelFlags(app, flags.data);
  }
  app.add_option("--weights", flags.weights, kWeights);
  app.add_flag("--json", flags.json, "one JSON object on standard output");
  app.add_option("--verbose", flags.verbose, "0, 1 (bar) or 2 (lines)")
      ->check(isVerbosity());
  if (predict)
    app.add_option("--out", flags.out,
                   "p.npy; or p.npz, with each output by its name: y, y/NAME")
        ->required();
  app.footer(predict ? "Example:\n  weft predict trained.keras --x "
                       "mnist.npz:x_test --divide-by 255 --out p.npy"
                     : "Example:\n  weft evaluate trained.keras --data "
                       "mnist.npz --divide-by 255 --json");
}
