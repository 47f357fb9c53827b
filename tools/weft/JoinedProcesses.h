//===- JoinedProcesses.h - weft under mpirun --------------------*- C++ -*-===//
//
//   JoinedProcesses joined;                  // mpirun -n 4 weft run ...
//   if (joined.begin(argc, argv)) status = command(joined.processes());
//   return joined.end(status);
//
// Rank 0 is the one that is seen: it prints and writes files. What the others
// would print is kept, and is shown by rank 0 where one of them alone fails.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_JOINEDPROCESSES_H
#define WEFT_TOOLS_WEFT_JOINEDPROCESSES_H

#include "weft/runtime/abi/processes.h"

#include <string>

namespace weft::tool {

class JoinedProcesses {
public:
  /// False: nothing is left to do but end(), with status 1 if anything went
  /// wrong. Alone, or as rank 0 of a command that one process does, nothing
  /// happens; other ranks of such a command end here.
  bool begin(int argc, char **argv);
  /// Null: one process.
  weft_processes *processes() const { return joined; }
  /// The status to exit with, once all are through.
  int end(int status);
  /// Where messages are seen, also those of a process whose output is kept.
  static int visibleErrors();

private:
  void hideOutput();
  std::string keptErrors() const;

  weft_processes *joined = nullptr;
  bool isIdle = false;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_JOINEDPROCESSES_H
