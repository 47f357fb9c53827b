#include "weft/runtime/devices/cpu/Workers.h"

#include <chrono>
#include <climits>
#include <linux/futex.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace weft::runtime {

static void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void Signal::raise() {
  number.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst))
    syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr,
            0);
}

/// Spins only for a short time, as the host also works between steps, and
/// kernels may be a library's, with threads of its own. It is not counted in
/// pauses: one takes 40 cycles on some processors and 140 on others.
static constexpr auto kSpin = std::chrono::microseconds(100);

void Signal::wait(uint32_t seen) {
  auto end = std::chrono::steady_clock::now() + kSpin;
  for (int i = 1; i % 64 || std::chrono::steady_clock::now() < end; ++i) {
    if (value() != seen)
      return;
    pause();
  }
  while (value() == seen) {
    sleepers.fetch_add(1, std::memory_order_seq_cst);
    syscall(SYS_futex, &number, FUTEX_WAIT_PRIVATE, seen, nullptr, nullptr, 0);
    sleepers.fetch_sub(1, std::memory_order_seq_cst);
  }
}

void SpinLock::lock() {
  for (int i = 0; held.exchange(true, std::memory_order_acquire);) {
    while (held.load(std::memory_order_relaxed)) {
      // The thread that holds the lock may have lost its core.
      if (++i % 256 == 0)
        sched_yield();
      pause();
    }
  }
}

Workers::Workers(int count) {
  try {
    for (int w = 1; w < count; ++w)
      threads.emplace_back([this, w] { loop(w); });
  } catch (...) { // no more threads can be created: end those that run
    stop();
    throw;
  }
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  stopping.store(true);
  wakeups.raise();
  for (std::thread &thread : threads)
    thread.join();
}

void Workers::loop(int worker) {
  for (;;) {
    // The number is read before looking for work, so that a later raise ends
    // the wait.
    uint32_t seen = wakeups.value();
    if (stopping.load())
      return;
    uint32_t inside = gate.load(std::memory_order_acquire);
    while (inside & open)
      if (gate.compare_exchange_weak(inside, inside + 1,
                                     std::memory_order_acq_rel)) {
        call(body, worker);
        gate.fetch_sub(1, std::memory_order_acq_rel);
        break;
      }
    wakeups.wait(seen);
  }
}

void Workers::start(void (*c)(void *, int), void *b) {
  if (threads.empty())
    return c(b, 0);
  call = c;
  body = b;
  gate.fetch_or(open, std::memory_order_acq_rel);
  wakeups.raise();
  c(b, 0);
  gate.fetch_and(~open, std::memory_order_acq_rel);
  for (int i = 0; gate.load(std::memory_order_acquire) != 0; ++i) {
    if (i % 256 == 255)
      sched_yield(); // a thread inside may have lost its core
    pause();
  }
}

} // namespace weft::runtime
