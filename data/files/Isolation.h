//===- Isolation.h - work that may crash, in a process of its own ---------===//
//
//   Result<std::vector<uint8_t>> out = runIsolated([&](int file) {
//     return writeAll(file, answer, size);
//   });
//
// Used for libraries that are not safe on damaged input: a crash or a hang
// ends the child and is an error here. The child is a fork, so `work` has a
// copy of all memory; its changes are lost, except for bytes written to `file`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FILES_ISOLATION_H
#define WEFT_DATA_FILES_ISOLATION_H

#include "weft/base/Result.h"

#include <cstdint>
#include <functional>
#include <vector>

namespace weft {

/// A function that writes its result to the given file (in memory); false if
/// that fails.
using IsolatedWork = std::function<bool(int file)>;

/// Runs `work` in a child process and returns the bytes that it wrote. Fails if
/// it crashes, cannot write, computes for more than `seconds` or waits without
/// end.
Result<std::vector<uint8_t>> runIsolated(const IsolatedWork &work,
                                         unsigned seconds = 60);

/// Limits this process: a signal ends it once it has used this much CPU time, or
/// 30 times as much time has passed; 0 removes the limit.
void limitComputing(unsigned seconds);
/// Whether the signal is that of the limit.
bool isOverLimit(int signal);

} // namespace weft

#endif // WEFT_DATA_FILES_ISOLATION_H
