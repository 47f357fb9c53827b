//===- Code.h - PTX as it is executed ---------------------------*- C++ -*-===//
//
// The parser decodes a text once; `fma.rn.f32 %r3, %r1, %r2, 0f3F800000`
// becomes an instruction whose function knows the type, and four operands:
//
//   %r3, %r1, %r2   slots of the register file, 32 lanes of 4 bytes each
//   0f3F800000      a slot too, which is filled once and never written
//
// A predicate has one slot of 4 bytes, a bit a lane.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MACHINE_CODE_H
#define WEFT_TEST_CUDA_MACHINE_CODE_H

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace weft::ptx {

constexpr unsigned kLanes = 32;
/// Bits of lanes, the lowest is lane 0.
using Mask = uint32_t;
constexpr Mask kAllLanes = ~Mask(0);

enum class Type : uint8_t {
  None,
  Pred,
  B8,
  B16,
  B32,
  B64,
  U8,
  U16,
  U32,
  U64,
  S8,
  S16,
  S32,
  S64,
  F16,
  BF16,
  F32,
  F64,
  TF32,
  F16x2,
  BF16x2,
  F32x2,
  U16x2,
  S16x2
};

/// The position of an instruction's value in the register file of a warp.
struct Operand {
  uint32_t offset = 0; ///< bytes, of lane 0
  uint16_t slot = 0;
  uint8_t bytes = 0; ///< bytes of a lane; 0 for no operand, `_` in PTX
  bool isPredicate = false;
};

enum class Space : uint8_t { Generic, Global, Shared, Local, Parameter };

/// The effect of an instruction besides computing values.
enum class Flow : uint8_t {
  Next,
  Branch,
  IndexedBranch,
  Exit,
  Trap,
  BlockBarrier,
  WarpSync ///< waits for the lanes that its mask names, then computes
};

class Warp;
struct Instruction;
/// Computes an instruction in the active lanes.
using Compute = void (*)(Warp &, const Instruction &, Mask active);

struct Instruction {
  static constexpr unsigned kOperands = 16;
  Compute compute = nullptr;
  Operand operands[kOperands]; ///< targets, then sources
  uint8_t targets = 0, sources = 0;
  Flow flow = Flow::Next;
  Space space = Space::Generic;
  uint8_t elementBytes = 0, elements = 1; ///< a load's or store's
  bool isSigned = false, isReadOnly = false, isNegated = false;
  uint8_t mode = 0;   ///< of the instruction: a table index, a kind of shuffle
  int64_t offset = 0; ///< of an address; a number that the instruction fixes
  int64_t secondOffset = 0; ///< the offset of a second address
  Operand guard;
  uint32_t label = 0; ///< Branch: the instruction it jumps to
  std::vector<uint32_t> labels;
  uint32_t line = 0; ///< the line of the text, from 1

  const Operand &target(unsigned i = 0) const { return operands[i]; }
  const Operand &source(unsigned i) const { return operands[targets + i]; }
};

/// The value of a slot before the first instruction.
enum class Special : uint8_t {
  TidX,
  TidY,
  TidZ,
  NTidX,
  NTidY,
  NTidZ,
  CtaX,
  CtaY,
  CtaZ,
  NCtaX,
  NCtaY,
  NCtaZ,
  Lane,
  Warp,
  Warps,
  MaskEq,
  MaskLt,
  MaskLe,
  MaskGt,
  MaskGe,
  DynamicShared,
  TotalShared,
  Processor
};
struct SpecialSlot {
  Special special;
  Operand operand;
};
struct ConstantSlot {
  static constexpr int kNumber = -1, kDynamicShared = -2;
  Operand operand;
  uint64_t bits = 0;
  int data = kNumber; ///< the address of this Module::data is added
};

struct Parameter {
  std::string name;
  uint32_t offset = 0, bytes = 0;
};

struct Kernel {
  std::string name;
  std::vector<Parameter> parameters;
  uint32_t parameterBytes = 0;
  std::vector<Instruction> code;
  std::vector<ConstantSlot> constants;
  std::vector<SpecialSlot> specials;
  std::vector<std::string> slots; ///< names of registers, by slot
  uint32_t registerBytes = 0;
  uint32_t sharedBytes = 0; ///< static; dynamic memory follows
  uint32_t localBytes = 0;  ///< bytes of a thread
  uint32_t maxThreads[3] = {0, 0, 0}, requiredThreads[3] = {0, 0, 0};

  /// The offset of dynamic shared memory.
  uint32_t dynamicShared() const { return (sharedBytes + 127) / 128 * 128; }
};

/// A variable .global or .const.
struct Data {
  std::string name;
  uint64_t bytes = 0, alignment = 1; ///< bytes: whole units of the alignment
  std::vector<uint8_t> initial;      ///< `bytes` long
};

struct Module {
  std::deque<Kernel> kernels;
  std::vector<Data> data;
  std::vector<std::string> lines; ///< lines of the text, for reports
  std::string target;             ///< "sm_90a"
  unsigned version = 0;           ///< the version of PTX, times ten

  const Kernel *find(const std::string &name) const;
};

/// Parses a text. An error names the line of the text; empty if `module` is
/// complete.
std::string parseModule(const std::string &text, Module &module);

/// The type with PTX's name: "f32". None for an unknown name.
Type typeNamed(std::string_view name);
unsigned bytesOf(Type type);

/// The first addresses of shared and of local memory in generic space; all
/// other addresses are global.
constexpr uint64_t kSharedWindow = uint64_t(1) << 60,
                   kLocalWindow = uint64_t(2) << 60, kWindowBytes = 1 << 30;

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_CODE_H
