#include "weft/data/sources/CsvTable.h"

#include "weft/base/ClosestName.h"
#include "weft/data/sources/CsvReader.h"
#include "weft/data/sources/RowCollector.h"

#include <algorithm>
#include <charconv>
#include <map>

namespace weft {

namespace {

/// The columns of one array.
struct Group {
  std::string key; ///< x, y/NAME
  std::vector<size_t> columns;
  RowCollector rows;
};

class CsvTable final : public ArrayFile {
public:
  CsvTable(std::string path, std::map<std::string, Rows> arrays,
           std::vector<std::string> lines)
      : ArrayFile(std::move(path)), arrays(std::move(arrays)),
        lines(std::move(lines)) {}
  std::vector<std::string> keys() const override {
    std::vector<std::string> out;
    for (const auto &[key, rows] : arrays)
      out.push_back(key);
    return out;
  }
  Message hint() const override {
    return "name its columns with " + Option{"inputs"} + " and " +
           Option{"targets"};
  }
  std::vector<std::string> notes() const override { return lines; }
  Result<Rows> rows(const std::string &key, const Shape &) override {
    if (auto found = arrays.find(key); found != arrays.end())
      return found->second;
    return Error{path() + ": no columns are named for " + key + "; add " +
                 Option{"inputs"} + " or " + Option{"targets"}};
  }

private:
  std::map<std::string, Rows> arrays;
  std::vector<std::string> lines;
};

/// A name as an option takes it: quoted if it has a comma or begins with a quote.
std::string optionName(const std::string &name) {
  bool isPlain = name.find(',') == name.npos && !name.starts_with('"');
  return isPlain ? name : quotedField(name);
}

std::string_view trimmed(std::string_view text) {
  while (text.starts_with(' '))
    text.remove_prefix(1);
  while (text.ends_with(' '))
    text.remove_suffix(1);
  return text;
}

enum class NumberKind { None, Beyond, Number };

/// Parses a number of float64, with spaces around it.
NumberKind parseNumber(std::string_view text, double &value) {
  text = trimmed(text);
  if (text.starts_with('+'))
    text.remove_prefix(1);
  const char *last = text.data() + text.size();
  auto [end, code] = std::from_chars(text.data(), last, value);
  if (text.empty() || end != last || code == std::errc::invalid_argument)
    return NumberKind::None;
  return code == std::errc() ? NumberKind::Number : NumberKind::Beyond;
}

/// Reads a table into its groups.
class TableReader {
public:
  TableReader(std::string path, OpenFile file,
              const SourceOptions &options [[clang::lifetimebound]])
      : path(path), reader(path, std::move(file)), options(options),
        vocabulary(options.vocabulary ? options.vocabulary
                                      : std::make_shared<Vocabulary>()) {}

  Result<std::unique_ptr<ArrayFile>> read();

private:
  Status readHeader();
  Status addGroup(const std::string &key, const Option &option,
                  const std::string &text);
  Status readMissing();
  Status findTexts();
  Status readRows();
  Status addRow(Group &group, const CsvFields &fields);
  Result<double> number(size_t column, const std::string &field);
  Result<double> textNumber(size_t column, const std::string &text);
  /// Reads the next record, of as many fields as there are columns.
  Result<bool> next(CsvReader &from, CsvFields &fields) const;
  /// The column of this name, which is part of the option's value.
  Result<size_t> columnOf(const Option &option, const std::string &name) const;
  std::string where(size_t column) const {
    return "column \"" + header[column] + "\": ";
  }
  std::vector<std::string> notes() const;

