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

using Cuts = llvm::SmallVector<std::pair<int64_t, int64_t>>;
template <typename ConcreteOp> Cuts noCuts(ConcreteOp) { return {}; }

template <typename ConcreteOp, ElementFunction<ConcreteOp> emit,
          Cuts (*cuts)(ConcreteOp) = noCuts<ConcreteOp>>
struct ElementModel : ElementCodeOpInterface::ExternalModel<
                          ElementModel<ConcreteOp, emit, cuts>, ConcreteOp> {
  mlir::FailureOr<mlir::Value> emitElement(mlir::Operation *op,
                                           ElementEmitter &emitter,
                                           const ElementIndex &index) const {
    return emit(emitter, llvm::cast<ConcreteOp>(op), index);
  }
  Cuts getCuts(mlir::Operation *op) const {
    return cuts(llvm::cast<ConcreteOp>(op));
  }
};

template <typename ConcreteOp, ElementFunction<ConcreteOp> emit,
          Cuts (*cuts)(ConcreteOp) = noCuts<ConcreteOp>>
void attachElement(mlir::MLIRContext *context) {
  ConcreteOp::template attachInterface<ElementModel<ConcreteOp, emit, cuts>>(
      *context);
}

/// Constants, counters, random bits (GeneratedElements.cpp).
void attachGeneratedElements(mlir::MLIRContext *context);
/// Elements that are in an operand at another position (MovedElements.cpp).
void attachMovedElements(mlir::MLIRContext *context);
/// Positions that are data (IndexedElements.cpp).
void attachIndexedElements(mlir::MLIRContext *context);
/// Ops with their own loops (NestCode.cpp).
void attachNestCode(mlir::MLIRContext *context);
/// Terms of reductions and contractions (TermCode.cpp).
void attachTermCode(mlir::MLIRContext *context);
/// Terms of convolutions and windows (WindowTerms.cpp).
void attachWindowTerms(mlir::MLIRContext *context);
/// FourierTerms.cpp
void attachFourierTerms(mlir::MLIRContext *context);
/// Elementwise ops (ScalarCode.cpp).
void attachScalarCode(mlir::MLIRContext *context);
/// Ops of coll in kernels.
void attachCoordinateElements(mlir::MLIRContext *context);
void attachMovedBlocks(mlir::MLIRContext *context);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ATTACHELEMENTS_H
