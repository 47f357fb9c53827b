//===- RowCollector.h - rows whose number is not known yet ------*- C++ -*-===//
//
//   RowCollector rows("t.csv", /*inMemory=*/256 << 20);
//   while (readLine(values))
//     if (Status ok = rows.add(values.data(), 3 * sizeof(double)); !ok)
//       return ok.error();
//   Result<Rows> x = rows.finish(ElementType::Float64, {lines, 3});
//
// Rows of more than `inMemory` bytes are all written to a file without a name,
// in the folder TMPDIR, or else /var/tmp (/tmp often is memory).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_SOURCES_ROWCOLLECTOR_H
#define WEFT_DATA_SOURCES_ROWCOLLECTOR_H

#include "weft/data/sources/RowSource.h"

namespace weft {

class RowCollector {
public:
  /// Collects rows; messages begin with `name`.
  RowCollector(std::string name, uint64_t inMemory)
      : name(std::move(name)), inMemory(inMemory) {}
  Status add(const void *data, size_t size);
  /// Returns the rows as an array of `shape`, which has as many bytes as were
  /// added.
  Result<Rows> finish(ElementType type, Shape shape, bool swapped = false);
  /// The descriptor of the file, which is created if it does not exist yet.
  Result<int> descriptor();

private:
  Status flush();
  std::string name;
  uint64_t inMemory;
  std::vector<uint8_t> bytes; ///< all rows, or those not yet in the file
  std::optional<OpenFile> file;
};

} // namespace weft

#endif // WEFT_DATA_SOURCES_ROWCOLLECTOR_H
