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

Status StepEnqueuer::launchCode(const DeviceKernel &kernel,
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

Status StepEnqueuer::launch(const Instruction &i) {
  const DeviceKernel &kernel = codeOf(plan, i.index);
  std::vector<cuda::Address> places;
  for (uint32_t n = 0; n < i.argumentCount; ++n)
    places.push_back(addresses[plan.arguments[i.firstArgument + n]]);
  last = kernel.symbol;
  const GpuContraction *library = program.contraction(position, i.index);
  Status ok = library ? library->launch(stream, places, workspace)
                      : launchCode(kernel, program.launch(position, i.index),
                                   std::move(places));
  if (ok && checksLaunches())
    ok = stream.wait();
  else if (!library)
    return ok;
  return ok.in("kernel \"" + kernel.symbol + "\"");
}

Status StepEnqueuer::copy(const Instruction &i) {
  const Driver &driver = stream.gpu().driver();
  uint64_t bytes = plan.buffers[i.target].bytes;
  if (!bytes)
    return {};
  return driver.check(driver.cuMemcpyDtoDAsync(addresses[i.target],
                                               addresses[i.index], bytes,
                                               stream.handle()),
                      "cuMemcpyDtoDAsync of a buffer");
}

Status StepEnqueuer::enqueue(uint32_t pc) {
  const Instruction &i = plan.instructions[pc];
  if (clock)
    if (Status ok = clock->begin(pc, position, stream); !ok)
      return ok;
  if (Status ok = i.kind == plan::Operation::Launch ? launch(i) : copy(i); !ok)
    return ok;
  return clock ? clock->end(position, stream) : Status();
}

Status StepEnqueuer::isTrue(uint32_t buffer, bool &out) {
  const Driver &driver = stream.gpu().driver();
  uint8_t byte = 0;
  if (Status ok =
          driver.check(driver.cuMemcpyDtoHAsync(&byte, addresses[buffer], 1,
                                                stream.handle()),
                       "cuMemcpyDtoHAsync of a condition");
      !ok)
    return ok;
  if (Status ok = stream.wait(); !ok) {
    ok.error().message += " (the last kernel enqueued is \"" + last + "\")";
    return ok;
  }
  out = byte != 0;
  return {};
}

Status StepEnqueuer::run(Standing &standing) {
  using plan::Operation;
  // Another device may have been enqueued in between, which changes the current
  // context.
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  for (uint32_t &pc = standing.pc;; ++pc) {
    const Instruction &i = plan.instructions[pc];
    switch (i.kind) {
    case Operation::Launch:
    case Operation::Copy:
      if (Status ok = enqueue(pc); !ok)
        return ok;
      break;
    case Operation::Jump:
      pc = i.target - 1;
      break;
    case Operation::JumpUnless: {
      bool isGoingOn = true;
      if (Status ok = isTrue(i.index, isGoingOn); !ok)
        return ok;
      if (!isGoingOn)
        pc = i.target - 1;
      break;
    }
    case Operation::Start:
      standing.isWaiting = true;
      return {};
    case Operation::Wait: // the stream has waited since the start
      break;
    default: // Return: readPlan allows no others
      standing.hasReturned = true;
      return {};
    }
  }
}

} // namespace weft::runtime
