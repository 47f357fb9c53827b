#include "weft/data/files/Isolation.h"

#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

namespace weft {

void limitComputing(unsigned seconds) {
  itimerval limit = {{0, 0}, {long(seconds), 0}};
  setitimer(ITIMER_PROF, &limit, nullptr);
  alarm(30 * seconds);
}

bool isOverLimit(int signal) { return signal == SIGALRM || signal == SIGPROF; }

/// The status of a child that cannot write its result. Libraries end a process
/// with 1.
static constexpr int kNoResult = 3;

/// Silences libraries that print an error before they end the process, as the
/// parent reports the ending. Sanitizers print theirs.
static void closeErrors() {
#if !__has_feature(address_sanitizer) && !__has_feature(thread_sanitizer)
  if (int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC); nowhere >= 0)
    dup2(nowhere, STDERR_FILENO);
#endif
}

/// Runs the child, which exits with 0 for success, else kNoResult. The parent
/// detects all other endings.
[[noreturn]] static void runChild(const IsolatedWork &work, int file,
                                  unsigned seconds) {
  for (int number :
       {SIGSEGV, SIGBUS, SIGABRT, SIGFPE, SIGILL, SIGALRM, SIGPROF})
    std::signal(number, SIG_DFL); // the host's handlers would report the crash
  std::signal(SIGINT, SIG_IGN);   // the parent handles Ctrl-C
  rlimit none = {0, 0};
  setrlimit(RLIMIT_CORE, &none);
  closeErrors();
  limitComputing(seconds);
  _exit(work(file) ? 0 : kNoResult);
}

static Result<std::vector<uint8_t>> contents(int file) {
  struct stat info;
  if (fstat(file, &info) != 0)
    return Error{std::strerror(errno)};
  std::vector<uint8_t> bytes(size_t(info.st_size));
  for (size_t done = 0; done < bytes.size();) {
    ssize_t got =
        pread(file, bytes.data() + done, bytes.size() - done, off_t(done));
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return Error{"the result of a child process cannot be read"};
    done += size_t(got);
  }
  return bytes;
}

Result<std::vector<uint8_t>> runIsolated(const IsolatedWork &work,
                                         unsigned seconds) {
  int file = memfd_create("weft-result", MFD_CLOEXEC);
  pid_t child = file < 0 ? -1 : fork();
  if (child == 0)
    runChild(work, file, seconds);
  int status = 0;
  pid_t ended = -1;
  if (child > 0)
    do
      ended = waitpid(child, &status, 0);
    while (ended < 0 && errno == EINTR);
  Result<std::vector<uint8_t>> out = Error{};
  if (child < 0)
    out = Error{std::string("no process of its own can be started: ") +
                std::strerror(errno)};
  else if (ended == child && WIFSIGNALED(status))
    out = Error{isOverLimit(WTERMSIG(status))
                    ? "takes more than " + std::to_string(seconds) + " seconds"
                    : std::string("ends with ") + strsignal(WTERMSIG(status))};
  else if (ended == child && WEXITSTATUS(status) == kNoResult)
    out = Error{"cannot pass on its result; free some memory"};
  else if (ended == child && WEXITSTATUS(status) != 0)
    out = Error{"ends with status " + std::to_string(WEXITSTATUS(status))};
  else
    out = contents(file);
  if (file >= 0)
    close(file);
  return out;
}

} // namespace weft
