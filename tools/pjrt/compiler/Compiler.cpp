//===- Compiler.cpp - from JAX's bytes to a program image -----------------===//

#include "weft/tools/pjrt/compiler/Compiler.h"

#include "weft/tools/pjrt/compiler/Report.h"
#include "weft/tools/weft/DefaultTarget.h"

#include "weft/compiler/codegen/CodeCache.h"
#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/driver/Session.h"
#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/compiler/hlo/HloCosts.h"
#include "weft/compiler/hlo/HloText.h"
#include "weft/runtime/abi/version.h"

#include "llvm/ADT/StringMap.h"

#include <atomic>
#include <chrono>
#include <dlfcn.h>
#include <future>
#include <mutex>
#include <sys/stat.h>
#include <thread>
#include <unistd.h>

using namespace mlir;
using namespace weft;

/// The text "script.py:12:3: " for the innermost line that JAX knows; empty
/// without one.
static std::string placeOf(Location location) {
  std::string place;
  location->walk([&](Location part) {
    auto file = dyn_cast<FileLineColLoc>(part);
    if (!file || file.getLine() == 0)
      return WalkResult::advance();
    place = file.getFilename().str() + ":" + std::to_string(file.getLine()) +
            ":" + std::to_string(file.getColumn()) + ": ";
    return WalkResult::interrupt();
  });
  return place;
}

/// An identification of this build of the library, as another may compile
/// differently.
static std::string buildOfCompiler() {
  Dl_info info;
  struct stat file;
  if (!dladdr(reinterpret_cast<void *>(&buildOfCompiler), &info) ||
      stat(info.dli_fname, &file) != 0)
    return "";
  return std::to_string(file.st_size) + ":" +
         std::to_string(file.st_mtim.tv_sec) + ":" +
         std::to_string(file.st_mtim.tv_nsec);
}

namespace {
/// A session that is kept for several programs: after some megabytes of them a
/// new one takes less memory.
struct KeptSession {
  Session session{[](Diagnostic &) {}, {stablehlo::registerDialects}};
  size_t seen = 0; ///< bytes of all its programs
};

std::atomic<int> warmUpsAtWork = 0;

/// Waits for warm-ups at the end of the process: an owner that is never
/// destroyed, such as a topology, does not wait, and LLVM's globals are
/// destroyed as the process ends. Variables of the thread that ends it are
/// destroyed before all others.
struct WaitsForWarmUps {
  ~WaitsForWarmUps() {
    if (getpid() != process)
      return; // a fork does not have these threads
    while (int atWork = warmUpsAtWork)
      warmUpsAtWork.wait(atWork);
  }
  const pid_t process = getpid();
};

void waitForWarmUpsAtEnd() {
  static const WaitsForWarmUps ofProcess; // another thread may call exit()
  static thread_local const WaitsForWarmUps ofThread;
}
} // namespace

struct pjrt::Compiler::State {
  static constexpr size_t kMostSeen = size_t(4) << 20, kMostIdle = 4;
  State() : build(buildOfCompiler()) {
    options.cacheDirectory = codeCacheFolder();
    if (std::string refusal = refusalOfCache(options.cacheDirectory);
        !refusal.empty())
      std::fprintf(stderr, "Weft: %s\n", refusal.c_str());
    options.target = tool::defaultTarget();
    generator = openCodegen(options.target, wrongTarget);
    options.generator = generator.get();
    target = generator ? generator->target().str() : options.target;
    version = "weft " WEFT_VERSION ", build " +
              keyOfCode({build, target}).substr(0, 16);
    // Whether a warm-up would delay the script: there is one processor only.
    bool isAlone = std::thread::hardware_concurrency() <= 1;
    if (isAlone) {
      ready = std::async(std::launch::deferred, [this] { warmUp(); });
      return;
    }
    waitForWarmUpsAtEnd();
    ++warmUpsAtWork;
    ready = std::async(std::launch::async, [this] {
      warmUp();
      --warmUpsAtWork;
      warmUpsAtWork.notify_all();
    });
  }
  std::unique_ptr<KeptSession> take() {
    ready.wait();
    std::lock_guard<std::mutex> lock(mutex);
    if (idle.empty())
      return std::make_unique<KeptSession>();
    std::unique_ptr<KeptSession> context = std::move(idle.back());
    idle.pop_back();
    return context;
  }
  void giveBack(std::unique_ptr<KeptSession> context) {
    std::lock_guard<std::mutex> lock(mutex);
    if (context->seen <= kMostSeen && idle.size() < kMostIdle)
      idle.push_back(std::move(context));
  }
  /// The cache key of a program, for a processor and a build.
  std::string keyOf(StringRef what, StringRef program, int64_t partitions,
                    const ProgramOptions &asked) const {
    return keyOfCode({build, asked.target.empty() ? target : asked.target, what,
                      std::to_string(partitions), asked.expect, program});
  }
  /// The compiler's options and those of a program. Sets `error` if they are
  /// refused.
  CompileOptions optionsOf(const ProgramOptions &asked, std::string &error) {
    CompileOptions out = options;
    if (!asked.expect.empty())
      out.expect.push_back(asked.expect);
    if (asked.target.empty())
      return out;
    std::lock_guard<std::mutex> lock(mutex);
    std::unique_ptr<KernelCodegen> &other = others[asked.target];
    if (!other)
      other = openCodegen(asked.target, error);
    if (!error.empty())
      error = "weft_target: " + error;
    out.target = asked.target;
    out.generator = other.get();
    return out;
  }

