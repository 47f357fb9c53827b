//===- StoredArray.h - arrays that are read when they are needed -*- C++ -*-===//
//
//   for (const StoredArray &array : *openHdf5("m.weights.h5"))
//     if (array.shape == wanted)
//       array.visitBlocks([&](const ArrayBlock &block, Array values) {
//         ...                                  // 16 MiB at a time are in memory
//       });
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_ARRAYS_STOREDARRAY_H
#define WEFT_DATA_ARRAYS_STOREDARRAY_H

#include "weft/data/arrays/ArrayBlock.h"
#include "weft/data/files/Files.h"
#include "weft/data/files/OpenFile.h"

#include <functional>

namespace weft {

struct NamedArray {
  std::string name;
  Array array;
};

/// An array in a file, in memory, on devices, or given by a rule.
struct StoredArray {
  std::string name;
  ElementType type;
  Shape shape;
  /// Reads the elements of a block into an array of its sizes. If devices of
  /// several processes have the array, all of these processes call it together.
  std::function<Result<Array>(const ArrayBlock &block)> readBlock;

  uint64_t bytes() const {
    return uint64_t(*elementCount(shape)) * byteWidth(type);
  }
  StoredArray renamed(std::string other) const {
    return {std::move(other), type, shape, readBlock};
  }
  /// Reads the whole array at once.
  Result<Array> read() const { return readBlock(ArrayBlock::full(shape)); }
  /// Reads the whole array by the blocks of visitBlocks, for a process that
  /// calls it together with others that read by blocks.
  Result<Array> readByBlocks() const;
  /// Visits the whole array block by block; an error of `take` ends the visit.
  /// The blocks are the same in every process.
  using Take =
      std::function<Status(const ArrayBlock &block, const Array &values)>;
  Status visitBlocks(const Take &take) const;
};

/// Reads all blocks and drops them, in a process that only joins the reading
/// for the one that writes a file.
Status readAll(const std::vector<StoredArray> &arrays);

/// Reads a block of an array that begins at byte `offset` of a file; nothing if
/// the file is too short.
std::optional<Array> readBlockAt(const OpenFile &file, uint64_t offset,
                                 ElementType type, const ArrayBlock &block);

/// Opens a file for the arrays. If that fails, reads them all, as the other
/// processes wait for this one's part of them.
Result<OutputFile> openForArrays(const std::string &path,
                                 const std::vector<StoredArray> &arrays);

/// An array that is in memory, and stays there.
StoredArray storedInMemory(NamedArray array);

} // namespace weft

#endif // WEFT_DATA_ARRAYS_STOREDARRAY_H
