#include "weft/runtime/devices/cuda/GpuProgram.h"

#include <algorithm>

namespace weft::runtime {

Error GpuProgram::checkSupported(const std::vector<GpuShare> &shares) const {
  const Plan &plan = owner->plan();
  for (uint32_t n = 0; n < plan.kernels.size(); ++n)
    if (!std::holds_alternative<DeviceKernel>(plan.kernels[n].code))
      return makeError(WEFT_INCOMPATIBLE, "kernel ", plan.kernelName(n),
                       " of program \"", plan.name, "\" is for ", plan.target,
                       ", and these devices are GPUs; compile the program "
                       "with --target cuda:sm_80, or run it on cpu:N");
  for (uint32_t n = 0; n < plan.instructions.size(); ++n)
    if (plan.instructions[n].kind == plan::Operation::Collective)
      if (Error e = checkGroups(n, shares))
        return e;
  return nullptr;
}

Error GpuProgram::checkGroups(uint32_t instruction,
                              const std::vector<GpuShare> &shares) const {
  const Plan &plan = owner->plan();
  const Collective &collective =
      plan.collectives[plan.instructions[instruction].index];
  auto what = [&] {
    return plan.describe(instruction) + " of program \"" + plan.name + "\"";
  };
  if (std::holds_alternative<HostCall>(collective.code))
    return makeError(WEFT_INCOMPATIBLE, what(),
                     ": GPUs do not call functions of the host; run it on "
                     "cpu:N");
  for (const std::vector<int64_t> &group : collective.groups)
    for (int64_t member : group) {
      const GpuShare &first = shares[size_t(group[0])];
      const GpuShare &other = shares[size_t(member)];
      if (first.gpu != other.gpu)
        return makeError(WEFT_INCOMPATIBLE, what(), ": devices ", first.device,
                         " and ", other.device, " are on GPUs ",
                         first.gpu->ordinal(), " and ", other.gpu->ordinal(),
                         ", and collectives between GPUs are not there yet; "
                         "run it on one GPU (CUDA_VISIBLE_DEVICES=0), or on "
                         "cpu:N");
    }
  return nullptr;
}

Error GpuProgram::load(Image &image, int64_t device,
                       const std::shared_ptr<MemoryMeter> &meter) {
  const Plan &plan = owner->plan();
  for (const DeviceModule &code : plan.modules) {
    if (Error e = image.gpu->canRun(code.chip))
      return e;
    if (Error e = GpuModule::load(
            image.gpu, std::string(code.data.begin(), code.data.end()),
            "kernels of \"" + plan.name + "\"", image.modules.emplace_back()))
      return e;
  }
  for (const Kernel &kernel : plan.kernels) {
    const auto &its = std::get<DeviceKernel>(kernel.code);
    GpuFunction &launch = image.launches.emplace_back();
    if (Error e = image.modules[its.module]->find(
            its.symbol,
            {its.block[0] * its.block[1] * its.block[2], its.shared}, launch))
      return e;
    launch.blocks = unsigned(std::min<uint64_t>(its.blocks, launch.blocks));
  }
  return GpuMemory::copyOf({plan.constants, plan.constantBytes}, image.gpu,
                           device, "constants", meter, image.constants);
}

Error GpuProgram::placeCoordinates(const std::vector<GpuShare> &shares,
                                   const std::shared_ptr<MemoryMeter> &meter) {
  const Mesh &mesh = owner->plan().mesh;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    const GpuShare &share = shares[size_t(position)];
    std::vector<int64_t> coordinates;
    for (uint32_t a = 0; a < mesh.axes.size(); ++a)
      coordinates.push_back(
          coordinate(mesh.axes, position, {a, 1, mesh.axes[a].size}));
    std::span<const uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(coordinates.data()),
        coordinates.size() * sizeof(int64_t));
    if (Error e =
            GpuMemory::copyOf(bytes, share.gpu, share.device, "coordinates",
                              meter, places.emplace_back()))
      return e;
  }
  return nullptr;
}

Error GpuProgram::prepare(const std::vector<GpuShare> &shares,
                          const std::shared_ptr<MemoryMeter> &meter) {
  if (Error e = checkSupported(shares))
    return e;
  for (const GpuShare &share : shares) {
    gpuOf.push_back(share.gpu.get());
    if (auto [image, isNew] = images.try_emplace(share.gpu.get()); isNew) {
      image->second.gpu = share.gpu;
      if (Error e = load(image->second, share.device, meter))
        return e;
    }
  }
  if (Error e = placeCoordinates(shares, meter))
    return e;
  return meetings.prepare(owner->plan(), shares, meter);
}

} // namespace weft::runtime
