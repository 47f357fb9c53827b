//===- Plan.h - a checked plan, ready to execute ----------------*- C++ -*-===//
//
// What readPlan makes of the FlatBuffer: every index is in range, every offset
// within its memory, every shape agrees with its bytes, so that nothing below
// has to be checked while a step runs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_PLAN_H
#define WEFT_RUNTIME_PROGRAM_PLAN_H

#include "weft/runtime/abi/plan_generated.h"
#include "weft/runtime/program/DType.h"
#include "weft/runtime/program/Error.h"
#include "weft/runtime/program/Layout.h"

namespace weft::runtime {

using plan::BufferKind;
using plan::CollectiveKind;
using plan::ReduceKind;

/// A device-local array. `input` and `output` are ports or -1; a donated input
/// has both.
struct BufferInfo {
  BufferKind kind;
  uint64_t offset, bytes;
  DType dtype;
  std::vector<int64_t> shape;
  int64_t input = -1, output = -1;
  bool writable = false;
};

/// What a caller binds.
struct PortInfo {
  std::string name;
  uint32_t buffer;
  DType dtype;
  std::vector<int64_t> shape; ///< global
  Layout layout;
  int64_t donatedTo = -1;   ///< input: output with the same memory
  int64_t donatedFrom = -1; ///< output: input with the same memory
  uint64_t globalBytes, localBytes;
  /// Equal for ports whose devices hold the same parts of equal arrays, so
  /// that a buffer made for one program can be given to another.
  uint64_t signature;
};

struct Collective {
  /// One buffer handed in and the one it goes to.
  struct Operand {
    uint32_t source, target;
    DType dtype;
    std::vector<int64_t> sourceShape, targetShape;
    uint64_t sourceBytes, targetBytes;
  };
  CollectiveKind kind;
  ReduceKind reduce;
  std::vector<Operand> operands;
  SubAxes axes;
  int64_t from, to;
  Layout fromLayout, toLayout;
  std::vector<int64_t> shape;
  std::string label;
  std::vector<std::vector<int64_t>> groups; ///< positions, in group order
  std::vector<int64_t> groupOf, memberOf;   ///< by position
};

struct Instruction {
  plan::Operation kind;
  uint32_t index = 0;  ///< Launch: kernel; Collective: its number;
                       ///< JumpUnless: the condition's buffer; Copy: source
  uint32_t target = 0; ///< jumps: instruction; Copy: buffer
  uint32_t firstArgument = 0, argumentCount = 0; ///< Launch: in `arguments`
};

struct Plan {
  std::string name, target;
  Mesh mesh;
  uint64_t arenaBytes = 0;
  const uint8_t *constants = nullptr;
  std::vector<BufferInfo> buffers;
  std::vector<PortInfo> inputs, outputs;
  std::vector<std::string> kernels;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> arguments; ///< buffers of all launches
  std::vector<Collective> collectives;

  std::string describe(uint32_t instruction) const;
};

/// Reads and checks a plan that the FlatBuffers verifier has accepted. The
/// constants are not copied.
Error readPlan(const plan::Program &program, Plan &out);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PLAN_H
