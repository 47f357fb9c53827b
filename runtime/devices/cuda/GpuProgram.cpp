#include "weft/runtime/devices/cuda/GpuProgram.h"

#include <algorithm>
#include <numeric>

namespace weft::runtime {

Status GpuProgram::checkSupported() const {
  const Plan &plan = owner->plan();
  for (uint32_t n = 0; n < plan.kernels.size(); ++n)
    if (std::holds_alternative<HostKernel>(plan.kernels[n].code) ||
        std::holds_alternative<Builtin>(plan.kernels[n].code))
      return std::holds_alternative<Builtin>(plan.kernels[n].code)
                 ? makeError(StatusCode::Incompatible, "kernel ",
                             plan.kernelName(n), " of program \"", plan.name,
                             "\" is a routine of the host, and these devices "
                             "are GPUs; compile and run it for cpu:N")
                 : makeError(
                       StatusCode::Incompatible, "kernel ", plan.kernelName(n),
                       " of program \"", plan.name, "\" is for ", plan.target,
                       ", and these devices are GPUs; compile the "
                       "program with ",
                       Option{"target", "cuda:sm_80"}, ", or run it on cpu:N");
  for (uint32_t n = 0; n < plan.instructions.size(); ++n)
    if (plan.instructions[n].kind == plan::Operation::Start)
      if (Status ok = checkCollective(n); !ok)
        return ok;
  return {};
}

Status GpuProgram::checkCollective(uint32_t instruction) const {
  const Plan &plan = owner->plan();
  const Collective &collective =
      plan.collectives[plan.instructions[instruction].index];
  if (!std::holds_alternative<HostCall>(collective.code))
    return {};
  return makeError(StatusCode::Incompatible, plan.describe(instruction),
                   " of program \"", plan.name,
                   "\": GPUs do not call functions of the host; run it on "
                   "cpu:N");
}

/// The instructions that devices may execute a different number of times if
/// they do not all follow a jump: first to end - 1.
static std::pair<uint32_t, uint32_t> governedBy(const Plan &plan,
                                                uint32_t jump) {
  auto isJump = [&](uint32_t n) {
    plan::Operation kind = plan.instructions[n].kind;
    return kind == plan::Operation::Jump ||
           kind == plan::Operation::JumpUnless ||
           kind == plan::Operation::JumpOutside;
  };
  uint32_t first = jump, end = jump + 1;
  for (bool grows = true; grows;) {
    grows = false;
    for (uint32_t n = first; n < end; ++n) {
      if (!isJump(n))
        continue;
      uint32_t target = plan.instructions[n].target;
      grows |= target < first || target > end;
      first = std::min(first, target);
      end = std::max(end, target);
    }
  }
  return {first, end};
}

Status GpuProgram::checkOrder() const {
  const Plan &plan = owner->plan();
  auto leavesProcess = [&](const std::vector<int64_t> &members) {
    return std::ranges::any_of(members, [&](int64_t member) {
      return owners.of(member) != owners.of(members.front());
    });
  };
  for (uint32_t jump = 0; jump < plan.instructions.size(); ++jump) {
    const Instruction &its = plan.instructions[jump];
    if (its.kind != plan::Operation::JumpUnless || its.isEqual)
      continue;
    auto [first, end] = governedBy(plan, jump);
    for (uint32_t n = first; n < end; ++n) {
      const Instruction &start = plan.instructions[n];
      if (start.kind != plan::Operation::Start ||
          std::ranges::none_of(plan.collectives[start.index].groups,
                               leavesProcess))
        continue;
      return makeError(
          StatusCode::Incompatible, plan.describe(n), " of program \"",
          plan.name,
          "\" is between GPUs of several processes, and devices may come to it "
          "a different number of times: the condition of ",
          plan.describe(jump),
          " is not proven equal on all of them; reduce the condition over the "
          "axes along which it differs, or run one process");
    }
  }
  return {};
}

Status GpuProgram::loadKernels(Image &image) {
  const Plan &plan = owner->plan();
  image.launches.resize(plan.kernels.size());
  for (size_t n = 0; n < plan.kernels.size(); ++n) {
    const auto *its = std::get_if<DeviceKernel>(&plan.kernels[n].code);
    if (!its)
      continue;
    GpuFunction &launch = image.launches[n];
    if (Status ok = image.modules[its->module]->find(
            its->symbol,
            {its->block[0] * its->block[1] * its->block[2], its->shared},
            launch);
        !ok)
      return ok;
    launch.blocks = unsigned(std::min<uint64_t>(its->blocks, launch.blocks));
  }
  return {};
}

const DeviceKernel &codeOf(const Plan &plan, uint32_t kernel) {
  const auto &code = plan.kernels[kernel].code;
  if (const auto *library = std::get_if<LibraryContraction>(&code))
    return codeOf(plan, library->fallback);
  if (const auto *sequence = std::get_if<KernelSequence>(&code))
    return codeOf(plan, sequence->kernels.front());
  return std::get<DeviceKernel>(code);
}

/// The types that all of a kernel's launches have in common.
Status GpuProgram::typesOf(uint32_t kernel, GpuContraction::Types &out) const {
  const Plan &plan = owner->plan();
  const auto &its = std::get<LibraryContraction>(plan.kernels[kernel].code);
  bool isFirst = true;
  for (const Instruction &i : plan.instructions) {
    if (i.kind != plan::Operation::Launch || i.index != kernel)
      continue;
    auto typeOf = [&](uint32_t n) {
      return plan.buffers[plan.arguments[i.firstArgument + n]].dtype;
    };
    GpuContraction::Types types = {typeOf(0), typeOf(its.resultArgument())};
    if (typeOf(1) != types.operand ||
        (!isFirst &&
         (types.operand != out.operand || types.result != out.result)))
      return makeError(StatusCode::InvalidArgument,
                       "bad plan: ", plan.kernelName(kernel), " of program \"",
                       plan.name, "\" is launched on ",
                       plan::EnumNameDType(types.operand), ", ",
                       plan::EnumNameDType(typeOf(1)), " and ",
                       plan::EnumNameDType(types.result),
                       "; both operands, and all launches, have one type");
    out = types;
    isFirst = false;
  }
  return {};
}

Status GpuProgram::loadContractions(Image &image) {
  const Plan &plan = owner->plan();
  image.contractions.resize(plan.kernels.size());
  for (uint32_t n = 0; n < plan.kernels.size(); ++n) {
    const auto *its = std::get_if<LibraryContraction>(&plan.kernels[n].code);
    if (!its)
      continue;
    GpuContraction::Types types = {};
    if (Status ok = typesOf(n, types); !ok)
      return ok;
    image.libraries->prepare(codeOf(plan, its->fallback).symbol, *its, types,
                             image.contractions[n]);
  }
  return {};
}

uint64_t GpuProgram::workspaceBytes() const {
  uint64_t bytes = 0;
  for (const auto &[gpu, image] : images)
    for (const std::unique_ptr<GpuContraction> &its : image.contractions)
      bytes = std::max(bytes, its ? its->workspaceBytes() : 0);
  return bytes;
}

Status GpuProgram::load(Image &image, const GpuShare &share,
                        const std::shared_ptr<MemoryMeter> &meter) {
  const Plan &plan = owner->plan();
  for (const DeviceModule &code : plan.modules) {
    if (Status ok = image.gpu->canRun(code.chip); !ok)
      return ok;
    if (Status ok = GpuModule::load(
            image.gpu, std::string(code.data.begin(), code.data.end()),
            "kernels of \"" + plan.name + "\"", image.modules.emplace_back());
        !ok)
      return ok;
  }
  if (Status ok = loadKernels(image); !ok)
    return ok;
  if (Status ok = loadContractions(image); !ok)
    return ok;
  return GpuMemory::copyOf({plan.constants, plan.constantBytes}, image.gpu,
                           share.device, "constants", meter, image.constants);
}

Status GpuProgram::placeCoordinates(const std::vector<GpuShare> &shares,
                                    const std::shared_ptr<MemoryMeter> &meter) {
  const Mesh &mesh = owner->plan().mesh;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    const GpuShare &share = shares[size_t(position)];
    std::unique_ptr<GpuMemory> &place = places.emplace_back();
    if (!share.gpu)
      continue;
    std::vector<int64_t> coordinates;
    for (uint32_t a = 0; a < mesh.axes.size(); ++a)
      coordinates.push_back(
          coordinate(mesh.axes, position, {a, 1, mesh.axes[a].size}));
    std::span<const uint8_t> bytes(
        reinterpret_cast<const uint8_t *>(coordinates.data()),
        coordinates.size() * sizeof(int64_t));
    if (Status ok = GpuMemory::copyOf(bytes, share.gpu, share.device,
                                      "coordinates", meter, place);
        !ok)
      return ok;
  }
  return {};
}

Status GpuProgram::prepare(const std::vector<GpuShare> &shares,
                           const std::shared_ptr<MemoryMeter> &meter) {
  if (Status ok = checkSupported(); !ok)
    return ok;
  if (Status ok = checkOrder(); !ok)
    return ok;
  for (const GpuShare &share : shares) {
    gpuOf.push_back(share.gpu.get());
    if (!share.gpu)
      continue;
    if (auto [image, isNew] = images.try_emplace(share.gpu.get()); isNew) {
      image->second.gpu = share.gpu;
      image->second.libraries = share.libraries;
      if (Status ok = load(image->second, share, meter); !ok)
        return ok;
    }
  }
  if (Status ok = placeCoordinates(shares, meter); !ok)
    return ok;
  pieceEnds.resize(owner->plan().instructions.size());
  std::iota(pieceEnds.begin(), pieceEnds.end(), 0);
  for (StraightPiece piece : straightPieces(owner->plan()))
    std::fill(pieceEnds.begin() + piece.first, pieceEnds.begin() + piece.end,
              piece.end);
  return meetings.prepare(owner->plan(), shares, meter);
}

} // namespace weft::runtime
