//===- StoredArray.h - arrays that are read when they are needed -*- C++ -*-===//
//
//   for (const StoredArray &array : *openHdf5("m.weights.h5"))
//     if (array.shape == wanted)
//       Result<Array> value = array.read();     // one at a time is in memory
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_STOREDARRAY_H
#define WEFT_RUNTIME_DATA_STOREDARRAY_H

#include "weft/runtime/data/Npz.h"

#include <functional>

namespace weft {

/// An array in a file, or on devices.
struct StoredArray {
  std::string name;
  ElementType type;
  Shape shape;
  /// Reads the array. If devices of several processes have it, all of these
  /// call it at the same time.
  std::function<Result<Array>()> read;

  uint64_t bytes() const {
    return uint64_t(*elementCount(shape)) * byteWidth(type);
  }
};

/// A stored array that is in memory.
StoredArray storedInMemory(NamedArray array);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_STOREDARRAY_H
