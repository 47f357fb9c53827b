//===- ForeignRules.h - rules for linalg, arith, tensor, tosa ---*- C++ -*-===//
//
// The sharding passes know an op by its rule alone, so upstream's ops take part
// once rules are attached to them:
//
//   mlir::DialectRegistry registry;
//   registry.insert<mlir::linalg::LinalgDialect>();
//   weft::registerForeignRules(registry);
//
// | dialect      | rule
// | linalg       | every structured op, by its indexing maps and iterator types
// | arith, math  | every elementwise op; constants
// | tensor       | empty, splat, cast, extract_slice, insert_slice, concat, pad,
// |              | expand_shape, collapse_shape
// | tosa         | elementwise with broadcasts, matmul, reduce_*, transpose,
// |              | reshape, const
// | scf          | none needed: loops say themselves what their regions pass on
//
// An op without a rule keeps its tensors whole.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_FOREIGN_FOREIGNRULES_H
#define WEFT_DIALECTS_FOREIGN_FOREIGNRULES_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/DialectRegistry.h"

namespace weft {

/// Rules for the dialects above, attached when each is loaded. Loads none.
void registerForeignRules(mlir::DialectRegistry &registry);

// For an embedder's own op; each does nothing where the op has a rule already.

/// An op that implements linalg's LinalgOp.
void attachStructuredRule(mlir::RegisteredOperationName op);
/// An op that treats every element alone: tensors of one shape, and scalars.
void attachElementwiseRule(mlir::RegisteredOperationName op);
/// The same, where tensors may be broadcast along dimensions of size 1.
void attachBroadcastingRule(mlir::RegisteredOperationName op);
/// A constant with one attribute of the result's type, layout included.
void attachConstantRule(mlir::RegisteredOperationName op);
/// A model of your own (ShardingRuleOpInterface::ExternalModel; FallbackModel
/// where one serves several ops: an ExternalModel takes each for the op it names).
template <typename Model> void attachRule(mlir::RegisteredOperationName op) {
  if (!op.hasInterface<ShardingRuleOpInterface>())
    op.attachInterface<Model>();
}

template <typename Op, typename Model>
void attachRuleTo(mlir::MLIRContext *context) {
  attachRule<Model>(
      *mlir::RegisteredOperationName::lookup(Op::getOperationName(), context));
}

/// All ops of the dialect (MLIR 22.1's getRegisteredOperationsByDialect looks
/// for them in the wrong order and finds none).
inline auto operationsOf(mlir::Dialect *dialect) {
  return llvm::make_filter_range(
      dialect->getContext()->getRegisteredOperations(),
      [dialect](mlir::RegisteredOperationName op) {
        return &op.getDialect() == dialect;
      });
}

// By dialect; registerForeignRules calls them.
void registerLinalgRules(mlir::DialectRegistry &registry);
void registerArithRules(mlir::DialectRegistry &registry);
void registerTensorRules(mlir::DialectRegistry &registry);
void registerTosaRules(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_DIALECTS_FOREIGN_FOREIGNRULES_H
