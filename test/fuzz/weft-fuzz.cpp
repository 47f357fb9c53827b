//===- weft-fuzz.cpp - random programs, global and partitioned ------------===//
//
//   weft-fuzz --seed S --count N [--fresh M] [--ops K] [--reals | --planned | --pipelines | --large [--everywhere]]
//             [--jobs J] [--compiled-every C] [--gpu] [--keep FOLDER] [--report R] [--summary]
//   weft-fuzz --program FILE [--reduce]
//   weft-fuzz --seed S --print
//
// Program i of N is that of seed S+i; M more follow from a new seed, which is
// printed. Each is checked as ProgramCheck.h says. The first R (5) that fail
// are reduced, and written with the command that repeats them to
// weft-fuzz-SEED.mlir in the folder; the exit status is then 1.
//
//===----------------------------------------------------------------------===//

#include "weft/test/fuzz/Campaign.h"
#include "weft/test/fuzz/Reduction.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>
#include <cstdlib>
#include <random>

using namespace weft;

namespace {

struct Arguments {
  CampaignOptions campaign;
  uint64_t fresh = 0, report = 5;
  bool summary = false, print = false, reduce = false;
  std::string keep = ".", program;
};

constexpr char kUsage[] =
    "usage: weft-fuzz [--seed S] [--count N] [--fresh M] [--ops K] [--reals] "
    "[--planned]\n                 [--pipelines] [--large [--everywhere]] "
    "[--jobs J] "
    "[--compiled-every C] [--gpu] "
    "[--keep FOLDER] [--summary]\n       weft-fuzz --program FILE [--reduce]\n "
    "      weft-fuzz "
    "--seed S --print\n";

/// Reads a flag without a value; false if the name is none.
bool parseSwitch(llvm::StringRef name, Arguments &arguments) {
  CampaignOptions &campaign = arguments.campaign;
  bool *target = name == "--reals"        ? &campaign.reals
                 : name == "--planned"    ? &campaign.planned
                 : name == "--pipelines"  ? &campaign.pipelines
                 : name == "--large"      ? &campaign.large
                 : name == "--everywhere" ? &campaign.everywhere
                 : name == "--gpu"        ? &campaign.gpu
                 : name == "--summary"    ? &arguments.summary
                 : name == "--print"      ? &arguments.print
                 : name == "--reduce"     ? &arguments.reduce
                                          : nullptr;
  if (target)
    *target = true;
  return target;
}

bool parseValue(llvm::StringRef name, llvm::StringRef value,
                Arguments &arguments) {
  CampaignOptions &campaign = arguments.campaign;
  if (name == "--keep" || name == "--program") {
    (name == "--keep" ? arguments.keep : arguments.program) = value.str();
    return true;
  }
  uint64_t number = 0;
  if (value.getAsInteger(10, number))
    return false;
  if (name == "--ops" || name == "--jobs") {
    (name == "--ops" ? campaign.ops : campaign.jobs) =
        static_cast<unsigned>(std::max<uint64_t>(number, 1));
    return true;
  }
  uint64_t *target = name == "--seed"             ? &campaign.first
                     : name == "--count"          ? &campaign.count
                     : name == "--fresh"          ? &arguments.fresh
                     : name == "--report"         ? &arguments.report
                     : name == "--compiled-every" ? &campaign.compiledEvery
                                                  : nullptr;
  if (target)
    *target = number;
  return target;
}

bool parse(int argc, char **argv, Arguments &arguments) {
  for (int i = 1; i < argc; ++i) {
    if (parseSwitch(argv[i], arguments))
      continue;
    if (i + 1 == argc || !parseValue(argv[i], argv[i + 1], arguments)) {
      llvm::errs() << kUsage;
      return false;
    }
    ++i;
  }
  return true;
}

/// Returns the program made as small as possible while it fails in the same
/// way.
std::string reduced(const std::string &text, Verdict verdict) {
  ProgramCheck check;
  std::string reason;
  checkInChild(text, reason);
  std::string kind = kindOfReason(reason);
  return reduceProgram(check.context(), text,
                       [&](const std::string &candidate) {
                         return checkInChild(candidate, reason) == verdict &&
                                kindOfReason(reason) == kind;
                       });
}

/// Returns the text of a test file.
std::string withHeader(const std::string &text, const std::string &comment) {
  std::string reason;
  Verdict verdict = checkInChild(text, reason);
  std::string header = "// RUN: weft-fuzz --program %s\n// " + comment +
                       "\n// It " + std::string(textOf(verdict)) + ":\n";
  llvm::SmallVector<llvm::StringRef> lines;
  llvm::StringRef(reason).split(lines, '\n');
  for (llvm::StringRef line : lines)
    header += "//   " + line.str() + "\n";
  return header + "\n" + text;
}

void report(const FailedProgram &failure, const Arguments &arguments) {
  std::string seed = std::to_string(failure.seed);
  std::string path = arguments.keep + "/weft-fuzz-" + seed + ".mlir";
  CampaignOptions one = arguments.campaign;
  std::string command =
      "weft-fuzz --seed " + seed + " --count 1 --ops " +
      std::to_string(one.ops) + " --compiled-every " +
      std::to_string(one.compiledEvery) + (one.gpu ? " --gpu" : "") +
      (one.reals ? " --reals" : "") + (one.planned ? " --planned" : "") +
      (one.pipelines ? " --pipelines" : "") + (one.large ? " --large" : "") +
      (one.everywhere ? " --everywhere" : "");
  std::string text = programOfSeed(failure.seed, one);
  llvm::outs() << "seed " << seed << " " << textOf(failure.verdict)
               << "; repeat with: " << command << "\n";
  if (failure.verdict != Verdict::Invalid)
    text = reduced(text, failure.verdict);
  text = withHeader(text, "Reduced from: " + command);
  llvm::outs() << text << "written to " << path << "\n";
  std::error_code error;
  llvm::raw_fd_ostream file(path, error);
  file << text;
}

void printSummary(const CampaignSummary &summary, double seconds) {
  llvm::outs() << summary.programs << " programs, " << summary.compiled
               << " of them as machine code too, in "
               << static_cast<int64_t>(seconds) << " s\n";
  auto print = [](const char *what,
                  const std::map<std::string, uint64_t> &all) {
    llvm::outs() << what;
    for (const auto &[name, count] : all)
      llvm::outs() << " " << name << " " << count;
    llvm::outs() << "\n";
  };
  print("meshes:", summary.meshes);
  print("ops:", summary.ops);
}

/// Returns the number of programs that fail.
size_t runAll(const Arguments &arguments) {
  auto begin = std::chrono::steady_clock::now();
  CampaignSummary summary = runCampaign(arguments.campaign);
  std::chrono::duration<double> time = std::chrono::steady_clock::now() - begin;
  llvm::outs() << summary.programs - summary.failures.size() << " of "
               << summary.programs << " programs keep their meaning\n";
  if (arguments.summary)
    printSummary(summary, time.count());
  // All failures are listed, but only the first are reduced: a broken compiler
  // fails everywhere.
  for (const FailedProgram &failure : summary.failures)
    llvm::outs() << "seed " << failure.seed << " " << textOf(failure.verdict)
                 << "\n";
  for (size_t i = 0;
       i < std::min<size_t>(summary.failures.size(), arguments.report); ++i)
    report(summary.failures[i], arguments);
  return summary.failures.size();
}

int runFile(const Arguments &arguments) {
  auto file = llvm::MemoryBuffer::getFile(arguments.program, /*IsText=*/true);
  if (!file) {
    llvm::errs() << "weft-fuzz: cannot read " << arguments.program << "\n";
    return 2;
  }
  std::string text = (*file)->getBuffer().str(), reason;
  Verdict verdict = checkInChild(text, reason);
  if (arguments.reduce && verdict != Verdict::Holds)
    llvm::outs() << withHeader(reduced(text, verdict),
                               "Reduced from " + arguments.program);
  llvm::outs() << arguments.program << " " << textOf(verdict) << "\n"
               << reason << (reason.empty() ? "" : "\n");
  return verdict == Verdict::Holds ? 0 : 1;
}

} // namespace

int main(int argc, char **argv) {
  llvm::outs().SetUnbuffered();
  Arguments arguments;
  if (!parse(argc, argv, arguments))
    return 2;
  // The padding of uneven shards may stay unwritten.
  setenv("FAKE_CUDA_UNWRITTEN", "ignore", /*overwrite=*/0);
  if (!arguments.program.empty())
    return runFile(arguments);
  if (arguments.print) {
    llvm::outs() << programOfSeed(arguments.campaign.first, arguments.campaign);
    return 0;
  }
  size_t failures = runAll(arguments);
  if (arguments.fresh) {
    arguments.campaign.first = std::random_device{}();
    arguments.campaign.count = arguments.fresh;
    llvm::outs() << "new seed " << arguments.campaign.first << ": ";
    failures += runAll(arguments);
  }
  return failures ? 1 : 0;
}
