//===- Dispatcher.h - work in the order it was asked for --------*- C++ -*-===//
//
//   dispatcher.run([=] { ... });     // returns at once; one thread runs all
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_DISPATCHER_H
#define WEFT_TOOLS_PJRT_DISPATCHER_H

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>

namespace weft::pjrt {

class Dispatcher {
public:
  Dispatcher() : thread([this] { loop(); }) {}
  /// Runs what is left.
  ~Dispatcher();
  void run(std::function<void()> task);
  /// Waits while much is left to do: a script that runs ahead of its devices
  /// would fill memory with what it has prepared. Never waits for itself.
  void awaitRoom();

private:
  static constexpr size_t kMostWaiting = 32;
  void loop();
  std::mutex mutex;
  std::condition_variable news, room;
  std::deque<std::function<void()>> tasks;
  bool ended = false;
  std::thread thread; ///< last: starts when all else is there
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_DISPATCHER_H
