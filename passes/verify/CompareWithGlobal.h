//===- CompareWithGlobal.h - does partitioning keep the meaning? ----------===//
//
// Runs a program before and after partitioning on inputs drawn from a seed,
// the second on every device of its mesh with NaN in all padding, and compares
// the results element by element:
//
//   error: 'func.func' op result 0 ("metrics/loss") differs at [1, 2]: the
//   global program gives 3, the devices give nan
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_VERIFY_COMPAREWITHGLOBAL_H
#define WEFT_PASSES_VERIFY_COMPAREWITHGLOBAL_H

#include "weft/passes/interpret/Interpret.h"

namespace weft {

enum class Draw {
  Integers, ///< floats are integers in [-4, 4]: sums are exact in any order
  Reals,    ///< floats are in [-1, 1)
};

struct CompareOptions {
  uint64_t seed = 0;
  Draw draw = Draw::Integers;
  /// Largest |a - b|, relative to the largest element of the result (at least
  /// 1). Integers and copies on several devices must be equal.
  double tolerance = 1e-5;
  /// The largest |a - b| of each result; empty: the tolerance decides.
  llvm::ArrayRef<double> errorBounds;
  /// Inputs to use instead of drawn inputs, if not empty.
  llvm::ArrayRef<Tensor> arguments;
};

/// A tensor drawn from a seed: floats by `draw`, integers in [0,
/// integersBelow), ui32 any bits.
Tensor drawTensor(mlir::RankedTensorType type, Draw draw, uint64_t seed,
                  uint64_t integersBelow = 8);

/// Succeeds if both functions give the same results. Otherwise emits an error
/// on the partitioned function, with the first result that differs, the element
/// and both values. The partitioned function's arguments and results have
/// attributes `weft.layout` and `weft.global_type`; without any layout it is a
/// program of one device. Arguments of role `slot` or `state` are drawn
/// positive, since optimizers take their roots, and integers below the size of
/// any dimension that the program looks up.
llvm::LogicalResult compareWithGlobal(mlir::func::FuncOp global,
                                      mlir::func::FuncOp partitioned,
                                      const CompareOptions &options = {});

} // namespace weft

#endif // WEFT_PASSES_VERIFY_COMPAREWITHGLOBAL_H
