//===- Enqueue.h - instructions of a plan as calls on a stream --*- C++ -*-===//
//
//   StepEnqueuer step(program, position, stream, addresses, workspace, clock);
//   Standing standing;
//   if (Status ok = step.run(standing, end); !ok) return ok; // enqueued, not done
//   if (standing.isWaiting) ...                   // at a collective
//
// Buffer b is at addresses[b]. This is the only code that launches a program's
// kernels; GpuCollectives launches those of collectives.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_ENQUEUE_H
#define WEFT_RUNTIME_DEVICES_CUDA_ENQUEUE_H

#include "weft/runtime/collectives/Deadlock.h"
#include "weft/runtime/devices/cuda/GpuProgram.h"
#include "weft/runtime/devices/cuda/RunClock.h"
#include "weft/runtime/devices/cuda/StepGraph.h"

namespace weft::runtime {

/// Whether WEFT_CUDA_CHECK=1 is set: each launch is waited for, so that an
/// error names it.
bool checksLaunches();

/// Moves a device after a jump or a return. `isTrue`: the value of the jump's
/// condition, if it has one.
void follow(const Instruction &jump, bool isTrue, Standing &standing);

class StepEnqueuer {
public:
  StepEnqueuer(const GpuProgram &program [[clang::lifetimebound]],
               int64_t position,
               const GpuStream &stream [[clang::lifetimebound]],
               std::vector<cuda::Address> addresses, Workspace workspace,
               RunClock *clock)
      : program(program), plan(program.program()->plan()), position(position),
        stream(stream), addresses(std::move(addresses)), workspace(workspace),
        clock(clock) {}
  /// Enqueues the device's next instructions, up to a collective, instruction
  /// `end` or the end of the plan.
  Status run(Standing &standing, uint32_t end);
  /// Waits for the stream `on`, which has all of the device's operations so
  /// far, and reads a condition, as the host decides.
  Status isTrue(uint32_t buffer, const GpuStream &on, bool &out);
  /// Sets the graph of which the next instructions become nodes; null: they are
  /// enqueued.
  void record(GraphCapture *given) { capture = given; }
  /// The bytes of a buffer on this device.
  BytesTouched bytesOf(BufferUse use) const {
    cuda::Address begin = addresses[use.buffer];
    return {begin, begin + plan.buffers[use.buffer].bytes, use.isWritten};
  }
  const std::string &lastKernel() const { return last; }

private:
  Status launch(const Instruction &instruction);
  /// Launches a kernel's code on its buffers and the coordinates: a function of
  /// a module, or several in order.
  Status launchCode(uint32_t kernel, std::vector<cuda::Address> &places);
  bool launchLibrary(uint32_t number, const DeviceKernel &kernel,
                     const std::vector<cuda::Address> &places);
  Status copy(const Instruction &instruction);
  /// Enqueues a launch or copy, and measures it if requested.
  Status enqueue(uint32_t pc);
  /// Enqueues an instruction, or makes it a node of the graph.
  Status place(const Instruction &instruction);
  std::vector<BytesTouched> bytesOf(const Instruction &instruction) const;
  const GpuStream &target() const {
    return capture ? capture->stream() : stream;
  }

  const GpuProgram &program;
  const Plan &plan;
  int64_t position;
  const GpuStream &stream;
  std::vector<cuda::Address> addresses; ///< indexed by buffer
  Workspace workspace;
  RunClock *clock; ///< null: nothing is measured
  GraphCapture *capture = nullptr;
  std::string last; ///< the kernel that was launched last
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_ENQUEUE_H
