// Shapes of collectives: what plan.fbs says of each kind, as checks.

#include "weft/runtime/program/PlanReader.h"

#include "weft/layout/DeviceGroups.h"

namespace weft::runtime {

Error PlanReader::checkResharding(const std::string &what,
                                  const Collective &info,
                                  const Collective::Operand &operand) const {
  uint64_t bytes;
  if (Error e = countBytes(what, info.shape, operand.dtype, bytes))
    return e;
  for (const Layout *layout : {&info.fromLayout, &info.toLayout}) {
    std::string reason = invalidReason(out.mesh, *layout, info.shape.size());
    if (!reason.empty())
      return badPlan(what, ": ", reason);
    if (layout->partial)
      return badPlan(what, " moves a partial value; reduce it first");
  }
  std::vector<int64_t> source = localShape(info.fromLayout, info.shape),
                       target = localShape(info.toLayout, info.shape);
  if (source != operand.sourceShape || target != operand.targetShape)
    return badPlan(what, " moves ", shapeText(operand.sourceShape), " to ",
                   shapeText(operand.targetShape), ", its layouts ",
                   shapeText(source), " to ", shapeText(target));
  return nullptr;
}

Error PlanReader::checkPositions(const std::string &what,
                                 const Collective &info) const {
  constexpr int64_t most = int64_t(1) << 40;
  bool fits = info.shape.size() == 6 && info.shape[0] >= 0 &&
              info.shape[4] >= 1 && info.shape[5] >= 0;
  for (int64_t number : info.shape)
    fits &= number >= -most && number <= most;
  if (!fits)
    return badPlan(what, " has positions ", shapeText(info.shape),
                   ", not size, block, step, offset, divisor and modulus");
  return nullptr;
}

Error PlanReader::checkSources(const std::string &what,
                               const Collective &info) const {
  int64_t members = shardCount(info.axes);
  bool fits = int64_t(info.shape.size()) == members;
  for (int64_t source : info.shape)
    fits &= source >= -1 && source < members;
  if (!fits)
    return badPlan(what, " has sources ", shapeText(info.shape),
                   ", not one of ", members, " members for each");
  return nullptr;
}

Error PlanReader::checkPicked(const std::string &what,
                              const Collective &info) const {
  bool fits = info.operands.size() == 2;
  if (fits) {
    const Collective::Operand &positions = info.operands[1];
    fits = positions.dtype == DType::i64 &&
           positions.source == positions.target &&
           positions.sourceShape == info.operands[0].targetShape;
  }
  if (!fits)
    return badPlan(what, " has ", info.operands.size(),
                   " operands, not one and its i64 positions");
  return nullptr;
}

/// What is read and what is written lie apart, each named as both.
Error PlanReader::checkCall(const std::string &what,
                            const Collective &info) const {
  int64_t count = int64_t(info.operands.size());
  if (info.shape.size() != 1 || info.shape[0] < 0 || info.from < 0 ||
      info.from > count)
    return badPlan(what, " calls ", shapeText(info.shape), " with ", info.from,
                   " of ", count, " buffers; expected one function's number");
  for (int64_t n = 0; n < count; ++n) {
    const Collective::Operand &a = info.operands[size_t(n)];
    for (int64_t m = info.from; m < count; ++m)
      if (a.source != a.target ||
          (n != m && overlap(a.source, info.operands[size_t(m)].target)))
        return badPlan(what, " has buffers ", a.source, ", ", a.target, " and ",
                       info.operands[size_t(m)].target, " in shared memory");
  }
  return nullptr;
}

Error PlanReader::checkShapes(const std::string &what, const Collective &info,
                              const Collective::Operand &operand) const {
  const std::vector<int64_t> &source = operand.sourceShape,
                             &target = operand.targetShape;
  if (info.kind == CollectiveKind::permute ||
      info.kind == CollectiveKind::exchange)
    return checkResharding(what, info, operand);
  auto mismatch = [&](const std::string &why) {
    return badPlan(what, " from ", shapeText(source), " to ", shapeText(target),
                   " over ", shardCount(info.axes), " devices: ", why);
  };
  if (source.size() != target.size())
    return mismatch("ranks differ");
  if (info.kind == CollectiveKind::fetch)
    if (Error e = checkPositions(what, info))
      return e;
  bool permutes = info.kind == CollectiveKind::collective_permute;
  if (permutes)
    if (Error e = checkSources(what, info))
      return e;
  bool usesTo = info.kind != CollectiveKind::all_reduce && !permutes;
  bool usesFrom = info.kind == CollectiveKind::all_to_all;
  int64_t rank = int64_t(source.size()), p = shardCount(info.axes);
  if ((usesTo && (info.to < 0 || info.to >= rank)) ||
      (usesFrom &&
       (info.from < 0 || info.from >= rank || info.from == info.to)))
    return mismatch("dimensions from " + std::to_string(info.from) + " to " +
                    std::to_string(info.to) + " do not exist or are one");
  for (int64_t d = 0; d < rank; ++d) {
    bool gathered = info.kind == CollectiveKind::all_gather
                        ? d == info.to
                        : usesFrom && d == info.from;
    bool scattered = (info.kind == CollectiveKind::reduce_scatter ||
                      info.kind == CollectiveKind::all_to_all) &&
                     d == info.to;
    bool fetched = info.kind == CollectiveKind::fetch && d == info.to;
    bool picked = info.kind == CollectiveKind::pick && d == info.to;
    bool fits = picked      ? true
                : fetched   ? source[d] == (info.shape[0] + p - 1) / p
                : gathered  ? target[d] <= source[d] * p
                : scattered ? source[d] <= target[d] * p
                            : source[d] == target[d];
    if (!fits)
      return mismatch("dimension " + std::to_string(d) + " does not fit");
  }
  return nullptr;
}

Error PlanReader::readOperands(const std::string &what,
                               const plan::Collective &collective,
                               Collective &info) {
  size_t count = collective.sources() ? collective.sources()->size() : 0;
  size_t targets = collective.targets() ? collective.targets()->size() : 0;
  if (count == 0 || count != targets)
    return badPlan(what, " has ", count, " sources and ", targets, " targets");
  bool reduces = info.kind == CollectiveKind::all_reduce ||
                 info.kind == CollectiveKind::reduce_scatter;
  for (size_t n = 0; n < count; ++n) {
    uint32_t s = collective.sources()->Get(n), t = collective.targets()->Get(n);
    if (s >= out.buffers.size() || t >= out.buffers.size())
      return badPlan(what, " moves buffer ", s, " to ", t, " of ",
                     out.buffers.size());
    const BufferInfo &source = out.buffers[s], &target = out.buffers[t];
    if (source.dtype != target.dtype)
      return badPlan(what, " moves ", name(source.dtype), " to ",
                     name(target.dtype));
    bool bitwise =
        info.reduce == ReduceKind::and_ || info.reduce == ReduceKind::or_;
    if (reduces && bitwise && isFloat(source.dtype))
      return badPlan(what, " takes the bitwise reduction of ",
                     name(source.dtype));
    bool isCall = info.kind == CollectiveKind::host_call;
    bool isPositions = info.kind == CollectiveKind::pick && n == 1;
    bool isRead = isPositions || (isCall && int64_t(n) < info.from);
    if (!isRead)
      if (Error e = checkWritable(what, t))
        return e;
    info.operands.push_back({s, t, source.dtype, source.shape, target.shape,
                             source.bytes, target.bytes});
    if (isPositions || isCall)
      continue;
    if (Error e = checkShapes(what, info, info.operands.back()))
      return e;
  }
  if (info.kind == CollectiveKind::pick)
    if (Error e = checkPicked(what, info))
      return e;
  if (info.kind == CollectiveKind::host_call)
    return checkCall(what, info);
  // Others read the sources while targets are written: only an all-reduce may
  // work in place, and there each with itself.
  for (size_t n = 0; n < count; ++n)
    for (size_t m = 0; m < count; ++m) {
      const Collective::Operand &a = info.operands[n], &b = info.operands[m];
      bool same = n == m && info.kind == CollectiveKind::all_reduce &&
                  out.buffers[a.source].offset == out.buffers[b.target].offset;
      same |=
          n == 1 && m == 1 && info.kind == CollectiveKind::pick; // only read
      if ((!same && overlap(a.source, b.target)) ||
          (n != m && overlap(a.target, b.target)))
        return badPlan(what, " has buffers ", a.source, ", ", a.target, " and ",
                       b.target, " in shared memory");
    }
  return nullptr;
}

Error PlanReader::readCollective(size_t index,
                                 const plan::Collective &collective,
                                 Instruction &i) {
  Collective info;
  std::string what = "instruction " + std::to_string(index);
  info.kind = collective.kind();
  info.reduce = collective.reduce();
  if (info.kind > CollectiveKind::MAX || info.reduce > ReduceKind::MAX)
    return badPlan(what, " is the unknown collective ", int(info.kind),
                   " of kind ", int(info.reduce));
  what += std::string(" (") + plan::EnumNameCollectiveKind(info.kind) + ")";
  info.axes = readAxes(collective.axes());
  std::string reason = weft::invalidReason(out.mesh.axes, info.axes);
  if (!reason.empty())
    return badPlan(what, ": ", reason);
  bool reshards = info.kind == CollectiveKind::permute ||
                  info.kind == CollectiveKind::exchange;
  // No axes: all devices.
  if (reshards && info.axes.empty())
    for (uint32_t a = 0; a < out.mesh.axes.size(); ++a)
      info.axes.push_back({a, 1, out.mesh.axes[a].size});
  info.from = collective.from();
  info.to = collective.to();
  info.shape = readShape(collective.shape());
  info.fromLayout = readLayout(collective.from_layout(), info.shape.size());
  info.toLayout = readLayout(collective.to_layout(), info.shape.size());
  info.label = readText(collective.label());
  if (Error e = readOperands(what, collective, info))
    return e;
  DeviceGroups all = groupsOver(out.mesh.axes, info.axes);
  info.groups = std::move(all.groups);
  info.groupOf = std::move(all.groupOf);
  info.memberOf = std::move(all.memberOf);
  i.index = uint32_t(out.collectives.size());
  out.collectives.push_back(std::move(info));
  return nullptr;
}

} // namespace weft::runtime
