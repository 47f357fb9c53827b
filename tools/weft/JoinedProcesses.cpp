#include "weft/tools/weft/JoinedProcesses.h"

#include "weft/base/EnvironmentNumber.h"
#include "weft/base/WriteAll.h"
#include "weft/runtime/abi/version.h"
#include "weft/tools/weft/Commands.h"
#include "weft/training/Ports.h"

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <string_view>
#include <sys/mman.h>
#include <unistd.h>

using namespace weft::tool;
using weft::environmentNumber;

/// The processes that a signal handler ends.
static weft_processes *signalled = nullptr;
static bool endsAtNextVote = false;
static int visible = STDERR_FILENO;

int JoinedProcesses::visibleErrors() { return visible; }

static void endOnSignal(int) {
  weft_processes_terminate(signalled, endsAtNextVote);
}

/// Hash of all that must be equal in all processes: command line and version.
static uint64_t hashOf(int argc, char **argv) {
  std::string text = "weft " WEFT_VERSION;
  for (int i = 1; i < argc; ++i)
    text += '\0' + std::string(argv[i]);
  uint64_t hash = 14695981039346656037u; // FNV-1a
  for (unsigned char c : text)
    hash = (hash ^ c) * 1099511628211u;
  return hash;
}

/// Warns of tasks of srun: only processes that mpirun starts are connected.
static void warnOfTasks() {
  int tasks = environmentNumber("SLURM_STEP_NUM_TASKS", 1);
  if (tasks > 1 && !std::getenv("OMPI_COMM_WORLD_SIZE") &&
      environmentNumber("SLURM_PROCID", 0) == 0)
    warn("srun has started " + std::to_string(tasks) +
         " processes, and each does all of this by itself; for one program on "
         "all of them use mpirun in place of srun");
}

bool JoinedProcesses::begin(int argc, char **argv) {
  int size = environmentNumber("OMPI_COMM_WORLD_SIZE", 1);
  int rank = environmentNumber("OMPI_COMM_WORLD_RANK", 0);
  std::string_view command = argc > 1 ? argv[1] : "";
  bool isShared = command == "run" || command == "fit" ||
                  command == "evaluate" || command == "predict";
  if (size < 2) {
    if (isShared)
      warnOfTasks();
    return true;
  }
  if (!isShared) {
    isIdle = rank != 0; // rank 0 runs it
    return rank == 0;
  }
  if (rank != 0)
    hideOutput();
  if (Status met =
          takeError(weft_processes_join(hashOf(argc, argv), visible, &joined));
      !met) {
    fail(met.error());
    return false;
  }
  signalled = joined;
  endsAtNextVote = command == "fit";
  std::signal(SIGTERM, endOnSignal);
  return true;
}

void JoinedProcesses::hideOutput() {
  std::fflush(stdout);
  visible = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
  int kept = memfd_create("weft-messages", MFD_CLOEXEC);
  int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  if (kept >= 0)
    dup2(kept, STDERR_FILENO);
  if (nowhere >= 0)
    dup2(nowhere, STDOUT_FILENO);
  close(kept);
  close(nowhere);
}

std::string JoinedProcesses::keptErrors() const {
  std::string text(1 << 16, 0);
  if (visible == STDERR_FILENO)
    return "";
  ssize_t bytes = pread(STDERR_FILENO, text.data(), text.size(), 0);
  text.resize(bytes > 0 ? size_t(bytes) : 0);
  return text;
}

/// The message without the prefix that the command line prints.
static std::string reasonOf(const std::string &messages) {
  constexpr std::string_view head = "weft: error: ";
  size_t at = messages.find(head);
  std::string text =
      at == std::string::npos ? messages : messages.substr(at + head.size());
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.empty() ? "has failed" : text;
}

int JoinedProcesses::end(int status) {
  if (isIdle)
    return 0;
  if (!joined)
    return status;
  std::fflush(stdout);
  std::string kept = keptErrors();
  // After Ctrl-C all processes end, which is no failure of one of them.
  std::string reason = status && status != 130 ? reasonOf(kept) : "";
  int reports = 0, isOrderly = 0;
  char *other = nullptr;
  bool isRankZero = weft_processes_rank(joined) == 0;
  signalled = nullptr;
  int result = weft_processes_leave(joined, status, reason.c_str(), &reports,
                                    &other, &isOrderly);
  std::unique_ptr<char, decltype(&std::free)> owned(other, std::free);
  std::string text;
  if (reports && status == 0 && other)
    text = std::string("weft: error: ") + other + "\n";
  else if (reports && status != 0 && !isRankZero) // rank 0 has died
    text = kept;
  writeMessage(visible, text);
  std::fflush(stderr);
  if (!isOrderly)
    _exit(result);
  weft_processes_free(joined);
  return result;
}
