//===- Decoder.h - from a statement to an instruction -----------*- C++ -*-===//
//
// A function for each name of an instruction takes the words that it knows and
// selects the function that computes:
//
//   void decodeCnot(Decoder &d) {             // cnot.b32 %r2, %r1;
//     Type type = d.takeType();
//     d.emit(ofBits<kIsZero, 1>(type), {type}, {type});
//   }
//
// A word that was not taken is an error with its name, so that no modifier is
// ignored.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MACHINE_DECODER_H
#define WEFT_TEST_CUDA_MACHINE_DECODER_H

#include "weft/test/cuda/machine/Code.h"
#include "weft/test/cuda/machine/Statement.h"

#include <initializer_list>
#include <map>
#include <string_view>
#include <tuple>
#include <unordered_map>

namespace weft::ptx {

/// A variable as instructions name it.
struct Variable {
  Space space = Space::Global;
  uint64_t offset = 0; ///< in its space; of Global: the index of its data
  // The size of shared memory, which a kernel has if it names it.
  uint64_t bytes = 0, alignment = 1;
  bool isOpen = false; ///< `name[]`: after all others
};

class Decoder {
public:
  Decoder(Kernel &kernel [[clang::lifetimebound]],
          const std::map<std::string, Variable> &globals
          [[clang::lifetimebound]])
      : kernel(kernel), globals(globals) {}

  std::map<std::string, Operand> registers;
  std::map<std::string, Variable> variables; ///< variables of the function
  std::map<std::string, std::vector<std::string>> branchTargets;
  std::string error;

  void declareRegister(const std::string &name, Type type);
  void declareShared(const std::string &name, Variable variable);
  void decode(const Statement &next);
  /// Sets the targets of jumps to the positions of their labels.
  void resolve(const std::map<std::string, uint32_t> &labels);

  // Accessors for the functions that decode.
  const Statement &statement() const { return *now; }
  size_t arguments() const { return now->arguments.size(); }
  const Argument &argument(size_t i) const { return now->arguments[i]; }
  /// Whether the modifier is there; marks it as taken.
  bool take(std::string_view word);
  /// Takes the last word that is a type and was not taken before.
  Type takeType();
  /// The position of the modifier among these, or -1.
  int takeOne(std::initializer_list<std::string_view> words);
  /// Adds an instruction, whose arguments are targets, then sources.
  Instruction &emit(Compute compute, std::initializer_list<Type> targets,
                    std::initializer_list<Type> sources);
  /// Adds an instruction whose operands follow by addTarget and addSource.
  Instruction &begin(Compute compute);
  /// Adds a target; `bytes` 0: a register of any width.
  void addTarget(Instruction &to, const Argument &argument, unsigned bytes);
  void addSource(Instruction &to, const Argument &argument, unsigned bytes);
  void addPredicate(Instruction &to, const std::string &name, bool isTarget);
  void jumpTo(const std::string &label) { jumps.emplace_back(at(), label); }
  void fail(const std::string &what);
  /// The text "instruction 'add.ftz.f32'".
  std::string name() const;

private:
  uint32_t at() const { return uint32_t(kernel.code.size() - 1); }
  Operand allocate(const std::string &name, unsigned bytes, bool isPredicate);
  Operand constant(uint64_t bits, unsigned bytes, bool isPredicate, int data);
  Operand findSource(const Argument &argument, unsigned bytes);
  const Variable *findVariable(const std::string &name);
  Operand special(const std::string &name);
  void add(Instruction &to, bool isTarget, Operand operand);

  Kernel &kernel;
  const std::map<std::string, Variable> &globals;
  const Statement *now = nullptr;
  std::vector<bool> taken;
  std::map<std::tuple<uint64_t, unsigned, bool, int>, Operand> constants;
  std::map<std::string, Operand> specials;
  std::vector<std::pair<uint32_t, std::string>> jumps;
};

using Decode = void (*)(Decoder &);
/// Functions by the first word; if the last word is a float's type, those for
/// floats have precedence.
struct DecodeTable {
  std::unordered_map<std::string_view, Decode> floats, integers, others;
  Decode find(const std::vector<std::string> &words) const;
};
// Add the functions of each file.
void addIntegerDecoders(DecodeTable &table);
void addBitDecoders(DecodeTable &table);
void addFloatDecoders(DecodeTable &table);
void addConversionDecoders(DecodeTable &table);
void addComparisonDecoders(DecodeTable &table);
void addMoveDecoders(DecodeTable &table);
void addMemoryDecoders(DecodeTable &table);
void addWarpDecoders(DecodeTable &table);
void addFlowDecoders(DecodeTable &table);
void addAsyncCopyDecoders(DecodeTable &table);
void addMatrixDecoders(DecodeTable &table);

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_DECODER_H
