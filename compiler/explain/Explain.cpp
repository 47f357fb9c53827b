//===- Explain.cpp - communication and memory of a program ----------------===//

#include "weft/compiler/explain/Explain.h"

#include "weft/compiler/explain/DeviceClasses.h"

#include "weft/base/Saturating.h"
#include "weft/compiler/explain/Provenance.h"
#include "weft/dialects/plan/LocalArrays.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/LayoutPrice.h"
#include "weft/layout/Sizes.h"

#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace weft;

static std::string axisText(const Mesh &mesh, const SubAxis &axis) {
  const MeshAxis &full = mesh.axes[axis.axis];
  if (axis.size == full.size)
    return full.name;
  return full.name + ":(" + std::to_string(axis.skip) + ")" +
         std::to_string(axis.size);
}

/// How GPUs carry out a collective in a mode.
static std::string methodText(plan::StartOp op, CollectiveMode mode) {
  const Mesh mesh = op.getGroup().getMesh().getMesh();
  SubAxes axes = op.getGroupAxes();
  Communication its = op.getCommunication().getCommunication();
  std::vector<LocalArray> sources =
                              plan::localArrays(op.getSources().getTypes()),
                          targets =
                              plan::localArrays(op.getTargets().getTypes());
  if (std::holds_alternative<HostCall>(its))
    return "nothing, as GPUs do not call functions of the host";
  switch (methodOf(mode, its, {mesh, axes}, sources, targets)) {
  case CollectiveMethod::Peer:
    return "a kernel on the memory of all GPUs";
  case CollectiveMethod::Exchange:
    return "ncclSend, ncclRecv and a kernel";
  case CollectiveMethod::Library:
    break;
  }
  return std::string(
      functionName(*ncclCallOf(its, {mesh, axes}, sources, targets)));
}

CollectiveCost weft::explainCollective(plan::StartOp op, const Mesh &mesh) {
  CollectiveCost cost;
  cost.kind = op.getName().str();
  cost.bytes = op.getBytesSent();
  cost.reason = op.getReason().value_or("").str();
  if (int64_t times = op.getTimes().value_or(1))
    cost.count = times;
  else
    cost.reason += "; each time of a loop whose end depends on data";
  cost.where = pathsOf(op.getLoc());
  cost.lines = linesOf(op.getLoc());
  for (SubAxes links = op.getLinks(); const SubAxis &axis : links)
    cost.axes.push_back(axisText(mesh, axis));
  for (size_t mode = 0; mode < cost.methods.size(); ++mode)
    cost.methods[mode] = methodText(op, CollectiveMode(mode));
  return cost;
}

/// Whether a result reuses the input's memory, as for values that a step
/// updates.
static bool isDonated(plan::InputOp input) {
  return llvm::any_of(input->getUsers(), [&](Operation *user) {
    auto output = dyn_cast<plan::OutputOp>(user);
    return output && output.getDonated() == input.getBuffer();
  });
}

void weft::addArgument(int64_t bytes, StringRef role, bool isDonated,
                       MemoryUse &memory) {
  bool saysNothing = role == "input" || role == "other";
  memory.hasRoles |= !saysNothing;
  if (role == "weight" || role == "state" || (saysNothing && isDonated))
    memory.weights += bytes;
  else if (role == "slot")
    memory.optimizer += bytes;
  else
    memory.batch += bytes;
}

static void addInput(plan::InputOp input, MemoryUse &memory) {
  addArgument(bufferBytes(cast<MemRefType>(input.getBuffer().getType())),
              input.getRole(), isDonated(input), memory);
}

/// The memory of the ports on the device that has most: ports may be on parts of
/// the mesh.
static MemoryUse portsOfBusiest(plan::ProgramOp program) {
  std::vector<MeshPart> parts;
  for (auto input : program.getOps<plan::InputOp>())
    parts.push_back(input.getLayout().getLayout().part);
  for (auto output : program.getOps<plan::OutputOp>())
    parts.push_back(output.getLayout().getLayout().part);
  std::optional<MemoryUse> most;
  for (const MeshPart &devices : deviceClasses(parts)) {
    auto isHere = [&](auto port) {
      return includes(port.getLayout().getLayout().part, devices);
    };
    MemoryUse memory;
    for (auto input : program.getOps<plan::InputOp>())
      if (isHere(input))
        addInput(input, memory);
    for (auto output : program.getOps<plan::OutputOp>())
      if (isHere(output) && !output.getDonated())
        memory.activations +=
            bufferBytes(cast<MemRefType>(output.getBuffer().getType()));
    if (!most || memory.total() > most->total())
      most = memory;
  }
  return *most;
}

