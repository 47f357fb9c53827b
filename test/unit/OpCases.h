//===- OpCases.h - programs of one op with JAX's figures --------*- C++ -*-===//
//
// opCases() reads test/fixtures/ops/goldens.json, which generate.py beside it
// writes: programs of one op with inputs, outputs and gradients of JAX.
// `programOf` writes a case as
//
//   func.func @main(%a: tensor<4xf32>) -> (tensor<4xf32>) {
//     %r = weft.exp %a : tensor<4xf32>
//     return %r : tensor<4xf32>
//   }
//
// and `gradientOf` as a @main that takes the inputs, then one cotangent for
// each differentiated result, and returns the gradients.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_OPCASES_H
#define WEFT_TEST_UNIT_OPCASES_H

#include "weft/passes/interpret/Interpret.h"

#include "mlir/IR/MLIRContext.h"

#include <string>
#include <vector>

namespace weft {

struct OpCase {
  std::string name, body;
  std::vector<std::string> args, results; ///< types
  std::vector<std::vector<double>> inputs, outputs, cotangents, gradients;
  std::vector<int64_t> wrt, differentiated;
  double tolerance =
      2e-6; ///< relative to the largest element, or to 1 if that is larger
};

/// Returns all cases. If the environment variable WEFT_OP_CASE is set, only
/// those whose name starts with it.
const std::vector<OpCase> &opCases();

/// Whether a case has regions. A loop or branch is not a kernel: the runtime
/// executes it (see flow-test).
inline bool hasRegions(const OpCase &c) {
  return c.body.find("^bb0") != std::string::npos;
}

/// Returns the program of a case: a function with this name and these
/// attributes.
std::string programOf(const OpCase &c, const std::string &name = "main",
                      const std::string &attributes = "");
std::string gradientOf(const OpCase &c);
/// Returns tensors of these types with these values.
Tensors tensorsOf(mlir::MLIRContext &context,
                  const std::vector<std::string> &types,
                  const std::vector<std::vector<double>> &values);
/// Return the arguments of gradientOf(c) and its expected results.
Tensors gradientInputs(mlir::MLIRContext &context, const OpCase &c);
Tensors gradientResults(mlir::MLIRContext &context, const OpCase &c);
/// Describes the first element that differs by more than the tolerance; empty
/// if there is none.
std::string difference(const Tensor &found, const Tensor &expected,
                       double tolerance);

} // namespace weft

#endif // WEFT_TEST_UNIT_OPCASES_H
