//===- UpstreamRules.h - rules for linalg, arith, tensor, tosa ---*- C++ -*-===//
//
// Upstream's ops take part in sharding once rules are attached to them, as the
// sharding passes query only the rule:
//
//   mlir::DialectRegistry registry;
//   registry.insert<mlir::linalg::LinalgDialect>();
//   weft::registerUpstreamRules(registry);
//
// | dialect      | rule
// | linalg       | every structured op, by its indexing maps and iterator types
// | arith, math  | every elementwise op; constants
// | tensor       | empty, splat, cast, extract_slice, insert_slice, concat,
// pad, |              | expand_shape, collapse_shape | tosa         |
// elementwise with broadcasts, matmul, reduce_*, transpose, |              |
// reshape, const | scf          | none needed: loops declare the values of
// their regions
//
// An op without a rule keeps its tensors replicated.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_UPSTREAM_UPSTREAMRULES_H
#define WEFT_PASSES_UPSTREAM_UPSTREAMRULES_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/DialectRegistry.h"

namespace weft {

/// Registers rules for the dialects above, which are attached when a dialect is
/// loaded. Loads no dialect.
void registerUpstreamRules(mlir::DialectRegistry &registry);

// The functions below attach a rule to an embedder's op, unless the op already
// has a rule.

/// Attaches the rule of an op that implements linalg's LinalgOp.
void attachStructuredRule(mlir::RegisteredOperationName op);
/// Attaches the rule of an elementwise op, whose operands are scalars or
/// tensors of one shape.
void attachElementwiseRule(mlir::RegisteredOperationName op);
/// Attaches the elementwise rule with tensors broadcast along dimensions of
/// size 1.
void attachBroadcastingRule(mlir::RegisteredOperationName op);
/// Attaches the rule of a constant: one attribute has the result's type and
/// layout.
void attachConstantRule(mlir::RegisteredOperationName op);
/// Attaches a model of your own (ShardingRuleOpInterface::ExternalModel, or
/// FallbackModel if one model serves several ops).
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

// Registers the rules of one dialect; called by registerUpstreamRules.
void registerLinalgRules(mlir::DialectRegistry &registry);
void registerArithRules(mlir::DialectRegistry &registry);
void registerTensorRules(mlir::DialectRegistry &registry);
void registerTosaRules(mlir::DialectRegistry &registry);

} // namespace weft

#endif // WEFT_PASSES_UPSTREAM_UPSTREAMRULES_H
