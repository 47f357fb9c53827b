//===- CommandLine.cpp - the commands and flags of weft -------------------===//
//
// Flags are declared only here, in ModelFlags.cpp and in TrainingFlags.cpp;
// their meanings are in Commands.h.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/weft/CommandLine.h"
#include "weft/base/ClosestName.h"
#include "weft/runtime/abi/version.h"
#include "weft/runtime/abi/weft.h"
#include "weft/tools/weft/CommandFlags.h"
#include "weft/tools/weft/FitConfig.h"
#include "weft/tools/weft/FlagRules.h"
#include "weft/tools/weft/FlagValues.h"

#include <string_view>

using namespace weft;
using namespace weft::tool;

constexpr const char *kKerasModel = "model.keras, model.h5 or model.json";
constexpr const char *kAnyModel =
    "model.keras, model.h5 or model.json; or a program: prog.mlir (StableHLO, "
    "steps of "
    "python -m weft.trace among it, or Weft's text) or prog.mlirbc (a portable "
    "artifact)";
constexpr const char *kExplained =
    "model.keras, model.h5 or model.json; or a program: prog.mlir (StableHLO, "
    "steps of "
    "python -m weft.trace among it, or Weft's text), prog.mlirbc (a portable "
    "artifact) or step.weft (compiled)";

/// Adds --batch-size of `weft compile`: a step for each size.
static void addBatchSizes(CLI::App &app, ModelFlags &flags) {
  app.add_option_function<std::string>(
         "--batch-size",
         [&flags](const std::string &text) {
           auto sizes = readBatchSizes(text);
           if (!sizes)
             throw CLI::ValidationError("--batch-size", sizes.message());
           flags.batchSizes = *sizes;
           flags.batchSize = flags.batchSizes.front();
           flags.namesBatchSize = true;
         },
         "samples in a step (of a traced step: its own); several, as 1,8,32: "
         "steps of each size in one file")
      ->default_str("32");
}

static void addStep(CLI::App &app, ModelFlags &flags, const char *what,
                    const FlagCheck &check) {
  app.add_option_function<std::string>(
         "--step",
         [&flags](const std::string &step) {
           flags.step = step;
           flags.namesStep = true;
         },
         what)
      ->check(check)
      ->default_str("train");
}

static void addCompile(CLI::App &app, CompileFlags &flags) {
  addModel(app, flags.model, kAnyModel);
  addLayoutFlags(app, flags.model);
  addTargetFlags(app, flags.model);
  addOptimizerFlags(app, flags.model);
  addLossFlags(app, flags.model);
  addSeed(app, flags.model);
  addBatchSizes(app, flags.model);
  addStep(app, flags.model,
          "train, evaluate or predict; or all, in one file, as of a traced "
          "model without --step",
          isStepOrAll());
  addMicrobatchFlags(app, flags.model);
  addOverlap(app, flags.model);
  addBudgetFlags(app, flags.model);
  app.add_option("--emit", flags.emit,
                 "print the IR of a stage: imported, differentiated, sharded, "
                 "partitioned, scheduled, kernels, nests or plan; or layouts: "
                 "the layouts that are possible, with their prices; or "
                 "assembly: the kernels' code for --target");
  app.add_option(
      "--kernel", flags.kernels,
      "with --emit=assembly: only the kernel of this name; repeated");
  app.add_option("--from", flags.from,
                 "MODEL is a file of IR at this stage, as --emit printed it");
  app.add_option("-o,--out", flags.out, "file (- for stdout)");
  app.add_flag("--verify", flags.verify,
               "first compare all stages in the reference interpreter");
  app.footer("Examples:\n"
             "  weft compile model.keras --distribution dist.json "
             "--batch-size 128 -o step.weft\n"
             "  weft compile model.json --data-parallel --devices cpu:8 "
             "--emit sharded -o step.mlir\n"
             "  weft compile step.mlir --from sharded --emit partitioned\n"
             "  weft compile model.json --verify --seed 1\n"
             "  weft compile prog.mlir --emit sharded    (StableHLO, as JAX "
             "prints it, or Weft's own text)\n"
             "  weft compile model.json --data-parallel --devices cpu:8 "
             "--expect all_reduce=1 -o step.weft\n"
             "  weft compile step.mlir -o step.weft    (all steps of a traced "
             "model, for weft fit step.weft)\n"
             "  weft compile model.keras --step predict --batch-size 1,8,32 -o "
             "predict.weft");
}

