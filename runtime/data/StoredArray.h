//===- StoredArray.h - arrays that are read when they are needed -*- C++ -*-===//
//
//   for (const StoredArray &array : *openHdf5("m.weights.h5"))
//     if (array.shape == wanted)
//       array.visitBlocks([&](const ArrayBlock &block, Array values) {
//         ...                                  // 16 MiB at a time are in memory
//       });
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_STOREDARRAY_H
#define WEFT_RUNTIME_DATA_STOREDARRAY_H

#include "weft/runtime/data/ArrayBlock.h"
#include "weft/runtime/data/Files.h"
#include "weft/runtime/data/OpenFile.h"

#include <functional>

namespace weft {

struct NamedArray {
  std::string name;
  Array array;
};

/// An array in a file, on devices, or given by a rule.
struct StoredArray {
  std::string name;
  ElementType type;
  Shape shape;
  /// The elements of a block, in an array of its sizes. Where devices of several
  /// processes have the array, all of them call it together.
  std::function<Result<Array>(const ArrayBlock &block)> readBlock;

  uint64_t bytes() const {
    return uint64_t(*elementCount(shape)) * byteWidth(type);
  }
  StoredArray renamed(std::string other) const {
    return {std::move(other), type, shape, readBlock};
  }
  /// All of it at once.
  Result<Array> read() const { return readBlock(ArrayBlock::full(shape)); }
  /// All of it at once, from the blocks of visitBlocks: for a process beside others
  /// that read it by blocks.
  Result<Array> readByBlocks() const;
  /// All of it, block by block; an error of `take` ends the visit. In every process
  /// the blocks are the same.
  using Take =
      std::function<Status(const ArrayBlock &block, const Array &values)>;
  Status visitBlocks(const Take &take) const;
};

/// Reads all blocks and drops them: the part of a process that does not write the
/// file for which others read the arrays.
Status readAll(const std::vector<StoredArray> &arrays);

/// The elements of a block of an array whose first element is `offset` bytes behind
/// the beginning of a file; nothing if the file has fewer.
std::optional<Array> readBlockAt(const OpenFile &file, uint64_t offset,
                                 ElementType type, const ArrayBlock &block);

/// Opens a file for the arrays. If that fails it reads them all, as the other
/// processes do, which wait for this one's part.
Result<OutputFile> openForArrays(const std::string &path,
                                 const std::vector<StoredArray> &arrays);

/// One that is in memory, and stays there.
StoredArray storedInMemory(NamedArray array);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_STOREDARRAY_H
