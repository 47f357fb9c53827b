#include "weft/runtime/processes/Backoff.h"

#include <chrono>
#include <sched.h>
#include <thread>

namespace weft::runtime {

void Backoff::pause() {
  looks += looks < 1 << 20;
  if (looks < 64)
    return;
  if (!isLong()) // some milliseconds: a step of others is hardly longer
    sched_yield();
  else
    std::this_thread::sleep_for(std::chrono::microseconds(50));
}

} // namespace weft::runtime