  const std::string build;
  CompileOptions options;
  std::string target, version, wrongTarget;

private:
  void warmUp();
  std::unique_ptr<KernelCodegen> generator;
  llvm::StringMap<std::unique_ptr<KernelCodegen>> others; ///< indexed by target
  std::mutex mutex;
  std::vector<std::unique_ptr<KeptSession>> idle;
  std::shared_future<void> ready; ///< destroyed, and so waited for, first
};

static constexpr StringLiteral kSmallProgram = R"(
  func.func public @main(%x: tensor<9xf32>) -> tensor<9xf32> {
    %0 = stablehlo.exponential %x : tensor<9xf32>
    return %0 : tensor<9xf32>
  })";

/// Makes the objects that are kept between programs while the script still
/// imports and builds its model, so that the first program does not take longer
/// than others.
void pjrt::Compiler::State::warmUp() {
  auto kept = std::make_unique<KeptSession>();
  CompileOptions small = kept->session.options();
  small.target = options.target;
  small.generator = options.generator;
  auto program =
      stablehlo::read(kSmallProgram, "program", &kept->session.context());
  if (auto module = program ? stablehlo::import(*program, {}) : nullptr)
    (void)compileProgram(*module, small); // errors reappear later
  program = nullptr;
  giveBack(std::move(kept));
}

pjrt::Compiler::Compiler() : state(std::make_unique<State>()) {}
pjrt::Compiler::~Compiler() = default;
const std::string &pjrt::Compiler::version() const { return state->version; }
const std::string &pjrt::Compiler::wrongTarget() const {
  return state->wrongTarget;
}

/// The length of a key. An entry under a program's bytes has its key and its
/// name.
static constexpr size_t kKeyLength = 64;

bool pjrt::Compiler::findOnDisk(std::string_view code, int64_t partitions,
                                const ProgramOptions &options,
                                CompiledProgram &out) const {
  const std::string &folder = state->options.cacheDirectory;
  SmallVector<char> entry, image;
  if (wantsReports() ||
      !readCachedCode(folder, state->keyOf("bytes", code, partitions, options),
                      entry) ||
      entry.size() < kKeyLength ||
      !readCachedCode(folder, StringRef(entry.data(), kKeyLength), image))
    return false;
  out.name.assign(entry.begin() + kKeyLength, entry.end());
  out.image.assign(image.begin(), image.end());
  return true;
}

struct pjrt::ProgramSource::State {
  explicit State(Compiler::State &compiler)
      : compiler(compiler), kept(compiler.take()) {}
  ~State() {
    program = nullptr;
    kept->session.reportTo([](Diagnostic &) {});
    compiler.giveBack(std::move(kept));
  }
  Compiler::State &compiler;
  std::unique_ptr<KeptSession> kept;
  OwningOpRef<ModuleOp> program;
  /// The program of each device; null after an error.
  OwningOpRef<ModuleOp> partition();
  int64_t partitions = 1;
  ProgramOptions asked;
  std::string name, key, keyOfBytes, error, explanation;
  std::chrono::steady_clock::time_point start =
      std::chrono::steady_clock::now();
};

