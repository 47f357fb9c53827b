//===- Launches.cpp - runs that have not ended ----------------------------===//

#include "weft/tools/pjrt/transfers/Launches.h"

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"

#include <algorithm>

using namespace weft::pjrt;

void Launches::add(int id, const std::shared_ptr<const Executable> &executable,
                   PromisePtr done) {
  std::lock_guard<std::mutex> guard(mutex);
  while (!launches.empty() && launches.front().done->isSettled())
    launches.pop_front();
  launches.push_back({id, executable, std::move(done)});
}

bool Launches::poison(const PJRT_Device *device, int id,
                      const PJRT_Error &why) {
  PromisePtr done;
  {
    std::lock_guard<std::mutex> guard(mutex);
    for (const Launch &launch : launches) {
      auto executable = launch.executable.lock();
      if (!executable || launch.id != id || launch.done->isSettled())
        continue;
      const auto &devices = executable->devices;
      if (std::find(devices.begin(), devices.end(), device) != devices.end()) {
        done = launch.done;
        break;
      }
    }
  }
  return done && done->settle(&why); // callbacks run without the lock
}

static PJRT_Error *poisonExecution(Device_PoisonExecution_Args *args) {
  PJRT_Error why{args->error_code,
                 std::string(args->error_message, args->error_message_size)};
  args->poisoned =
      args->device->client->launches.poison(args->device, args->launch_id, why);
  return nullptr;
}

void weft::pjrt::setLaunchFunctions(Function *table) {
  set(table, kDevice_PoisonExecution, poisonExecution);
}
