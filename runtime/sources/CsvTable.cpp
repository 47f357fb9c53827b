#include "weft/runtime/sources/CsvTable.h"

#include "weft/runtime/abi/ClosestName.h"
#include "weft/runtime/sources/RowCollector.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <unistd.h>

namespace weft {

namespace {

constexpr size_t kLongestLine = size_t(1) << 20, kMostColumns = 65536;

using Fields = std::vector<std::string>;

/// Records of a file, in RFC 4180's grammar.
class CsvReader {
public:
  CsvReader(std::string path, OpenFile file)
      : path(std::move(path)), file(std::move(file)), chunk(1 << 20) {}

  /// Reads the next record; false at the end of the file.
  Result<bool> next(Fields &fields);
  /// The number of the line in which the last record began, from 1.
  int64_t line() const { return begun; }
  Error wrong(const std::string &what) const {
    return {path + ": line " + std::to_string(begun) + ": " + what};
  }

private:
  /// The next byte, or -1 at the end.
  int peek() {
    if (at < filled)
      return chunk[at];
    ssize_t got;
    do
      got = read(file, chunk.data(), chunk.size());
    while (got < 0 && errno == EINTR);
    failure = got < 0 ? errno : failure;
    at = 0;
    filled = got > 0 ? size_t(got) : 0;
    return filled ? chunk[0] : -1;
  }
  int take() {
    int byte = peek();
    at += byte >= 0;
    lines += byte == '\n';
    return byte;
  }
  Status quoted(std::string &field);
  Status plain(std::string &field);
  Status checkSize(size_t more) {
    size += more;
    if (size <= kLongestLine)
      return {};
    return wrong("has more than " + std::to_string(kLongestLine) +
                 " bytes; is a quote not closed?");
  }

