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

void follow(const Instruction &jump, bool isTrue, Standing &standing) {
  if (jump.kind == plan::Operation::Return)
    standing.hasReturned = true;
  else if (jump.kind != plan::Operation::Jump && isTrue)
    ++standing.pc;
  else
    standing.pc = jump.target;
}

Status StepEnqueuer::launchCode(uint32_t index,
                                std::vector<cuda::Address> &places) {
  const auto &code = plan.kernels[index].code;
  if (const auto *library = std::get_if<LibraryContraction>(&code))
    return launchCode(library->fallback, places);
  if (const auto *sequence = std::get_if<KernelSequence>(&code)) {
    for (uint32_t each : sequence->kernels)
      if (Status ok = launchCode(each, places); !ok)
        return ok;
    return {};
  }
  const auto &kernel = std::get<DeviceKernel>(code);
  const GpuFunction &function = program.launch(position, index);
  last = kernel.symbol;
  std::vector<void *> parameters;
  for (cuda::Address &place : places)
    parameters.push_back(&place);
  const Driver &driver = stream.gpu().driver();
  return driver.check(driver.cuLaunchKernel(function.function, function.blocks,
                                            1, 1, kernel.block[0],
                                            kernel.block[1], kernel.block[2],
                                            kernel.shared, target().handle(),
                                            parameters.data(), nullptr),
                      "cuLaunchKernel of \"" + kernel.symbol + "\"");
}

Status StepEnqueuer::launch(const Instruction &i) {
  const DeviceKernel &kernel = codeOf(plan, i.index);
  std::vector<cuda::Address> places;
  for (uint32_t n = 0; n < i.argumentCount; ++n)
    places.push_back(addresses[plan.arguments[i.firstArgument + n]]);
  last = kernel.symbol;
  bool isDone = launchLibrary(i.index, kernel, places);
  places.push_back(program.coordinates(position));
  if (!isDone)
    if (Status ok = launchCode(i.index, places); !ok)
      return ok;
  return checksLaunches() ? stream.wait().in("kernel \"" + kernel.symbol + "\"")
                          : Status();
}

/// Launches a kernel's library call. Returns false if there is none, or if it
/// fails; the program's own code then computes the kernel, from now on.
bool StepEnqueuer::launchLibrary(uint32_t number, const DeviceKernel &kernel,
                                 const std::vector<cuda::Address> &places) {
  const GpuContraction *library = program.contraction(position, number);
  if (!library)
    return false;
  Status ok = library->launch(target(), places, workspace);
  if (ok)
    return true;
  library->setFailed();
  program.libraries(position).note(ok.error(), kernel.symbol);
  return false;
}

Status StepEnqueuer::copy(const Instruction &i) {
  const Driver &driver = stream.gpu().driver();
  uint64_t bytes = plan.buffers[i.target].bytes;
  if (!bytes)
    return {};
  return driver.check(driver.cuMemcpyDtoDAsync(addresses[i.target],
                                               addresses[i.index], bytes,
                                               target().handle()),
                      "cuMemcpyDtoDAsync of a buffer");
}

Status StepEnqueuer::place(const Instruction &i) {
  return i.kind == plan::Operation::Launch ? launch(i) : copy(i);
}

std::vector<BytesTouched> StepEnqueuer::bytesOf(const Instruction &i) const {
  std::vector<BytesTouched> out;
  for (BufferUse use : buffersOf(plan, i))
    out.push_back(bytesOf(use));
  const GpuContraction *library = i.kind == plan::Operation::Launch
                                      ? program.contraction(position, i.index)
                                      : nullptr;
  if (library && library->workspaceBytes())
    out.push_back({workspace.address, workspace.address + workspace.bytes,
                   /*isWritten=*/true});
  return out;
}

Status StepEnqueuer::enqueue(uint32_t pc) {
  const Instruction &i = plan.instructions[pc];
  if (clock)
    if (Status ok = clock->begin(pc, position, stream); !ok)
      return ok;
  if (capture)
    if (Status ok = capture->before(bytesOf(i)); !ok)
      return ok;
  if (Status ok = place(i); !ok)
    return ok;
  if (capture)
    return capture->after();
  return clock ? clock->end(position, stream) : Status();
}

Status StepEnqueuer::isTrue(uint32_t buffer, const GpuStream &on, bool &out) {
  const Driver &driver = on.gpu().driver();
  uint8_t byte = 0;
  // The copy, too, waits for the stream, as the byte is not pinned.
  program.collectives().await(on);
  if (Status ok = on.gpu().makeCurrent(); !ok)
    return ok;
  if (Status ok = driver.check(
          driver.cuMemcpyDtoHAsync(&byte, addresses[buffer], 1, on.handle()),
          "cuMemcpyDtoHAsync of a condition");
      !ok)
    return ok;
  if (Status ok = on.wait(); !ok) {
    ok.error().message += " (the last kernel enqueued is \"" + last + "\")";
    return ok;
  }
  out = byte != 0;
  return {};
}

Status StepEnqueuer::run(Standing &standing, uint32_t end) {
  using plan::Operation;
  // Another device may have been enqueued in between, which changes the current
  // context.
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  while (standing.pc != end && !standing.hasReturned) {
    const Instruction &i = plan.instructions[standing.pc];
    switch (i.kind) {
    case Operation::Launch:
    case Operation::Copy:
      if (Status ok = enqueue(standing.pc); !ok)
        return ok;
      ++standing.pc;
      break;
    case Operation::Start:
      standing.isWaiting = true;
      return {};
    case Operation::Wait: // the stream has waited since the start
      ++standing.pc;
      break;
    default: { // jumps and the return: readPlan allows no others
      bool holds = true;
      if (i.kind == Operation::JumpOutside)
        holds = isIn(plan.mesh.axes, plan.parts[i.index], position);
      if (i.kind == Operation::JumpUnless)
        if (Status ok = isTrue(i.index, stream, holds); !ok)
          return ok;
      follow(i, holds, standing);
    }
    }
  }
  return {};
}

} // namespace weft::runtime
