//===- Report.cpp - an explanation as JSON and as text --------------------===//

#include "weft/compiler/explain/Explain.h"
#include "weft/layout/Saturating.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <map>
#include <tuple>

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

llvm::json::Value weft::toJson(const Explanation &explanation) {
  llvm::json::Array collectives, rules;
  std::map<std::string, std::pair<int64_t, int64_t>> byKind; // count, bytes
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
  return llvm::json::Object{
      {"collectives", std::move(collectives)},
      {"total", llvm::json::Object{{"bytes", explanation.totalBytes()},
                                   {"count", explanation.totalCount()},
                                   {"by_kind", std::move(kinds)}}},
      {"memory", memoryJson(explanation.memory)},
      {"rules", std::move(rules)}};
}

std::string weft::groupedDigits(int64_t value) {
  bool negative = value < 0;
  std::string digits = std::to_string(negative ? -value : value);
  for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > 0; at -= 3)
    digits.insert(at, ",");
  return negative ? "-" + digits : digits;
}

namespace {
/// Writes lines of at most `width` columns.
class TextReport {
public:
  TextReport(const Explanation &explanation, size_t width)
      : explanation(explanation), width(width), out(text) {}

  std::string write() {
    writeCollectives();
    writeMemory();
    writeRules();
    return text;
  }

private:
  void writeCollectives();
  void writeMemory();
  void writeRules();
  /// Writes "    why  words ...", with further lines below the first word.
  void writeWrapped(llvm::StringRef label, llvm::StringRef words);

  const Explanation &explanation;
  size_t width;
  std::string text;
  llvm::raw_string_ostream out;
};
} // namespace

void TextReport::writeWrapped(llvm::StringRef label, llvm::StringRef words) {
  llvm::SmallVector<llvm::StringRef> all;
  words.split(all, ' ', -1, false);
  std::string line = label.str();
  bool fresh = true;
  for (llvm::StringRef word : all) {
    if (!fresh && line.size() + 1 + word.size() > width) {
      out << line << '\n';
      line = std::string(label.size(), ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + word.str();
    fresh = false;
  }
  out << line << '\n';
}

/// The first clauses of a provenance, and the number of the others.
static std::string firstClauses(const std::string &why, unsigned most) {
  llvm::SmallVector<llvm::StringRef> clauses;
  llvm::StringRef(why).split(clauses, "; ", -1, false);
  std::string text;
  for (auto [index, clause] : llvm::enumerate(clauses)) {
    if (index == most && clauses.size() > most + 1)
      return text + "; and " + std::to_string(clauses.size() - most) +
             " more (all of them: --json)";
    text += (index ? "; " : "") + clause.str();
  }
  return text;
}

static std::string firstPaths(const std::vector<std::string> &paths,
                              size_t width) {
  std::string text = llvm::join(paths, ", ");
  size_t shown = paths.size();
  while (text.size() > width && shown > 1) {
    --shown;
    text = llvm::join(llvm::ArrayRef(paths).take_front(shown), ", ") + " and " +
           std::to_string(paths.size() - shown) + " more";
  }
  return text;
}

void TextReport::writeCollectives() {
  out << "One " << explanation.step << " step on " << explanation.devices
      << ".\n\n";
  if (explanation.collectives.empty()) {
    out << "No communication: every device works alone.\n";
    return;
  }
  out << "Communication, in bytes that one device sends (the one that sends "
         "most):\n\n";
  int64_t count = explanation.totalCount();
  size_t kinds = 15;
  for (const CollectiveCost &cost : explanation.collectives)
    kinds = std::max(kinds, cost.kind.size() + 1);
  for (const CollectiveCost &cost : explanation.collectives) {
    std::string axes = llvm::join(cost.axes, ",");
    out << "  " << llvm::left_justify(cost.kind, kinds)
        << llvm::left_justify(axes, 16)
        << llvm::right_justify(groupedDigits(cost.bytes), 15)
        << (cost.where.empty() ? "" : "  ")
        << firstPaths(cost.where, width - 35 - kinds) << "\n";
    if (!cost.lines.empty())
      out << "    at   " << firstPaths(cost.lines, width - 9) << "\n";
    writeWrapped("    why  ", firstClauses(cost.reason, 3));
    if (!cost.annotations.empty())
      writeWrapped("    rule ", firstPaths(cost.annotations, 3 * width));
    if (cost.fix)
      writeWrapped("    fix  ", *cost.fix);
  }
  out << "  " << llvm::left_justify("total", kinds + 16)
      << llvm::right_justify(groupedDigits(explanation.totalBytes()), 15)
      << "  in " << count << (count == 1 ? " collective" : " collectives")
      << "\n";
}

void TextReport::writeMemory() {
  const MemoryUse &memory = explanation.memory;
  out << "\nMemory of the fullest device, in bytes:\n\n";
  using Row = std::tuple<llvm::StringRef, int64_t, llvm::StringRef>;
  for (auto [name, value, note] : std::initializer_list<Row>{
           {"weights", memory.weights, ""},
           {"optimizer", memory.optimizer, ""},
           {"activations", memory.activations,
            explanation.step == "train" ? "kept for the gradients, and results"
                                        : "results"},
           {"temporaries", memory.temporaries, ""},
           {memory.batchName(), memory.batch, memory.batchNote()},
           {"total", memory.total(), ""}}) {
    out << "  " << llvm::left_justify(name, 31)
        << llvm::right_justify(groupedDigits(value), 15);
    if (!note.empty())
      out << "  " << note;
    out << "\n";
  }
}

void TextReport::writeRules() {
  if (explanation.rules.empty())
    return;
  out << "\nRules of the layout map:\n\n";
  size_t longest = 0;
  for (const RuleStatus &rule : explanation.rules)
    longest = std::max(longest, rule.key.size());
  for (const RuleStatus &rule : explanation.rules) {
    std::string note = "lays out " + firstPaths(rule.matches, width - 30);
    if (rule.status == "dead")
      note = "matches nothing; " + rule.advice;
    else if (rule.status == "shadowed")
      note = "another rule comes first for " +
             firstPaths(rule.matches, width - 40);
    std::string label = "  " + rule.key +
                        std::string(std::min<size_t>(longest, 40) + 2 -
                                        std::min<size_t>(rule.key.size(), 40),
                                    ' ') +
                        llvm::formatv("{0,-10}", rule.status).str();
    writeWrapped(label, note);
  }
}

std::string weft::toText(const Explanation &explanation, unsigned width) {
  return TextReport(explanation, width).write();
}
