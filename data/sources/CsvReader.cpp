#include "weft/data/sources/CsvReader.h"

#include <cerrno>
#include <cstring>
#include <unistd.h>

namespace weft {

static constexpr size_t kLongestLine = size_t(1) << 20, kMostColumns = 65536;

Result<CsvFields> splitFields(const std::string &text) {
  CsvFields out(1);
  bool isQuoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    bool isPair = isQuoted && text.substr(i, 2) == "\"\"";
    if (isPair)
      out.back() += text[++i];
    else if (c == '"' && (isQuoted || out.back().empty()))
      isQuoted = !isQuoted;
    else if (c == ',' && !isQuoted)
      out.emplace_back();
    else
      out.back() += c;
  }
  if (isQuoted)
    return Error{text + ": a quote is not closed; close it"};
  return out;
}

std::string quotedField(const std::string &text) {
  std::string out = "\"";
  for (char c : text)
    out += c == '"' ? std::string(2, c) : std::string(1, c);
  return out + "\"";
}

int CsvReader::peek() {
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

int CsvReader::take() {
  int byte = peek();
  at += byte >= 0;
  lines += byte == '\n';
  return byte;
}

Status CsvReader::checkSize(size_t more) {
  size += more;
  if (size <= kLongestLine)
    return {};
  return wrong("has more than " + std::to_string(kLongestLine) +
               " bytes; is a quote not closed?");
}

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

Result<bool> CsvReader::next(CsvFields &fields) {
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

} // namespace weft
