//===- MemoryNeeds.h - memory that a program needs on a device --*- C++ -*-===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_MEMORYNEEDS_H
#define WEFT_RUNTIME_DEVICES_CUDA_MEMORYNEEDS_H

#include "weft/runtime/program/Plan.h"

namespace weft::runtime {

/// Bytes of one device: ports by their roles, and the arena.
class MemoryNeeds {
public:
  explicit MemoryNeeds(const Plan &plan);
  uint64_t total() const;
  /// The text "weights 635,256, optimizer 635,240, ...", without empty
  /// categories.
  std::string text() const;

private:
  struct Row {
    const char *name;
    uint64_t bytes;
  };
  std::vector<Row> rows;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_MEMORYNEEDS_H
