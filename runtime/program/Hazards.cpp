#include "weft/runtime/program/Hazards.h"

#include <algorithm>
#include <set>

namespace weft::runtime {

void Hazards::divide(uint64_t place) {
  auto next = ranges.upper_bound(place);
  if (next == ranges.begin())
    return;
  auto &[begin, range] = *std::prev(next);
  if (begin == place || range.end <= place)
    return;
  Range rest = range;
  range.end = place;
  ranges.emplace_hint(next, place, std::move(rest));
}

void Hazards::touch(const BytesTouched &bytes, uint32_t step,
                    std::vector<uint32_t> &found) {
  divide(bytes.begin);
  divide(bytes.end);
  auto note = [&](uint32_t other) {
    if (other != kNone && other != step)
      found.push_back(other);
  };
  uint64_t place = bytes.begin;
  for (auto at = ranges.lower_bound(place); place < bytes.end;) {
    bool isNew = at == ranges.end() || at->first > place;
    if (isNew) {
      uint64_t end =
          at == ranges.end() ? bytes.end : std::min(bytes.end, at->first);
      at = ranges.emplace_hint(at, place, Range{end, kNone, {}});
    }
    Range &range = at->second;
    note(range.writer);
    if (bytes.isWritten) {
      std::ranges::for_each(range.readers, note);
      range.readers.clear();
      range.writer = step;
    } else if (range.writer != step &&
               (range.readers.empty() || range.readers.back() != step)) {
      range.readers.push_back(step);
    }
    place = range.end;
    ++at;
  }
}

void Hazards::reduce(std::vector<uint32_t> &steps) {
  std::ranges::sort(steps, std::greater<>());
  steps.erase(std::unique(steps.begin(), steps.end()), steps.end());
  if (steps.size() < 2)
    return;
  auto mark = uint32_t(before.size() + 1);
  uint32_t earliest = steps.back();
  std::vector<uint32_t> kept, open;
  for (uint32_t step : steps) {
    if (seen[step] == mark)
      continue;
    kept.push_back(step);
    for (open = {step}; !open.empty();) {
      uint32_t one = open.back();
      open.pop_back();
      for (uint32_t other : before[one])
        if (other >= earliest && seen[other] != mark) {
          seen[other] = mark;
          open.push_back(other);
        }
    }
  }
  steps = std::move(kept);
}

std::vector<uint32_t> Hazards::add(std::span<const BytesTouched> touched) {
  auto step = uint32_t(before.size());
  std::vector<uint32_t> found;
  for (const BytesTouched &bytes : touched)
    touch(bytes, step, found);
  reduce(found);
  before.push_back(found);
  seen.push_back(0);
  return found;
}

std::vector<uint32_t> Hazards::last() const {
  std::vector<bool> isAwaited(before.size());
  for (const std::vector<uint32_t> &steps : before)
    for (uint32_t step : steps)
      isAwaited[step] = true;
  std::vector<uint32_t> out;
  for (uint32_t step = 0; step < before.size(); ++step)
    if (!isAwaited[step])
      out.push_back(step);
  return out;
}

std::vector<BufferUse> buffersOf(const Plan &plan, const Instruction &i) {
  std::vector<BufferUse> out;
  if (i.kind == plan::Operation::Copy)
    return {{i.index, false}, {i.target, true}};
  if (i.kind == plan::Operation::Start) {
    const Collective &collective = plan.collectives[i.index];
    for (const Collective::Array &source : collective.sources)
      out.push_back({source.buffer, false});
    for (const Collective::Array &target : collective.targets)
      out.push_back({target.buffer, true});
    return out;
  }
  if (i.kind != plan::Operation::Launch)
    return {};
  const Kernel &kernel = plan.kernels[i.index];
  uint32_t scratch = kernel.scratch ? 1 : 0;
  uint32_t firstWritten =
      kernel.results ? i.argumentCount - scratch - kernel.results : 0;
  for (uint32_t n = 0; n < i.argumentCount; ++n) {
    uint32_t buffer = plan.arguments[i.firstArgument + n];
    out.push_back({buffer, n >= firstWritten && plan.buffers[buffer].writable});
  }
  return out;
}

std::vector<StraightPiece> straightPieces(const Plan &plan) {
  std::set<uint32_t> starts = {0};
  for (const Instruction &i : plan.instructions)
    if (i.kind == plan::Operation::Jump ||
        i.kind == plan::Operation::JumpUnless ||
        i.kind == plan::Operation::JumpOutside)
      starts.insert(i.target);
  std::vector<StraightPiece> out;
  auto count = uint32_t(plan.instructions.size());
  for (uint32_t first = 0; first < count; ++first) {
    uint32_t end = first;
    auto isInside = [&](uint32_t n) {
      plan::Operation kind = plan.instructions[n].kind;
      return kind != plan::Operation::Jump &&
             kind != plan::Operation::JumpUnless &&
             kind != plan::Operation::JumpOutside &&
             kind != plan::Operation::Return;
    };
    while (end < count && isInside(end) &&
           (end == first || !starts.contains(end)))
      ++end;
    if (end == first)
      continue;
    out.push_back({first, end});
    first = end - 1;
  }
  return out;
}

} // namespace weft::runtime
