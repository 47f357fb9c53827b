// Collectives of a plan, with the checks of each kind's rules in plan.fbs.

#include "weft/runtime/program/PlanReader.h"

#include "weft/layout/DeviceGroups.h"

#include <functional>

namespace weft::runtime {

//===----------------------------------------------------------------------===//
// Common properties
//===----------------------------------------------------------------------===//

Status PlanReader::readArrays(const std::string &what,
                              const flatbuffers::Vector<uint32_t> *buffers,
                              std::vector<Collective::Array> &arrays) const {
  for (size_t n = 0; buffers && n < buffers->size(); ++n) {
    uint32_t buffer = buffers->Get(unsigned(n));
    if (buffer >= out.buffers.size())
      return badPlan(what, " takes buffer ", buffer, " of ",
                     out.buffers.size());
    const BufferInfo &info = out.buffers[buffer];
    arrays.push_back({buffer, info.dtype, info.shape, info.bytes});
  }
  return {};
}

/// Checks that targets are writable and disjoint from each other and from
/// sources, which are read meanwhile: only an all-reduce may work in place,
/// each array onto itself.
Status PlanReader::checkDisjoint(const std::string &what,
                                 const Collective &info) const {
  auto shared = [&](uint32_t a, uint32_t b) {
    return badPlan(what, " has buffers ", a, " and ", b, " in shared memory");
  };
  bool inPlace = info.kind() == CollectiveKind::all_reduce;
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

/// Checks that there are `sources` sources and one target, which is filled from
/// the first source and has its type.
Status PlanReader::checkMoved(const std::string &what, const Collective &info,
                              size_t sources) const {
  if (info.sources.size() != sources || info.targets.size() != 1)
    return badPlan(what, " has ", info.sources.size(), " sources and ",
                   info.targets.size(), " targets, not ", sources, " and 1");
  if (info.sources[0].dtype != info.targets[0].dtype)
    return badPlan(what, " moves ", name(info.sources[0].dtype), " to ",
                   name(info.targets[0].dtype));
  return {};
}

template <typename... Args>
static Status mismatch(const std::string &what, const Collective &info,
                       const Args &...args) {
  return badPlan(what, " from ", shapeText(info.sources[0].shape), " to ",
                 shapeText(info.targets[0].shape), " over ",
                 shardCount(info.axes), " devices: ", args...);
}

/// Checks that source and target have the same rank, with `dims` in it, sizes
/// that fit along these, and the same sizes along the others.
static Status checkSizes(const std::string &what, const Collective &info,
                         std::initializer_list<int64_t> dims,
                         const std::function<bool(int64_t dim, int64_t source,
                                                  int64_t target)> &fits) {
  const std::vector<int64_t> &source = info.sources[0].shape,
                             &target = info.targets[0].shape;
  if (source.size() != target.size())
    return mismatch(what, info, "ranks differ");
  std::vector<bool> isOwn(source.size());
  for (int64_t dim : dims) {
    if (dim >= int64_t(source.size()))
      return mismatch(what, info, "dimension ", dim, " is out of the rank ",
                      source.size());
    isOwn[size_t(dim)] = true;
  }
  for (size_t d = 0; d < source.size(); ++d)
    if (isOwn[d] ? !fits(int64_t(d), source[d], target[d])
                 : source[d] != target[d])
      return mismatch(what, info, "dimension ", d, " does not fit");
  return {};
}

//===----------------------------------------------------------------------===//
// Properties of each kind
//===----------------------------------------------------------------------===//

static Status checkReduction(const std::string &what, ReduceKind reduce,
                             DType dtype) {
  if (reduce > ReduceKind::MAX)
    return badPlan(what, " has the unknown reduction ", int(reduce));
  bool bitwise = reduce == ReduceKind::and_ || reduce == ReduceKind::or_;
  if (bitwise && isFloat(dtype))
    return badPlan(what, " takes the bitwise reduction of ", name(dtype));
  bool isComplex = dtype == DType::c64 || dtype == DType::c128;
  if (isComplex && reduce != ReduceKind::sum && reduce != ReduceKind::prod)
    return badPlan(what, " reduces ", name(dtype), " by ",
                   plan::EnumNameReduceKind(reduce),
                   ", which complex numbers do not have");
  return {};
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const AllReduce &its) const {
  size_t count = info.sources.size();
  if (count == 0 || count != info.targets.size())
    return badPlan(what, " has ", count, " sources and ", info.targets.size(),
                   " targets");
  for (size_t n = 0; n < count; ++n) {
    const Collective::Array &source = info.sources[n],
                            &target = info.targets[n];
    if (source.dtype != target.dtype || source.shape != target.shape)
      return badPlan(what, " reduces ", name(source.dtype),
                     shapeText(source.shape), " to ", name(target.dtype),
                     shapeText(target.shape));
    if (Status ok = checkReduction(what, its.reduce, source.dtype); !ok)
      return ok;
  }
  return {};
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const AllGather &its) const {
  if (Status ok = checkMoved(what, info, 1); !ok)
    return ok;
  int64_t p = shardCount(info.axes);
  return checkSizes(what, info, {its.dim},
                    [&](int64_t, int64_t source, int64_t target) {
                      return source == shardSize(target, p);
                    });
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const ReduceScatter &its) const {
  if (Status ok = checkMoved(what, info, 1); !ok)
    return ok;
  if (Status ok = checkReduction(what, its.reduce, info.sources[0].dtype); !ok)
    return ok;
  int64_t p = shardCount(info.axes);
  return checkSizes(what, info, {its.dim},
                    [&](int64_t, int64_t source, int64_t target) {
                      return target == shardSize(source, p);
                    });
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const AllToAll &its) const {
  if (Status ok = checkMoved(what, info, 1); !ok)
    return ok;
  if (its.split == its.concat)
    return mismatch(what, info, "splits and concatenates along dimension ",
                    its.split);
  int64_t p = shardCount(info.axes);
  return checkSizes(what, info, {its.split, its.concat},
                    [&](int64_t d, int64_t source, int64_t target) {
                      return d == its.split ? target == shardSize(source, p)
                                            : source == shardSize(target, p);
                    });
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const Resharding &its) const {
  if (Status ok = checkMoved(what, info, 1); !ok)
    return ok;
  uint64_t bytes;
  if (Status ok = countBytes(what, its.shape, info.sources[0].dtype, bytes);
      !ok)
    return ok;
  for (const Layout *layout : {&its.from, &its.to}) {
    std::string reason = invalidReason(out.mesh, *layout, its.shape.size());
    if (!reason.empty())
      return badPlan(what, ": ", reason);
    if (layout->isPartial())
      return badPlan(what, " moves a partial value; reduce it first");
  }
  std::vector<int64_t> source = localShape(its.from, its.shape),
                       target = localShape(its.to, its.shape);
  if (source != info.sources[0].shape || target != info.targets[0].shape)
    return badPlan(what, " moves ", shapeText(info.sources[0].shape), " to ",
                   shapeText(info.targets[0].shape), ", its layouts ",
                   shapeText(source), " to ", shapeText(target));
  return {};
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const Fetch &its) const {
  if (Status ok = checkMoved(what, info, 1); !ok)
    return ok;
  const FetchedPositions &at = its.positions;
  constexpr int64_t most = int64_t(1) << 40;
  bool fits = at.size >= 0 && at.divisor >= 1 && at.modulus >= 0;
  for (int64_t number :
       {at.size, at.block, at.step, at.offset, at.divisor, at.modulus})
    fits &= number >= -most && number <= most;
  if (!fits)
    return badPlan(what, " fetches of ", at.size, " at block ", at.block,
                   " step ", at.step, " offset ", at.offset, " divisor ",
                   at.divisor, " modulus ", at.modulus,
                   "; none is beyond 2^40, size and modulus are not negative, "
                   "the divisor is 1 at least");
  int64_t p = shardCount(info.axes);
  return checkSizes(what, info, {its.dim},
                    [&](int64_t, int64_t source, int64_t) {
                      return source == shardSize(at.size, p);
                    });
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const Pick &its) const {
  if (Status ok = checkMoved(what, info, 2); !ok)
    return ok;
  const Collective::Array &positions = info.sources[1];
  if (positions.dtype != DType::i64 || positions.shape != info.targets[0].shape)
    return badPlan(what, " has the positions ", name(positions.dtype),
                   shapeText(positions.shape), ", not an i64 for each of ",
                   shapeText(info.targets[0].shape));
  return checkSizes(what, info, {its.dim},
                    [](int64_t, int64_t, int64_t) { return true; });
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const CollectivePermute &its) const {
  if (Status ok = checkMoved(what, info, 1); !ok)
    return ok;
  int64_t members = shardCount(info.axes);
  bool fits = int64_t(its.senders.size()) == members;
  for (int64_t sender : its.senders)
    fits &= sender >= -1 && sender < members;
  if (!fits)
    return badPlan(what, " has senders ", shapeText(its.senders),
                   ", not one of ", members, " members for each");
  return checkSizes(what, info, {},
                    [](int64_t, int64_t, int64_t) { return true; });
}

Status PlanReader::check(const std::string &what, const Collective &info,
                         const HostCall &its) const {
  if (its.function < 0 || info.sources.size() + info.targets.size() == 0)
    return badPlan(what, " calls function ", its.function, " with ",
                   info.sources.size(), " operands and ", info.targets.size(),
                   " results");
  return {};
}

//===----------------------------------------------------------------------===//
// Reading from the file
//===----------------------------------------------------------------------===//

template <typename Table> static Resharding readResharding(const Table &in) {
  Resharding its;
  its.shape = readShape(in.shape());
  its.from = readLayout(in.from(), its.shape.size());
  its.to = readLayout(in.to(), its.shape.size());
  return its;
}

/// Reads the kind; false for an unknown one.
static bool readKind(const plan::Collective &in, Collective &info) {
  if (const auto *its = in.kind_as_all_reduce())
    info.code = AllReduce{its->reduce()};
  else if (const auto *its = in.kind_as_all_gather())
    info.code = AllGather{its->dim()};
  else if (const auto *its = in.kind_as_reduce_scatter())
    info.code = ReduceScatter{its->reduce(), its->dim()};
  else if (const auto *its = in.kind_as_all_to_all())
    info.code = AllToAll{its->split(), its->concat()};
  else if (const auto *its = in.kind_as_permute())
    info.code = Permute{readResharding(*its)};
  else if (const auto *its = in.kind_as_exchange())
    info.code = Exchange{readResharding(*its)};
  else if (const auto *its = in.kind_as_fetch())
    info.code = Fetch{its->dim(),
                      {its->size(), its->block(), its->step(), its->offset(),
                       its->divisor(), its->modulus()}};
  else if (const auto *its = in.kind_as_pick())
    info.code = Pick{its->dim()};
  else if (const auto *its = in.kind_as_collective_permute())
    info.code = CollectivePermute{readShape(its->senders())};
  else if (const auto *its = in.kind_as_host_call())
    info.code = HostCall{its->function()};
  else
    return false;
  return true;
}

Status PlanReader::readCollective(size_t index,
                                  const plan::Collective &collective,
                                  Instruction &i) {
  Collective info;
  std::string what = "instruction " + std::to_string(index);
  if (!readKind(collective, info))
    return badPlan(what, " is the unknown collective ",
                   int(collective.kind_type()));
  what += std::string(" (") + plan::EnumNameCollectiveKind(info.kind()) + ")";
  info.axes = readAxes(collective.group());
  std::string reason = weft::invalidReason(out.mesh.axes, info.axes);
  if (!reason.empty())
    return badPlan(what, ": ", reason);
  info.label = readText(collective.label());
  if (Status ok = readArrays(what, collective.sources(), info.sources); !ok)
    return ok;
  if (Status ok = readArrays(what, collective.targets(), info.targets); !ok)
    return ok;
  if (Status ok = std::visit(
          [&](const auto &its) { return check(what, info, its); }, info.code);
      !ok)
    return ok;
  if (Status ok = checkDisjoint(what, info); !ok)
    return ok;
  DeviceGroups all = groupsOver(out.mesh.axes, info.axes);
  info.groups = std::move(all.groups);
  info.groupOf = std::move(all.groupOf);
  info.memberOf = std::move(all.memberOf);
  i.index = uint32_t(out.collectives.size());
  out.collectives.push_back(std::move(info));
  return {};
}

} // namespace weft::runtime
