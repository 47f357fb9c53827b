#include "weft/runtime/devices/cpu/CpuDevices.h"

#include "weft/runtime/collectives/CrossProcessGroup.h"
#include "weft/runtime/processes/Processes.h"

#include <algorithm>
#include <cstring>
#include <map>
#include <sched.h>

namespace weft::runtime {

namespace {
/// Memory in pages of the process, counted while it exists.
class CpuMemory final : public DeviceMemory {
public:
  CpuMemory(Memory pages, int64_t device, std::shared_ptr<MemoryMeter> meter)
      : pages(std::move(pages)), device(device), meter(std::move(meter)) {
    start = this->pages.data();
    size = this->pages.size();
    this->meter->add(device, int64_t(size));
  }
  ~CpuMemory() override { meter->add(device, -int64_t(size)); }
  const Memory &memory() const { return pages; }
  void joinPages() { pages.joinPages(); }

private:
  Memory pages;
  int64_t device;
  std::shared_ptr<MemoryMeter> meter;
};
} // namespace

CpuDevices::CpuDevices(int64_t count, int workers,
                       const DeviceSettings &settings)
    : count(count), workers(workers),
      provider(createInProcessProvider(settings.host)),
      library(settings.lapack), arenas(size_t(count)),
      meter(std::make_shared<MemoryMeter>(count)) {
  if (settings.processes)
    provider =
        createCrossProcessProvider(std::move(provider), *settings.processes);
}

std::string CpuDevices::describe() const {
  return DeviceList{DeviceKind::Cpu, count}.text() + ", " +
         std::to_string(workers.count()) + " workers";
}

Status CpuDevices::allocate(int64_t device, uint64_t bytes,
                            const std::string &what,
                            std::unique_ptr<DeviceMemory> &out) {
  Memory memory;
  if (!memory.allocate(bytes, device))
    return makeError(StatusCode::OutOfMemory, "no memory for ", what,
                     " on device ", device, ": ", bytes,
                     " bytes; split it over more devices, or take a smaller "
                     "model or batch");
  out = std::make_unique<CpuMemory>(std::move(memory), device, meter);
  return {};
}

Status CpuDevices::write(DeviceMemory &memory, const BoxCopy &box,
                         const void *host) {
  box(host, memory.address());
  static_cast<CpuMemory &>(memory).joinPages();
  return {};
}

Status CpuDevices::read(const DeviceMemory &memory, const BoxCopy &box,
                        void *host) {
  box(memory.address(), host);
  return {};
}

Status CpuDevices::fill(DeviceMemory &memory, uint8_t byte) {
  std::memset(memory.address(), byte, memory.bytes());
  static_cast<CpuMemory &>(memory).joinPages();
  return {};
}

/// The device that a kernel needs if the kernel is not the host's.
static std::string deviceNeeded(const Plan &plan, const Kernel &kernel) {
  if (const auto *its = std::get_if<KernelSequence>(&kernel.code))
    return deviceNeeded(plan, plan.kernels[its->kernels.front()]);
  if (const auto *its = std::get_if<LibraryContraction>(&kernel.code))
    return deviceNeeded(plan, plan.kernels[its->fallback]) +
           " with a library of contractions";
  uint32_t module = std::get<DeviceKernel>(kernel.code).module;
  return "a device of kind \"" + plan.modules[module].chip + "\"";
}

static Status checkHostKernels(const Plan &plan) {
  for (uint32_t n = 0; n < plan.kernels.size(); ++n)
    if (const auto &code = plan.kernels[n].code;
        !std::holds_alternative<HostKernel>(code) &&
        !std::holds_alternative<Builtin>(code))
      return makeError(StatusCode::Incompatible, "kernel ", plan.kernelName(n),
                       " needs ", deviceNeeded(plan, plan.kernels[n]),
                       ", these devices are CPUs; run the program on cuda:N, "
                       "or compile it for a CPU");
  return {};
}

Status CpuDevices::prepare(std::shared_ptr<const Program> program,
                           const Ownership &ownership,
                           std::shared_ptr<PreparedProgram> &out) {
  if (Status ok = checkHostKernels(program->plan()); !ok)
    return ok;
  LapackKernels calls;
  if (Status ok = makeLapackKernels(program->plan(),
                                    library ? *library : nullptr, calls);
      !ok)
    return ok;
  if (Status ok = program->prepare(); !ok)
    return ok;
  auto executor = std::make_shared<Executor>(std::move(program), ownership,
                                             std::move(calls));
  if (Status ok = executor->prepare(*provider, workers.count()); !ok)
    return ok;
  out = std::move(executor);
  return {};
}

Ticket CpuDevices::enqueue(Run run) {
  bool isAwaited = run.isAwaited;
  return queue.add(
      [this, run = std::move(run)]() mutable { return perform(run); },
      isAwaited);
}

Ticket CpuDevices::enqueue(const MemoryCopy &copy) {
  return queue.add(
      [copy]() -> Status {
        std::memmove(copy.to, copy.from, copy.bytes);
        return {};
      },
      /*isAwaited=*/false);
}

Status CpuDevices::setCollectives(CollectiveMode) {
  return makeError(StatusCode::InvalidArgument,
                   "the devices are CPUs, whose collectives have one way; "
                   "leave it out, or use cuda:N");
}

Status CpuDevices::canIsolate() const {
  if (workers.count() == 1)
    return {};
  return makeError(StatusCode::InvalidArgument,
                   "devices are kept apart by one worker, the runtime has ",
                   workers.count(), "; create it with 1");
}

Status CpuDevices::perform(Run &run) {
  // The program was prepared by this set, so it is an Executor.
  auto &executor = static_cast<Executor &>(*run.program);
  if (Status ok = growArenas(executor); !ok)
    return ok;
  if (run.poison)
    poison(executor.program()->plan(), run);
  bind(executor, run);
  Status result = run.isolate ? runIsolated(executor, run)
                              : executor.run(workers, nullptr, run.times);
  for (Memory &arena : arenas)
    arena.joinPages();
  for (Memory &memory : sharedArenas)
    memory.joinPages();
  if (result)
    result = readResults(run);
  return run.ended(std::move(result), executor.counts());
}

Status CpuDevices::growArenas(const Executor &executor) {
  const Plan &plan = executor.program()->plan();
  for (int64_t position : executor.positions()) {
    int64_t device = plan.mesh.devices[position];
    if (Status ok = grow(arenas[device], device, plan.arenaBytes, true); !ok)
      return ok;
  }
  size_t wanted = plan.sharings.size() * size_t(count);
  if (sharedArenas.size() < wanted)
    sharedArenas.resize(wanted);
  for (size_t s = 0; s < plan.sharings.size(); ++s)
    for (int64_t position : executor.positions())
      if (executor.firsts()[s][size_t(position)] == position) {
        int64_t device = plan.mesh.devices[position];
        if (Status ok = grow(sharedMemory(s, device), device,
                             plan.sharings[s].bytes, false);
            !ok)
          return ok;
      }
  return {};
}

Status CpuDevices::grow(Memory &memory, int64_t device, uint64_t bytes,
                        bool counts) {
  if (memory.data() && memory.size() >= bytes)
    return {};
  int64_t before = int64_t(memory.size());
  if (!memory.allocate(bytes, device))
    return makeError(StatusCode::OutOfMemory,
                     "no memory for the arena of device ", device, ": ", bytes,
                     " bytes; take a smaller batch, or more devices");
  // The arena of a device has room for what it shares, as on a real one.
  if (counts)
    meter->add(device, int64_t(bytes) - before);
  ++arenaVersion;
  return {};
}

void CpuDevices::bind(Executor &executor, Run &run) {
  const Plan &plan = executor.program()->plan();
  size_t positions = plan.mesh.devices.size();
  bool isShared =
      run.share && sharesPorts(plan, executor.firsts(), run.outputs);
  executor.bind(
      {arenaVersion, isShared, std::move(run.inputs), std::move(run.outputs)},
      [&](const Executor::Bound &to, int64_t position, size_t index) -> void * {
        const BufferInfo &buffer = plan.buffers[index];
        if (buffer.input >= 0)
          return to.inputs[size_t(buffer.input) * positions + size_t(position)];
        if (buffer.output >= 0)
          return to
              .outputs[size_t(buffer.output) * positions + size_t(position)];
        if (buffer.kind == BufferKind::constant)
          return const_cast<uint8_t *>(plan.constants) + buffer.offset;
        if (to.isShared && buffer.shared >= 0) {
          auto sharing = size_t(buffer.shared);
          int64_t first = executor.firsts()[sharing][size_t(position)];
          Memory &memory = sharedMemory(sharing, plan.mesh.devices[first]);
          return static_cast<char *>(memory.data()) + buffer.sharedOffset;
        }
        int64_t device = plan.mesh.devices[position];
        return static_cast<char *>(arenas[device].data()) + buffer.offset;
      });
}

void CpuDevices::poison(const Plan &plan, const Run &run) {
  for (int64_t device : plan.mesh.devices)
    if (arenas[device].data())
      std::memset(arenas[device].data(), 0xFF, plan.arenaBytes);
  for (Memory &memory : sharedArenas)
    if (memory.data())
      std::memset(memory.data(), 0xFF, memory.size());
  size_t positions = plan.mesh.devices.size();
  for (size_t i = 0; i < plan.outputs.size(); ++i)
    for (size_t p = 0; plan.outputs[i].donatedFrom < 0 && p < positions; ++p)
      if (void *local = run.outputs[i * positions + p])
        std::memset(local, 0xFF, plan.bytesAt(plan.outputs[i], int64_t(p)));
}

Status CpuDevices::runIsolated(Executor &executor, const Run &run) {
  const std::vector<int64_t> &devices = executor.program()->plan().mesh.devices;
  DeviceBorders borders(devices.size());
  auto positionOf = [&](int64_t device) {
    return size_t(std::ranges::find(devices, device) - devices.begin());
  };
  for (size_t device = 0; device < arenas.size(); ++device)
    borders.add({positionOf(int64_t(device))}, arenas[device]);
  for (size_t s = 0; s < executor.firsts().size(); ++s) {
    std::map<int64_t, std::vector<size_t>> groups;
    for (int64_t position : executor.positions())
      groups[executor.firsts()[s][size_t(position)]].push_back(
          size_t(position));
    for (const auto &[first, sharing] : groups)
      borders.add(sharing, sharedMemory(s, devices[size_t(first)]));
  }
  std::map<const DeviceMemory *, std::vector<size_t>> holders;
  for (auto [position, memory] : run.memory)
    holders[memory].push_back(size_t(position));
  for (const auto &[memory, sharing] : holders) // memory of these CPU devices
    borders.add(sharing, static_cast<const CpuMemory *>(memory)->memory());
  Status result = executor.run(workers, &borders, run.times);
  if (result && borders.refused())
    return makeError(StatusCode::OutOfMemory,
                     "the system refused to protect the "
                     "memory of ",
                     devices.size(),
                     " devices from each other; raise "
                     "vm.max_map_count, or take fewer devices");
  return result;
}

/// The number of cores for this process's workers. Processes that mpirun has
/// not bound to cores share the machine's.
static int coreCount() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0)
    return int(std::max(1u, std::thread::hardware_concurrency()));
  return CPU_COUNT(&set);
}

Status openCpuDevices(int64_t count, const DeviceSettings &settings,
                      std::unique_ptr<DeviceSet> &out) {
  int workers = settings.workers ? settings.workers : coreCount();
  if (settings.processes)
    workers = settings.processes->shareOfCores(workers);
  out = std::make_unique<CpuDevices>(count, workers, settings);
  return {};
}

} // namespace weft::runtime
