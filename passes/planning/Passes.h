//===- Passes.h - from kernels to instructions ------------------*- C++ -*-===//

#ifndef WEFT_PASSES_PLANNING_PASSES_H
#define WEFT_PASSES_PLANNING_PASSES_H

#include "weft/dialects/plan/Plan.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Pass/Pass.h"

namespace weft {

/// The attribute of a module with the bytes that a device has (i64); FitMemory
/// makes programs fit if possible.
inline constexpr llvm::StringLiteral kMemoryAttr = "weft.memory";

/// The attribute of a module that says whether collectives run beside
/// computing: "auto" (the default), "on" or "off" (OverlapCollectives).
inline constexpr llvm::StringLiteral kOverlapAttr = "weft.overlap";

/// What such an attribute says. Nothing, after an error, for anything else.
enum class Choice { Auto, On, Off };
std::optional<Choice> choiceOf(mlir::ModuleOp module, llvm::StringRef name);

/// The unit attribute of a module whose all-reduces are not divided, as budgets
/// count them, unless `weft.overlap` is "on".
inline constexpr llvm::StringLiteral kWholeSumsAttr = "weft.whole_sums";

/// Whether `PlaceBuffers` turns the function into a program, as for a step;
/// private functions are its kernels.
bool becomesProgram(mlir::func::FuncOp function);

#define GEN_PASS_DECL
#include "weft/passes/planning/Passes.h.inc"
#define GEN_PASS_REGISTRATION
#include "weft/passes/planning/Passes.h.inc"
} // namespace weft

#endif // WEFT_PASSES_PLANNING_PASSES_H
