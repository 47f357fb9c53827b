//===- CollectiveSection.cpp - collectives, their reasons and fixes -------===//

#include "weft/compiler/explain/CollectiveRows.h"

#include "weft/base/Text.h"
#include "weft/compiler/report/Html.h"
#include "weft/compiler/report/Sections.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <algorithm>

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
  out << " <details><summary>and " << grouped(clauses.size() - shown)
      << " more</summary>";
  part(shown, most);
  if (clauses.size() > most)
    out << "; and " << grouped(clauses.size() - most)
        << " more (--json has all)";
  out << "</details>";
}

/// Writes equal collectives: figures in the first row of the table, texts in the
/// second.
static void writeRecord(const Explanation &explanation,
                        const CollectiveRow &row, int64_t busiest,
                        llvm::raw_ostream &out) {
  size_t first = row.members.front();
  const CollectiveCost &cost = explanation.collectives[first];
  out << "<tbody id=\"c" << first << "\"><tr><td class=\"num\" data-v=\""
      << first << "\">" << first + 1 << "</td><td data-v=\""
      << escaped(cost.kind) << "\"><i class=\"dot " << kindClass(cost.kind)
      << "\"></i>" << code(cost.kind) << "</td><td>";
  for (const std::string &axis : cost.axes)
    out << (axis == cost.axes.front() ? "" : ", ") << code(axis);
  out << "</td><td class=\"num\" data-v=\"" << cost.bytes << "\">"
      << grouped(cost.bytes) << "</td><td class=\"num\" data-v=\"" << row.count
      << "\">" << grouped(row.count) << "</td><td class=\"num\" data-v=\""
      << row.bytes << "\">" << grouped(row.bytes)
      << "<i class=\"bar\" style=\"width:"
      << px(busiest ? 100.0 * row.bytes / busiest : 0) << "%\"></i></td></tr>"
      << "<tr><td></td><td colspan=\"5\"><dl><dt>moves</dt><dd>";
  out << codeList(row.where, 4);
  out << "</dd><dt>why</dt><dd>";
  writeWhy(row.reason, out);
  out << "</dd>";
  if (!row.lines.empty())
    out << "<dt>at</dt><dd>" << codeList(row.lines, 6) << "</dd>";
  if (!row.annotations.empty())
    out << "<dt>rule</dt><dd>" << codeList(row.annotations, 4) << "</dd>";
  if (cost.fix)
    out << "<dt>fix</dt><dd>" << escaped(shortened(*cost.fix, 800)) << "</dd>";
  out << "</dl></td></tr></tbody>";
}

/// The text ": 4 of 30 were tried"; empty if none were searched.
static std::string triedText(const Explanation &explanation) {
  if (!explanation.search)
    return "";
  return ": " + grouped(explanation.search->tried) + " of " +
         grouped(explanation.search->known) + " were tried";
}

void html::writeCollectives(const Report &report, llvm::raw_ostream &out) {
  constexpr size_t most = 250;
  const Explanation &explanation = report.explanation;
  out << "<section id=\"communication\"><h2>Communication</h2>";
  if (explanation.collectives.empty()) {
    out << "<p>None: every device works alone.</p></section>";
    return;
  }
  std::vector<CollectiveRow> rows = collectiveRows(explanation);
  int64_t busiest = 0;
  for (const CollectiveRow &row : rows)
    busiest = std::max(busiest, row.bytes);
  out << "<p class=\"lead\">In program order; bytes are sent by one device "
         "(the one that sends most). Collectives that differ in a layer's "
         "number are one row. A fix is the best change of annotations that "
         "was tried and saves bytes"
      << triedText(explanation)
      << ".</p>"
         "<div class=\"wide\"><table class=\"records\"><thead><tr>"
         "<th class=\"num\">#</th><th>kind</th><th>over</th><th "
         "class=\"num\">bytes</th>"
         "<th class=\"num\">times</th><th class=\"num\">bytes a "
         "step</th></tr></thead>";
  for (const CollectiveRow &row : llvm::ArrayRef(rows).take_front(most))
    writeRecord(explanation, row, busiest, out);
  out << "<tfoot><tr><td></td><td colspan=\"3\">a step sends</td><td "
         "class=\"num\">";
  out << grouped(explanation.totalCount()) << "</td><td class=\"num\">"
      << grouped(explanation.totalBytes())
      << "</td></tr></tfoot></table></div>";
  if (rows.size() > most)
    out << "<p class=\"note\">and " << grouped(rows.size() - most)
        << " more kinds of collectives (--json has all)</p>";
  out << "</section>";
}
