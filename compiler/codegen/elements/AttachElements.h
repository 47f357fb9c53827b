//===- AttachElements.h - one function for each op's element ----*- C++ -*-===//
//
//   static FailureOr<Value> rolledElement(ElementEmitter &e, RollOp op, const ElementIndex &index);
//   ...
//   attachElement<RollOp, rolledElement>(context);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_ATTACHELEMENTS_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_ATTACHELEMENTS_H

#include "weft/compiler/codegen/elements/ElementCode.h"

namespace weft::elements {

template <typename ConcreteOp>
using ElementFunction = mlir::FailureOr<mlir::Value> (*)(ElementEmitter &,
                                                         ConcreteOp,
                                                         const ElementIndex &);

template <typename ConcreteOp, ElementFunction<ConcreteOp> emit>
struct ElementModel
    : ElementCodeOpInterface::ExternalModel<ElementModel<ConcreteOp, emit>,
                                            ConcreteOp> {
  mlir::FailureOr<mlir::Value> emitElement(mlir::Operation *op,
                                           ElementEmitter &emitter,
                                           const ElementIndex &index) const {
    return emit(emitter, llvm::cast<ConcreteOp>(op), index);
  }
};

template <typename ConcreteOp, ElementFunction<ConcreteOp> emit>
void attachElement(mlir::MLIRContext *context) {
  ConcreteOp::template attachInterface<ElementModel<ConcreteOp, emit>>(
      *context);
}

/// GeneratedElements.cpp: constants, counters, random bits.
void attachGeneratedElements(mlir::MLIRContext *context);
/// MovedElements.cpp: elements that are in an operand at another position.
void attachMovedElements(mlir::MLIRContext *context);
/// IndexedElements.cpp: positions that are data.
void attachIndexedElements(mlir::MLIRContext *context);
/// NestCode.cpp: loops of an op's own.
void attachNestCode(mlir::MLIRContext *context);
/// TermCode.cpp: terms of reductions and contractions.
void attachTermCode(mlir::MLIRContext *context);
/// WindowTerms.cpp: terms of convolutions and windows.
void attachWindowTerms(mlir::MLIRContext *context);
/// FourierTerms.cpp
void attachFourierTerms(mlir::MLIRContext *context);
/// ScalarCode.cpp: elementwise ops.
void attachScalarCode(mlir::MLIRContext *context);
/// The ops of coll that kernels hold.
void attachCoordinateElements(mlir::MLIRContext *context);
void attachMovedBlocks(mlir::MLIRContext *context);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ATTACHELEMENTS_H
