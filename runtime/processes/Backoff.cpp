#include "weft/runtime/processes/Backoff.h"

#include <chrono>
#include <sched.h>
#include <thread>

namespace weft::runtime {

void Backoff::pause() {
  looks += looks < 1 << 20;
  if (looks < 64)
    return;
  // Yields the core for some milliseconds, as steps of other processes rarely
  // take longer.
  if (!isLong())
    sched_yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

} // namespace weft::runtime
