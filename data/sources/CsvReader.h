//===- CsvReader.h - the records of a table ---------------------*- C++ -*-===//
//
//   CsvReader reader("people.csv", std::move(*file));
//   CsvFields fields;
//   while (*reader.next(fields))           // 31, "Berlin, Mitte", 0
//     use(fields, reader.line());
//
// Limits: 1 MiB a line, 65,536 columns.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_SOURCES_CSVREADER_H
#define WEFT_DATA_SOURCES_CSVREADER_H

#include "weft/base/Result.h"
#include "weft/data/files/OpenFile.h"

#include <cstdint>
#include <string>
#include <vector>

namespace weft {

using CsvFields = std::vector<std::string>;

/// The fields of one line of text, in the same grammar, as an option has them:
/// a,"b, c". Fails if a quote is not closed.
Result<CsvFields> splitFields(const std::string &text);
/// A field between quotes, as splitFields reads it.
std::string quotedField(const std::string &text);

/// Records of a file, in RFC 4180's grammar.
class CsvReader {
public:
  CsvReader(std::string path, OpenFile file)
      : path(std::move(path)), file(std::move(file)), chunk(1 << 20) {}

  /// Reads the next record; false at the end of the file.
  Result<bool> next(CsvFields &fields);
  /// The number of the line in which the last record began, from 1.
  int64_t line() const { return begun; }
  Error wrong(const Message &what) const {
    return {path + ": line " + std::to_string(begun) + ": " + what};
  }

private:
  /// The next byte, or -1 at the end.
  int peek();
  int take();
  Status quoted(std::string &field);
  Status plain(std::string &field);
  Status checkSize(size_t more);

  std::string path;
  OpenFile file;
  std::vector<uint8_t> chunk;
  size_t at = 0, filled = 0, size = 0;
  int64_t lines = 1, begun = 0;
  int failure = 0;
};

} // namespace weft

#endif // WEFT_DATA_SOURCES_CSVREADER_H