  std::string path;
  CsvReader reader;
  const SourceOptions &options;
  std::shared_ptr<Vocabulary> vocabulary;
  CsvFields header;
  std::vector<Group> groups;
  std::set<size_t> chosen;               ///< columns of any group
  std::map<size_t, std::string> missing; ///< values of missing fields
  std::optional<std::string> missingElsewhere;
  int64_t count = 0;
};

Result<std::unique_ptr<ArrayFile>> TableReader::read() {
  if (Status ok = readHeader(); !ok)
    return ok.error();
  for (auto &[key, option, texts] :
       {std::tuple{"x", Option{"inputs"}, &options.inputs},
        std::tuple{"y", Option{"targets"}, &options.targets}})
    for (const std::string &text : *texts)
      if (Status ok = addGroup(key, option, text); !ok)
        return ok.error();
  if (groups.empty())
    return Error{path +
                 ": is a table; say which columns are inputs and "
                 "targets, as " +
                 Option{"inputs", optionName(header[0])} + " " +
                 Option{"targets", optionName(header.back())}};
  if (Status ok = readMissing(); !ok)
    return ok.error();
  if (Status ok = findTexts(); !ok)
    return ok.error();
  if (Status ok = readRows(); !ok)
    return ok.error();
  std::map<std::string, Rows> arrays;
  for (Group &group : groups) {
    Result<Rows> rows = group.rows.finish(
        ElementType::Float64, {count, int64_t(group.columns.size())});
    if (!rows)
      return rows.error();
    arrays[group.key] = std::move(*rows);
  }
  return std::unique_ptr<ArrayFile>(
      std::make_unique<CsvTable>(path, std::move(arrays), notes()));
}

Status TableReader::readHeader() {
  Result<bool> any = reader.next(header);
  if (!any)
    return any.error();
  if (!*any)
    return Error{path + ": is empty; its first line names the columns"};
  if (header[0].starts_with("\xEF\xBB\xBF"))
    header[0].erase(0, 3); // the byte order mark of UTF-8
  for (size_t i = 0; i < header.size(); ++i)
    if (std::find(header.begin(), header.begin() + i, header[i]) !=
        header.begin() + i)
      return Error{path + ": line 1: column \"" + header[i] +
                   "\" is there twice; rename one of them"};
  return {};
}

Result<size_t> TableReader::columnOf(const Option &option,
                                     const std::string &name) const {
  auto found = std::find(header.begin(), header.end(), name);
  if (found != header.end())
    return size_t(found - header.begin());
  std::string meant =
      closestName(name, std::set<std::string>(header.begin(), header.end()));
  return Error{option + ": " + path + " has no column \"" + name + "\"; " +
               (meant.empty()
                    ? "its first line names them, and a name with a comma is "
                      "quoted"
                    : "did you mean " + quotedField(meant) + "?")};
}

/// Adds the array of [NAME=]a,b,c.
Status TableReader::addGroup(const std::string &key, const Option &option,
                             const std::string &text) {
  size_t equal = text.find('=');
  bool isNamed = equal != text.npos && equal < text.find('"') &&
                 std::find(header.begin(), header.end(), text) == header.end();
  Group group{isNamed ? key + "/" + text.substr(0, equal) : key,
              {},
              RowCollector(path, options.inMemory)};
  Result<CsvFields> names =
      splitFields(isNamed ? text.substr(equal + 1) : text);
  if (!names)
    return Error{option + " " + names.error().message};
  for (const std::string &name : *names) {
    Result<size_t> column = columnOf(option.as(text), name);
    if (!column)
      return column.error();
    group.columns.push_back(*column);
    chosen.insert(*column);
  }
  groups.push_back(std::move(group));
  return {};
}

/// Reads the values of `missing`: [COLUMN=]VALUE.
Status TableReader::readMissing() {
  for (const std::string &text : options.missing) {
    Option option{"missing", text};
    size_t equal = text.rfind('=');
    if (equal == text.npos) {
      missingElsewhere = text;
      continue;
    }
    Result<CsvFields> name = splitFields(text.substr(0, equal));
    if (!name)
      return Error{Option{"missing"} + " " + name.error().message};
    Result<size_t> column =
        columnOf(option, name->size() == 1 ? name->front() : text);
    if (!column)
      return column.error();
    if (!chosen.contains(*column))
      return Error{option + ": the column \"" + header[*column] +
                   "\" is neither an input nor a target; leave it out"};
    missing[*column] = text.substr(equal + 1);
  }
  if (missingElsewhere)
    for (size_t column : chosen)
      missing.emplace(column, *missingElsewhere);
  return {};
}

Result<bool> TableReader::next(CsvReader &from, CsvFields &fields) const {
  Result<bool> any = from.next(fields);
  if (any && *any && fields.size() != header.size())
    return from.wrong("has " + std::to_string(fields.size()) +
                      " fields, the first line names " +
                      std::to_string(header.size()) +
                      " columns; complete the line, or remove it");
  return any;
}

/// Finds the columns whose first field is a text, and gathers their texts, in a
/// pass of its own.
Status TableReader::findTexts() {
  std::set<size_t> open = chosen;
  std::erase_if(open, [&](size_t column) {
    return vocabulary->contains(header[column]) || !vocabulary->isOpen;
  });
  std::map<size_t, std::set<std::string>> texts;
  Result<OpenFile> file = openToRead(path);
  if (!file)
    return file.error();
  CsvReader first(path, std::move(*file));
  CsvFields fields;
  for (bool isHeader = true; !open.empty() || !texts.empty();
       isHeader = false) {
    Result<bool> any = isHeader ? first.next(fields) : next(first, fields);
    if (!any)
      return any.error();
    if (!*any)
      break;
    if (isHeader)
      continue;
    std::erase_if(open, [&](size_t column) {
      double ignored = 0;
      if (trimmed(fields[column]).empty())
        return false; // missing: a later line decides
      if (parseNumber(fields[column], ignored) == NumberKind::None)
        texts[column];
      return true;
    });
    for (auto &[column, known] : texts) {
      std::string text(trimmed(fields[column]));
      auto value = missing.find(column);
      if (text.empty() && value != missing.end())
        text = value->second;
      if (!Vocabulary::isUtf8(text))
        return first.wrong(where(column) + "has bytes that are not UTF-8; save "
                                           "the table as UTF-8");
      if (!text.empty())
        known.insert(text);
    }
  }
  for (const auto &[column, known] : texts)
    vocabulary->add(header[column], known);
  return {};
}

Status TableReader::readRows() {
  CsvFields fields;
  for (;;) {
    Result<bool> any = next(reader, fields);
    if (!any)
      return any.error();
    if (!*any)
      return {};
    for (Group &group : groups)
      if (Status ok = addRow(group, fields); !ok)
        return ok;
    ++count;
  }
}

Status TableReader::addRow(Group &group, const CsvFields &fields) {
  for (size_t column : group.columns) {
    Result<double> value = number(column, fields[column]);
    if (!value)
      return value.error();
    if (Status ok = group.rows.add(&*value, sizeof *value); !ok)
      return ok;
  }
  return {};
}

/// The number of a text, by the vocabulary.
Result<double> TableReader::textNumber(size_t column, const std::string &text) {
  if (auto found = vocabulary->number(header[column], text))
    return double(*found);
  return reader.wrong(where(column) + "\"" + text.substr(0, 40) +
                      "\" is none of the texts of the training data (" +
                      vocabulary->described(header[column]) +
                      "); correct it, or train with it");
}

Result<double> TableReader::number(size_t column, const std::string &field) {
  bool isText = vocabulary->contains(header[column]);
  std::string text(trimmed(field));
  double value = 0;
  if (text.empty()) {
    auto given = missing.find(column);
    if (given == missing.end())
      return reader.wrong(
          where(column) +
          "is empty; fill it in, leave the line out, or say "
          "what it means with " +
          Option{"missing", optionName(header[column]) + "=VALUE"});
    text = given->second;
    if (!isText && parseNumber(text, value) != NumberKind::Number)
      return Error{Option{"missing", text} + ": is no number, and " + path +
                   " has numbers in the column \"" + header[column] +
                   "\"; give " +
                   Option{"missing", optionName(header[column]) + "=NUMBER"}};
  }
  if (isText)
    return textNumber(column, text);
  NumberKind kind = parseNumber(text, value);
  if (kind == NumberKind::Beyond)
    return reader.wrong(where(column) + text.substr(0, 40) +
                        " is beyond the numbers of float64; scale it");
  if (kind == NumberKind::Number)
    return value;
  std::string wrong =
      where(column) + "\"" + text.substr(0, 40) + "\" is no number";
  if (vocabulary->isOpen || vocabulary->isRead || vocabulary->file.empty())
    return reader.wrong(wrong + ", as the first field of the column is; encode "
                                "it as one, or all of the column as texts");
  return reader.wrong(wrong + ", and there is no " + vocabulary->file +
                      ", where weft fit writes the numbers of texts beside the "
                      "weights that it saves; give those weights, or encode "
                      "the text as a number");
}

std::vector<std::string> TableReader::notes() const {
  std::vector<std::string> lines;
  std::string others;
  for (size_t column = 0; column < header.size(); ++column)
    if (!chosen.contains(column))
      others += (others.empty() ? "" : ", ") + optionName(header[column]);
    else if (vocabulary->contains(header[column]))
      lines.push_back(path + ": " + where(column) +
                      vocabulary->described(header[column]));
  if (!others.empty())
    lines.push_back(path + ": " + others + ": not read");
  return lines;
}

} // namespace

Result<std::unique_ptr<ArrayFile>> openCsvTable(const std::string &path,
                                                const SourceOptions &options) {
  Result<OpenFile> file = openToRead(path);
  if (!file)
    return file.error();
  return TableReader(path, std::move(*file), options).read();
}

} // namespace weft
