//===- ElementCode.h - facts about ops for code generators ------*- C++ -*-===//
//
// An embedder's op gets code on every processor by one external model:
//   struct ScaleCode : elements::ElementCodeOpInterface::ExternalModel<ScaleCode, ScaleOp> {
//     FailureOr<Value> emitElement(Operation *op, ElementEmitter &e, const ElementIndex &at) const {
//       FailureOr<Value> x = e.element(op->getOperand(0), at);
//       FailureOr<Value> by = e.element(op->getOperand(1), e.makeIndex(at.dims[0], at.depth));
//       if (failed(x) || failed(by)) return failure();
//       e.enterDepth(at.depth);
//       return arith::MulFOp::create(e.builder, e.loc, *x, *by).getResult();
//     }
//   };
//
//   registry.addExtension(+[](MLIRContext *c, MineDialect *) { ScaleOp::attachInterface<ScaleCode>(*c); });
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTCODE_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTCODE_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"

#include "mlir/IR/DialectRegistry.h"

#include "weft/compiler/codegen/elements/ElementCode.h.inc"

namespace weft::elements {

/// Gives the ops of weft and coll their code.
void registerElementCode(mlir::DialectRegistry &registry);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTCODE_H
