//===- CollectiveRows.cpp - equal collectives of several layers -----------===//

#include "weft/compiler/explain/CollectiveRows.h"

#include "weft/base/Saturating.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace weft;
using llvm::StringRef;

namespace {
/// A part of a text: the number of a layer, or the text between two.
struct Token {
  StringRef text;
  bool isLayer = false;
};
} // namespace

static llvm::SmallVector<Token> tokensOf(StringRef text) {
  llvm::SmallVector<Token> parts;
  size_t begin = 0;
  for (size_t at = 1; at < text.size(); ++at) {
    char before = text[at - 1];
    if (!llvm::isDigit(text[at]) || llvm::isDigit(before) ||
        !(llvm::isAlpha(before) || StringRef("_[/.-").contains(before)))
      continue;
    size_t end = std::min(text.find_if_not(llvm::isDigit, at), text.size());
    parts.push_back({text.slice(begin, at)});
    parts.push_back({text.slice(at, end), true});
    begin = at = end;
  }
  parts.push_back({text.drop_front(begin)});
  return parts;
}

std::string weft::withoutLayerNumbers(StringRef text) {
  std::string out;
  for (const Token &part : tokensOf(text))
    out += part.isLayer ? "*" : part.text.str();
  return out;
}

std::string weft::mergedName(llvm::ArrayRef<std::string> texts) {
  std::string out;
  llvm::SmallVector<Token> first = tokensOf(texts.front());
  llvm::SmallVector<bool> differs(first.size(), false);
  for (const std::string &text : texts.drop_front())
    for (auto [part, other, isOther] :
         llvm::zip(first, tokensOf(text), differs))
      isOther |= part.text != other.text;
  for (auto [part, isOther] : llvm::zip_equal(first, differs))
    out += isOther ? "*" : part.text.str();
  return out;
}

std::vector<std::string> weft::mergedNames(llvm::ArrayRef<std::string> texts) {
  std::vector<std::vector<std::string>> groups;
  std::map<std::string, size_t> known;
  for (const std::string &text : texts) {
    auto [entry, isNew] =
        known.try_emplace(withoutLayerNumbers(text), groups.size());
    if (isNew)
      groups.emplace_back();
    groups[entry->second].push_back(text);
  }
  std::vector<std::string> merged;
  for (const std::vector<std::string> &group : groups)
    merged.push_back(mergedName(group));
  return merged;
}

/// Collectives with the same key are one row. `mode`: how GPUs exchange data.
static std::string keyOf(const CollectiveCost &cost,
                         std::optional<CollectiveMode> mode) {
  return (mode ? cost.methods[size_t(*mode)] + "|" : "") + cost.kind + "|" +
         llvm::join(cost.axes, ",") + "|" + std::to_string(cost.bytes) + "|" +
         withoutLayerNumbers(cost.reason) + "|" +
         std::to_string(cost.where.size()) + "|" +
         withoutLayerNumbers(llvm::join(cost.where, ", "));
}

/// Fills the texts of a row from its collectives.
static void fillTexts(CollectiveRow &row, const Explanation &explanation) {
  std::vector<std::string> reasons, annotations;
  const CollectiveCost &first = explanation.collectives[row.members.front()];
  row.where = first.where;
  row.lines = first.lines;
  for (size_t i : row.members) {
    const CollectiveCost &cost = explanation.collectives[i];
    row.count = saturatingAdd(row.count, cost.count);
    row.bytes = saturatingAdd(row.bytes, cost.totalBytes());
    reasons.push_back(cost.reason);
    llvm::append_range(annotations, cost.annotations);
    for (const std::string &line : cost.lines)
      if (!llvm::is_contained(row.lines, line))
        row.lines.push_back(line);
  }
  for (auto [n, name] : llvm::enumerate(row.where)) {
    std::vector<std::string> names;
    for (size_t i : row.members)
      names.push_back(explanation.collectives[i].where[n]);
    name = mergedName(names);
  }
  row.reason = mergedName(reasons);
  row.annotations =
      row.members.size() == 1 ? first.annotations : mergedNames(annotations);
}

std::vector<CollectiveRow> weft::collectiveRows(const Explanation &explanation,
                                                bool isComplete) {
  std::vector<CollectiveRow> rows;
  std::map<std::string, size_t> known;
  for (const auto &[i, cost] : llvm::enumerate(explanation.collectives)) {
    std::string key =
        isComplete ? std::to_string(i) : keyOf(cost, explanation.mode);
    auto [entry, isNew] = known.try_emplace(key, rows.size());
    if (isNew)
      rows.emplace_back();
    rows[entry->second].members.push_back(i);
  }
  for (CollectiveRow &row : rows)
    fillTexts(row, explanation);
  return rows;
}
