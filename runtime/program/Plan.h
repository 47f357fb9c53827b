//===- Plan.h - a checked plan, ready to execute ----------------*- C++ -*-===//
//
// The plan that readPlan makes from the FlatBuffer: every index is in range,
// every offset within its memory, every shape agrees with its bytes, so that
// nothing has to be checked while a step runs.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_PLAN_H
#define WEFT_RUNTIME_PROGRAM_PLAN_H

#include "weft/layout/Communication.h"
#include "weft/layout/Port.h"
#include "weft/runtime/abi/plan_generated.h"
#include "weft/runtime/program/DType.h"
#include "weft/runtime/program/Error.h"

#include <array>
#include <span>
#include <variant>

namespace weft::runtime {

using plan::BufferKind;
using plan::ReduceKind;
using weft::Box;
using weft::Layout;
using weft::Mesh;
using weft::MeshPart;
using weft::SubAxes;

/// A device-local array. `input` and `output` are ports or -1; a donated input
/// has both.
struct BufferInfo {
  BufferKind kind;
  uint64_t offset, bytes;
  DType dtype;
  std::vector<int64_t> shape;
  int64_t input = -1, output = -1;
  bool writable = false;
  int32_t shared = -1; ///< index of Plan::sharings
  uint64_t sharedOffset = 0;
};

/// Devices that have equal bits in buffers, and may have these in common.
struct Sharing {
  std::vector<int64_t> groupOf; ///< indexed by position
  uint64_t bytes = 0;           ///< memory of the buffers that are not ports

  /// For each position the first position of its group for which `isOwn` holds;
  /// the position itself if it is not own.
  template <typename IsOwn> std::vector<int64_t> firsts(IsOwn &&isOwn) const {
    std::vector<int64_t> firstOf(groupOf.size(), -1), out;
    for (int64_t p = 0; p < int64_t(groupOf.size()); ++p) {
      int64_t &first = firstOf[size_t(groupOf[size_t(p)])];
      if (first < 0 && isOwn(p))
        first = p;
      out.push_back(isOwn(p) ? first : p);
    }
    return out;
  }
};

/// A collective of the plan: its start, without the wait.
struct Collective {
  /// A buffer that a device passes in or receives.
  struct Array : LocalArray {
    uint32_t buffer = 0;
    uint64_t bytes = 0;
    DType dtype() const { return DType(type); }
  };
  Communication code;
  std::vector<Array> sources, targets;
  SubAxes axes;
  std::string name;     ///< for people: all_gather
  uint32_t counter = 0; ///< index of the name in Plan::counterNames
  std::string label;
  std::vector<std::vector<int64_t>> groups; ///< positions, in group order
  std::vector<int64_t> groupOf, memberOf;   ///< indexed by position
};

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

struct HostKernel {
  std::string symbol;
};
struct DeviceKernel {
  uint32_t module;
  std::string symbol;
  std::array<uint32_t, 3> block;
  uint64_t blocks;
  uint32_t shared;
};
struct LibraryContraction {
  std::vector<plan::ContractionDim> batch;
  plan::ContractionDim rows, columns, contract;
  DType sums;
  plan::ContractionEpilogue epilogue;
  uint32_t fallback;
  plan::ContractionCompute compute;
  int64_t lhsFirst = 0, rhsFirst = 0; ///< elements in front of the operands
  bool hasBias() const {
    return epilogue == plan::ContractionEpilogue::bias ||
           epilogue == plan::ContractionEpilogue::bias_relu ||
           epilogue == plan::ContractionEpilogue::bias_gelu_tanh;
  }
  /// The index of the result in a launch's arguments: after both operands and
  /// the bias, in front of scratch memory.
  uint32_t resultArgument() const { return hasBias() ? 3 : 2; }
};
struct KernelSequence {
  std::vector<uint32_t> kernels;
};
struct Builtin {
  std::string name;
  std::vector<int64_t> parameters;
};
struct Kernel {
  std::variant<HostKernel, DeviceKernel, LibraryContraction, Builtin,
               KernelSequence>
      code;
  uint64_t scratch = 0;  ///< bytes that each launch needs
  double operations = 0; ///< operations of a launch, for profiles
  /// The number of a launch's buffers that are written: the last ones before
  /// scratch memory. 0: not known, any that is writable may be.
  uint32_t results = 0;
};
/// Code of a device; `data` lies in the plan's bytes.
struct DeviceModule {
  std::string chip;
  plan::CodeFormat format;
  std::span<const uint8_t> data;
};

struct Instruction {
  plan::Operation kind;
  uint32_t index = 0;  ///< Launch: kernel; Start, Wait: the collective;
                       ///< JumpUnless: the condition's buffer; Copy: source;
                       ///< JumpOutside: a part of the mesh
  uint32_t target = 0; ///< jumps: instruction; Copy: buffer; Wait: its Start
  /// Arguments of a launch, as a range of `arguments`; scratch memory, if any,
  /// is the last.
  uint32_t firstArgument = 0, argumentCount = 0;
  /// Launch, Copy: the index of Plan::sharings of the buffers that it writes.
  int32_t shared = -1;
  /// JumpUnless: whether all devices that come to it jump, or none.
  bool isEqual = false;
};

struct Plan {
  std::string name, target;
  Mesh mesh;
  uint64_t arenaBytes = 0;
  const uint8_t *constants = nullptr;
  uint64_t constantBytes = 0;
  std::vector<Sharing> sharings;
  std::vector<BufferInfo> buffers;
  std::vector<Port> inputs, outputs;
  std::vector<Kernel> kernels;
  std::vector<DeviceModule> modules;
  std::vector<Instruction> instructions;
  std::vector<uint32_t> arguments; ///< buffers of all launches
  std::vector<MeshPart> parts;     ///< outside of which devices jump
  std::vector<Collective> collectives;
  /// The names of collectives, each once, by which runs count them.
  std::vector<std::string> counterNames;

  /// Whether the host runs the kernels, if there are any: functions of the
  /// program's code and builtins.
  bool isOfHost() const;
  /// The bytes of the port's shard on the device at a position; 0 if the port is
  /// on a part of the mesh without it.
  uint64_t bytesAt(const Port &port, int64_t position) const {
    return holds(mesh, port.layout, position) ? port.localBytes : 0;
  }
  /// "instruction 3 (all_reduce of a gradient)"; a wait is named by its start.
  WEFT_EXPORT std::string describe(uint32_t instruction) const;
  /// The kernel's name in messages, with quotes: "relu"; contraction 3 for one
  /// without a name.
  WEFT_EXPORT std::string kernelName(uint32_t kernel) const;
};

/// Whether devices that share a port which the program writes have one memory
/// for it, as they must have to do instructions once. `firsts` are those of each
/// sharing, `outputs` the addresses by port and position.
WEFT_EXPORT bool sharesPorts(const Plan &plan,
                             std::span<const std::vector<int64_t>> firsts,
                             std::span<void *const> outputs);

/// The numbers of weft_sharing for a run, of devices for which `firsts` are the
/// ones that they share with.
struct SharedCounts {
  uint64_t instructions = 0, waits = 0, bytes = 0;
};
SharedCounts countShared(const Plan &plan,
                         std::span<const std::vector<int64_t>> firsts);

/// Bytes that the busiest device sends in one execution.
WEFT_EXPORT uint64_t bytesSent(const Mesh &mesh, const Collective &collective);

/// Reads and checks a plan that the FlatBuffers verifier has accepted. The
/// constants are not copied.
Status readPlan(const plan::Program &program, Plan &out);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_PLAN_H
