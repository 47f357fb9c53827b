//===- TypeLists.h - types at the end of an op's text -----------*- C++ -*-===//
//
// One type is printed if all operands and results have it, else all types:
//
//   weft.add %a, %b : tensor<4xf32>
//   weft.add %a, %b : (tensor<4xf32, #layout>, tensor<4xf32>) -> tensor<4xf32>
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_TYPELISTS_H
#define WEFT_DIALECTS_WEFT_TYPELISTS_H

#include "mlir/IR/OpImplementation.h"

namespace weft {

mlir::ParseResult parseUnaryTypes(mlir::OpAsmParser &parser, mlir::Type &input,
                                  mlir::Type &result);
void printUnaryTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                     mlir::Type input, mlir::Type result);

mlir::ParseResult parseBinaryTypes(mlir::OpAsmParser &parser, mlir::Type &lhs,
                                   mlir::Type &rhs, mlir::Type &result);
void printBinaryTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                      mlir::Type lhs, mlir::Type rhs, mlir::Type result);

/// Parses input -> result after an attribute. The attribute's parser consumes
/// a colon and type that follow a spelled-out attribute; the input then has the
/// result's type.
mlir::ParseResult parseAnnotatedTypes(mlir::OpAsmParser &parser,
                                      mlir::Type &input, mlir::Type &result);
void printAnnotatedTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                         mlir::Type input, mlir::Type result);

/// Parses the result's type alone if there is no offset.
mlir::ParseResult parseIotaTypes(mlir::OpAsmParser &parser, mlir::Type &offset,
                                 mlir::Type &result);
void printIotaTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                    mlir::Type offset, mlir::Type result);

/// Parses key -> result if there are no offsets.
mlir::ParseResult parseRngTypes(mlir::OpAsmParser &parser, mlir::Type &key,
                                llvm::SmallVectorImpl<mlir::Type> &offsets,
                                mlir::Type &result);
void printRngTypes(mlir::OpAsmPrinter &printer, mlir::Operation *op,
                   mlir::Type key, mlir::TypeRange offsets, mlir::Type result);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_TYPELISTS_H
