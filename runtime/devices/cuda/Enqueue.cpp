#include "weft/runtime/devices/cuda/Enqueue.h"

#include <cstdlib>

namespace weft::runtime {

bool checksLaunches() {
  static const bool isAsked = [] {
    const char *text = std::getenv("WEFT_CUDA_CHECK");
    return text && std::string_view(text) == "1";
  }();
  return isAsked;
}

Error StepEnqueuer::launchCode(const DeviceKernel &kernel,
                               const GpuFunction &function,
                               std::vector<cuda::Address> places) {
  places.push_back(program.coordinates(position));
  std::vector<void *> parameters;
  for (cuda::Address &place : places)
    parameters.push_back(&place);
  const Driver &driver = stream.gpu().driver();
  return driver.check(driver.cuLaunchKernel(function.function, function.blocks,
                                            1, 1, kernel.block[0],
                                            kernel.block[1], kernel.block[2],
                                            kernel.shared, stream.handle(),
                                            parameters.data(), nullptr),
                      "cuLaunchKernel of \"" + kernel.symbol + "\"");
}

/// The code of a kernel; for a contraction, that of its fallback.
static const DeviceKernel &codeOf(const Plan &plan, uint32_t kernel) {
  const auto &code = plan.kernels[kernel].code;
  const auto *library = std::get_if<LibraryContraction>(&code);
  return std::get<DeviceKernel>(library ? plan.kernels[library->fallback].code
                                        : code);
}

Error StepEnqueuer::launch(const Instruction &i) {
  const DeviceKernel &kernel = codeOf(plan, i.index);
  std::vector<cuda::Address> places;
  for (uint32_t n = 0; n < i.argumentCount; ++n)
    places.push_back(addresses[plan.arguments[i.firstArgument + n]]);
  last = kernel.symbol;
  const GpuContraction *library = program.contraction(position, i.index);
  Error e = library ? library->launch(stream, places, workspace)
                    : launchCode(kernel, program.launch(position, i.index),
                                 std::move(places));
  if (!e && checksLaunches())
    e = stream.wait();
  else if (!library)
    return e;
  if (e)
    e->message = "kernel \"" + kernel.symbol + "\": " + e->message;
  return e;
}

Error StepEnqueuer::copy(const Instruction &i) {
  const Driver &driver = stream.gpu().driver();
  uint64_t bytes = plan.buffers[i.target].bytes;
  if (!bytes)
    return nullptr;
  return driver.check(driver.cuMemcpyDtoDAsync(addresses[i.target],
                                               addresses[i.index], bytes,
                                               stream.handle()),
                      "cuMemcpyDtoDAsync of a buffer");
}

Error StepEnqueuer::enqueue(uint32_t pc) {
  const Instruction &i = plan.instructions[pc];
  if (clock)
    if (Error e = clock->begin(pc, position, stream))
      return e;
  if (Error e = i.kind == plan::Operation::Launch ? launch(i) : copy(i))
    return e;
  return clock ? clock->end(position, stream) : nullptr;
}

Error StepEnqueuer::isTrue(uint32_t buffer, bool &out) {
  const Driver &driver = stream.gpu().driver();
  uint8_t byte = 0;
  if (Error e = driver.check(driver.cuMemcpyDtoHAsync(&byte, addresses[buffer],
                                                      1, stream.handle()),
                             "cuMemcpyDtoHAsync of a condition"))
    return e;
  if (Error e = stream.wait()) {
    e->message += " (the last kernel enqueued is \"" + last + "\")";
    return e;
  }
  out = byte != 0;
  return nullptr;
}

Error StepEnqueuer::run(Standing &standing) {
  using plan::Operation;
  // Another device may have been enqueued in between, which changes the current
  // context.
  if (Error e = stream.gpu().makeCurrent())
    return e;
  for (uint32_t &pc = standing.pc;; ++pc) {
    const Instruction &i = plan.instructions[pc];
    switch (i.kind) {
    case Operation::Launch:
    case Operation::Copy:
      if (Error e = enqueue(pc))
        return e;
      break;
    case Operation::Jump:
      pc = i.target - 1;
      break;
    case Operation::JumpUnless: {
      bool isGoingOn = true;
      if (Error e = isTrue(i.index, isGoingOn))
        return e;
      if (!isGoingOn)
        pc = i.target - 1;
      break;
    }
    case Operation::Collective:
      standing.isWaiting = true;
      return nullptr;
    default: // Return: readPlan allows no others
      standing.hasReturned = true;
      return nullptr;
    }
  }
}

} // namespace weft::runtime
