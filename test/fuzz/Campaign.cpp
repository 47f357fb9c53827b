//===- Campaign.cpp - many programs in several processes ------------------===//

#include "weft/test/fuzz/Campaign.h"
#include "weft/base/WriteAll.h"
#include "weft/data/files/Isolation.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/test/fuzz/RandomPipelines.h"
#include "weft/test/fuzz/RandomProgram.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <sys/wait.h>
#include <unistd.h>

using namespace mlir;

namespace weft {

namespace {
constexpr uint64_t kChunk = 250; ///< programs of one child
constexpr unsigned kProgramSeconds = 60;

/// A child that checks the programs from `next` on. It writes the line "at 17"
/// before seed 17, "fail 3" (a verdict) if it fails, and at the end the numbers
/// of ops and meshes.
struct Child {
  pid_t pid = -1;
  FILE *lines = nullptr;
  uint64_t next = 0, last = 0;
};
} // namespace

/// The large programs of adjacent seeds have each construct alone, with
/// everything that may follow it, and then random groups.
static void drawLarge(uint64_t seed, ProgramOptions &draw) {
  constexpr uint64_t groups = 300;
  uint64_t followers = numFollowers(), alone = numConstructs() * followers,
           turn = seed % (alone + groups);
  draw.large = true;
  draw.follower = turn % followers;
  if (turn < alone)
    draw.construct = turn / followers;
}

std::string programOfSeed(uint64_t seed, const CampaignOptions &options) {
  ProgramOptions draw;
  draw.ops = options.ops;
  draw.reals = options.reals;
  draw.compiled = !options.planned && !options.large && options.compiledEvery &&
                  seed % options.compiledEvery == 0;
  draw.planned = options.planned;
  if (options.large)
    drawLarge(seed, draw);
  std::string checks = "inputs=" + std::to_string(seed);
  if (seed % 3 == 0 && !options.pipelines)
    checks += " detours=" + std::to_string(seed);
  checks += draw.reals ? " reals" : "";
  checks += draw.compiled ? " compiled" : "";
  checks += draw.compiled && options.gpu ? " gpu" : "";
  checks += draw.planned    ? " planned"
            : draw.large    ? " large"
            : seed % 4 == 1 ? " explained"
                            : "";
  checks += options.large && options.everywhere ? " everywhere" : "";
  std::string text = options.pipelines ? randomPipeline(seed)
                                       : randomProgram(seed, draw),
              mesh = "{weft.mesh = #mesh";
  return text.replace(text.find(mesh), mesh.size(),
                      mesh + ", " + kChecksAttr + " = \"" + checks + "\"");
}

static std::string sizesOf(ModuleOp module) {
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  std::string text;
  for (int64_t size : mesh.getSizes())
    text += (text.empty() ? "" : "x") + std::to_string(size);
  return text;
}

/// Checks the programs of a child; called in the child.
static void checkSeeds(const Child &child, const CampaignOptions &options,
                       FILE *out) {
  std::map<std::string, uint64_t> drawn;
  ProgramCheck check;
  check.observe = [&](ModuleOp module) {
    ++drawn["mesh " + sizesOf(module)];
    module.walk([&](Operation *op) {
      if (!isa<ModuleOp, func::FuncOp, func::ReturnOp>(op))
        ++drawn["op " + op->getName().getStringRef().str()];
    });
  };
  for (uint64_t seed = child.next; seed < child.last; ++seed) {
    fprintf(out, "at %llu\n", static_cast<unsigned long long>(seed));
    fflush(out);
    limitComputing(kProgramSeconds);
    std::string text = programOfSeed(seed, options);
    Verdict verdict = check.run(text);
    if (verdict != Verdict::Holds)
      fprintf(out, "fail %d\n", static_cast<int>(verdict));
  }
  for (const auto &[name, count] : drawn)
    fprintf(out, "%s %llu\n", name.c_str(),
            static_cast<unsigned long long>(count));
  fflush(out);
}

static void start(Child &child, const CampaignOptions &options) {
  int ends[2];
  if (pipe(ends) != 0)
    llvm::report_fatal_error("weft-fuzz: no pipe");
  child.pid = fork();
  if (child.pid == 0) {
    close(ends[0]);
    checkSeeds(child, options, fdopen(ends[1], "w"));
    if (options.gpu) // a fake driver reports its findings at exit
      exit(0);
    _exit(0);
  }
  close(ends[1]);
  child.lines = fdopen(ends[0], "r");
}

/// Reads a child's output. The last seed of a child that ended early failed; a
/// new child continues with the rest.
static void finish(Child &child, const CampaignOptions &options,
                   CampaignSummary &summary) {
  char line[256];
  uint64_t seed = child.next;
  while (fgets(line, sizeof line, child.lines)) {
    llvm::StringRef text(line);
    auto [word, rest] = text.trim().split(' ');
    auto [name, number] = rest.rsplit(' ');
    uint64_t value = 0;
    (number.empty() ? rest : number).getAsInteger(10, value);
    if (word == "at")
      seed = value;
    else if (word == "fail")
      summary.failures.push_back({seed, static_cast<Verdict>(value)});
    else if (word == "op" || word == "mesh")
      (word == "op" ? summary.ops : summary.meshes)[name.str()] += value;
  }
  fclose(child.lines);
  int status = 0;
  waitpid(child.pid, &status, 0);
  bool ended = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  if (!ended)
    summary.failures.push_back({seed, Verdict::Crashed});
  child.next = ended ? child.last : seed + 1;
  child.pid = -1;
  if (child.next < child.last)
    start(child, options);
}

CampaignSummary runCampaign(const CampaignOptions &options) {
  CampaignSummary summary;
  uint64_t next = options.first, end = options.first + options.count;
  std::vector<Child> children(options.jobs);
  llvm::outs().flush();
  bool busy = true;
  while (busy) {
    busy = false;
    for (Child &child : children) {
      if (child.pid < 0 && next < end) {
        child.next = next;
        next = child.last = std::min(next + kChunk, end);
        start(child, options);
      }
      busy |= child.pid >= 0;
    }
    // Live children are waited for one after the other.
    for (Child &child : children)
      if (child.pid >= 0)
        finish(child, options, summary);
  }
  summary.programs = options.count;
  for (uint64_t seed = options.first; seed < end; ++seed)
    summary.compiled +=
        options.compiledEvery && seed % options.compiledEvery == 0;
  return summary;
}

Verdict checkInChild(const std::string &text, std::string &reason) {
  int ends[2];
  if (pipe(ends) != 0)
    llvm::report_fatal_error("weft-fuzz: no pipe");
  pid_t pid = fork();
  if (pid == 0) {
    close(ends[0]);
    limitComputing(kProgramSeconds);
    ProgramCheck check;
    int verdict = static_cast<int>(check.run(text));
    std::string answer = std::to_string(verdict) + check.reason();
    _exit(writeAll(ends[1], answer.data(), answer.size()) ? 0 : 1);
  }
  close(ends[1]);
  std::string answer;
  char part[512];
  for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
    answer.append(part, static_cast<size_t>(n));
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (!WIFEXITED(status) || WEXITSTATUS(status) != 0 || answer.empty()) {
    reason = WIFSIGNALED(status) && isOverLimit(WTERMSIG(status))
                 ? "takes more than 60 s"
                 : "crashes";
    return Verdict::Crashed;
  }
  reason = llvm::StringRef(answer).drop_front().rtrim().str();
  return static_cast<Verdict>(answer[0] - '0');
}

} // namespace weft