static void addExplain(CLI::App &app, ExplainFlags &flags) {
  addModel(app, flags.model, kExplained);
  addLayoutFlags(app, flags.model);
  addCollectives(app, flags.model.collectives);
  addTargetFlags(app, flags.model);
  addOptimizerFlags(app, flags.model);
  addLossFlags(app, flags.model);
  addBatchSize(app, flags.model);
  addStep(app, flags.model, "train, evaluate or predict", isStep());
  addMicrobatchFlags(app, flags.model);
  addOverlap(app, flags.model);
  addBudgetFlags(app, flags.model);
  auto *json = app.add_flag("--json", flags.json, "one JSON object");
  auto *page =
      app.add_option("--html", flags.html,
                     "report.html: the same drawn, as a page on its own")
          ->check(namesPage());
  auto *all = app.add_flag("--all", flags.all,
                           "a row for each collective, and as many lines as "
                           "there are (default: 60, equal rows are one)")
                  ->excludes(json); // which has all
  auto *seconds =
      app.add_option("--fix-seconds", flags.model.fixSeconds,
                     "start no compilation for a fix after this time (default: "
                     "ten compilations, fewer of large programs)")
          ->check(isDuration());
  app.add_flag("--kernels", flags.kernels,
               "instead: the loop nests of each kernel, with their tiles, "
               "bytes and operations")
      ->excludes(page)
      ->excludes(all)
      ->excludes(seconds);
  app.add_option("--why", flags.why,
                 "instead: why this tensor is laid out as it is: d1/kernel, "
                 "d2/output, or a line of the script, train.py:12")
      ->excludes(page)
      ->excludes(all)
      ->excludes(seconds)
      ->excludes("--kernels");
  app.footer("Examples:\n"
             "  weft explain model.keras --distribution dist.json "
             "--batch-size 128\n"
             "  weft explain model.json --data-parallel --devices cpu:8 "
             "--step predict --json\n"
             "  weft explain prog.mlir --html report.html    (layouts, step "
             "and memory drawn)\n"
             "  weft explain model.keras --kernels --target cpu:avx2    (loop "
             "nests, tiles)\n"
             "  weft explain model.keras --distribution dist.json --why "
             "d2/output    (rules and prices behind a layout)\n"
             "  weft explain step.weft    (ports, bytes sent, memory)");
}

static void addLayout(CLI::App &app, ExplainFlags &flags) {
  addModel(app, flags.model, kAnyModel);
  addLayoutFlags(app, flags.model);
  addTiming(app, flags.model);
  addLossFlags(app, flags.model);
  addBatchSize(app, flags.model);
  addStep(app, flags.model,
          "of a program: train, evaluate or predict (default: its first)",
          isStep());
  app.add_option("--only", flags.only,
                 "draw this variable, input or output: d1/kernel; repeated");
  app.add_flag("--json", flags.json, "one JSON object");
  app.footer("Examples:\n"
             "  weft layout model.keras --distribution dist.json "
             "--batch-size 16\n"
             "  weft layout model.json --data-parallel --devices cpu:8 --json\n"
             "  weft layout step.mlir --distribution dist.json    (steps that "
             "Keras traced)");
}

static void addSummary(CLI::App &app, SummaryFlags &flags) {
  addModel(app, flags.model, kKerasModel);
  app.add_option("--optimizer", flags.model.optimizer,
                 "a Keras name or JSON, whose variables are counted");
  app.add_flag("--expand-nested", flags.expandNested,
               "layers of models inside, too");
  app.add_flag("--show-trainable", flags.showTrainable,
               "which layers are trained");
  app.add_option("--line-length", flags.lineLength,
                 "columns (default: of the terminal)")
      ->check(atLeast(40, "leave it out for the width of the terminal"));
  app.footer("Example:\n"
             "  weft summary model.keras --expand-nested --show-trainable");
}

static void addReshard(CLI::App &app, ReshardFlags &flags) {
  app.add_option("--mesh", flags.mesh, "names and sizes of axes: x=4,y=2")
      ->required();
  app.add_option("--shape", flags.shape, "of the tensor: 16x16x16")->required();
  app.add_option("--from", flags.from, "layout it has: [y,-,x]")->required();
  app.add_option("--to", flags.to, "layout it shall have: [-,(x,y),-]")
      ->required();
  app.add_option("--dtype", flags.dtype, "element type")->capture_default_str();
  app.add_flag("--no-exchange", flags.noExchange, "standard collectives only");
  app.add_flag("--json", flags.json, "one JSON object");
  app.footer("A dimension is - (replicated), an axis, (x,y) for several, or "
             "x:(2)4 for a part of one.\n"
             "Examples:\n"
             "  weft reshard --mesh x=4,y=2 --shape 16x16x16 --from '[y,-,x]' "
             "--to '[-,(x,y),-]'\n"
             "  weft reshard --mesh x=8 --shape 1024 --from '[x]' --to '[-]' "
             "--dtype bf16 --json");
}

