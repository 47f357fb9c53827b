//===- Isolation.h - work that may crash, in a process of its own ---------===//
//
//   Result<std::vector<uint8_t>> out = runIsolated([&](int file) {
//     write(file, answer, size);
//   });
//
// For libraries that are not safe on damaged input: a crash or an endless loop
// ends the child and is an error here. The child is a fork, so `work` sees all
// memory as it was; what it changes is lost, but for what it wrote to `file`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DATA_ISOLATION_H
#define WEFT_RUNTIME_DATA_ISOLATION_H

#include "weft/runtime/data/Result.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weft {

/// The bytes that `work` wrote to the file (in memory) that it is given. Fails
/// where it crashes or takes more than `seconds`.
Result<std::vector<uint8_t>> runIsolated(const std::function<void(int)> &work,
                                         unsigned seconds = 60);

/// Writes all bytes, whatever interrupts.
bool writeAll(int file, const void *data, size_t size);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ISOLATION_H
