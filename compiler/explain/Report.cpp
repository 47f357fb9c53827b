//===- Report.cpp - an explanation as JSON ----------------------------===//

#include "weft/base/Saturating.h"

#include "weft/base/Text.h"
#include "weft/compiler/explain/Explain.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace weft;

static llvm::json::Array stringArray(const std::vector<std::string> &strings) {
  llvm::json::Array array;
  for (const std::string &text : strings)
    array.push_back(text);
  return array;
}

static llvm::json::Value fixValue(const CollectiveCost &cost) {
  return cost.fix ? llvm::json::Value(*cost.fix) : llvm::json::Value(nullptr);
}

static llvm::json::Object memoryJson(const MemoryUse &memory) {
  return llvm::json::Object{
      {"weights", memory.weights},         {"optimizer", memory.optimizer},
      {"activations", memory.activations}, {"temporaries", memory.temporaries},
      {memory.batchName(), memory.batch},  {"total", memory.total()}};
}

/// The fixes and the number of changes that were tried; null if no fixes were
/// searched.
static llvm::json::Value fixesJson(const Explanation &explanation) {
  if (!explanation.search)
    return nullptr;
  auto indices = [](const std::vector<size_t> &list) {
    llvm::json::Array array;
    for (size_t i : list)
      array.push_back(static_cast<int64_t>(i));
    return array;
  };
  llvm::json::Array list;
  for (const Fix &fix : explanation.fixes)
    list.push_back(llvm::json::Object{{"change", fix.change},
                                      {"effect", fix.effect},
                                      {"bytes", fix.bytes},
                                      {"places", fix.places},
                                      {"removes", indices(fix.removed)},
                                      {"shrinks", indices(fix.shrunk)}});
  const FixSearchSummary &search = *explanation.search;
  return llvm::json::Object{{"tried", static_cast<int64_t>(search.tried)},
                            {"known", static_cast<int64_t>(search.known)},
                            {"out_of_time", search.isOutOfTime},
                            {"list", std::move(list)}};
}

/// The times of each class of devices, in microseconds.
static llvm::json::Array timesJson(const Explanation &explanation) {
  llvm::json::Array list;
  for (const StepTimes &its : explanation.times)
    list.push_back(
        llvm::json::Object{{"devices", its.devices},
                           {"computing", its.computing * 1e6},
                           {"communication", its.communication * 1e6},
                           {"exposed", its.exposed * 1e6},
                           {"step", its.step * 1e6}});
  return list;
}

llvm::json::Value weft::toJson(const Explanation &explanation) {
  llvm::json::Array collectives, rules;
  std::map<std::string, std::pair<int64_t, int64_t>> byKind; // count and bytes
  for (const CollectiveCost &cost : explanation.collectives) {
    collectives.push_back(
        llvm::json::Object{{"kind", cost.kind},
                           {"axes", stringArray(cost.axes)},
                           {"bytes", cost.bytes},
                           {"count", cost.count},
                           {"lines", stringArray(cost.lines)},
                           {"where", llvm::join(cost.where, ", ")},
                           {"reason", cost.reason},
                           {"annotations", stringArray(cost.annotations)},
                           {"fix", fixValue(cost)}});
    if (explanation.mode)
      (*collectives.back().getAsObject())["by"] =
          cost.methods[size_t(*explanation.mode)];
    auto &[times, bytes] = byKind[cost.kind];
    times = saturatingAdd(times, cost.count);
    bytes = saturatingAdd(bytes, cost.totalBytes());
  }
  llvm::json::Object kinds;
  for (auto &[kind, sums] : byKind)
    kinds[kind] =
        llvm::json::Object{{"count", sums.first}, {"bytes", sums.second}};
  for (const RuleStatus &rule : explanation.rules)
    rules.push_back(llvm::json::Object{{"key", rule.key},
                                       {"matches", stringArray(rule.matches)},
                                       {"status", rule.status}});
  llvm::json::Value layouts = nullptr;
  if (explanation.layouts)
    layouts =
        llvm::json::Object{{"picoseconds", explanation.layouts->price},
                           {"bound", explanation.leastBytes()},
                           {"gap", double(explanation.gap()) / kGapParts}};
  return llvm::json::Object{
      {"collectives", std::move(collectives)},
      {"layouts", std::move(layouts)},
      {"total", llvm::json::Object{{"bytes", explanation.totalBytes()},
                                   {"count", explanation.totalCount()},
                                   {"by_kind", std::move(kinds)}}},
      {"fixes", fixesJson(explanation)},
      {"memory", memoryJson(explanation.memory)},
      {"times", timesJson(explanation)},
      {"rules", std::move(rules)}};
}