/// Bytes of the arena that are in use at the start of the backward part.
static int64_t keptForGradients(plan::ProgramOp program) {
  Operation *border = beginOfBackward(program);
  if (!border)
    return 0;
  llvm::SmallVector<std::pair<int64_t, int64_t>> held;
  for (auto buffer : program.getOps<plan::BufferOp>()) {
    bool before = false, after = false;
    for (Operation *user : buffer->getUsers()) {
      bool isBefore = user->isBeforeInBlock(border);
      before |= isBefore;
      after |= !isBefore;
    }
    int64_t begin = buffer.getOffset();
    auto type = cast<MemRefType>(buffer.getBuffer().getType());
    if (before && after)
      held.push_back({begin, begin + bufferBytes(type)});
  }
  llvm::sort(held);
  int64_t bytes = 0, end = 0;
  for (auto [first, last] : held) {
    bytes += std::max<int64_t>(0, last - std::max(first, end));
    end = std::max(end, last);
  }
  return bytes;
}

/// The text of a mesh: "8 devices, data=2 x model=4".
static std::string deviceText(const Mesh &mesh) {
  if (mesh.size() == 1)
    return "1 device";
  std::string text;
  for (const MeshAxis &axis : mesh.axes)
    text += (text.empty() ? "" : " x ") + axis.name + "=" +
            std::to_string(axis.size);
  return std::to_string(mesh.size()) + " devices, " + text;
}

int64_t CollectiveCost::totalBytes() const {
  return saturatingMultiply(count, bytes);
}

int64_t Explanation::totalBytes() const {
  std::vector<AmountAt> bytes;
  for (const CollectiveCost &cost : collectives)
    bytes.push_back({cost.part, cost.totalBytes()});
  return mostOnOneDevice(bytes);
}

int64_t Explanation::totalCount() const {
  std::vector<AmountAt> counts;
  for (const CollectiveCost &cost : collectives)
    counts.push_back({cost.part, cost.count});
  return mostOnOneDevice(counts);
}

int64_t Explanation::leastBytes() const {
  int64_t saved = layoutsUnproved ? INT64_MAX
                  : layouts       ? layouts->mostSaved
                                  : 0;
  return std::max<int64_t>(totalBytes() - saved, 0);
}

int64_t Explanation::gap() const {
  if (layoutsUnproved)
    return kGapParts;
  int64_t bytes = totalBytes(), saved = bytes - leastBytes();
  return saved == 0 ? 0
                    : int64_t(std::ceil(double(kGapParts) * double(saved) /
                                        double(bytes)));
}

Explanation weft::explainProgram(plan::ProgramOp program) {
  Explanation result;
  Mesh mesh = program.getMesh().getMesh();
  result.step = program.getSymName().str();
  result.devices = deviceText(mesh);
  if (auto priced = program->getAttrOfType<DenseI64ArrayAttr>(kLayoutPriceAttr);
      priced && priced.size() == 3)
    result.layouts = {priced[0], priced[2]};
  else
    result.layoutsUnproved = bool(priced);
  MeshPart part; // the part of the present instructions
  StringAttr end;
  for (Operation &op : program.getBody().front()) {
    result.instructions += !isa<plan::WaitOp>(op);
    if (auto collective = dyn_cast<plan::StartOp>(op)) {
      result.collectives.push_back(explainCollective(collective, mesh));
      result.collectives.back().part = part;
    } else if (auto jump = dyn_cast<plan::JumpOutsideOp>(op)) {
      part = jump.getPlace().getLayout().part;
      end = jump.getTargetAttr();
    } else if (auto label = dyn_cast<plan::LabelOp>(op);
               label && label.getNameAttr() == end) {
      part.clear();
    }
  }
  MemoryUse &memory = result.memory = portsOfBusiest(program);
  int64_t kept = keptForGradients(program);
  memory.activations += kept;
  memory.temporaries = program.getArena() - kept;
  result.times = timesOf(program);
  return result;
}

Explanation weft::explainProgram(ModuleOp module) {
  return explainProgram(*module.getOps<plan::ProgramOp>().begin());
}
