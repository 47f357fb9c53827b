#include "weft/runtime/devices/cpu/Workers.h"

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
    syscall(SYS_futex, &number, FUTEX_WAKE_PRIVATE, INT_MAX, nullptr, nullptr, 0);
}

void Signal::wait(uint32_t seen) {
  for (int i = 0; i < 4000; ++i) {
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
      // The holder may have lost its core to somebody else.
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
  } catch (...) { // no more threads: end those that run
    stop();
    throw;
  }
}

Workers::~Workers() { stop(); }

void Workers::stop() {
  stopping.store(true);
  begin.raise();
  for (std::thread &thread : threads)
    thread.join();
}

void Workers::loop(int worker) {
  // The constructor's value is 0; a run may begin before this thread does.
  for (uint32_t seen = 0;; ++seen) {
    begin.wait(seen);
    if (stopping.load())
      return;
    call(body, worker);
    if (busy.fetch_sub(1, std::memory_order_acq_rel) == 1)
      end.raise();
  }
}

void Workers::start(void (*c)(void *, int), void *b) {
  call = c;
  body = b;
  uint32_t seen = end.value();
  busy.store(int(threads.size()), std::memory_order_release);
  if (!threads.empty())
    begin.raise();
  c(b, 0);
  if (!threads.empty())
    end.wait(seen);
}

} // namespace weft::runtime
