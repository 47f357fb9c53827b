// The part of a plan about buffers that devices share.

#include "weft/layout/DeviceGroups.h"
#include "weft/runtime/program/Hazards.h"
#include "weft/runtime/program/PlanReader.h"

namespace weft::runtime {

/// The most sharings of a plan, which are as many as sets of axes.
constexpr size_t mostSharings = 256;

Status PlanReader::readSharings() {
  if (in.sharings() && in.sharings()->size() > mostSharings)
    return badPlan("has ", in.sharings()->size(), " sharings, at most ",
                   mostSharings);
  for (size_t n = 0; in.sharings() && n < in.sharings()->size(); ++n) {
    SubAxes axes = readAxes(in.sharings()->Get(n)->axes());
    std::string reason = weft::invalidReason(out.mesh.axes, axes);
    if (!reason.empty())
      return badPlan("sharing ", n, ": ", reason);
    out.sharings.push_back({groupsOver(out.mesh.axes, axes).groupOf});
  }
  return {};
}

Status PlanReader::readShared(const std::string &what, int32_t shared,
                              int32_t &number) const {
  if (shared < -1 || shared >= int64_t(out.sharings.size()))
    return badPlan(what, " has the sharing ", shared, " of ",
                   out.sharings.size());
  number = shared;
  return {};
}

/// Checks that an instruction writes a buffer which is shared as it is.
Status PlanReader::checkShared(const std::string &what, int32_t its,
                               uint32_t written) const {
  int32_t wanted = out.buffers[written].shared;
  if (wanted == its)
    return {};
  return badPlan(what, " has the sharing ", its, " and writes buffer ", written,
                 " of sharing ", wanted);
}

/// Checks that the devices that share a target are members of one group.
Status PlanReader::checkSharedTargets(const std::string &what,
                                      const Collective &its) const {
  for (const Collective::Array &target : its.targets) {
    int32_t shared = out.buffers[target.buffer].shared;
    if (shared < 0)
      continue;
    std::vector<int64_t> firsts =
        out.sharings[size_t(shared)].firsts([](int64_t) { return true; });
    for (size_t p = 0; p < firsts.size(); ++p)
      if (its.groupOf[p] != its.groupOf[size_t(firsts[p])])
        return badPlan(what, " writes buffer ", target.buffer, " of sharing ",
                       shared, " in other groups for positions ", firsts[p],
                       " and ", p);
  }
  return {};
}

/// Checks that devices which share a port hold the same shard of it.
Status PlanReader::checkSharedPorts(const std::vector<Port> &ports) const {
  for (const Port &port : ports) {
    int32_t shared = out.buffers[port.buffer].shared;
    if (shared < 0)
      continue;
    std::vector<int64_t> firsts =
        out.sharings[size_t(shared)].firsts([](int64_t) { return true; });
    SubAxes axes = port.layout.partial;
    for (const SubAxes &dim : port.layout.dims)
      axes.insert(axes.end(), dim.begin(), dim.end());
    for (size_t p = 0; p < firsts.size(); ++p)
      if (coordinate(out.mesh.axes, int64_t(p), axes) !=
          coordinate(out.mesh.axes, firsts[p], axes))
        return badPlan("\"", port.name, "\" has the sharing ", shared,
                       ", in which positions ", firsts[p], " and ", p,
                       " hold different shards");
  }
  return {};
}

Status PlanReader::checkSharings() {
  if (out.sharings.empty())
    return {};
  if (Status ok = checkSharedPorts(out.inputs); !ok)
    return ok;
  if (Status ok = checkSharedPorts(out.outputs); !ok)
    return ok;
  for (size_t b = 0; b < out.buffers.size(); ++b) {
    const BufferInfo &buffer = out.buffers[b];
    if (buffer.shared < 0 || buffer.kind != BufferKind::arena)
      continue;
    if (buffer.sharedOffset > largestMemory ||
        buffer.sharedOffset % uint64_t(elementBytes(buffer.dtype)))
      return badPlan("buffer ", b, " is at ", buffer.sharedOffset,
                     " of shared memory, which is not aligned or too far");
    uint64_t &bytes = out.sharings[size_t(buffer.shared)].bytes;
    bytes = std::max(bytes, buffer.sharedOffset + buffer.bytes);
  }
  for (uint32_t n = 0; n < out.instructions.size(); ++n) {
    const Instruction &i = out.instructions[n];
    Status ok;
    if (i.kind == plan::Operation::Start)
      ok = checkSharedTargets(out.describe(n), out.collectives[i.index]);
    else if (i.kind == plan::Operation::Copy)
      ok = checkShared(out.describe(n), i.shared, i.target);
    else if (i.kind == plan::Operation::Launch &&
             out.kernels[i.index].results) {
      uint32_t results = out.kernels[i.index].results;
      uint32_t end = i.firstArgument + i.argumentCount -
                     (out.kernels[i.index].scratch ? 1 : 0);
      for (uint32_t a = end - results; ok && a < end; ++a)
        ok = checkShared(out.describe(n), i.shared, out.arguments[a]);
    }
    if (!ok)
      return ok;
  }
  return {};
}

SharedCounts countShared(const Plan &plan,
                         std::span<const std::vector<int64_t>> firsts) {
  std::vector<uint64_t> sharers; // that are not the first
  for (const std::vector<int64_t> &its : firsts) {
    uint64_t &count = sharers.emplace_back(0);
    for (size_t p = 0; p < its.size(); ++p)
      count += its[p] != int64_t(p);
  }
  SharedCounts out;
  for (const BufferInfo &buffer : plan.buffers)
    if (buffer.shared >= 0 && buffer.kind != BufferKind::arena)
      out.bytes += sharers[size_t(buffer.shared)] * buffer.bytes;
  for (size_t s = 0; s < sharers.size(); ++s)
    out.bytes += sharers[s] * plan.sharings[s].bytes;
  int32_t before = -1;
  for (const Instruction &i : plan.instructions) {
    bool isJoint = i.shared >= 0 && sharers[size_t(i.shared)];
    out.instructions += isJoint;
    out.waits += isJoint && i.shared != before;
    before = i.shared;
  }
  return out;
}

bool sharesPorts(const Plan &plan, std::span<const std::vector<int64_t>> firsts,
                 std::span<void *const> outputs) {
  size_t positions = plan.mesh.devices.size();
  for (const BufferInfo &buffer : plan.buffers) {
    if (buffer.shared < 0 || buffer.output < 0)
      continue;
    auto its = outputs.subspan(size_t(buffer.output) * positions, positions);
    const std::vector<int64_t> &first = firsts[size_t(buffer.shared)];
    for (size_t p = 0; p < positions; ++p)
      if (its[p] != its[size_t(first[p])])
        return false;
  }
  return true;
}

} // namespace weft::runtime
