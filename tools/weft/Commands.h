//===- Commands.h - commands and their flags ------------------------------===//
//
// main.cpp fills these values and calls one function; a command returns the
// exit status: 0, 1 for an error it has printed, 2 for a wrong command line, 70
// for an internal failure. The commands of CompilerCommands are in
// libWeftCommands.so, which main loads for one of them: `weft run step.weft`
// never maps the compiler.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMMANDS_H
#define WEFT_TOOLS_WEFT_COMMANDS_H

#include "weft/base/DeviceList.h"
#include "weft/base/Result.h"
#include "weft/data/sources/ArrayFile.h"
#include "weft/runtime/abi/processes.h"
#include "weft/tools/weft/DefaultTarget.h"
#include "weft/training/EpochOrder.h"
#include "weft/training/ValidationEpochs.h"

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace weft::tool {

using TimePoint = std::chrono::steady_clock::time_point;

/// The flags that name a model, its layouts and its devices.
struct ModelFlags {
  std::string model;        ///< model.json, model.keras or a program
  std::string distribution; ///< a file; empty: none
  bool dataParallel = false;
  std::optional<DeviceList> devices; ///< none: as many as the mesh has
  std::string collectives;           ///< nccl, peer or exact; empty: the usual
  int64_t batchSize = 32;
  bool namesBatchSize = false;     ///< --batch-size was given
  std::vector<int64_t> batchSizes; ///< several sizes for `weft compile`
  std::string step = "train";      ///< `weft compile` also takes all
  bool namesStep = false;          ///< --step was given
  std::optional<std::string> optimizer, loss, metrics;
  std::optional<double> learningRate;
  std::optional<uint64_t> seed;
  /// The values of --shape: [NAME=]16x128.
  std::vector<std::string> shapes;
  /// The shapes of samples by the name of an input, or ""; unset without data.
  std::function<std::map<std::string, std::vector<int64_t>>()> shapesOfData;
  std::vector<std::string> expect; ///< budgets of the step (Budget.h)
  int64_t microbatches = 1;
  bool allowMicrobatchStatistics = false;
  std::string overlap; ///< auto, on or off; empty: the module's, or auto
  std::string rings;   ///< likewise
  std::string memory;  ///< memory of a device, 64MiB; empty: no limit
  std::string target = defaultTarget();
  std::string matmulPrecision; ///< f32 or tf32; empty: f32
  /// The sizes that an input's unknown sizes may count as, in the order in which
  /// they are tried: of commands that run nothing.
  std::vector<int64_t> openSizes;
  bool graphs = true;               ///< for commands that run; see RunFlags
  bool share = true;                ///< for commands that run; see RunFlags
  bool namesTarget = false;         ///< --target was given
  std::optional<double> fixSeconds; ///< for trying changes; none: no limit
  bool timing = false;

  /// The first given flag that needs a model's sources: it chooses layouts,
  /// shapes or training. Null without one.
  const char *ofSources() const {
    return !distribution.empty() ? "--distribution"
           : dataParallel        ? "--data-parallel"
           : devices             ? "--devices"
           : !shapes.empty()     ? "--shape"
           : optimizer           ? "--optimizer"
           : loss                ? "--loss"
           : metrics             ? "--metrics"
           : learningRate        ? "--learning-rate"
                                 : nullptr;
  }
};

struct DataFlags {
  std::string data, validationData;
  std::vector<std::string> x, y, sampleWeight;
  std::vector<std::string> validationX, validationY, validationWeight;
  std::map<int64_t, double> classWeight;
  std::optional<double> divideBy;
  bool addChannel = false;
  double validationSplit = 0;
  std::optional<int64_t> validationBatchSize; ///< none: the training batch size
  SourceOptions source; ///< options for reading: columns, images, memory

  /// Whether flags name validation samples that are not part of the training
  /// samples.
  bool namesValidation() const {
    return !validationData.empty() || !validationX.empty() ||
           !validationY.empty() || !validationWeight.empty();
  }
};

struct FitFlags {
  ModelFlags model;
  DataFlags data;
  int64_t epochs = 1, initialEpoch = 0;
  std::optional<int64_t> stepsPerEpoch, maxSteps, validationSteps;
  ValidationEpochs validationEpochs;
  Shuffle shuffle = Shuffle::All;
  bool dropRemainder = false, initOnly = false;
  bool historySteps = false, json = false, verify = false;
  bool checkNumerics = false;
  bool bar = false; ///< whether the bar is drawn into a pipe, too
  int verbose = 1;
  std::string weights, save, saveWeights, history, stats;
  /// The most bytes of weights in each file that a .weights.json names.
  uint64_t maxShardSize = uint64_t(5) << 30;
  std::vector<std::string> callbacks; ///< each as in a Keras script, or as JSON
  std::string backup;                 ///< a folder; empty: none
  std::optional<int64_t> saveEvery;   ///< steps between backups; none: epochs
  /// The processes that train together; null: only this process.
  weft_processes *processes = nullptr;
};

struct EvaluateFlags {
  ModelFlags model;
  DataFlags data;
  bool json = false;
  int verbose = 1;
  std::string weights, out; ///< out: predictions, .npy or .npz
  weft_processes *processes = nullptr;
};

struct CompileFlags {
  ModelFlags model;
  std::string emit, out, from;
  std::vector<std::string> kernels; ///< kernels for --emit=assembly; empty: all
  bool verify = false;
};

struct ExplainFlags {
  ModelFlags model;
  bool json = false;
  bool kernels = false; ///< explain the loop nests of each kernel instead
  std::string why;      ///< a tensor whose layout is explained instead
  std::string html;     ///< a page; empty: none
  bool all = false;     ///< a row for each collective, and all lines
  std::vector<std::string> only; ///< tensors to draw; empty: all
};

struct SummaryFlags {
  ModelFlags model;
  bool expandNested = false, showTrainable = false;
  std::optional<int64_t> lineLength; ///< none: the terminal's width
};

struct ReshardFlags {
  std::string mesh, shape, from, to, dtype = "f32";
  bool json = false, noExchange = false;
};

struct DevicesFlags {
  bool json = false;
};

/// The flags of a program and its arrays, without a model. The compiler is
/// loaded for a program that is not compiled only.
struct RunFlags {
  std::string program;               ///< .weft; .mlir or .mlirbc
  std::string inputs, outputs;       ///< .npz; arrays are named after ports
  std::optional<DeviceList> devices; ///< none: as many as the mesh has
  std::string collectives;           ///< nccl, peer or exact; empty: the usual
  std::string stats;
  /// The step of a file of several; empty: a traced model's first, a .weft
  /// file's only one.
  std::string step;
  int64_t repeat = 1; ///< runs; donated inputs carry on from run to run
  bool list = false;  ///< print the ports
  bool graphs = true; ///< whether GPUs may launch instructions together
  bool share = true;  ///< whether devices of a process share memory
  weft_processes *processes = nullptr;
};

/// The flags of `weft profile`: times of each instruction; see RunFlags.
struct ProfileFlags {
  RunFlags run;      ///< has no outputs; random inputs if none are named
  bool json = false; ///< instead of the table
  std::string trace; ///< a file of Chrome's trace events; empty: none
  int64_t top = 20;  ///< rows of the table; 0: all
  int64_t seed = 0;  ///< seed of random inputs
  /// The peaks of a device: GB/s, 0 to measure it; 1e9 operations a second, 0
  /// if not stated.
  double peakBandwidth = 0, peakOperations = 0;
};

/// The functions that libWeftCommands.so exports as `weftCompilerCommands`.
struct CompilerCommands {
  int (*fit)(const FitFlags &);
  int (*evaluate)(const EvaluateFlags &);
  int (*predict)(const EvaluateFlags &);
  int (*compile)(const CompileFlags &);
  int (*explain)(const ExplainFlags &);
  int (*layout)(const ExplainFlags &);
  int (*summary)(const SummaryFlags &);
  int (*devices)(const DevicesFlags &);
  int (*reshard)(const ReshardFlags &);
  /// Compiles a program to the bytes of a .weft file, for `weft run` and `weft
  /// profile`.
  int (*foreign)(const ModelFlags &, std::vector<uint8_t> &image);
};
/// Loads the compiler's commands.
Result<const CompilerCommands *> loadCompiler();

/// The functions that libWeftStepCommands.so exports as `weftStepCommands`:
/// training from a .weft file, with readers of Keras' files but no compiler.
struct StepCommands {
  int (*fit)(const FitFlags &);
  int (*evaluate)(const EvaluateFlags &);
  int (*predict)(const EvaluateFlags &);
};
Result<const StepCommands *> loadStepCommands();

/// The sizes for ModelFlags::openSizes of reports on a model.
inline constexpr int64_t kOpenSizes[] = {1, 32, 256};

int runCompile(const CompileFlags &flags);
int runExplain(const ExplainFlags &flags);
/// Explains a .weft file, without the compiler.
int runExplainProgram(const ExplainFlags &flags);
int runLayout(const ExplainFlags &flags);
int runSummary(const SummaryFlags &flags);
int runProgram(const RunFlags &flags);
int runProfile(const ProfileFlags &flags);
int runDevices(const DevicesFlags &flags);
int runReshardCommand(const ReshardFlags &flags);

/// The text with its control characters, but tabs and ends of lines, as \x1b:
/// names of files and programs must not change the terminal.
std::string printable(const std::string &text);
/// Prints a text for people on stdout, printable.
void printText(const Message &text);
/// Prints a text on stdout as it is and at once, such as a bar that moves.
void printNow(std::string_view text);
/// The exit status after what was written to stdout has been flushed: 1, after a
/// printed error, if that fails.
int flushed(int status);

/// The flag of an option that a library names: --add-channel, --data FILE.npz.
std::string flagOf(const Option &option);
/// The message in the words of the command line.
std::string inFlags(const Message &message);
/// Prints `weft: error: MESSAGE` on stderr, or nothing if the message is empty,
/// as it was printed before. Options are named by their flags, here and below.
/// Returns 1.
int fail(const Message &message);
int fail(const Error &error);
/// Prints an error for a flag's value that is never valid; returns 2.
int failUsage(const Message &message);
/// Prints `weft: note: MESSAGE` on stderr, after an error.
void note(const Message &message);
/// Prints `weft: warning: MESSAGE` on stderr.
void warn(const Message &message);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMMANDS_H
