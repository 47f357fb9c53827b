// Starts of collectives in a plan, and the waits for them.

#include "weft/runtime/program/PlanReader.h"

#include <algorithm>

namespace weft::runtime {

Status PlanReader::readArrays(const std::string &what,
                              const flatbuffers::Vector<uint32_t> *buffers,
                              std::vector<Collective::Array> &arrays) const {
  for (size_t n = 0; buffers && n < buffers->size(); ++n) {
    uint32_t buffer = buffers->Get(unsigned(n));
    if (buffer >= out.buffers.size())
      return badPlan(what, " takes buffer ", buffer, " of ",
                     out.buffers.size());
    const BufferInfo &info = out.buffers[buffer];
    Collective::Array array;
    array.type = ElementType(info.dtype);
    array.shape = info.shape;
    array.buffer = buffer;
    array.bytes = info.bytes;
    arrays.push_back(std::move(array));
  }
  return {};
}

/// Checks that targets are writable and disjoint from each other and from
/// sources, which are read meanwhile: only a collective that works in place may
/// have a source as a target, each array onto itself.
Status PlanReader::checkDisjoint(const std::string &what,
                                 const Collective &info) const {
  auto shared = [&](uint32_t a, uint32_t b) {
    return badPlan(what, " has buffers ", a, " and ", b, " in shared memory");
  };
  bool inPlace = worksInPlace(info.code);
  for (size_t m = 0; m < info.targets.size(); ++m) {
    uint32_t target = info.targets[m].buffer;
    if (Status ok = checkWritable(what, target); !ok)
      return ok;
    for (size_t n = 0; n < info.sources.size(); ++n) {
      uint32_t source = info.sources[n].buffer;
      bool same = inPlace && n == m &&
                  out.buffers[source].offset == out.buffers[target].offset;
      if (!same && overlap(source, target))
        return shared(source, target);
    }
    for (size_t n = 0; n < m; ++n)
      if (overlap(info.targets[n].buffer, target))
        return shared(info.targets[n].buffer, target);
  }
  return {};
}

//===----------------------------------------------------------------------===//
// Reading from the file
//===----------------------------------------------------------------------===//

static std::vector<MovedSource> readSources(
    const flatbuffers::Vector<flatbuffers::Offset<plan::MovedSource>> *in) {
  std::vector<MovedSource> sources;
  if (in)
    for (const plan::MovedSource *each : *in) {
      std::vector<int64_t> shape = readShape(each->shape());
      Layout layout = readLayout(each->layout(), shape.size());
      sources.push_back({std::move(shape), std::move(layout)});
    }
  return sources;
}

/// Reads the kind; false for an unknown one.
static bool readKind(const plan::Start &in, Communication &code) {
  if (const auto *its = in.kind_as_combination()) {
    Combination &made = code.emplace<Combination>();
    made.kind = weft::ReduceKind(its->reduce());
    if (its->dim() != -1)
      made.dim = its->dim();
  } else if (const auto *its = in.kind_as_movement()) {
    std::vector<int64_t> shape = readShape(its->shape());
    std::optional<MovedBoxes> boxes = boxesOf(readShape(its->boxes()));
    if (!boxes)
      return false;
    std::vector<int64_t> toShape = readShape(its->to_shape());
    Layout from = readLayout(its->from(), shape.size()),
           to = readLayout(its->to(),
                           boxes->empty() ? shape.size() : toShape.size());
    from.part = readPart(its->from_part());
    to.part = readPart(its->to_part());
    code = Movement{std::move(shape),
                    std::move(from),
                    std::move(to),
                    its->is_ring(),
                    std::move(*boxes),
                    std::move(toShape),
                    readSources(its->others())};
  } else if (const auto *its = in.kind_as_fetching()) {
    Fetching &made = code.emplace<Fetching>();
    made.dim = its->dim();
    if (const plan::FetchedPositions *at = its->positions())
      made.positions = {at->size(),   at->block(),   at->step(),
                        at->offset(), at->divisor(), at->modulus()};
  } else if (const auto *its = in.kind_as_sending()) {
    code = Sending{readShape(its->senders())};
  } else if (const auto *its = in.kind_as_host_call()) {
    code = HostCall{its->function()};
  } else {
    return false;
  }
  return true;
}

/// Refuses numbers of a fetch with which the runtime cannot count.
static Status checkNumbers(const std::string &what, const Communication &code) {
  const auto *its = std::get_if<Fetching>(&code);
  if (!its || !its->positions)
    return {};
  const FetchedPositions &at = *its->positions;
  constexpr int64_t most = int64_t(1) << 40;
  for (int64_t number :
       {at.size, at.block, at.step, at.offset, at.divisor, at.modulus})
    if (number < -most || number > most)
      return badPlan(what, " fetches of ", at.size, " at block ", at.block,
                     " step ", at.step, " offset ", at.offset, " divisor ",
                     at.divisor, " modulus ", at.modulus,
                     "; none is beyond 2^40");
  return {};
}

/// Refuses what the format has room for and this runtime does not do.
static Status checkImplemented(const std::string &what, const plan::Start &in) {
  if (in.stream() != -1)
    return badPlan(what, " is for stream ", in.stream(),
                   ", this runtime chooses streams itself");
  return {};
}

/// The arrays without their buffers.
static std::vector<LocalArray>
plainArrays(const std::vector<Collective::Array> &arrays) {
  return {arrays.begin(), arrays.end()};
}

uint64_t bytesSent(const Mesh &mesh, const Collective &collective) {
  return uint64_t(weft::bytesSent(collective.code, {mesh, collective.axes},
                                  plainArrays(collective.sources),
                                  plainArrays(collective.targets)));
}

Status PlanReader::readStart(size_t index, const plan::Start &start,
                             Instruction &i) {
  Collective info;
  std::string what = "instruction " + std::to_string(index);
  if (!readKind(start, info.code))
    return badPlan(what, " is the unknown collective ", int(start.kind_type()));
  info.name = readText(start.name());
  if (info.name.empty())
    return badPlan(what, " is a collective without a name");
  what += " (" + info.name + ")";
  if (Status ok = checkImplemented(what, start); !ok)
    return ok;
  if (Status ok = checkNumbers(what, info.code); !ok)
    return ok;
  info.axes = readAxes(start.group());
  std::string reason = weft::invalidReason(out.mesh.axes, info.axes);
  if (!reason.empty())
    return badPlan(what, ": ", reason);
  info.label = readText(start.label());
  if (Status ok = readArrays(what, start.sources(), info.sources); !ok)
    return ok;
  if (Status ok = readArrays(what, start.targets(), info.targets); !ok)
    return ok;
  reason =
      weft::invalidReason(info.code, {out.mesh, info.axes},
                          plainArrays(info.sources), plainArrays(info.targets));
  if (!reason.empty())
    return badPlan(what, " ", reason);
  if (Status ok = checkDisjoint(what, info); !ok)
    return ok;
  DeviceGroups all = groupsOf(info.code, {out.mesh, info.axes});
  info.groups = std::move(all.groups);
  info.groupOf = std::move(all.groupOf);
  info.memberOf = std::move(all.memberOf);
  auto known = std::ranges::find(out.counterNames, info.name);
  info.counter = uint32_t(known - out.counterNames.begin());
  if (known == out.counterNames.end())
    out.counterNames.push_back(info.name);
  i.index = uint32_t(out.collectives.size());
  out.collectives.push_back(std::move(info));
  return {};
}

Status PlanReader::readWait(size_t index, const plan::Wait &wait,
                            Instruction &i) const {
  i.target = wait.start();
  if (i.target >= index ||
      out.instructions[i.target].kind != plan::Operation::Start)
    return badPlan("instruction ", index, " waits for instruction ", i.target,
                   ", which starts no collective before it");
  i.index = out.instructions[i.target].index;
  return {};
}

} // namespace weft::runtime
