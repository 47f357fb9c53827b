//===- Enqueue.h - instructions of a plan as calls on a stream --*- C++ -*-===//
//
//   StepEnqueuer step(program, position, stream, addresses);
//   Standing standing;
//   if (Error e = step.run(standing)) return e;   // enqueued, not done
//   if (standing.isWaiting) ...                   // at a collective
//
// Where buffers lie: addresses[b]. The only code that launches kernels.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_ENQUEUE_H
#define WEFT_RUNTIME_DEVICES_CUDA_ENQUEUE_H

#include "weft/runtime/collectives/Deadlock.h"
#include "weft/runtime/devices/cuda/GpuProgram.h"

namespace weft::runtime {

/// WEFT_CUDA_CHECK=1: each launch is waited for, so that an error names it.
bool checksLaunches();

class StepEnqueuer {
public:
  StepEnqueuer(const GpuProgram &program, int64_t position,
               const GpuStream &stream, std::vector<cuda::Address> addresses)
      : program(program), plan(program.program()->plan()), position(position),
        stream(stream), addresses(std::move(addresses)) {}
  /// Goes on where the device stands, until a collective or the end.
  Error run(Standing &standing);
  const std::string &lastKernel() const { return last; }

private:
  Error launch(const Instruction &instruction);
  Error copy(const Instruction &instruction);
  /// Waits for the stream: the host decides.
  Error isTrue(uint32_t buffer, bool &out);

  const GpuProgram &program;
  const Plan &plan;
  int64_t position;
  const GpuStream &stream;
  std::vector<cuda::Address> addresses; ///< by buffer
  std::string last;                     ///< the kernel that was launched last
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_ENQUEUE_H
