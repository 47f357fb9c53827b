//===- JoinedProcesses.h - weft under mpirun --------------------*- C++ -*-===//
//
//   JoinedProcesses joined;                  // mpirun -n 4 weft run ...
//   if (joined.begin(argc, argv)) status = command(joined.processes());
//   return joined.end(status);
//
// Rank 0 prints and writes files. The messages of other ranks are kept, and
// rank 0 shows the error of another one if it has none itself.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_JOINEDPROCESSES_H
#define WEFT_TOOLS_WEFT_JOINEDPROCESSES_H

#include "weft/runtime/abi/processes.h"

#include <string>

namespace weft::tool {

class JoinedProcesses {
public:
  /// Joins the processes. False: call end() only, with status 1 after an error.
  /// Does nothing for one process, or in rank 0 of a command that one process
  /// runs; other ranks of such a command end here.
  bool begin(int argc, char **argv);
  /// The processes; null for one process.
  weft_processes *processes() const { return joined; }
  /// Waits for all processes; returns the status to exit with.
  int end(int status);
  /// The descriptor of visible messages, also in a process whose output is
  /// kept.
  static int visibleErrors();

private:
  void hideOutput();
  std::string keptErrors() const;

  weft_processes *joined = nullptr;
  bool isIdle = false;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_JOINEDPROCESSES_H
