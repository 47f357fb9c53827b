//===- BackgroundThread.h - work beside the step ----------------*- C++ -*-===//
//
//   BackgroundThread thread;
//   std::future<Status> read = thread.start([&] { return readBatch(next); });
//   execute(step);
//   Status ok = read.get();
//
// One thread, created when it is first needed, runs the given functions in
// order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_BACKGROUNDTHREAD_H
#define WEFT_TRAINING_BACKGROUNDTHREAD_H

#include "weft/base/Result.h"

#include <condition_variable>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <thread>

namespace weft {

class BackgroundThread {
public:
  BackgroundThread() = default;
  BackgroundThread(const BackgroundThread &) = delete;
  /// Waits for the started functions.
  ~BackgroundThread();
  std::future<Status> start(std::function<Status()> work);

private:
  void run();
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::packaged_task<Status()>> tasks;
  bool isEnding = false;
  std::thread thread;
};

} // namespace weft

#endif // WEFT_TRAINING_BACKGROUNDTHREAD_H
