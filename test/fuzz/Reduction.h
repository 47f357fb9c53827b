//===- Reduction.h - a failing program made small ---------------*- C++ -*-===//
//
//   reduceProgram(text, [&](const std::string &t) { return check.run(t) == verdict; });
//
// reduceProgram repeats these changes until none helps: return fewer results;
// replace an op by an argument, an operand or a constant; drop annotations and
// constraints; drop and shrink axes of the mesh; make dimensions and other
// numbers smaller. A candidate that is not a valid program fails in another
// way, so the changes need not fit together.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_REDUCTION_H
#define WEFT_TEST_FUZZ_REDUCTION_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"

#include <functional>
#include <string>
#include <vector>

namespace weft {

using StillFails = std::function<bool(const std::string &)>;

/// Returns the smallest failing program that was found in this many tries.
std::string reduceProgram(mlir::MLIRContext &context, std::string text,
                          const StillFails &stillFails, unsigned tries = 2000);

/// One way to make a program smaller; false if it does not apply.
using Shrink = std::function<bool(mlir::ModuleOp)>;
/// Returns all ways to make the module smaller, those that remove most first.
std::vector<Shrink> shrinksOf(mlir::ModuleOp module);
/// Returns the text with smaller numbers: dimensions together with those that
/// are equal to them, and single entries of lists.
std::vector<std::string> smallerNumbers(const std::string &text);
/// Returns the number of ops in @main and the functions that it calls, without
/// returns.
unsigned countOps(mlir::ModuleOp module);

} // namespace weft

#endif // WEFT_TEST_FUZZ_REDUCTION_H
