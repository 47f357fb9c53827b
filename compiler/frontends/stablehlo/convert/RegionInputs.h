//===- RegionInputs.h - values that regions take from outside ---*- C++ -*-===//
//
// A region of StableHLO may use any value around it, one of weft only its
// arguments:
//
//   while (%i = ...) { ... %limit ... }     %limit is passed in, and on
//
// Small constants are repeated inside, where conversions can read them.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_REGIONINPUTS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_REGIONINPUTS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "llvm/ADT/SetVector.h"

namespace weft::stablehlo {

class RegionInputs {
public:
  RegionInputs(Converter &converter, ForeignOp op);

  /// The values that must be passed besides the op's own operands.
  llvm::ArrayRef<Value> passed() const { return carried; }
  /// Converts the only block of `from` into a new block of `into`, which takes
  /// values of `own` types and then the passed ones. The builder ends behind
  /// the last op; `results` are the block's return values.
  LogicalResult convert(mlir::Region &from, mlir::Region &into,
                        mlir::TypeRange own,
                        llvm::SmallVectorImpl<Value> &results);
  /// The block's arguments that were passed in.
  llvm::ArrayRef<mlir::BlockArgument> passedTo(mlir::Region &into) const {
    return into.getArguments().take_back(carried.size());
  }

private:
  Converter &converter;
  ForeignOp op;
  llvm::SetVector<Value> captured; ///< of the foreign program
  llvm::SmallVector<Value> carried;
};

/// Converts the op's only region, of scalars of these types, into another that
/// ends with a weft.yield. It must be elementwise and use nothing around it;
/// else there is an error on the op.
LogicalResult convertBody(Converter &converter, ForeignOp op,
                          mlir::TypeRange scalars, mlir::Region &into);

/// Converts a scatter whose region is of no known kind (ScatterByBody.cpp).
LogicalResult scatterByBody(Converter &converter, ForeignOp op);

/// Makes a weft.fold of the inputs along `dims` with the op's only region,
/// which must be elementwise and use nothing around it; else there is an error
/// on the op.
mlir::FailureOr<llvm::SmallVector<Value>>
foldByBody(Converter &converter, ForeignOp op, mlir::ValueRange inputs,
           mlir::ValueRange inits, llvm::ArrayRef<int64_t> dims);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_REGIONINPUTS_H
