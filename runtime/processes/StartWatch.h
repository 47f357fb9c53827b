//===- StartWatch.h - processes that never start ----------------*- C++ -*-===//
//
// A watch on the start of processes: MPI_Init returns when all have called it,
// so a process that does not call it would block the others for ever. Each
// process binds an abstract socket address that the others on its machine can
// find:
//
//   StartWatch watch(messages);    // 8 seconds after the last that has started:
//   open(...)                      // weft: error: not all of 4 processes have
//   watch.stop();                  // started weft within 9 s, missing: rank 2
//
// Processes on several machines have 120 seconds, as they cannot find each
// other.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROCESSES_STARTWATCH_H
#define WEFT_RUNTIME_PROCESSES_STARTWATCH_H

#include <condition_variable>
#include <mutex>
#include <string>
#include <thread>

namespace weft::runtime {

class StartWatch {
public:
  explicit StartWatch(int messages);
  ~StartWatch() { stop(); }
  void stop();

private:
  void watch();
  int countMarks() const;
  [[noreturn]] void endProcess(long seconds);
  std::string markOf(int rank) const;
  bool isMarked(int rank) const;

  int messages, rank, size, mark = -1;
  bool sharesMachine;
  std::string job;
  std::mutex mutex;
  std::condition_variable change;
  bool isOver = false;
  std::thread watcher;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROCESSES_STARTWATCH_H
