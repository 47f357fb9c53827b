//===- main.cpp - the program weft ----------------------------------------===//

#include "weft/base/WriteAll.h"
#include "weft/tools/weft/CommandLine.h"
#include "weft/tools/weft/JoinedProcesses.h"

#include <csignal>
#include <cstring>
#include <new>
#include <string_view>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

/// Reports a fault in Weft itself; a second fault meanwhile ends the process.
static void endByFault(int number) {
  const char *name = strsignal(number);
  for (std::string_view part :
       {std::string_view("weft: internal failure: "), std::string_view(name),
        std::string_view("; please report the command line and the output of "
                         "`weft compile MODEL --emit=imported`\n")})
    weft::writeMessage(JoinedProcesses::visibleErrors(), part);
  _exit(70);
}

/// Installs the handler of faults, on a stack of its own, as the fault may be a
/// stack overflow.
static void watchFaults() {
  static char room[1 << 16];
  stack_t stack = {};
  stack.ss_sp = room;
  stack.ss_size = sizeof room;
  sigaltstack(&stack, nullptr);
  struct sigaction action = {};
  action.sa_handler = endByFault;
  action.sa_flags = SA_ONSTACK | SA_RESETHAND;
// Address sanitizer has reports of its own.
#if !__has_feature(address_sanitizer)
  for (int number : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT})
    sigaction(number, &action, nullptr);
#endif
}

/// Ends the process when memory runs out and no library makes that an error.
[[noreturn]] static void endWithoutMemory() {
  constexpr std::string_view text =
      "weft: error: out of memory; take a smaller model, batch or file\n";
  weft::writeMessage(STDERR_FILENO, text);
  _exit(1);
}

// CLI11 throws uncaught exceptions for flags that are declared twice or
// wrongly: in every run.
// NOLINTNEXTLINE(bugprone-exception-escape)
int main(int argc, char **argv) {
  std::set_new_handler(endWithoutMemory);
  watchFaults();
  // A file that exceeds `ulimit -f` makes the write fail, instead of ending the
  // process.
  std::signal(SIGXFSZ, SIG_IGN);
  JoinedProcesses joined;
  if (!joined.begin(argc, argv))
    return joined.end(1);
  CommandLine line;
  line.fit.processes = line.evaluate.processes = line.predict.processes =
      line.run.processes = joined.processes();
  try {
    line.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    line.status = line.app.exit(error) == 0 ? 0 : 2;
  }
  return joined.end(flushed(line.status));
}
