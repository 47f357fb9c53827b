//===- TextReport.cpp - an explanation as text ----------------------------===//

#include "weft/compiler/explain/CollectiveRows.h"

#include "weft/base/Text.h"
#include "weft/compiler/explain/Explain.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

#include <algorithm>
#include <map>
#include <tuple>

using namespace weft;

namespace {
/// Writes lines of at most `options.width` columns.
class TextReport {
public:
  TextReport(const Explanation &explanation [[clang::lifetimebound]],
             const TextOptions &options)
      : explanation(explanation), options(options), width(options.width) {}

  std::string write() const;

private:
  /// A column of the table of collectives, as wide as its longest text.
  struct Widths {
    size_t kind = 15, count = 0;
  };
  std::string pricedLayouts() const;
  std::string collectives(size_t mostLines) const;
  Widths widths(llvm::ArrayRef<CollectiveRow> rows) const;
  std::string row(const CollectiveRow &row, const Widths &widths) const;
  std::string fixes() const;
  std::string fix(const Fix &fix) const;
  std::string memory() const;
  std::string times() const;
  std::string rules() const;
  std::string rule(const RuleStatus &rule, size_t longest) const;
  /// The text "    why  words ...", with further lines under the first word.
  std::string wrapped(llvm::StringRef label, llvm::StringRef words) const;
  std::string seeAll(const std::string &what) const {
    return "  and " + what + " (all of them: --all)\n";
  }

  const Explanation &explanation;
  TextOptions options;
  size_t width;
};
} // namespace

static size_t linesOf(llvm::StringRef text) { return text.count('\n'); }

/// The text with blanks after or before it, up to a width.
static std::string padded(llvm::StringRef text, size_t width) {
  return text.str() + std::string(width - std::min(width, text.size()), ' ');
}
static std::string indented(llvm::StringRef text, size_t width) {
  return std::string(width - std::min(width, text.size()), ' ') + text.str();
}

std::string TextReport::wrapped(llvm::StringRef label,
                                llvm::StringRef words) const {
  llvm::SmallVector<llvm::StringRef> all;
  words.split(all, ' ', -1, false);
  std::string text, line = label.str();
  bool fresh = true;
  for (llvm::StringRef word : all) {
    if (!fresh && line.size() + 1 + word.size() > width) {
      text += line + '\n';
      line = std::string(label.size(), ' ');
      fresh = true;
    }
    line += (fresh ? "" : " ") + word.str();
    fresh = false;
  }
  return text + line + '\n';
}

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

