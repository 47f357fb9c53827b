//===- CollectiveSection.cpp - collectives, their reasons and fixes -------===//

#include "weft/compiler/report/Html.h"
#include "weft/compiler/report/Sections.h"
#include "weft/layout/Saturating.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::html;

std::string html::kindClass(llvm::StringRef kind) {
  return llvm::StringSwitch<std::string>(kind)
      .Case("all_reduce", "k1")
      .Case("all_gather", "k2")
      .Case("reduce_scatter", "k3")
      .Case("all_to_all", "k4")
      .Cases({"permute", "exchange", "collective_permute"}, "k5")
      .Default("k6");
}

std::vector<std::vector<size_t>> html::alike(const Explanation &explanation) {
  constexpr size_t many = 40;
  std::vector<std::vector<size_t>> groups;
  std::map<std::string, size_t> known;
  for (const auto &[i, cost] : llvm::enumerate(explanation.collectives)) {
    std::string key = std::to_string(i);
    if (explanation.collectives.size() > many)
      key = cost.kind + "|" + llvm::join(cost.axes, ",") + "|" +
            std::to_string(cost.bytes) + "|" + std::to_string(cost.count) +
            "|" + withoutNumbers(cost.reason);
    auto [entry, isNew] = known.try_emplace(key, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[entry->second].push_back(i);
  }
  return groups;
}

/// Writes the first clauses, and the others in a collapsed part.
static void writeWhy(llvm::StringRef why, llvm::raw_ostream &out) {
  constexpr size_t shown = 3, most = 100;
  llvm::SmallVector<llvm::StringRef> clauses;
  why.split(clauses, "; ", -1, false);
  auto part = [&](size_t from, size_t to) {
    for (size_t i = from; i < std::min(to, clauses.size()); ++i)
      out << (i > from ? "; " : "") << escaped(shortened(clauses[i], 400));
  };
  if (clauses.size() <= shown + 1)
    return part(0, clauses.size());
  part(0, shown);
  out << " <details><summary>and " << groupedDigits(clauses.size() - shown)
      << " more</summary>";
  part(shown, most);
  if (clauses.size() > most)
    out << "; and " << groupedDigits(clauses.size() - most)
        << " more (--json has all)";
  out << "</details>";
}

static void writeWhere(const Explanation &explanation,
                       const std::vector<size_t> &group,
                       llvm::raw_ostream &out) {
  const CollectiveCost &first = explanation.collectives[group.front()];
  if (group.size() == 1) {
    out << codeList(first.where, 4);
    return;
  }
  std::vector<std::string> firsts;
  for (size_t i : group)
    if (!explanation.collectives[i].where.empty())
      firsts.push_back(shortened(explanation.collectives[i].where.front(), 80));
  out << codeList(firsts, 3);
}

/// Writes a group of collectives: figures in the first row of the table, texts
/// in the second.
static void writeRecord(const Explanation &explanation,
                        const std::vector<size_t> &group, int64_t busiest,
                        llvm::raw_ostream &out) {
  const CollectiveCost &cost = explanation.collectives[group.front()];
  int64_t times = 0, bytes = 0;
  for (size_t i : group) {
    times = saturatingAdd(times, explanation.collectives[i].count);
    bytes = saturatingAdd(bytes, explanation.collectives[i].totalBytes());
  }
  out << "<tbody id=\"c" << group.front()
      << "\"><tr><td class=\"num\" data-v=\"" << group.front() << "\">"
      << group.front() + 1 << "</td><td data-v=\"" << escaped(cost.kind)
      << "\"><i class=\"dot " << kindClass(cost.kind) << "\"></i>"
      << code(cost.kind) << "</td><td>";
  for (const std::string &axis : cost.axes)
    out << (axis == cost.axes.front() ? "" : ", ") << code(axis);
  out << "</td><td class=\"num\" data-v=\"" << cost.bytes << "\">"
      << groupedDigits(cost.bytes) << "</td><td class=\"num\" data-v=\""
      << times << "\">" << groupedDigits(times)
      << "</td><td class=\"num\" data-v=\"" << bytes << "\">"
      << groupedDigits(bytes) << "<i class=\"bar\" style=\"width:"
      << px(busiest ? 100.0 * bytes / busiest : 0) << "%\"></i></td></tr>"
      << "<tr><td></td><td colspan=\"5\"><dl><dt>moves</dt><dd>";
  writeWhere(explanation, group, out);
  out << "</dd><dt>why</dt><dd>";
  writeWhy(cost.reason, out);
  out << "</dd>";
  if (!cost.lines.empty())
    out << "<dt>at</dt><dd>" << codeList(cost.lines, 6) << "</dd>";
  if (!cost.annotations.empty())
    out << "<dt>rule</dt><dd>" << codeList(cost.annotations, 4) << "</dd>";
  if (cost.fix)
    out << "<dt>fix</dt><dd>" << escaped(shortened(*cost.fix, 800)) << "</dd>";
  out << "</dl></td></tr></tbody>";
}

void html::writeCollectives(const Report &report, llvm::raw_ostream &out) {
  constexpr size_t most = 250;
  const Explanation &explanation = report.explanation;
  out << "<section id=\"communication\"><h2>Communication</h2>";
  if (explanation.collectives.empty()) {
    out << "<p>None: every device works alone.</p></section>";
    return;
  }
  std::vector<std::vector<size_t>> groups = alike(explanation);
  int64_t busiest = 0;
  for (const std::vector<size_t> &group : groups) {
    const CollectiveCost &cost = explanation.collectives[group.front()];
    busiest =
        std::max(busiest, saturatingMultiply(group.size(), cost.totalBytes()));
  }
  out << "<p class=\"lead\">In program order; bytes are sent by one device "
         "(the one "
         "that sends most). A fix is the cheapest change of one annotation "
         "that "
         "removes the collective, found by compiling under it.</p>"
         "<div class=\"wide\"><table class=\"records\"><thead><tr>"
         "<th class=\"num\">#</th><th>kind</th><th>over</th><th "
         "class=\"num\">bytes</th>"
         "<th class=\"num\">times</th><th class=\"num\">bytes a "
         "step</th></tr></thead>";
  for (const std::vector<size_t> &group :
       llvm::ArrayRef(groups).take_front(most))
    writeRecord(explanation, group, busiest, out);
  out << "<tfoot><tr><td></td><td colspan=\"3\">a step sends</td><td "
         "class=\"num\">";
  out << groupedDigits(explanation.totalCount()) << "</td><td class=\"num\">"
      << groupedDigits(explanation.totalBytes())
      << "</td></tr></tfoot></table></div>";
  if (groups.size() > most)
    out << "<p class=\"note\">and " << groupedDigits(groups.size() - most)
        << " more kinds of collectives (--json has all)</p>";
  out << "</section>";
}