static void addRun(CLI::App &app, RunFlags &flags) {
  app.add_option(
         "program", flags.program,
         "a file of `weft compile`, or a program in StableHLO or Weft's "
         "text (.mlir)")
      ->required();
  app.add_option("--inputs", flags.inputs,
                 "in.npz: a global array for each input, by its name");
  app.add_option("--outputs", flags.outputs, "out.npz: the results");
  addDevices(app, flags.devices, "as many as the program's mesh has");
  addGraphs(app, flags.graphs);
  addShare(app, flags.share);
  addCollectives(app, flags.collectives);
  app.add_option("--repeat", flags.repeat,
                 "run N times; donated state goes from run to run")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
      ->type_name("N");
  app.add_option("--step", flags.step,
                 "train, evaluate or predict, of a file that has several")
      ->check(isStep());
  app.add_flag("--list", flags.list,
               "print names, shapes, types and layouts of inputs and outputs");
  app.add_option("--stats", flags.stats, "times, memory and bytes as JSON");
  app.footer("Examples:\n"
             "  weft run step.weft --list\n"
             "  weft run step.weft --inputs in.npz --outputs out.npz\n"
             "  weft run prog.mlir --inputs in.npz --outputs out.npz "
             "--devices cpu:8");
}

static void addProfile(CLI::App &app, ProfileFlags &flags) {
  flags.run.repeat = 5;
  app.add_option(
         "program", flags.run.program,
         "a file of `weft compile`, or a program in StableHLO or Weft's "
         "text (.mlir)")
      ->required();
  app.add_option("--inputs", flags.run.inputs,
                 "in.npz: a global array for each input, by its name; without "
                 "it floats are random, other numbers 0");
  addDevices(app, flags.run.devices, "as many as the program's mesh has");
  addGraphs(app, flags.run.graphs);
  addShare(app, flags.run.share);
  addCollectives(app, flags.run.collectives);
  app.add_option("--repeat", flags.run.repeat,
                 "measure N runs, behind one that is not")
      ->check(CLI::Range(int64_t(1), int64_t(1) << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_option("--step", flags.run.step,
                 "train, evaluate or predict, of a file that has several")
      ->check(isStep());
  app.add_option("--top", flags.top, "rows of the table; 0 for all")
      ->check(CLI::Range(int64_t(0), int64_t(1) << 40))
      ->type_name("N")
      ->capture_default_str();
  app.add_flag("--json", flags.json, "one JSON object instead of the table");
  app.add_option("--trace", flags.trace,
                 "a file of Chrome's trace events, which Perfetto opens: the "
                 "last run, a track for each device");
  app.add_option("--peak-bandwidth", flags.peakBandwidth,
                 "GB/s that a device's memory gives; without it a copy on "
                 "device 0 is measured")
      ->check(CLI::Range(1e-3, 1e9))
      ->type_name("GB/s");
  app.add_option("--peak-operations", flags.peakOperations,
                 "1e9 operations a second that a device does at most, a "
                 "multiply-add is one")
      ->check(CLI::Range(1e-3, 1e9))
      ->type_name("Gop/s");
  app.add_option("--seed", flags.seed, "of random inputs")->type_name("N");
  app.footer("Examples:\n"
             "  weft profile step.weft --devices cpu:8\n"
             "  weft profile prog.mlir --devices cuda:1 --trace trace.json\n"
             "  weft profile step.weft --inputs in.npz --json "
             "--peak-bandwidth 3350 --peak-operations 33500");
}

/// Checks the flags of a run, which needs arrays and a file for its results; a
/// listing needs neither.
static void checkRun(const RunFlags &flags) {
  if (flags.inputs.empty() != flags.outputs.empty() ||
      (!flags.list && flags.inputs.empty()))
    throw CLI::ValidationError(
        "run", "give both --inputs in.npz and --outputs out.npz, or --list");
}

void CommandLine::addPrograms() {
  CLI::App *runApp =
      app.add_subcommand("run", "a program file on named arrays");
  addRun(*runApp, run);
  runApp->callback([this, runApp] {
    checkFlagRules(*runApp);
    checkRun(run);
    status = runProgram(run);
  });
  CLI::App *profileApp = app.add_subcommand(
      "profile", "the time of each kernel and collective of a program");
  addProfile(*profileApp, profile);
  profileApp->callback([this, profileApp] {
    checkFlagRules(*profileApp);
    status = runProfile(profile);
  });
}

static std::string versionText() {
  return "weft " WEFT_VERSION " (MLIR " WEFT_MLIR_VERSION ", program ABI " +
         std::to_string(WEFT_ABI_VERSION) + ")";
}

CommandLine::CommandLine() {
  using Commands = CompilerCommands;
  app.require_subcommand(1);
  app.set_version_flag("--version", versionText());
  app.footer("Examples:\n"
             "  weft layout model.keras --distribution dist.json\n"
             "  weft explain model.keras --distribution dist.json\n"
             "  weft fit model.keras --data mnist.npz --divide-by 255 "
             "--data-parallel --devices cpu:8\n"
             "weft COMMAND --help has more of each.");
  app.option_defaults()->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
  app.failure_message([](const CLI::App *, const CLI::Error &error) {
    return std::string("weft: error: ") + error.what() +
           "; see weft --help or weft COMMAND --help\n";
  });
  addFit(addTraining("fit", "train a model", fit, &Commands::fit,
                     &StepCommands::fit),
         fit);
  addEvaluate(addTraining("evaluate", "loss and metrics", evaluate,
                          &Commands::evaluate, &StepCommands::evaluate),
              evaluate, false);
  addEvaluate(addTraining("predict", "outputs as .npy", predict,
                          &Commands::predict, &StepCommands::predict),
              predict, true);
  addCompile(add("compile", "a program file, or the IR of a stage", compile,
                 &Commands::compile),
             compile);
  addPrograms();
  CLI::App &explainApp =
      add("explain", "communication, its reasons and memory, before running",
          explain, &Commands::explain);
  addExplain(explainApp, explain);
  explainApp.callback([this, &explainApp] {
    checkFlagRules(explainApp);
    status = explain.model.model.ends_with(".weft")
                 ? runExplainProgram(explain)
                 : runLoaded(loadCompiler(), &Commands::explain, explain);
  });
  addLayout(add("layout", "draw the shards of batch, variables and outputs",
                layout, &Commands::layout),
            layout);
  addSummary(add("summary", "layers, shapes and weights, as model.summary()",
                 summary, &Commands::summary),
             summary);
  CLI::App &devicesApp =
      add("devices", "list available devices, and why others are unavailable",
          devices, &Commands::devices);
  devicesApp.add_flag("--json", devices.json, "one JSON object");
  devicesApp.footer("Example:\n  weft devices --json");
  addReshard(add("reshard", "the cheapest way from one layout to another",
                 reshard, &Commands::reshard),
             reshard);
  for (CLI::App *command : app.get_subcommands({}))
    refuseEmptyValues(*command);
}

void CommandLine::checkCommand(const std::string &word) const {
  if (word.starts_with("-"))
    return;
  std::vector<std::string> known;
  for (const CLI::App *command : app.get_subcommands({})) {
    if (command->get_name() == word)
      return;
    known.push_back(command->get_name());
  }
  std::string commands = "commands are " + listOf(known);
  if (word.empty())
    throw CLI::ValidationError("a command is missing", commands);
  throw CLI::ValidationError(
      word + ": no such command",
      suggestion(word, {known.begin(), known.end()}, commands));
}

void CommandLine::checkFlags() const {
  for (const CLI::App *command : app.get_subcommands())
    for (const std::string &word : command->remaining()) {
      std::set<std::string> known;
      for (const CLI::Option *option : command->get_options())
        for (const std::string &name : option->get_lnames())
          known.insert("--" + name);
      std::string flag = word.substr(0, word.find('='));
      std::string meant =
          flag.starts_with("-") ? closestName(flag, known) : std::string();
      if (!meant.empty())
        throw CLI::ValidationError(
            flag, "weft " + command->get_name() +
                      " has no such flag; did you mean " + meant + "?");
    }
}

void CommandLine::parse(int argc, char **argv) {
  checkCommand(argc > 1 ? argv[1] : "");
  std::vector<std::string> words(argv + 1, argv + std::max(argc, 1));
  if (!words.empty() && words[0] == "fit") {
    auto all = withConfig(*app.get_subcommand("fit"), words);
    if (!all) {
      status = fail(all.error());
      return;
    }
    words = std::move(*all);
  }
  std::reverse(words.begin(), words.end()); // CLI11 takes words in reverse
  try {
    app.parse(std::move(words));
  } catch (const CLI::ExtrasError &) {
    checkFlags();
    throw;
  }
}