/// The first clauses of a provenance, and the number of the others. Clauses
/// that differ only in the numbers of layers are joined.
static std::string firstClauses(const std::string &why, unsigned most) {
  std::vector<std::string> clauses;
  for (llvm::StringRef clause : llvm::split(why, "; "))
    clauses.push_back(clause.str());
  if (clauses.size() <= most)
    return why;
  clauses = mergedNames(clauses);
  bool isLong = clauses.size() > most + 1;
  std::string text = llvm::join(
      llvm::ArrayRef(clauses).take_front(isLong ? most : clauses.size()), "; ");
  return isLong ? text + "; and " + std::to_string(clauses.size() - most) +
                      " more (all of them: --json)"
                : text;
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

/// The text "48 x 3,840"; empty for a single occurrence.
static std::string countText(const CollectiveRow &row,
                             const Explanation &explanation) {
  int64_t each = explanation.collectives[row.members.front()].bytes;
  return row.count == 1 ? "" : grouped(row.count) + " x " + grouped(each);
}

TextReport::Widths
TextReport::widths(llvm::ArrayRef<CollectiveRow> rows) const {
  Widths widths;
  for (const CollectiveRow &row : rows) {
    const CollectiveCost &cost = explanation.collectives[row.members.front()];
    widths.kind = std::max(widths.kind, cost.kind.size() + 1);
    widths.count = std::max(widths.count, countText(row, explanation).size());
  }
  return widths;
}

std::string TextReport::row(const CollectiveRow &row,
                            const Widths &widths) const {
  const CollectiveCost &cost = explanation.collectives[row.members.front()];
  std::string head = "  " + padded(cost.kind, widths.kind) +
                     padded(llvm::join(cost.axes, ","), 16) +
                     indented(countText(row, explanation), widths.count) +
                     indented(grouped(row.bytes), 15);
  if (!row.where.empty())
    head += "  " + firstPaths(row.where, width - std::min<size_t>(width - 20,
                                                                  head.size()));
  std::string text = head + "\n";
  if (!row.lines.empty())
    text += "    at   " + firstPaths(row.lines, width - 9) + "\n";
  if (explanation.mode)
    text += "    by   " + cost.methods[size_t(*explanation.mode)] + "\n";
  text += wrapped("    why  ", firstClauses(row.reason, 3));
  if (!row.annotations.empty())
    text += wrapped(
        "    rule ",
        firstPaths(row.annotations, options.isComplete ? 3 * width : width));
  return text;
}

/// The line on layouts that were chosen by price, or nothing.
std::string TextReport::pricedLayouts() const {
  if (!explanation.layouts)
    return "";
  return llvm::formatv("  no layout of the free values is cheaper by more than "
                       "{0:f2} %: it sends at least {1} bytes\n",
                       double(explanation.gap()) / 100,
                       grouped(explanation.leastBytes()))
      .str();
}

std::string TextReport::collectives(size_t mostLines) const {
  if (explanation.collectives.empty())
    return "No communication: every device works alone.\n";
  std::string head =
      "Communication, in bytes that one device sends (the one that sends "
      "most):\n\n";
  std::vector<CollectiveRow> rows =
      collectiveRows(explanation, options.isComplete);
  Widths columns = widths(rows);
  std::vector<std::string> texts;
  std::string priced = pricedLayouts();
  size_t lines = linesOf(head) + 1 + linesOf(priced); // with the total's
  for (const CollectiveRow &each : rows) {
    texts.push_back(row(each, columns));
    lines += linesOf(texts.back());
  }
  // Rows that send least are left out.
  std::vector<size_t> order(rows.size());
  for (size_t i = 0; i < order.size(); ++i)
    order[i] = i;
  llvm::stable_sort(
      order, [&](size_t a, size_t b) { return rows[a].bytes < rows[b].bytes; });
  int64_t leftRows = 0, leftBytes = 0;
  for (size_t i : order) {
    if (options.isComplete || lines + (leftRows > 0) <= mostLines ||
        leftRows + 1 == static_cast<int64_t>(rows.size()))
      break;
    lines -= linesOf(texts[i]);
    texts[i].clear();
    ++leftRows;
    leftBytes += rows[i].bytes;
  }
  std::string text = head + llvm::join(texts, "");
  if (leftRows)
    text +=
        seeAll(grouped(leftRows) + (leftRows == 1 ? " row of " : " rows of ") +
               grouped(leftBytes) + " bytes");
  int64_t count = explanation.totalCount();
  return text + "  " + padded("total", columns.kind + 16 + columns.count) +
         indented(grouped(explanation.totalBytes()), 15) + "  in " +
         grouped(count) + (count == 1 ? " collective" : " collectives") + "\n" +
         priced;
}

//===----------------------------------------------------------------------===//
// Fixes
//===----------------------------------------------------------------------===//

/// The collectives by kind and the first thing that each moves: "all_reduce
/// d2/output and 2 more".
static std::string collectivesText(const Explanation &explanation,
                                   const std::vector<size_t> &indices) {
  std::vector<std::string> names;
  for (size_t i : indices) {
    const CollectiveCost &cost = explanation.collectives[i];
    names.push_back(cost.kind);
    if (!cost.where.empty())
      names.back() += " " + cost.where[0];
    else if (!cost.lines.empty())
      names.back() += " at " + llvm::sys::path::filename(cost.lines[0]).str();
  }
  return firstPaths(mergedNames(names), 60);
}

std::string TextReport::fix(const Fix &fix) const {
  std::string text = fix.change + ": " + fix.effect;
  if (!fix.removed.empty())
    text += "; without " + collectivesText(explanation, fix.removed);
  if (!fix.shrunk.empty())
    text += "; less for " + collectivesText(explanation, fix.shrunk);
  return wrapped("  fix  ", text);
}

std::string TextReport::fixes() const {
  if (!explanation.search || explanation.search->known == 0)
    return "";
  const FixSearchSummary &search = *explanation.search;
  std::string tried =
      search.tried == search.known
          ? "all " + grouped(search.known)
          : grouped(search.tried) + " of " + grouped(search.known);
  tried +=
      search.isOutOfTime ? " tried in the time of --fix-seconds" : " tried";
  if (search.tried == 0)
    return "\nNo change of annotations was tried: 0 of " +
           grouped(search.known) + " in the time of --fix-seconds.\n";
  if (explanation.fixes.empty())
    return "\nNo change of annotations saves bytes: " + tried + ".\n";
  std::string text = "\nChanges of annotations that save bytes, the best "
                     "first: " +
                     tried + ".\n\n";
  constexpr size_t most = 3;
  size_t shown = options.isComplete ? explanation.fixes.size()
                                    : std::min(most, explanation.fixes.size());
  for (const Fix &each : llvm::ArrayRef(explanation.fixes).take_front(shown))
    text += fix(each);
  if (shown < explanation.fixes.size())
    text += seeAll(grouped(explanation.fixes.size() - shown) + " more");
  return text;
}

//===----------------------------------------------------------------------===//
// Memory and rules
//===----------------------------------------------------------------------===//

std::string TextReport::memory() const {
  const MemoryUse &memory = explanation.memory;
  std::string text = "\nMemory of the fullest device, in bytes:\n\n";
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
    text += "  " + padded(name, 31) + indented(grouped(value), 15);
    text += (note.empty() ? "" : "  " + note.str()) + "\n";
  }
  return text;
}

