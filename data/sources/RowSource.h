//===- RowSource.h - an array that is read by rows --------------*- C++ -*-===//
//
//   std::shared_ptr<const RowSource> x = ...;     // (60000, 28, 28) uint8
//   std::vector<uint8_t> batch(2 * x->rowBytes());
//   const int64_t rows[] = {17, 4};
//   Status ok = x->read(rows, batch.data());      // rows 17 and 4, in this order
//
// The source decides where rows are: in memory (MemoryRows), in a file that is
// larger than memory (FileRows), or in files that are decoded when they are
// read (ImageFolder). Several threads may read at the same time.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_SOURCES_ROWSOURCE_H
#define WEFT_DATA_SOURCES_ROWSOURCE_H

#include "weft/data/arrays/Array.h"
#include "weft/data/files/OpenFile.h"
#include "weft/data/files/OrderedCrc.h"

#include <memory>
#include <span>

namespace weft {

class RowSource {
public:
  RowSource(ElementType type, Shape shape)
      : elementType(type), sizes(std::move(shape)) {}
  virtual ~RowSource() = default;

  ElementType type() const { return elementType; }
  /// The shape, whose first size is the number of rows.
  const Shape &shape() const { return sizes; }
  int64_t rows() const { return sizes[0]; }
  /// The number of elements, and of bytes, of a row.
  int64_t rowCount() const;
  size_t rowBytes() const { return rowCount() * byteWidth(elementType); }

  /// Reads these rows to `out`, one after the other; each index is below
  /// rows().
  virtual Status read(std::span<const int64_t> indices, uint8_t *out) const = 0;
  /// All rows, if they are in memory; else null.
  virtual const uint8_t *inMemory() const { return nullptr; }
  /// A hash of the files if the rows contain no NaN and are too expensive to
  /// scan before training; else nothing.
  virtual std::optional<uint64_t> identity() const { return std::nullopt; }
  /// The number of last rows in a validation_split of this fraction: Keras' fit
  /// rounds the training rows down, its folder readers the validation rows.
  virtual int64_t validationRows(double fraction) const;
  /// Further facts of the source, for a line of text: ", classes a, b, c".
  virtual std::string remark() const { return ""; }

private:
  ElementType elementType;
  Shape sizes;
};

using Rows = std::shared_ptr<const RowSource>;

/// An array in memory, with at least one dimension.
class MemoryRows final : public RowSource {
public:
  explicit MemoryRows(Array array)
      : RowSource(array.type, array.shape), bytes(std::move(array.bytes)) {}
  Status read(std::span<const int64_t> indices, uint8_t *out) const override;
  const uint8_t *inMemory() const override { return bytes.data(); }

private:
  std::vector<uint8_t> bytes;
};

/// Rows that are contiguous in a file, from `offset` on. They are read on
/// demand and cached by the system only, which frees the cache when memory is
/// short.
class FileRows final : public RowSource {
public:
  struct Place {
    uint64_t offset = 0;
    bool swapped = false; ///< the other byte order than this machine's
    std::shared_ptr<OrderedCrc> crc = nullptr; ///< CRC of the rows, if known
  };
  /// Takes an open file; messages begin with `name`: f.npz:x.
  FileRows(std::string name, OpenFile file, Place place, ElementType type,
           Shape shape)
      : RowSource(type, std::move(shape)), name(std::move(name)),
        file(std::move(file)), place(place) {}
  Status read(std::span<const int64_t> indices, uint8_t *out) const override;

private:
  Status readBytes(uint64_t from, uint64_t bytes, uint8_t *out) const;
  std::string name;
  OpenFile file;
  Place place;
};

/// Rows [begin, end) of another source.
Rows sliceOf(Rows rows, int64_t begin, int64_t end);

} // namespace weft

#endif // WEFT_DATA_SOURCES_ROWSOURCE_H
