//===- Isolation.h - work that may crash, in a process of its own ---------===//
//
//   Result<std::vector<uint8_t>> out = runIsolated([&](int file) {
//     return writeAll(file, answer, size);
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

/// Writes its result to the file (in memory) that it is given; false where that
/// fails.
using IsolatedWork = std::function<bool(int file)>;

/// The bytes that `work` wrote. Fails where it crashes, cannot write them,
/// computes for more than `seconds` or waits without end.
Result<std::vector<uint8_t>> runIsolated(const IsolatedWork &work,
                                         unsigned seconds = 60);

/// A signal ends this process once it has computed for so long, whatever else
/// the machine does, or waited for 30 times as long; 0: no limit any more.
void limitComputing(unsigned seconds);
/// Whether the signal is that of the limit.
bool isOverLimit(int signal);

} // namespace weft

#endif // WEFT_RUNTIME_DATA_ISOLATION_H
