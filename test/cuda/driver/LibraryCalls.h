//===- LibraryCalls.h - calls of fake libraries to the driver ---*- C++ -*-===//
//
// A library enqueues work on streams of the driver, as NVIDIA's own do:
//
//   fakeCudaEnqueue(stream, {"cublasLtMatmul", {{a, bytes, false}, ...}, run});
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_DRIVER_LIBRARYCALLS_H
#define WEFT_TEST_CUDA_DRIVER_LIBRARYCALLS_H

#include "weft/test/cuda/driver/Objects.h"

namespace weft::fake {

struct LibraryCall {
  std::string name;
  std::vector<Touch> touches;
  /// Runs the operation: the arguments are the addresses of each touch.
  std::function<void(const std::vector<uint8_t *> &)> run;
};

} // namespace weft::fake

extern "C" {
/// The result with which FAKE_CUDA_FAIL makes this call fail, or that of a call
/// without a context.
weft::cuda::Result fakeCudaBegin(const char *function);
/// Enqueues a call. Refuses a stream of another context, and memory that does
/// not exist.
weft::cuda::Result fakeCudaEnqueue(weft::cuda::Stream stream,
                                   const weft::fake::LibraryCall &call);
weft::cuda::Context fakeCudaContext();
/// Whether all of the bytes were written, while a call runs.
bool fakeCudaIsWritten(weft::cuda::Address address, uint64_t bytes);
/// Reports a mistake of the program.
void fakeCudaReport(const std::string &what);
/// Returns how many mistakes were reported since the last call; they count no
/// more. For tests that make some.
uint64_t fakeCudaTakeFindings();
}

#endif // WEFT_TEST_CUDA_DRIVER_LIBRARYCALLS_H
