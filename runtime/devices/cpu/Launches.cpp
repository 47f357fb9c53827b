// Launches that workers share, and calls of LAPACK.

#include "weft/runtime/devices/cpu/Executor.h"

#include <algorithm>

namespace weft::runtime {

void Executor::launch(Device &device, const Instruction &instruction) {
  void *const *arguments = device.arguments.data() + instruction.firstArgument;
  if (const lapack::Kernel *call = callOf(instruction))
    runCall(*call, arguments, 0, call->call().batch());
  else
    owner->kernel(instruction.index)(arguments, device.coordinates.data());
}

bool Executor::isShared(const Instruction &launch) const {
  if (const lapack::Kernel *call = callOf(launch))
    return call->call().batch() > 1;
  return owner->sharedKernel(launch.index).run;
}

void Executor::runCall(const lapack::Kernel &call, void *const *arguments,
                       int64_t begin, int64_t end) {
  if (call.run(arguments, begin, end))
    return;
  lock.lock();
  if (exchanged)
    exchanged = call.outOfMemory();
  ended = true;
  workers->wakeups.raise();
  lock.unlock();
}

void Executor::share(Device &device, const Instruction &instruction) {
  const Program::SharedKernel &shared = owner->sharedKernel(instruction.index);
  SharedLaunch &launch = *launches[size_t(device.position)];
  launch.kernel = shared.run;
  launch.call = callOf(instruction);
  int64_t most = launch.call ? launch.call->call().batch() : shared.most;
  launch.arguments = device.arguments.data() + instruction.firstArgument;
  lock.lock();
  device.state = State::Waiting;
  // Two chunks for each worker, so that a late one takes fewer.
  launch.chunks = std::min(most, 2 * workersPerDevice);
  offer(launch);
  lock.unlock();
}

void Executor::SharedLaunch::runChunk(int64_t chunk) {
  if (!call)
    return kernel(arguments, device->coordinates.data(), chunk, chunks);
  int64_t batch = call->call().batch();
  executor->runCall(*call, arguments, batch * chunk / chunks,
                    batch * (chunk + 1) / chunks);
}

void Executor::SharedLaunch::release(Executor &executor) {
  executor.makeReady(*device);
}

} // namespace weft::runtime
