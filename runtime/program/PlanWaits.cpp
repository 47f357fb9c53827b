// What devices do while a collective is under way.

#include "weft/runtime/program/PlanReader.h"

#include "weft/runtime/program/Hazards.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <set>

namespace weft::runtime {

namespace {
/// What is known in front of an instruction, by any path to it.
struct Reached {
  std::set<uint32_t> starts; ///< of collectives that may be under way
  MeshPart part;             ///< in which the devices are that come here

  /// Adds another path; returns whether anything has changed.
  bool join(const Reached &path) {
    size_t before = starts.size();
    starts.insert(path.starts.begin(), path.starts.end());
    MeshPart both;
    std::ranges::set_intersection(part, path.part, std::back_inserter(both));
    bool isChanged = starts.size() != before || both != part;
    part = std::move(both);
    return isChanged;
  }
};

/// Finds for each instruction the collectives that a device may have under way
/// there, by any path.
class UnderWay {
public:
  explicit UnderWay(const Plan &plan [[clang::lifetimebound]]) : plan(plan) {
    for (bool isMore = true; isMore;) {
      isMore = false;
      here.emplace();
      for (uint32_t n = 0; n < plan.instructions.size(); ++n) {
        enter(n);
        isMore |= pass(n);
      }
    }
    here.emplace();
  }
  /// Goes on in front of instruction `n`, and behind it; in order.
  void enter(uint32_t n);
  bool pass(uint32_t n);
  std::optional<Reached> here; ///< nothing where no device comes

private:
  const Plan &plan;
  std::map<uint32_t, Reached> atTargets;
};
} // namespace

void UnderWay::enter(uint32_t n) {
  auto known = atTargets.find(n);
  if (known == atTargets.end())
    return;
  if (here)
    known->second.join(*here);
  here = known->second;
}

/// Returns whether more is known where a jump goes on than before.
bool UnderWay::pass(uint32_t n) {
  const Instruction &i = plan.instructions[n];
  if (!here)
    return false;
  switch (i.kind) {
  case plan::Operation::Start:
    here->starts.insert(n);
    return false;
  case plan::Operation::Wait:
    here->starts.erase(i.target);
    return false;
  case plan::Operation::Jump:
  case plan::Operation::JumpUnless:
  case plan::Operation::JumpOutside:
    break;
  default:
    return false;
  }
  auto [there, isNew] = atTargets.try_emplace(i.target, *here);
  bool isMore = isNew || there->second.join(*here);
  if (i.kind == plan::Operation::Jump)
    here.reset();
  if (i.kind == plan::Operation::JumpOutside) {
    MeshPart both;
    std::ranges::set_union(here->part, plan.parts[i.index],
                           std::back_inserter(both));
    here->part = std::move(both);
  }
  return isMore;
}

/// Checks that a collective under way keeps its memory on devices in a part: the
/// instruction leaves the targets alone and writes nothing to the sources.
Status PlanReader::checkUntouched(size_t index, const Instruction &i,
                                  const MeshPart &part, uint32_t start) const {
  const Collective &busy = out.collectives[out.instructions[start].index];
  MeshPart senders, receivers;
  if (const auto *its = std::get_if<Movement>(&busy.code)) {
    senders = its->from.part;
    receivers = its->to.part;
  }
  auto check = [&](uint32_t buffer, bool isWritten) -> Status {
    auto isIn = [&](const Collective::Array &array) {
      return overlap(array.buffer, buffer);
    };
    bool isTarget = intersects(part, receivers) &&
                    std::ranges::any_of(busy.targets, isIn),
         isSource = intersects(part, senders) &&
                    std::ranges::any_of(busy.sources, isIn);
    if (!isTarget && !(isWritten && isSource))
      return {};
    return badPlan("instruction ", index, " takes buffer ", buffer,
                   " before the collective of instruction ", start,
                   " has ended; wait for it first");
  };
  if (i.kind == plan::Operation::Launch) {
    bool isKnown = out.kernels[i.index].results > 0; // what the launch writes
    for (const BufferUse &use : buffersOf(out, i))
      if (Status ok = check(use.buffer, isKnown && use.isWritten); !ok)
        return ok;
  } else if (i.kind == plan::Operation::Copy) {
    if (Status ok = check(i.index, false); !ok)
      return ok;
    return check(i.target, true);
  } else if (i.kind == plan::Operation::Start) {
    const Collective &other = out.collectives[i.index];
    for (const Collective::Array &array : other.sources)
      if (Status ok = check(array.buffer, false); !ok)
        return ok;
    for (const Collective::Array &array : other.targets)
      if (Status ok = check(array.buffer, true); !ok)
        return ok;
  }
  return {};
}

Status PlanReader::checkWaits() const {
  UnderWay open(out);
  for (uint32_t n = 0; n < out.instructions.size(); ++n) {
    const Instruction &i = out.instructions[n];
    open.enter(n);
    const Reached at = open.here.value_or(Reached());
    if (i.kind == plan::Operation::Return && !at.starts.empty())
      return badPlan("no instruction waits for the collective of instruction ",
                     *at.starts.begin(), " before instruction ", n,
                     ", which ends the program");
    if (i.kind == plan::Operation::Start && at.starts.count(n))
      return badPlan("instruction ", n,
                     " is started again before an instruction waits for it");
    if (i.kind == plan::Operation::Wait && !at.starts.count(i.target))
      return badPlan("instruction ", n, " waits for instruction ", i.target,
                     " again");
    if (i.kind != plan::Operation::Wait)
      for (uint32_t start : at.starts)
        if (Status ok = checkUntouched(n, i, at.part, start); !ok)
          return ok;
    open.pass(n);
  }
  return {};
}

} // namespace weft::runtime