pjrt::ProgramSource::ProgramSource(Compiler &compiler, std::string_view code,
                                   int64_t partitions, ProgramOptions options)
    : state(std::make_unique<State>(*compiler.state)) {
  state->asked = std::move(options);
  state->partitions = partitions;
  state->kept->seen += code.size();
  Session &session = state->kept->session;
  session.reportTo([state = state.get()](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
        state->error.empty())
      state->error = placeOf(diagnostic.getLocation()) + diagnostic.str();
  });
  state->program = stablehlo::read(StringRef(code.data(), code.size()),
                                   "program", &session.context());
  if (!state->program) {
    if (state->error.empty())
      state->error = "the program could not be read";
    return;
  }
  state->name = state->program->getSymName().value_or("main").str();
  std::string text; // the program without places in scripts
  llvm::raw_string_ostream(text) << *state->program;
  state->key = compiler.state->keyOf("program", text, partitions, state->asked);
  state->keyOfBytes =
      compiler.state->keyOf("bytes", code, partitions, state->asked);
}

pjrt::ProgramSource::~ProgramSource() = default;

const std::string &pjrt::ProgramSource::error() const { return state->error; }
const std::string &pjrt::ProgramSource::name() const { return state->name; }
const std::string &pjrt::ProgramSource::key() const { return state->key; }

const std::string &pjrt::ProgramSource::explanation() const {
  return state->explanation;
}
double pjrt::ProgramSource::seconds() const {
  std::chrono::duration<double> taken =
      std::chrono::steady_clock::now() - state->start;
  return taken.count();
}

static ArrayRef<char> charsOf(ArrayRef<uint8_t> bytes) {
  return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

/// The program's module at its first stage.
static OwningOpRef<ModuleOp> importFor(ModuleOp program, int64_t partitions) {
  stablehlo::ImportOptions options;
  options.devices = partitions;
  options.devicePorts = true;
  return stablehlo::import(program, options);
}

OwningOpRef<ModuleOp> pjrt::ProgramSource::State::partition() {
  if (!error.empty())
    return nullptr;
  CompileOptions options = compiler.options;
  options.passes = kept->session.options().passes;
  auto module = importFor(*program, partitions);
  if (module && succeeded(runStages(*module, options, Stage::scheduled)))
    return module;
  if (error.empty())
    error = "the program could not be partitioned";
  return nullptr;
}

std::string pjrt::ProgramSource::hloText() {
  OwningOpRef<ModuleOp> module = state->partition();
  return module ? weft::hloText(*module, state->name) : "";
}

pjrt::ProgramCosts pjrt::ProgramSource::costs() {
  OwningOpRef<ModuleOp> module = state->partition();
  if (!module)
    return {};
  HloCosts costs = hloCosts(*module);
  return {costs.flops, costs.transcendentals};
}

std::vector<uint8_t> pjrt::ProgramSource::compile() {
  CompileOptions compileOptions =
      state->compiler.optionsOf(state->asked, state->error);
  if (!state->error.empty())
    return {};
  compileOptions.passes = state->kept->session.options().passes;
  const std::string &folder = compileOptions.cacheDirectory;
  std::string entry = state->key + state->name;
  SmallVector<char> known;
  if (!wantsReports() && readCachedCode(folder, state->key, known)) {
    writeCachedCode(folder, state->keyOfBytes, entry);
    return {known.begin(), known.end()};
  }
  auto module = importFor(*state->program, state->partitions);
  FailureOr<std::vector<uint8_t>> image = failure();
  if (module)
    image = compileProgram(*module, compileOptions);
  if (failed(image)) {
    if (state->error.empty())
      state->error = "the program could not be compiled";
    return {};
  }
  if (wantsReports())
    for (auto planned : module->getOps<plan::ProgramOp>())
      state->explanation +=
          toText(explainProgram(planned), {.isComplete = true});
  writeCachedCode(folder, state->key, charsOf(*image));
  writeCachedCode(folder, state->keyOfBytes, entry);
  return std::move(*image);
}
