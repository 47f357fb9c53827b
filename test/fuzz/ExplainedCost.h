//===- ExplainedCost.h - explained costs, computed again --------*- C++ -*-===//
//
//   costProblem(module)                    // at stage `plan`; empty: none
//     all_gather sends 48 bytes, 12 is explained
//
// Costs are computed again from the plan's types in 128 bits, by the formulas
// of Explain.h; every report is written; and budgets must hold at the cost and
// fail below it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_EXPLAINEDCOST_H
#define WEFT_TEST_FUZZ_EXPLAINEDCOST_H

#include "weft/compiler/explain/Explain.h"
#include "weft/runtime/abi/weft.h"

#include <map>
#include <string>

namespace weft {

/// The first error in the explanation of a module at stage `plan`, or empty.
std::string costProblem(mlir::ModuleOp planned);

/// The difference between collectives of a run and the explained ones, or
/// empty. A program with branches may run fewer collectives; loops with an
/// unknown trip count are not checked.
std::string countProblem(mlir::ModuleOp planned,
                         llvm::ArrayRef<weft_counter> counted);

} // namespace weft

#endif // WEFT_TEST_FUZZ_EXPLAINEDCOST_H
