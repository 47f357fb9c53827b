//===- FindFixes.cpp - which annotation would remove a collective ---------===//

#include "weft/compiler/explain/FindFixes.h"
#include "weft/layout/Saturating.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringRef.h"

#include <algorithm>
#include <map>
#include <set>

using namespace weft;

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

/// Whether the collectives are of one kind, share an axis and a subject, and
/// come from a common line, if both have lines. A gradient that is added to an
/// existing all-reduce has lost its own collective.
static bool sameMovement(const CollectiveCost &a, const CollectiveCost &b) {
  std::set<std::string> ofA = subjects(a), ofB = subjects(b);
  auto common = [](const auto &x, const auto &y) {
    return llvm::any_of(x, [&](const std::string &text) {
      return llvm::is_contained(y, text);
    });
  };
  bool sameLines =
      a.lines.empty() || b.lines.empty() || common(a.lines, b.lines);
  return a.kind == b.kind && common(a.axes, b.axes) && common(ofA, ofB) &&
         sameLines;
}

/// The bytes of a collective that remain under a change.
static int64_t remainder(const CollectiveCost &cost, const Explanation &other) {
  int64_t bytes = 0;
  for (const CollectiveCost &collective : other.collectives)
    if (sameMovement(cost, collective))
      bytes = saturatingAdd(bytes, collective.totalBytes());
  return bytes;
}

static bool isGone(const CollectiveCost &cost, const Explanation &other) {
  return llvm::none_of(other.collectives, [&](const CollectiveCost &c) {
    return sameMovement(cost, c);
  });
}

namespace {

/// Tries changes, each once, and records their costs.
class FixFinder {
public:
  FixFinder(const Explanation &now, const ChangesOf &changesOf, unsigned budget)
      : now(now), changesOf(changesOf), budget(budget) {}

  /// Fills `annotations` and `fix`.
  void explain(CollectiveCost &cost);

private:
  using Trial = std::pair<const std::string, std::optional<Explanation>>;
  /// Tries a change. Returns null if it does not compile. If the budget is
  /// spent, counts it in `leftOut` and returns null.
  const Trial *tryChange(const Change &change, size_t &leftOut);
  /// The `fix` text for the results of the trials.
  std::string verdict(const CollectiveCost &cost, const Trial *removing,
                      const Trial *shrinking) const;
  /// The text of a change's effect: "a step sends 12 bytes instead of 14 and a
  /// device holds 8 bytes more".
  std::string effect(const Explanation &after) const;

  const Explanation &now;
  const ChangesOf &changesOf;
  unsigned budget;
  std::map<std::string, std::optional<Explanation>> trials;
};

} // namespace

const FixFinder::Trial *FixFinder::tryChange(const Change &change,
                                             size_t &leftOut) {
  auto known = trials.find(change.text);
  if (known == trials.end()) {
    if (trials.size() >= budget) {
      ++leftOut;
      return nullptr;
    }
    known = trials.emplace(change.text, change.recount()).first;
  }
  return known->second ? &*known : nullptr;
}

std::string FixFinder::effect(const Explanation &after) const {
  std::string text = "a step sends " + groupedDigits(after.totalBytes()) +
                     " bytes instead of " + groupedDigits(now.totalBytes());
  int64_t more = after.memory.total() - now.memory.total();
  if (more != 0)
    text += " and a device holds " + groupedDigits(std::abs(more)) +
            (more > 0 ? " bytes more" : " bytes less");
  return text;
}

std::string FixFinder::verdict(const CollectiveCost &cost,
                               const Trial *removing,
                               const Trial *shrinking) const {
  if (removing && removing->second->totalBytes() < now.totalBytes())
    return removing->first + ": " + effect(*removing->second);
  if (removing)
    return "no cheaper layout found; closest alternative: " + removing->first +
           ": " + effect(*removing->second);
  std::string text = "no single annotation removes this collective";
  if (shrinking)
    text += "; " + shrinking->first + " shrinks it to " +
            groupedDigits(remainder(cost, *shrinking->second)) +
            " bytes: " + effect(*shrinking->second);
  return text;
}

void FixFinder::explain(CollectiveCost &cost) {
  std::vector<Change> candidates = changesOf(cost);
  if (candidates.empty())
    return;
  const Trial *removing = nullptr, *shrinking = nullptr;
  size_t leftOut = 0;
  auto cheaper = [](const Trial *a, const Trial *b) {
    return !b || a->second->totalBytes() < b->second->totalBytes();
  };
  for (const Change &change : candidates) {
    const Trial *trial = tryChange(change, leftOut);
    if (!trial)
      continue;
    bool gone = isGone(cost, *trial->second);
    if (gone && !change.annotation.empty() &&
        !llvm::is_contained(cost.annotations, change.annotation))
      cost.annotations.push_back(change.annotation);
    if (gone && cheaper(trial, removing))
      removing = trial;
    else if (remainder(cost, *trial->second) < cost.totalBytes() &&
             trial->second->totalBytes() < now.totalBytes() &&
             cheaper(trial, shrinking))
      shrinking = trial;
  }
  std::string text = leftOut == candidates.size()
                         ? "not looked for: the program is large"
                         : verdict(cost, removing, shrinking);
  if (leftOut)
    text += " (" + groupedDigits(candidates.size() - leftOut) + " of " +
            groupedDigits(candidates.size()) + " changes tried)";
  cost.fix = text;
}

unsigned weft::affordableChanges(const Explanation &explanation) {
  int64_t each = std::max<int64_t>(1, explanation.instructions);
  return static_cast<unsigned>(std::clamp<int64_t>(30000 / each, 2, 96));
}

void weft::findFixes(Explanation &explanation, const ChangesOf &changesOf,
                     unsigned budget) {
  std::vector<CollectiveCost *> order;
  for (CollectiveCost &cost : explanation.collectives)
    order.push_back(&cost);
  llvm::stable_sort(order,
                    [](const CollectiveCost *a, const CollectiveCost *b) {
                      return a->totalBytes() > b->totalBytes();
                    });
  FixFinder finder(explanation, changesOf, budget);
  for (CollectiveCost *cost : order)
    finder.explain(*cost);
}
