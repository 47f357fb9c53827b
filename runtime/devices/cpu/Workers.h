//===- Workers.h - persistent threads ---------------------------*- C++ -*-===//
//
//   Workers workers(2);                // one thread, and the caller
//   auto body = [&](int worker) {      // worker 0 is the caller
//     ... workers.wakeups.raise(); ... // threads call the body again
//   };
//   workers.run(body);                 // returns when the caller's call does
//
// A thread without work leaves the body at once and waits for wakeups outside:
// it spins for about 300 us, then sleeps on a futex. So run() waits for threads
// with work only, never for one that sleeps.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CPU_WORKERS_H
#define WEFT_RUNTIME_DEVICES_CPU_WORKERS_H

#include <atomic>
#include <cstdint>
#include <thread>
#include <vector>

namespace weft::runtime {

/// A number that threads wait for, by spinning and then sleeping.
class Signal {
public:
  uint32_t value() const { return number.load(std::memory_order_acquire); }
  /// Changes the number and wakes waiting threads.
  void raise();
  /// Returns once the number is not `seen`.
  void wait(uint32_t seen);

private:
  alignas(64) std::atomic<uint32_t> number{0};
  std::atomic<uint32_t> sleepers{0};
};

/// A lock that is held for some tens of instructions only.
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

  /// Calls body(0) here and body(w) on threads, again after each of the
  /// wakeups; returns when body(0) has returned and no thread is in it any
  /// more.
  template <typename Body> void run(Body &body) {
    start([](void *b, int worker) { (*static_cast<Body *>(b))(worker); },
          &body);
  }

  Signal wakeups;

private:
  void start(void (*call)(void *, int), void *body);
  void loop(int worker);
  void stop();

  static constexpr uint32_t open = 1u << 31;
  std::vector<std::thread> threads;
  /// The value `open` while threads may enter the body, plus the number of
  /// threads inside.
  alignas(64) std::atomic<uint32_t> gate{0};
  std::atomic<bool> stopping{false};
  void (*call)(void *, int) = nullptr;
  void *body = nullptr;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CPU_WORKERS_H
