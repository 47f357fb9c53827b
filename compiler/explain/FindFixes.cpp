//===- FindFixes.cpp - changes of annotations that save bytes -------------===//

#include "weft/compiler/explain/FindFixes.h"

#include "weft/base/Saturating.h"
#include "weft/base/Text.h"
#include "weft/compiler/explain/CollectiveRows.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <chrono>
#include <set>
#include <tuple>

using namespace weft;

//===----------------------------------------------------------------------===//
// The same movement under another annotation
//===----------------------------------------------------------------------===//

/// The subject of each clause: "gradient of d1/kernel is summed over ..." ->
/// gradient of d1/kernel.
static std::set<std::string> subjects(const CollectiveCost &cost) {
  llvm::SmallVector<llvm::StringRef> clauses;
  llvm::StringRef(cost.reason).split(clauses, "; ", -1, false);
  std::set<std::string> result;
  for (llvm::StringRef clause : clauses)
    result.insert(clause.take_front(clause.find(" is ")).str());
  return result;
}

namespace {
/// The collectives of a step by their movements. Two move the same if they are
/// of one kind, share an axis and a subject, and come from a common line, if
/// both have lines. A gradient that is added to an existing all-reduce has lost
/// its own collective.
class MovementIndex {
public:
  explicit MovementIndex(const Explanation &explanation
                         [[clang::lifetimebound]]);
  /// The bytes of the collectives that move the same as `cost`; nothing if
  /// there are none.
  std::optional<int64_t> bytesOfSame(const CollectiveCost &cost) const;

private:
  static constexpr llvm::StringLiteral kAnyLine = "*";
  /// Calls `see` with a key for each axis, subject and line.
  static void eachKey(const CollectiveCost &cost,
                      llvm::ArrayRef<std::string> lines,
                      llvm::function_ref<void(const std::string &)> see);
  const Explanation &explanation;
  llvm::StringMap<std::vector<size_t>> known;
};
} // namespace

void MovementIndex::eachKey(const CollectiveCost &cost,
                            llvm::ArrayRef<std::string> lines,
                            llvm::function_ref<void(const std::string &)> see) {
  for (const std::string &subject : subjects(cost))
    for (const std::string &axis : cost.axes)
      for (const std::string &line : lines)
        see(cost.kind + "|" + axis + "|" + line + "|" + subject);
}

MovementIndex::MovementIndex(const Explanation &explanation)
    : explanation(explanation) {
  for (const auto &[i, cost] : llvm::enumerate(explanation.collectives)) {
    std::vector<std::string> lines = cost.lines;
    lines.push_back(kAnyLine.str());
    if (cost.lines.empty())
      lines.push_back("");
    eachKey(cost, lines,
            [&](const std::string &key) { known[key].push_back(i); });
  }
}

std::optional<int64_t>
MovementIndex::bytesOfSame(const CollectiveCost &cost) const {
  std::vector<std::string> lines = cost.lines;
  lines.push_back(cost.lines.empty() ? kAnyLine.str() : "");
  std::set<size_t> same;
  eachKey(cost, lines, [&](const std::string &key) {
    if (auto found = known.find(key); found != known.end())
      same.insert(found->second.begin(), found->second.end());
  });
  if (same.empty())
    return std::nullopt;
  int64_t bytes = 0;
  for (size_t i : same)
    bytes = saturatingAdd(bytes, explanation.collectives[i].totalBytes());
  return bytes;
}

//===----------------------------------------------------------------------===//
// Trials
//===----------------------------------------------------------------------===//

namespace {
class FixFinder {
public:
  FixFinder(Explanation &now [[clang::lifetimebound]], const MemoryUse &memory,
            const FixLimits &limits)
      : now(now), memory(memory), limits(limits) {}
  void run(const ChangesOf &changesOf);

private:
  /// The changes to try, in order; also counts all changes.
  std::vector<Change> choose(const ChangesOf &changesOf);
  void tryChange(const Change &change);
  /// Records which collectives a trial removes or shrinks.
  void compare(Trial &trial, const std::string &annotation);
  void advise();
  std::string effect(const Explanation &under) const;

  Explanation &now;
  const MemoryUse memory;
  const FixLimits limits;
};
} // namespace

