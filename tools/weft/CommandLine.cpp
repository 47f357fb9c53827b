//===- CommandLine.cpp - the commands and flags of weft -------------------===//
//
// Flags are declared only here and in TrainingFlags.cpp; their meanings are in
// Commands.h.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/weft/CommandLine.h"
#include "weft/runtime/abi/ClosestName.h"
#include "weft/runtime/abi/version.h"
#include "weft/runtime/abi/weft.h"
#include "weft/tools/weft/CommandFlags.h"
#include "weft/tools/weft/FitConfig.h"
#include "weft/tools/weft/FlagValues.h"
#include "weft/tools/weft/programs/Gpus.h"

#include <string_view>

using namespace weft;
using namespace weft::tool;

constexpr const char *kKerasModel = "model.json or model.keras";
constexpr const char *kAnyModel =
    "model.json or model.keras; or a program: prog.mlir (StableHLO, steps of "
    "python -m weft.trace among it, or Weft's text) or prog.mlirbc (a portable "
    "artifact)";
constexpr const char *kExplained =
    "model.json or model.keras; or a program: prog.mlir (StableHLO, steps of "
    "python -m weft.trace among it, or Weft's text), prog.mlirbc (a portable "
    "artifact) or step.weft (compiled)";

static void addDevices(CLI::App &app, std::optional<DeviceList> &devices,
                       const std::string &usual) {
  app.add_option_function<std::string>(
      "--devices",
      [&devices](const std::string &text) {
        std::string why;
        devices = readDevices(text, why);
        if (!devices)
          throw CLI::ValidationError("--devices", why);
      },
      "cpu:N; cuda:N, or cuda for all GPUs (default: " + usual + ")");
}

void weft::tool::addBatchSize(CLI::App &app, ModelFlags &flags) {
  app.add_option_function<int64_t>(
         "--batch-size",
         [&flags](int64_t size) {
           flags.batchSize = size;
           flags.namesBatchSize = true;
         },
         "samples in a step (of a traced or compiled step: its own)")
      ->check(atLeast(1, "give the samples of a step"))
      ->default_str("32");
}

/// Adds --batch-size of `weft compile`: a step for each size.
static void addBatchSizes(CLI::App &app, ModelFlags &flags) {
  app.add_option_function<std::string>(
         "--batch-size",
         [&flags](const std::string &text) {
           std::string wrong = readBatchSizes(text, flags.batchSizes);
           if (!wrong.empty())
             throw CLI::ValidationError("--batch-size", wrong);
           flags.batchSize = flags.batchSizes.front();
           flags.namesBatchSize = true;
         },
         "samples in a step (of a traced step: its own); several, as 1,8,32: "
         "steps of each size in one file")
      ->default_str("32");
}

void weft::tool::addModelFlags(CLI::App &app, ModelFlags &flags,
                               const char *accepted) {
  app.add_option("model", flags.model, accepted)->required();
  app.add_option("--distribution", flags.distribution,
                 "DataParallel or ModelParallel as a JSON file");
  app.add_flag("--data-parallel", flags.dataParallel,
               "split batches over all of --devices");
  addDevices(app, flags.devices,
             "as many as the mesh has, else " + DeviceList{}.text());
  app.add_option("--shape", flags.shapes,
                 "NAME=16x128 fixes unknown dimensions of an input; repeated");
  app.add_option(
         "--target", flags.target,
         "native, cpu, cpu:host, cpu:avx512, cpu:avx2, cpu:generic, cpu:neon; "
         "cuda:native, cuda:sm_80, cuda:sm_90a and cuda:sm_100a for GPUs, "
         "where every kernel has code "
         "(docs/gpu.md); "
         "WEFT_TARGET sets the default")
      ->capture_default_str();
  app.add_option("--matmul-precision", flags.matmulPrecision,
                 "f32 (the default), or tf32: GPUs may round the operands of "
                 "contractions of f32 to ten bits of mantissa, as JAX does "
                 "there, and multiply on tensor cores")
      ->check(isMatmulPrecision());
  app.add_flag("--timing", flags.timing, "print the time of each pass");
  app.add_option("--optimizer", flags.optimizer, "a Keras name or JSON");
  app.add_option("--learning-rate", flags.learningRate, "of the optimizer")
      ->check(isRate());
  app.add_option("--loss", flags.loss, "a Keras name or JSON");
  app.add_option("--metrics", flags.metrics,
                 "Keras names or JSON objects, comma-separated");
  app.add_option("--seed", flags.seed,
                 "as keras.utils.set_random_seed (default: drawn, printed)");
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

void weft::tool::addBudgetFlags(CLI::App &app, ModelFlags &flags) {
  app.add_option("--memory", flags.memory,
                 "memory per device (64MiB): where the step does not fit, "
                 "gathered weights are released and gathered again for the "
                 "backward pass; if it still does not fit, compilation fails");
  app.add_option("--expect", flags.expect,
                 "a budget of the step that must hold: \"all_reduce<=2, "
                 "bytes<=4e6, memory<=64MiB\"; repeated");
}

static void addCompile(CLI::App &app, CompileFlags &flags) {
  addModelFlags(app, flags.model, kAnyModel);
  addBatchSizes(app, flags.model);
  addStep(app, flags.model,
          "train, evaluate or predict; or all, in one file, as of a traced "
          "model without --step",
          isStepOrAll());
  addBudgetFlags(app, flags.model);
  app.add_option("--emit", flags.emit,
                 "print the IR of a stage: imported, differentiated, sharded, "
                 "partitioned, scheduled, kernels, nests or plan; or assembly: "
                 "the kernels' code for --target");
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
  addModelFlags(app, flags.model, kExplained);
  addBatchSize(app, flags.model);
  addStep(app, flags.model, "train, evaluate or predict", isStep());
  addBudgetFlags(app, flags.model);
  app.add_flag("--json", flags.json, "one JSON object");
  auto *page =
      app.add_option("--html", flags.html,
                     "report.html: the same drawn, as a page on its own")
          ->check(namesPage());
  app.add_flag("--kernels", flags.kernels,
               "instead: the loop nests of each kernel, with their tiles, "
               "bytes and operations")
      ->excludes(page);
  app.add_option("--why", flags.why,
                 "instead: why this tensor is laid out as it is: d1/kernel, "
                 "d2/output, or a line of the script, train.py:12")
      ->excludes(page)
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
  addModelFlags(app, flags.model, kAnyModel);
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
  addModelFlags(app, flags.model, kKerasModel);
  addBatchSize(app, flags.model);
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
  runApp->callback([this] {
    checkRun(run);
    status = runProgram(run);
  });
  CLI::App *profileApp = app.add_subcommand(
      "profile", "the time of each kernel and collective of a program");
  addProfile(*profileApp, profile);
  profileApp->callback([this] { status = runProfile(profile); });
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
  explainApp.callback([this] {
    bool isCompiled = explain.model.model.ends_with(".weft");
    const CompilerCommands *commands = isCompiled ? nullptr : loadCompiler();
    status = isCompiled ? runExplainProgram(explain)
             : commands ? commands->explain(explain)
                        : 1;
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
}

void CommandLine::checkCommand(const std::string &word) const {
  if (word.starts_with("-"))
    return;
  std::string known;
  for (const CLI::App *command : app.get_subcommands({})) {
    if (command->get_name() == word)
      return;
    known += (known.empty() ? "" : ", ") + command->get_name();
  }
  throw CLI::ValidationError(word.empty() ? "a command is missing"
                                          : word + ": no such command",
                             "commands are " + known);
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
      status = fail(all.message());
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