/// The time line, or nothing.
std::string TextReport::times() const {
  if (explanation.times.empty())
    return "";
  std::string text = "\nTime by the prices of links and kernels, in "
                     "microseconds:\n\n";
  size_t longest = 7;
  for (const StepTimes &its : explanation.times)
    longest = std::max(longest, its.devices.size());
  text += "  " + padded("devices", longest) +
          "   computing  communication     exposed        step\n";
  for (const StepTimes &its : explanation.times)
    text += "  " + padded(its.devices, longest) +
            llvm::formatv("{0,12:f1}{1,15:f1}{2,12:f1}{3,12:f1}\n",
                          its.computing * 1e6, its.communication * 1e6,
                          its.exposed * 1e6, its.step * 1e6)
                .str();
  for (const StepTimes &its : explanation.times) {
    text += "\n  " + its.devices +
            ", from left to right ('=': under compute, "
            "'!': exposed)\n";
    size_t columns = width - 18;
    double end = 0; // the end of one iteration of each loop
    for (const auto *busy : {&its.computed, &its.sent})
      for (const BusyTime &time : *busy)
        end = std::max(end, time.end);
    std::string sent = rowOf(its.sent, end, columns, '='),
                waited = rowOf(its.waited, end, columns, '!');
    for (size_t i = 0; i < columns; ++i)
      sent[i] = waited[i] == '!' ? '!' : sent[i];
    text += "  computing      " + rowOf(its.computed, end, columns, '#') +
            "\n  communication  " + sent + "\n";
  }
  return text;
}

std::string TextReport::rule(const RuleStatus &rule, size_t longest) const {
  std::string note = "lays out " + firstPaths(rule.matches, width - 30);
  if (rule.status == "dead")
    note = "matches nothing; " + rule.advice;
  else if (rule.status == "shadowed")
    note =
        "another rule comes first for " + firstPaths(rule.matches, width - 40);
  std::string label = "  " + rule.key +
                      std::string(std::min<size_t>(longest, 40) + 2 -
                                      std::min<size_t>(rule.key.size(), 40),
                                  ' ') +
                      llvm::formatv("{0,-10}", rule.status).str();
  return wrapped(label, note);
}

std::string TextReport::rules() const {
  if (explanation.rules.empty())
    return "";
  std::string text = "\nRules of the layout map:\n\n";
  size_t longest = 0, left = 0;
  for (const RuleStatus &rule : explanation.rules)
    longest = std::max(longest, rule.key.size());
  std::map<bool, size_t> shown; // texts of rules that are used, and of others
  for (const RuleStatus &each : explanation.rules) {
    constexpr size_t most = 8;
    if (options.isComplete || shown[each.status == "used"]++ < most)
      text += rule(each, longest);
    else
      ++left;
  }
  return left ? text + seeAll(grouped(left) +
                              (left == 1 ? " more rule" : " more rules"))
              : text;
}

std::string TextReport::write() const {
  std::string head =
      "One " + explanation.step + " step on " + explanation.devices + ".\n\n";
  std::string rest = fixes() + memory() + times() + rules();
  size_t fixed = linesOf(head) + linesOf(rest);
  return head + collectives(options.lines > fixed ? options.lines - fixed : 0) +
         rest;
}

std::string weft::toText(const Explanation &explanation,
                         const TextOptions &options) {
  return TextReport(explanation, options).write();
}
