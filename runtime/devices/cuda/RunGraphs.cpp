//===- RunGraphs.cpp - pieces of a run as graphs --------------------------===//

#include "weft/runtime/devices/cuda/RunSchedule.h"

#include <algorithm>

namespace weft::runtime {

bool RunSchedule::areTogether() const {
  const Standing &first = devices[own.front()].standing;
  return std::ranges::all_of(own, [&](size_t p) {
    const Standing &its = devices[p].standing;
    return !its.hasReturned && its.pc == first.pc;
  });
}

uint32_t RunSchedule::pieceEnd(uint32_t first) const {
  uint32_t all = program.pieceEnd(first), end = first;
  auto leavesGpus = [&](const Instruction &i) {
    return i.kind == plan::Operation::Start && !isWithinGpus[i.index];
  };
  while (end < all && !leavesGpus(plan.instructions[end]))
    ++end;
  return end;
}

Status RunSchedule::runTogether() {
  while (areTogether()) {
    uint32_t first = devices[own.front()].standing.pc, end = pieceEnd(first);
    Status ok;
    if (end == first)
      ok = plan.instructions[first].kind == plan::Operation::Start
               ? runDevices(first + 1, own)
               : jump(plan.instructions[first]);
    for (const Part &part : graphs)
      if (end != first && ok)
        ok = runPiece(part, end);
    if (!ok)
      return ok;
  }
  return {};
}

/// Lets all devices follow a jump, or return.
Status RunSchedule::jump(const Instruction &instruction) {
  bool isConditional = instruction.kind == plan::Operation::JumpUnless;
  if (isConditional) {
    if (Status ok = bindDevices(); !ok)
      return ok;
    if (Status ok = join(); !ok)
      return ok;
  }
  for (size_t p : own) {
    Device &device = devices[p];
    bool isTrue = true;
    if (isConditional)
      if (Status ok = device.step->isTrue(instruction.index, leadOf(p), isTrue);
          !ok)
        return ok;
    if (instruction.kind == plan::Operation::JumpOutside)
      isTrue = isIn(plan.mesh.axes, plan.parts[instruction.index], int64_t(p));
    follow(instruction, isTrue, device.standing);
  }
  return {};
}

Status RunSchedule::upload() {
  const GpuStream &stream = *lanes[own.front()].stream;
  const Driver &driver = stream.gpu().driver();
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  for (const Upload &its : uploads) {
    BytesTouched touched = {its.to, its.to + its.bytes, /*isWritten=*/true};
    if (recording)
      if (Status ok = recording->before({&touched, 1}); !ok)
        return ok;
    if (Status ok =
            driver.check(driver.cuMemcpyHtoDAsync(its.to, its.from, its.bytes,
                                                  stream.handle()),
                         "cuMemcpyHtoDAsync of an array that waited");
        !ok)
      return ok;
    if (recording)
      if (Status ok = recording->after(); !ok)
        return ok;
  }
  if (!recording)
    uploads.clear();
  return {};
}

/// Runs the piece at which the devices of a part stand.
Status RunSchedule::runPiece(const Part &part, uint32_t end) {
  size_t lead = part.positions.front();
  uint32_t first = devices[lead].standing.pc;
  GraphCache::Entry *found = nullptr;
  GraphCache::Places places = part.places;
  for (const Upload &its : uploads) {
    places.push_back(reinterpret_cast<const void *>(its.to));
    places.push_back(its.from);
  }
  if (Status ok = program.graphs().find({first, lead}, places,
                                        *lanes[lead].stream, found);
      !ok)
    return ok;
  GraphCache::Entry &entry = *found;
  bool isWorthwhile = (end - first) * part.positions.size() > 1;
  if (!entry.graph && entry.hasRun && isWorthwhile)
    if (Status ok = capture(part, entry, end); !ok)
      return ok;
  if (entry.graph)
    return launch(part, entry, end);
  if (Status ok = upload(); !ok)
    return ok;
  Status ok = runDevices(end, part.positions);
  entry.hasRun = bool(ok);
  return ok;
}

Status RunSchedule::capture(const Part &part, GraphCache::Entry &entry,
                            uint32_t end) {
  if (Status ok = bindDevices(); !ok)
    return ok;
  if (Status ok = join(); !ok)
    return ok;
  const GpuStream &stream = *lanes[part.positions.front()].stream;
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  std::vector<Standing> standings;
  std::vector<CollectiveCounts> counted;
  std::unique_ptr<GraphCapture> made;
  if (Status ok = GraphCapture::begin(stream, made); !ok)
    return ok;
  for (size_t p : part.positions) {
    Device &device = devices[p];
    standings.push_back(device.standing);
    counted.push_back(std::exchange(
        device.counts, CollectiveCounts(plan.counterNames.size())));
    device.step->record(made.get());
  }
  recording = made.get();
  Status ok = upload();
  if (ok)
    ok = runDevices(end, part.positions);
  recording = nullptr;
  entry.counts = devices[part.positions.front()].counts;
  entry.last.clear();
  for (size_t n = 0; n < part.positions.size(); ++n) {
    Device &device = devices[part.positions[n]];
    device.step->record(nullptr);
    device.standing = standings[n];
    device.counts = std::move(counted[n]);
    entry.last.push_back(device.last);
  }
  entry.tables = program.collectives().pointers();
  return ok ? made->end(entry.graph) : ok;
}

Status RunSchedule::launch(const Part &part, const GraphCache::Entry &entry,
                           uint32_t end) {
  if (Status ok = join(); !ok)
    return ok;
  for (size_t n = 0; n < part.positions.size(); ++n) {
    Device &device = devices[part.positions[n]];
    device.standing.pc = end;
    device.last = entry.last[n];
    for (size_t name = 0; name < device.counts.size(); ++name) {
      device.counts[name].occurrences += entry.counts[name].occurrences;
      device.counts[name].bytes += entry.counts[name].bytes;
    }
  }
  uploads.clear(); // nodes of the graph
  const GpuStream &stream = *lanes[part.positions.front()].stream;
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  return entry.graph->launch(stream);
}

} // namespace weft::runtime
