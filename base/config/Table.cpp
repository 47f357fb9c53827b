//===- Table.cpp - classes by name ----------------------------------------===//

#include "weft/base/config/Table.h"
#include "weft/base/config/Json.h"

#include <cctype>
#include <set>

using namespace weft::keras;

std::string weft::keras::plainName(std::string_view name) {
  std::string out;
  for (char c : name)
    if (c != '_')
      out += char(std::tolower(c));
  return out;
}

const TableRow *AnyTable::find(std::string_view name) const {
  std::string wanted = plainName(name);
  for (const TableRow &row : rows) {
    if (plainName(row.name) == wanted)
      return &row;
    for (const char *other : row.otherNames)
      if (plainName(other) == wanted)
        return &row;
  }
  return nullptr;
}

std::string AnyTable::names() const {
  std::string out;
  for (const TableRow &row : rows)
    out += (out.empty() ? "" : ", ") + std::string(row.name);
  return out;
}

/// The class whose name, in any spelling, is close to an unknown name; or
/// empty.
static std::string closestClass(std::string_view name,
                                const std::vector<TableRow> &rows) {
  std::set<std::string> known;
  for (const TableRow &row : rows) {
    known.insert(plainName(row.name));
    for (const char *other : row.otherNames)
      known.insert(plainName(other));
  }
  std::string meant = weft::closestName(plainName(name), known);
  for (const TableRow &row : rows) {
    bool isMeant = plainName(row.name) == meant;
    for (const char *other : row.otherNames)
      isMeant |= plainName(other) == meant;
    if (isMeant)
      return row.name;
  }
  return "";
}

std::string AnyTable::refusal(std::string_view name) const {
  constexpr size_t mostListed = 64;
  std::string meant = closestClass(name, rows);
  return std::string(what) + " " + inQuotes(name) + " is not supported" +
         (meant.empty() ? "" : ", did you mean " + inQuotes(meant) + "?") +
         (rows.size() > mostListed
              ? "; docs/keras.md lists the " + std::to_string(rows.size()) +
                    " supported " + several
              : std::string("; supported ") + several + " are " + names());
}

std::shared_ptr<Configured> AnyTable::make(const TableRow &row) {
  std::shared_ptr<Configured> out = row.make();
  out->className = row.name;
  return out;
}

static bool isUpper(char c) { return c >= 'A' && c <= 'Z'; }
static bool isLower(char c) { return c >= 'a' && c <= 'z'; }

std::string weft::keras::snakeCase(std::string_view className) {
  std::string out;
  for (size_t i = 0; i < className.size(); ++i) {
    char c = className[i];
    bool wordStarts = i > 0 && isUpper(c) &&
                      (isLower(className[i - 1]) ||
                       (i + 1 < className.size() && isLower(className[i + 1])));
    if (wordStarts)
      out += '_';
    out += isUpper(c) ? char(c - 'A' + 'a') : c;
  }
  return out;
}
