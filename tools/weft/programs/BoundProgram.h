//===- BoundProgram.h - a program with arrays bound to its ports -*- C++ -*-===//
//
//   Result<OwnedProgram> program = loadProgram(flags);
//   auto runtime = createRuntime(flags, program->get());
//   Bound bound;
//   bindInputs(runtime->get(), program->get(), inputs, read, bound);
//   bindOutputs(runtime->get(), program->get(), inputs, outputs.size(), bound);
//   weft_execute(runtime->get(), program->get(), bound.inputs.data(), ...);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_PROGRAMS_BOUNDPROGRAM_H
#define WEFT_TOOLS_WEFT_PROGRAMS_BOUNDPROGRAM_H

#include "weft/data/formats/Npz.h"
#include "weft/runtime/abi/weft.h"
#include "weft/tools/weft/Commands.h"
#include "weft/training/Ports.h"

#include <functional>
#include <memory>

namespace weft::tool {

struct FreeRuntime {
  void operator()(weft_runtime *runtime) const { weft_runtime_free(runtime); }
};
struct FreeProgram {
  void operator()(weft_program *program) const { weft_program_free(program); }
};
struct FreeBuffer {
  void operator()(weft_buffer *buffer) const { weft_buffer_free(buffer); }
};
using OwnedRuntime = std::unique_ptr<weft_runtime, FreeRuntime>;
using OwnedProgram = std::unique_ptr<weft_program, FreeProgram>;
using OwnedBuffer = std::unique_ptr<weft_buffer, FreeBuffer>;

/// The buffers of one execution. An output that reuses a donated input uses the
/// input's buffer, which `owned` contains once.
struct Bound {
  std::vector<weft_buffer *> inputs, outputs;
  std::vector<OwnedBuffer> owned;
};

/// Loads a .weft file, or compiles a program in StableHLO or Weft's text.
Result<OwnedProgram> loadProgram(const RunFlags &flags);
/// Creates a runtime with the devices of --devices, or as many as the mesh has.
Result<OwnedRuntime> createRuntime(const RunFlags &flags,
                                   const weft_program *program);

/// Checks that every array belongs to an input, or is the expected value of an
/// output, and every input has an array.
Status checkNames(const NpzFile &file, const std::vector<Port> &ports,
                  const std::vector<Port> &outputs);
Result<Array> readInput(const NpzFile &file, const Port &port);
/// Binds inputs; `read` returns the array of a port.
Status bindInputs(weft_runtime *runtime, const weft_program *program,
                  const std::vector<Port> &ports,
                  const std::function<Result<Array>(const Port &)> &read,
                  Bound &bound);
Status bindOutputs(weft_runtime *runtime, const weft_program *program,
                   const std::vector<Port> &inputs, size_t count, Bound &bound);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_PROGRAMS_BOUNDPROGRAM_H
