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
  /// Where devices of several processes have the array, all of them call it
  /// together.
  std::function<Result<Array>()> read;

  uint64_t bytes() const {
    return uint64_t(*elementCount(shape)) * byteWidth(type);
  }
};

/// One that is in memory, and stays there.
StoredArray storedInMemory(NamedArray array);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_STOREDARRAY_H
