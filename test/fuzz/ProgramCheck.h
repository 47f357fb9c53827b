//===- ProgramCheck.h - compares a program's interpretations ----*- C++ -*-===//
//
//   ProgramCheck check;
//   Verdict verdict = check.run(text);       // Verdict::Differs
//   check.reason()                           // result 0 differs at [1, 2]: ...
//
// The program is interpreted globally, and on every device of its mesh after
// all stages up to `scheduled`, with NaN in all padding. Options of the check
// are in the text, so that a file contains all that is needed to repeat it:
//
//   module attributes {weft.mesh = #mesh, weft.fuzz = "inputs=17 detours=3 compiled"}
//
// inputs=S    the seed of the inputs
// reals       inputs are in [-1, 1), not integers in [-4, 4]
// detours=S   some values go to layouts that S chooses, partial ones included,
//             and back
// compiled    the program also runs as machine code on poisoned memory, two
//             fifths of the programs with collectives under way
// gpu         the machine code is for the GPUs of the driver that is found
// explained   the plan is explained, and its costs are computed again
// planned     the program is planned and explained, but not run
// large       the program is planned for every target, and code is made for one
// everywhere  code is made for every target
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_PROGRAMCHECK_H
#define WEFT_TEST_FUZZ_PROGRAMCHECK_H

#include "weft/passes/interpret/Interpret.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"

#include <functional>
#include <string>

namespace weft {

enum class Verdict { Holds, Invalid, Refused, Differs, Crashed };
const char *textOf(Verdict verdict);

struct CheckOptions {
  uint64_t inputs = 1, detours = 0;
  bool reals = false, compiled = false, gpu = false, explained = false,
       planned = false, large = false, everywhere = false;
  /// The options in the module's attribute weft.fuzz.
  static CheckOptions of(mlir::ModuleOp module);
};
inline constexpr char kChecksAttr[] = "weft.fuzz";

class ProgramCheck {
public:
  ProgramCheck();
  Verdict run(const std::string &text);
  /// The refusal or the difference of the last program.
  const std::string &reason() const { return why; }
  mlir::MLIRContext &context() { return mlirContext; }

  /// The callback that gets each program before any stage.
  std::function<void(mlir::ModuleOp)> observe;
  /// For tests: alters the scheduled program to make it wrong.
  std::function<void(mlir::ModuleOp)> breakProgram;
  /// For tests: whether to skip the interpreter's devices, and run machine code
  /// only.
  bool onlyCompiled = false;

private:
  Verdict runModule(mlir::ModuleOp module);
  Verdict plan(mlir::ModuleOp module);
  Verdict compile(mlir::ModuleOp module, const CheckOptions &checks);
  Verdict explain(mlir::ModuleOp scheduled);
  Verdict compare(mlir::ModuleOp global, mlir::ModuleOp partitioned,
                  llvm::ArrayRef<Tensor> inputs);

  mlir::MLIRContext mlirContext;
  std::string why;
};

/// The first words of a reason, without names and numbers, which are equal for
/// failures with the same cause.
std::string kindOfReason(const std::string &reason);
/// Returns the function that is checked.
mlir::func::FuncOp mainOf(mlir::ModuleOp module);
/// Moves values of a module at stage `sharded` to other layouts and back.
void addDetours(mlir::ModuleOp module, uint64_t seed);
/// Compiles a module at stage `scheduled` and runs it on poisoned memory.
/// Returns an error or the first wrong result, or empty.
std::string runCompiled(mlir::ModuleOp scheduled, llvm::ArrayRef<Tensor> inputs,
                        llvm::ArrayRef<Tensor> expected,
                        llvm::ArrayRef<double> errorBounds,
                        const CheckOptions &checks);
/// Plans a module at stage `scheduled` for every target with loop nests. Makes
/// machine code for those that `wanted` says, without running it. Returns
/// whether each is possible.
llvm::LogicalResult
compileForTargets(mlir::ModuleOp scheduled,
                  llvm::function_ref<bool(size_t target)> wanted);
/// The number of targets that code can be made for.
size_t numTargets();
/// The target of programs for GPUs.
inline constexpr char kGpuTarget[] = "cuda:sm_80";
/// Gives a quarter of the kernels of a module at stage `nests` other equivalent
/// loop nests. Returns an error, or empty.
std::string drawNests(mlir::ModuleOp module, uint64_t seed);
/// The kernel of a module at stage `kernels` that computes a value at more than
/// kMostComputed positions (Recomputation.h), or empty.
std::string excessOfCode(mlir::ModuleOp kernels);
/// The number of elements that the code of all kernels computes, each loop
/// taken once.
uint64_t computationsIn(mlir::ModuleOp kernels);
/// The largest difference of two correct programs, for each result.
llvm::SmallVector<double> errorBoundsOf(mlir::func::FuncOp function);
/// The first element with a larger difference, or empty.
std::string differenceOf(const Tensor &expected, const Tensor &found,
                         double bound);

} // namespace weft

#endif // WEFT_TEST_FUZZ_PROGRAMCHECK_H
