//===- CompareWithGlobal.h - does partitioning keep the meaning? ----------===//
//
// Runs a program before and after partitioning on inputs drawn from a seed,
// the second on every device of its mesh with NaN in all padding, and compares
// the results element by element:
//
//   error: result 0 ("metrics/loss") differs at [1, 2]: the global program
//   gives 3, the devices give nan
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_VERIFY_COMPAREWITHGLOBAL_H
#define WEFT_PASSES_VERIFY_COMPAREWITHGLOBAL_H

#include "weft/dialects/interpret/Interpret.h"

namespace weft {

/// On an argument or result of a partitioned function: its type before, as a
/// TypeAttr.
inline constexpr llvm::StringLiteral kGlobalTypeAttr = "weft.global_type";

enum class Draw {
  Integers, ///< floats are integers in [-4, 4]: sums are exact in any order
  Reals,    ///< floats lie in [-1, 1)
};

struct CompareOptions {
  uint64_t seed = 0;
  Draw draw = Draw::Integers;
  /// Largest |a - b|, relative to the largest element of the result (at least
  /// 1). Integers and copies on several devices must be equal.
  double tolerance = 1e-5;
  /// By result, where not empty: largest |a - b| in place of the tolerance.
  llvm::ArrayRef<double> errorBounds;
  /// Inputs in place of drawn ones, where not empty.
  llvm::ArrayRef<Tensor> arguments;
};

/// A tensor drawn from a seed: floats as `draw` says, integers in
/// [0, integersBelow), ui32 any bits.
Tensor drawTensor(mlir::RankedTensorType type, Draw draw, uint64_t seed,
                  uint64_t integersBelow = 8);

/// Success where both give the same. Otherwise an error on the partitioned
/// function that names the first result that differs, the element and both
/// values. The partitioned function's arguments and results have attributes
/// `weft.layout` and `weft.global_type`; without any layout it is a program of
/// one device. Arguments of role `slot` or `state` are drawn positive, since
/// optimizers take their roots, and integers below the size of any dimension
/// that the program looks up.
llvm::LogicalResult compareWithGlobal(mlir::func::FuncOp global,
                                      mlir::func::FuncOp partitioned,
                                      const CompareOptions &options = {});

} // namespace weft

#endif // WEFT_PASSES_VERIFY_COMPAREWITHGLOBAL_H
