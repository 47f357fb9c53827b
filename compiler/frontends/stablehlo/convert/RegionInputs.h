//===- RegionInputs.h - values that regions take from outside ---*- C++ -*-===//
//
// A region of StableHLO may use any value from outside, but a region of weft
// only its arguments:
//
//   while (%i = ...) { ... %limit ... }     %limit becomes a carried value
//
// Small constants are cloned into the region, where conversions can read them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_REGIONINPUTS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_REGIONINPUTS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "llvm/ADT/SetVector.h"

namespace weft::stablehlo {

class RegionInputs {
public:
  RegionInputs(Converter &converter [[clang::lifetimebound]], ForeignOp op);

  /// The values that must be passed besides the op's own operands.
  llvm::ArrayRef<Value> passed() const { return carried; }
  /// Converts the only block of `from` into a new block of `into`. Its
  /// arguments are values of `own` types, then the passed ones. The builder is
  /// left after the last op; `results` are the values that the block returns.
  LogicalResult convert(mlir::Region &from, mlir::Region &into,
                        mlir::TypeRange own,
                        llvm::SmallVectorImpl<Value> &results);
  /// The arguments of the region's block for the passed values.
  llvm::ArrayRef<mlir::BlockArgument> passedTo(mlir::Region &into) const {
    return into.getArguments().take_back(carried.size());
  }

private:
  Converter &converter;
  ForeignOp op;
  llvm::SetVector<Value> captured; ///< values of the foreign program
  llvm::SmallVector<Value> carried;
};

/// Converts the op's only region, of scalars of these types, into a region that
/// ends with a weft.yield. Scalars that the region uses from outside become
/// further arguments, with these values in `outside`. Emits an error on the op
/// if the region is not elementwise, or uses other values from outside. If
/// `outside` is null, no value from outside may be used.
LogicalResult convertBody(Converter &converter, ForeignOp op,
                          mlir::TypeRange scalars, mlir::Region &into,
                          llvm::SmallVectorImpl<Value> *outside = nullptr);

/// Converts a scatter of several tensors, or one whose region is none of weft's
/// kinds (ScatterByBody.cpp).
LogicalResult scatterByBody(Converter &converter, ForeignOp op);

/// Makes a weft.fold of the inputs along `dims` with the op's only region.
/// Emits an error on the op if the region is not elementwise or uses values
/// from outside.
mlir::FailureOr<llvm::SmallVector<Value>>
foldByBody(Converter &converter, ForeignOp op, mlir::ValueRange inputs,
           mlir::ValueRange inits, llvm::ArrayRef<int64_t> dims);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_REGIONINPUTS_H
