//===- ScalarOps.h - arithmetic on the elements of tensors ------*- C++ -*-===//
//
// Values are in the compute types of their element types (Registers.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_SCALAROPS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_SCALAROPS_H

#include "weft/compiler/codegen/elements/LoopNest.h"
#include "weft/dialects/weft/Weft.h"

namespace weft::elements {

class ElementEmitter;

/// Whether an element of the op is computed from operands' elements at the same
/// position (ScalarCode).
bool isElementwise(mlir::Operation *op);
/// Emits an elementwise op on registers. Fails, with an error on the op, if it
/// or its element types have no code.
mlir::FailureOr<mlir::Value> emitScalarOp(mlir::OpBuilder &builder,
                                          mlir::Operation *op,
                                          mlir::ValueRange operands);
/// Converts between element types that are not complex.
mlir::Value convertScalar(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type from, mlir::Type to, mlir::Value value);
/// Converts an element to a type that represents all values of its type.
mlir::Value extendScalar(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type from, mlir::Type to, mlir::Value value);
/// Combines a and b by a reduction; sums and products of floats may be
/// reordered into lanes.
mlir::Value emitCombine(mlir::OpBuilder &builder, mlir::Location loc,
                        ReduceKind kind, mlir::Type elementType, mlir::Value a,
                        mlir::Value b);
mlir::Value emitNeutral(mlir::OpBuilder &builder, mlir::Location loc,
                        ReduceKind kind, mlir::Type elementType);
/// The value of absentElement() in a register.
mlir::Value emitAbsent(mlir::OpBuilder &builder, mlir::Location loc,
                       ReduceKind kind, mlir::Type elementType);
/// The operand's element at a position that is known in this loop, converted to
/// a type that represents all values of its type.
mlir::FailureOr<mlir::Value> operandElement(ElementEmitter &emitter,
                                            mlir::Value operand,
                                            llvm::ArrayRef<mlir::Value> dims,
                                            mlir::Type wanted);
mlir::Value zeroOf(LoopNest &nest, mlir::Type elementType);
mlir::Value emitProduct(LoopNest &nest, mlir::Type elementType, mlir::Value x,
                        mlir::Value y);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_SCALAROPS_H
