//===- Kernel.h - a call of LAPACK that runs on memory ----------*- C++ -*-===//
//
//   Result<Kernel> kernel = Kernel::make(call, *library);
//   kernel->run(buffers, 0, call.batch());    // operands, then results
//
// Arrays are row-major. A routine that takes columns gets transposed copies, as
// XLA gives it, so that pivots, signs and eigenvectors are XLA's. Any part of a
// batch may run on any thread: parts share nothing but the operands.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_LAPACK_KERNEL_H
#define WEFT_BASE_LAPACK_KERNEL_H

#include "weft/base/lapack/Call.h"
#include "weft/base/lapack/Library.h"

namespace weft::lapack {

class Kernel {
public:
  /// Finds the routine in the library, and asks it how much memory it wants.
  static Result<Kernel> make(const Call &call, const Library &library);

  const Call &call() const { return its; }
  /// The error of a run without memory.
  Error outOfMemory() const;
  /// Runs matrices [begin, end) of the batch; false without the memory that
  /// this takes. `buffers` are the operands', then the results'. A thread keeps
  /// up to 64 MiB of its memory for its next call.
  [[nodiscard]] bool run(void *const *buffers, int64_t begin,
                         int64_t end) const;

private:
  /// An array of one matrix: where its routine finds it.
  struct Array {
    int64_t bytes = 0;
    int64_t rows = 1, columns = 1;
    int64_t itemBytes = 4;
    int64_t copy = -1;    ///< the place of its copy in columns; -1: none
    int from = -1;        ///< operand that is copied into it
    bool isTaken = false; ///< operand: a result has its elements
  };

  explicit Kernel(Call call) : its(std::move(call)) {}
  Array describe(const ArrayForm &form) const;
  void place(Array &array);
  void askForMemory();
  void runOne(void *const *buffers, int64_t index, char *memory) const;

  Call its;
  void *function = nullptr;
  std::vector<Array> operands, results;
  int64_t wanted[3] = {0, 0, 0}, workPlaces[3] = {0, 0, 0};
  int64_t memoryBytes = 0;
};

} // namespace weft::lapack

#endif // WEFT_BASE_LAPACK_KERNEL_H
