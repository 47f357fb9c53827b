//===- ProgramCheck.h - does a program keep its meaning? --------*- C++ -*-===//
//
//   ProgramCheck check;
//   Verdict verdict = check.run(text);       // Verdict::Differs
//   check.reason()                           // result 0 differs at [1, 2]: ...
//
// The program is interpreted as it is, and on every device of its mesh after
// all stages up to `scheduled`, with NaN in all padding. How else it is checked
// stands in the text, so that a file says all that is needed to repeat it:
//
//   module attributes {weft.mesh = #mesh, weft.fuzz = "inputs=17 detours=3 compiled"}
//
// inputs=S    the seed of the inputs
// reals       inputs are in [-1, 1), not integers in [-4, 4]
// detours=S   some values go to layouts that S chooses, partial ones included,
//             and back
// compiled    it runs as machine code too, in the runtime, on poisoned memory
// gpu         that code is for GPUs, which the driver that is found has
// explained   its plan is explained, and what it costs is computed again
// planned     it is planned and explained, and runs nowhere
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_PROGRAMCHECK_H
#define WEFT_TEST_FUZZ_PROGRAMCHECK_H

#include "weft/dialects/interpret/Interpret.h"

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
       planned = false;
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

  /// Called with each program, as it was written.
  std::function<void(mlir::ModuleOp)> observe;
  /// For tests: breaks the scheduled program.
  std::function<void(mlir::ModuleOp)> breakProgram;
  /// For tests: leaves out the interpreter's devices, and runs machine code.
  bool onlyCompiled = false;

private:
  Verdict runModule(mlir::ModuleOp module);
  Verdict plan(mlir::ModuleOp module);
  Verdict explain(mlir::ModuleOp scheduled);
  Verdict compare(mlir::ModuleOp global, mlir::ModuleOp partitioned,
                  llvm::ArrayRef<Tensor> inputs);

  mlir::MLIRContext mlirContext;
  std::string why;
};

/// The first words of a reason, without names and numbers: failures for the
/// same reason have the same.
std::string kindOfReason(const std::string &reason);
/// The function that all this is about.
mlir::func::FuncOp mainOf(mlir::ModuleOp module);
/// Sends values of a module at stage `sharded` to other layouts and back.
void addDetours(mlir::ModuleOp module, uint64_t seed);
/// Compiles a module at stage `scheduled` and runs it on poisoned memory. What
/// is wrong with its results, or empty.
std::string runCompiled(mlir::ModuleOp scheduled, llvm::ArrayRef<Tensor> inputs,
                        llvm::ArrayRef<Tensor> expected,
                        llvm::ArrayRef<double> errorBounds,
                        const CheckOptions &checks);
/// The target of programs for GPUs.
inline constexpr char kGpuTarget[] = "cuda:sm_80";
/// Gives a quarter of the kernels of a module at stage `nests` other loop nests
/// that mean the same. What is wrong, or empty.
std::string drawNests(mlir::ModuleOp module, uint64_t seed);
/// Which kernel of a module at stage `kernels` computes a value at more
/// positions than kMostComputed (Recomputation.h), or empty.
std::string excessOfCode(mlir::ModuleOp kernels);
/// How many elements the code of all kernels computes, each loop taken once.
uint64_t computationsIn(mlir::ModuleOp kernels);
/// By result: what two right programs may be apart.
llvm::SmallVector<double> errorBoundsOf(mlir::func::FuncOp function);
/// The first element that is further off, or empty.
std::string differenceOf(const Tensor &expected, const Tensor &found,
                         double bound);

} // namespace weft

#endif // WEFT_TEST_FUZZ_PROGRAMCHECK_H