  std::string path;
  OpenFile file;
  std::vector<uint8_t> chunk;
  size_t at = 0, filled = 0, size = 0;
  int64_t lines = 1, begun = 0;
  int failure = 0;
};

Status CsvReader::quoted(std::string &field) {
  take();
  for (;;) {
    int byte = take();
    if (byte < 0)
      return wrong("a quote is not closed; close it");
    if (byte != '"')
      field += char(byte);
    else if (peek() == '"')
      field += char(take());
    else
      break;
    if (Status ok = checkSize(1); !ok)
      return ok;
  }
  int after = peek();
  if (after < 0 || after == ',' || after == '\n' || after == '\r')
    return {};
  return wrong("has text behind a closing quote; write a quote inside quotes "
               "twice");
}

Status CsvReader::plain(std::string &field) {
  for (int byte = peek();
       byte >= 0 && byte != ',' && byte != '\n' && byte != '\r';
       byte = peek()) {
    if (byte == '"')
      return wrong("has a quote inside a field that has none around it; put "
                   "the field in quotes, and write the quote twice");
    field += char(take());
    if (Status ok = checkSize(1); !ok)
      return ok;
  }
  return {};
}

Result<bool> CsvReader::next(Fields &fields) {
  fields.clear();
  begun = lines;
  size = 0;
  if (peek() < 0 && !failure)
    return false;
  for (;;) {
    std::string field;
    if (Status ok = peek() == '"' ? quoted(field) : plain(field); !ok)
      return ok.error();
    fields.push_back(std::move(field));
    if (failure)
      return wrong(std::string("cannot be read: ") + std::strerror(failure) +
                   "; the disk fails");
    if (fields.size() > kMostColumns)
      return wrong("has more than " + std::to_string(kMostColumns) +
                   " columns; keep wide rows in an .npz file");
    int end = take();
    if (end == ',')
      continue;
    if (end == '\r' && take() != '\n')
      return wrong("has a carriage return without a line feed; end lines with "
                   "a line feed");
    return true;
  }
}

/// The columns of one array.
struct Group {
  std::string key; ///< x, y/NAME
  std::vector<size_t> columns;
  RowCollector rows;
};

Fields split(const std::string &text) {
  Fields out(1);
  for (char c : text)
    if (c == ',')
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

class CsvTable final : public ArrayFile {
public:
  CsvTable(std::string path, std::map<std::string, Rows> arrays)
      : ArrayFile(std::move(path)), arrays(std::move(arrays)) {}
  std::vector<std::string> keys() const override {
    std::vector<std::string> out;
    for (const auto &[key, rows] : arrays)
      out.push_back(key);
    return out;
  }
  std::string hint() const override {
    return "name its columns with --inputs and --targets";
  }
  Result<Rows> rows(const std::string &key, const Shape &) override {
    if (auto found = arrays.find(key); found != arrays.end())
      return found->second;
    return Error{path() + ": no columns are named for " + key +
                 "; add --inputs or --targets"};
  }

private:
  std::map<std::string, Rows> arrays;
};

/// Reads a table into its groups.
class TableReader {
public:
  TableReader(std::string path, OpenFile file, const SourceOptions &options)
      : path(path), reader(path, std::move(file)), options(options) {}

  Result<std::unique_ptr<ArrayFile>> read() {
    if (Status ok = readHeader(); !ok)
      return ok.error();
    for (auto [key, flag, texts] :
         {std::tuple{"x", "--inputs", &options.inputs},
          std::tuple{"y", "--targets", &options.targets}})
      for (const std::string &text : *texts)
        if (Status ok = addGroup(key, flag, text); !ok)
          return ok.error();
    if (groups.empty())
      return Error{path +
                   ": is a table; say which columns are inputs and "
                   "targets, as --inputs " +
                   header[0] + " --targets " + header.back()};
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
        std::make_unique<CsvTable>(path, std::move(arrays)));
  }

private:
  Status readHeader() {
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

  /// [NAME=]a,b,c
  Status addGroup(const std::string &key, const std::string &flag,
                  const std::string &text) {
    size_t equal = text.find('=');
    bool isNamed = equal != text.npos && std::find(header.begin(), header.end(),
                                                   text) == header.end();
    Group group{isNamed ? key + "/" + text.substr(0, equal) : key,
                {},
                RowCollector(path, options.inMemory)};
    for (const std::string &name :
         split(isNamed ? text.substr(equal + 1) : text)) {
      auto found = std::find(header.begin(), header.end(), name);
      if (found == header.end()) {
        std::string meant = closestName(
            name, std::set<std::string>(header.begin(), header.end()));
        return Error{flag + " " + text + ": " + path + " has no column \"" +
                     name + "\"; " +
                     (meant.empty() ? "its first line names them"
                                    : "did you mean \"" + meant + "\"?")};
      }
      group.columns.push_back(size_t(found - header.begin()));
    }
    groups.push_back(std::move(group));
    return {};
  }

  Status readRows() {
    Fields fields;
    for (;;) {
      Result<bool> any = reader.next(fields);
      if (!any)
        return any.error();
      if (!*any)
        return {};
      if (fields.size() != header.size())
        return reader.wrong("has " + std::to_string(fields.size()) +
                            " fields, the first line names " +
                            std::to_string(header.size()) +
                            " columns; complete the line, or remove it");
      for (Group &group : groups)
        if (Status ok = addRow(group, fields); !ok)
          return ok;
      ++count;
    }
  }

  Status addRow(Group &group, const Fields &fields) {
    for (size_t column : group.columns) {
      std::string_view text = fields[column];
      while (text.starts_with(' '))
        text.remove_prefix(1);
      while (text.ends_with(' '))
        text.remove_suffix(1);
      std::string where = "column \"" + header[column] + "\": ";
      if (text.empty())
        return reader.wrong(where + "is empty; fill in a number, or leave the "
                                    "line out");
      if (text.starts_with('+'))
        text.remove_prefix(1);
      double value = 0;
      auto [end, code] =
          std::from_chars(text.data(), text.data() + text.size(), value);
      if (end != text.data() + text.size() ||
          code == std::errc::invalid_argument)
        return reader.wrong(where + "\"" + fields[column].substr(0, 40) +
                            "\" is no number; encode it as one");
      if (code != std::errc())
        return reader.wrong(where + fields[column].substr(0, 40) +
                            " is beyond the numbers of float64; scale it");
      if (Status ok = group.rows.add(&value, sizeof value); !ok)
        return ok;
    }
    return {};
  }

  std::string path;
  CsvReader reader;
  const SourceOptions &options;
  Fields header;
  std::vector<Group> groups;
  int64_t count = 0;
};

} // namespace

Result<std::unique_ptr<ArrayFile>> openCsvTable(const std::string &path,
                                                const SourceOptions &options) {
  Result<OpenFile> file = openToRead(path);
  if (!file)
    return file.error();
  return TableReader(path, std::move(*file), options).read();
}

} // namespace weft
