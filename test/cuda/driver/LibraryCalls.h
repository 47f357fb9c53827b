//===- LibraryCalls.h - calls of fake libraries to the driver ---*- C++ -*-===//
//
// A library enqueues work on streams of the driver, as NVIDIA's own do:
//
//   fakeCudaEnqueue(stream, {"cublasLtMatmul", {{a, bytes, false}, ...}, run});
//
// or on several streams, as a collective does, which needs them all:
//
//   fakeCudaEnqueueParts({{.stream = a, .waits = {1}, ...},
//                         {.stream = b, .waits = {0}, ...}});
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

/// A part of a call that takes place on several streams. The part begins when
/// its stream has reached it, and is over once all parts that it waits for have
/// begun.
struct LibraryPart {
  cuda::Stream stream = nullptr;
  cuda::Context context = nullptr; ///< the stream's
  std::string name;
  std::vector<Touch> reads, writes;
  std::vector<size_t> waits; ///< numbers of parts
  /// Whether the part, behind those, waits for one that a failed GPU never
  /// begins.
  std::function<bool()> isBlocked;
  bool waitsForProcess = false; ///< whether that may be another process
  /// Begins: the arguments are the addresses of each read, whose bytes may
  /// change once the part is over.
  std::function<void(const std::vector<uint8_t *> &)> begin;
  /// Ends: the arguments are the addresses of each write.
  std::function<void(const std::vector<uint8_t *> &)> end;
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
/// Enqueues the parts of one call on their streams.
weft::cuda::Result
fakeCudaEnqueueParts(const std::vector<weft::fake::LibraryPart> &parts);
weft::cuda::Context fakeCudaContext();
/// The context of a device, if the program has one.
weft::cuda::Context fakeCudaContextOf(int device);
/// How long a call waits for another process before it is reported.
std::chrono::seconds fakeCudaPatience();
/// The seed of the order of work.
uint64_t fakeCudaSeed();
/// Whether all of the bytes were written, while a call runs.
bool fakeCudaIsWritten(weft::cuda::Address address, uint64_t bytes);
/// Reports a mistake of the program.
void fakeCudaReport(const std::string &what);
/// Returns the number of mistakes that were reported since the last call, and
/// forgets them, for tests that make mistakes.
uint64_t fakeCudaTakeFindings();
}

#endif // WEFT_TEST_CUDA_DRIVER_LIBRARYCALLS_H
