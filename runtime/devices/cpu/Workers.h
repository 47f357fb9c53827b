//===- Workers.h - persistent threads --------------------------*- C++ -*-===//
//
//   Workers workers(2);                     // the caller is one of them
//   workers.run([](int worker) { ... });    // on each; returns when all have
//
// Between runs a thread spins for some 50 us, then sleeps on a futex.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_WORKERS_H
#define WEFT_RUNTIME_DEVICES_CPU_WORKERS_H

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace weft::runtime {

/// A number others wait for: spin, then sleep.
class Signal {
public:
  uint32_t value() const { return number.load(std::memory_order_acquire); }
  /// Changes the number and wakes those who wait.
  void raise();
  /// Returns once the number is not `seen`.
  void wait(uint32_t seen);

private:
  alignas(64) std::atomic<uint32_t> number{0};
  std::atomic<uint32_t> sleepers{0};
};

/// Held for some tens of instructions only.
class SpinLock {
public:
  void lock();
  void unlock() { held.store(false, std::memory_order_release); }

private:
  alignas(64) std::atomic<bool> held{false};
};

class Workers {
public:
  explicit Workers(int count);
  ~Workers();
  int count() const { return int(threads.size()) + 1; }

  template <typename Body> void run(Body &body) {
    start([](void *b, int worker) { (*static_cast<Body *>(b))(worker); },
          &body);
  }

private:
  void start(void (*call)(void *, int), void *body);
  void loop(int worker);
  void stop();

  std::vector<std::thread> threads;
  Signal begin, end;
  std::atomic<int> busy{0};
  std::atomic<bool> stopping{false};
  void (*call)(void *, int) = nullptr;
  void *body = nullptr;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_WORKERS_H
