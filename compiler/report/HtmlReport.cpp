//===- HtmlReport.cpp - a compilation as one HTML page --------------------===//

#include "weft/compiler/report/HtmlReport.h"

#include "weft/base/Text.h"
#include "weft/compiler/report/Html.h"
#include "weft/compiler/report/Sections.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace weft::html;

static constexpr llvm::StringLiteral kStyle =
#include "weft/compiler/report/ReportStyle.inc"
    ;
static constexpr llvm::StringLiteral kScript =
#include "weft/compiler/report/ReportScript.inc"
    ;

//===----------------------------------------------------------------------===//
// Budgets and rules
//===----------------------------------------------------------------------===//

void html::writeBudgets(const Report &report, llvm::raw_ostream &out) {
  if (report.limits.empty())
    return;
  out << "<section id=\"budgets\"><h2>Budgets</h2><p class=\"lead\">Limits "
         "on the "
         "step's costs; a program over its budget does not compile.</p><div "
         "class=\"wide\">"
         "<table><thead><tr><th>limit</th><th>from</th><th "
         "class=\"num\">allows</th>"
         "<th class=\"num\">the step has</th><th></th></tr></thead><tbody>";
  for (const LimitStatus &status : report.limits) {
    double allowed = status.limit.value;
    double share = allowed > 0   ? 100.0 * status.cost / allowed
                   : status.cost ? 100
                                 : 0;
    out << "<tr><td>" << code(status.limit.text) << "</td><td>"
        << code(status.source) << "</td><td class=\"num\">"
        << costText(status.limit, wholeQuantity(allowed))
        << "</td><td class=\"num\">" << costText(status.limit, status.cost)
        << "<i class=\"bar" << (status.holds() ? "" : " bad")
        << "\" style=\"width:" << px(std::min(share, 100.0))
        << "%\"></i></td><td>"
        << (status.holds() ? "<span class=\"tag good\">holds</span>"
                           : "<span class=\"tag bad\">broken</span>")
        << "</td></tr>";
  }
  out << "</tbody></table></div></section>";
}

static llvm::StringRef ruleClass(const RuleStatus &rule) {
  return rule.status == "used"   ? "good"
         : rule.status == "dead" ? "bad"
                                 : "warn";
}

void html::writeRules(const Report &report, llvm::raw_ostream &out) {
  constexpr size_t most = 300;
  const auto &rules = report.explanation.rules;
  if (rules.empty())
    return;
  out << "<section id=\"rules\"><h2>Rules of the layout map</h2><div "
         "class=\"wide\">"
         "<table><thead><tr><th>rule</th><th>status</th><th>effect"
         "</th></tr>"
         "</thead><tbody>";
  for (const RuleStatus &rule : llvm::ArrayRef(rules).take_front(most)) {
    out << "<tr><td>" << code(shortened(rule.key, 200))
        << "</td><td><span class=\"tag " << ruleClass(rule) << "\">"
        << escaped(rule.status) << "</span></td><td>";
    if (rule.status == "dead")
      out << "matches nothing; " << escaped(shortened(rule.advice, 400));
    else
      out << (rule.status == "used" ? "lays out "
                                    : "another rule comes first for ")
          << codeList(rule.matches, 6);
    out << "</td></tr>";
  }
  out << "</tbody></table></div>";
  if (rules.size() > most)
    out << "<p class=\"note\">and " << grouped(rules.size() - most)
        << " more (--json has all)</p>";
  out << "</section>";
}

//===----------------------------------------------------------------------===//
// The head of the page
//===----------------------------------------------------------------------===//

static void writeTile(llvm::StringRef place, llvm::StringRef name,
                      const std::string &value, const std::string &note,
                      llvm::raw_ostream &out, llvm::StringRef style = "") {
  out << "<li><a href=\"#" << place << "\""
      << (style.empty() ? "" : " class=\"") << style
      << (style.empty() ? "" : "\"") << "><span>" << name << "</span><strong>"
      << value << "</strong><small>" << note << "</small></a></li>";
}

static void writeRuleTile(const Explanation &explanation,
                          llvm::raw_ostream &out) {
  const auto &rules = explanation.rules;
  if (rules.empty())
    return;
  auto with = [&](llvm::StringRef status) {
    return llvm::count_if(
        rules, [&](const RuleStatus &r) { return r.status == status; });
  };
  int64_t dead = with("dead"), shadowed = with("shadowed");
  std::string note;
  if (dead)
    note = std::to_string(dead) +
           (dead == 1 ? " matches nothing" : " match nothing");
  if (shadowed)
    note += (note.empty() ? "" : ", ") + std::to_string(shadowed) +
            (shadowed == 1 ? " comes too late" : " come too late");
  writeTile("rules", "Rules", std::to_string(rules.size()),
            note.empty() ? "all used" : note, out, note.empty() ? "" : "warn");
}

static void writeTiles(const Report &report, llvm::raw_ostream &out) {
  const Explanation &explanation = report.explanation;
  int64_t times = explanation.totalCount();
  out << "<ul class=\"tiles\">";
  writeTile("mesh", "Devices", grouped(report.mesh.size()),
            escaped(explanation.devices), out);
  writeTile("communication", "A device sends",
            sizeText(explanation.totalBytes()),
            bytesText(explanation.totalBytes()) + " a step in " +
                counted(times, "collective"),
            out);
  writeTile("memory", "The fullest device holds",
            sizeText(explanation.memory.total()),
            bytesText(explanation.memory.total()), out);
  if (!report.limits.empty()) {
    int64_t broken =
        llvm::count_if(report.limits, [](const LimitStatus &status) {
          return !status.holds();
        });
    writeTile("budgets", "Budgets", std::to_string(report.limits.size()),
              broken ? std::to_string(broken) + (broken == 1 ? " is" : " are") +
                           " broken"
                     : "all hold",
              out, broken ? "bad" : "");
  }
  writeRuleTile(explanation, out);
  out << "</ul>";
}

static void writeHead(const Report &report, llvm::raw_ostream &out) {
  std::string title = "One " + escaped(report.explanation.step) + " step of " +
                      escaped(report.program);
  out << "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
         "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src "
         "'none'; "
         "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">"
         "<meta name=\"viewport\" content=\"width=device-width, "
         "initial-scale=1\">"
         "<meta name=\"color-scheme\" content=\"light dark\"><title>"
      << title << " – Weft</title>\n<style>" << kStyle
      << "</style></head>\n<body><header><p class=\"brand\">weft "
         "explain</p><h1>One "
      << escaped(report.explanation.step) << " step of " << code(report.program)
      << "</h1>";
  writeTiles(report, out);
  out << "</header>\n<main>\n";
}

std::string weft::toHtml(const Report &report) {
  std::string page;
  llvm::raw_string_ostream out(page);
  writeHead(report, out);
  for (auto section :
       {writeMesh, writeLayouts, writeStep, html::writeTimes, writeStages,
        writeCollectives, html::writeMemory, writeBudgets, writeRules}) {
    section(report, out);
    out << '\n';
  }
  out << "</main>\n<footer><p>Written by <code>weft explain --html</code>, "
         "read off the "
         "finished plan of the program that runs.</p></footer>\n<script>"
      << kScript << "</script></body></html>\n";
  return page;
}