std::vector<Change> FixFinder::choose(const ChangesOf &changesOf) {
  struct Row {
    int64_t bytes;
    std::vector<Change> changes;
    size_t next = 0, taken = 0;
  };
  std::vector<Row> rows;
  std::set<std::string> known;
  for (const CollectiveRow &row : collectiveRows(now)) {
    std::vector<Change> changes =
        changesOf(now.collectives[row.members.front()]);
    for (const Change &change : changes)
      known.insert(change.text);
    rows.push_back({row.bytes, std::move(changes)});
  }
  now.search->known = known.size();
  std::vector<Change> chosen;
  std::set<std::string> seen;
  while (chosen.size() < std::min(limits.most, known.size())) {
    // Next comes the row with the most bytes for each of its trials; in the
    // first half, only rows without a trial.
    Row *best = nullptr;
    bool isEarly = 2 * chosen.size() < limits.most;
    auto share = [&](const Row &row) {
      double bytes = static_cast<double>(row.bytes);
      return std::pair(isEarly && row.taken == 0,
                       bytes / static_cast<double>(row.taken + 1));
    };
    for (Row &row : rows) {
      while (row.next < row.changes.size() &&
             seen.contains(row.changes[row.next].text))
        ++row.next;
      if (row.next < row.changes.size() && (!best || share(row) > share(*best)))
        best = &row;
    }
    ++best->taken;
    seen.insert(best->changes[best->next].text);
    chosen.push_back(best->changes[best->next]);
  }
  return chosen;
}

void FixFinder::compare(Trial &trial, const std::string &annotation) {
  MovementIndex after(*trial.under);
  for (auto [i, cost] : llvm::enumerate(now.collectives)) {
    std::optional<int64_t> bytes = after.bytesOfSame(cost);
    if (bytes && *bytes < cost.totalBytes())
      trial.fix.shrunk.push_back(i);
    if (bytes)
      continue;
    trial.fix.removed.push_back(i);
    if (!annotation.empty() &&
        !llvm::is_contained(cost.annotations, annotation))
      cost.annotations.push_back(annotation);
  }
}

std::string FixFinder::effect(const Explanation &under) const {
  std::string text = "a step sends " + grouped(under.totalBytes()) +
                     " bytes instead of " + grouped(now.totalBytes());
  // Temporaries are unknown before kernels are made.
  auto ports = [](const MemoryUse &use) {
    return use.total() - use.temporaries;
  };
  if (int64_t more = ports(under.memory) - ports(memory))
    text += " and a device holds " + grouped(std::abs(more)) +
            (more > 0 ? " bytes more" : " bytes less") +
            " in arguments and results";
  return text;
}

void FixFinder::tryChange(const Change &change) {
  ++now.search->tried;
  std::optional<Explanation> under = change.recount();
  if (!under)
    return;
  Trial trial;
  trial.fix.change = change.text;
  trial.fix.effect = effect(*under);
  trial.fix.bytes = under->totalBytes();
  trial.fix.memory = under->memory.total();
  trial.fix.places = change.places;
  trial.under = std::make_shared<Explanation>(std::move(*under));
  compare(trial, change.annotation);
  now.trials.push_back(std::move(trial));
}

/// Names the best change for each collective. The best for the step is among
/// these, as it removes or shrinks a collective.
void FixFinder::advise() {
  std::vector<const Fix *> saving;
  for (const Trial &trial : now.trials)
    if (trial.fix.bytes < now.totalBytes())
      saving.push_back(&trial.fix);
  llvm::stable_sort(
      saving, [](const Fix *a, const Fix *b) { return isBetter(*a, *b); });
  for (const Fix *fix : saving) {
    Fix best = *fix;
    auto isTaken = [&](size_t i) { return now.collectives[i].fix.has_value(); };
    llvm::erase_if(best.removed, isTaken);
    llvm::erase_if(best.shrunk, isTaken);
    for (const std::vector<size_t> *indices : {&best.removed, &best.shrunk})
      for (size_t i : *indices)
        now.collectives[i].fix = fix->change + ": " + fix->effect;
    if (now.fixes.empty() || !best.removed.empty() || !best.shrunk.empty())
      now.fixes.push_back(std::move(best));
  }
}

void FixFinder::run(const ChangesOf &changesOf) {
  using Clock = std::chrono::steady_clock;
  Clock::time_point begin = Clock::now();
  now.search.emplace();
  std::vector<Change> changes = choose(changesOf);
  auto report = [&](size_t done) {
    if (limits.progress)
      limits.progress(done, changes.size());
  };
  for (const auto &[done, change] : llvm::enumerate(changes)) {
    std::chrono::duration<double> spent = Clock::now() - begin;
    now.search->isOutOfTime =
        limits.seconds && spent.count() >= *limits.seconds;
    if (now.search->isOutOfTime)
      break;
    report(done);
    tryChange(change);
  }
  report(changes.size());
  advise();
}

bool weft::isBetter(const Fix &a, const Fix &b) {
  return std::tie(a.bytes, a.memory, a.places) <
         std::tie(b.bytes, b.memory, b.places);
}

size_t weft::affordableChanges(const Explanation &explanation, size_t most) {
  int64_t each = std::max<int64_t>(1, explanation.instructions);
  int64_t few = std::clamp<int64_t>(30000 / each, 1, 10);
  return std::min(static_cast<size_t>(few), most);
}

void weft::findFixes(Explanation &explanation, const ChangesOf &changesOf,
                     const MemoryUse &memory, const FixLimits &limits) {
  FixFinder(explanation, memory, limits).run(changesOf);
}
