//===- ScaleDialect.cpp - an op of your own, as Weft knows it -------------===//
//
// mine.scale gives Weft its traits (for kernels), its sharding rule, and the
// code that computes one element. Weft then partitions it, fuses it into the
// loops of the ops around it and compiles it to machine code, as its own ops.
//
//===----------------------------------------------------------------------===//

#include "ScaleDialect.h"

#include "weft/compiler/codegen/elements/ElementCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using weft::elements::ElementEmitter;
using weft::elements::ElementIndex;

namespace {
/// Each element of the result is computed from the matrix element at the same
/// position (KeepsPositions).
struct ScaleOp : Op<ScaleOp, OpTrait::NOperands<2>::Impl, OpTrait::OneResult,
                    MemoryEffectOpInterface::Trait, weft::KeepsPositions> {
  using Op::Op;
  static StringRef getOperationName() { return "mine.scale"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
};

struct MineDialect : Dialect {
  static StringRef getDialectNamespace() { return "mine"; }
  explicit MineDialect(MLIRContext *context)
      : Dialect("mine", context, TypeID::get<MineDialect>()) {
    addOperations<ScaleOp>();
  }
};

/// ([m, n], [m]) -> ([m, n]); the local op is the same op on local types.
struct ScaleRule
    : weft::ShardingRuleOpInterface::ExternalModel<ScaleRule, ScaleOp> {
  weft::ShardingRule getShardingRule(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    weft::ShardingRule rule = weft::elementwiseRule(type.getShape(), {2, 2}, 1);
    rule.operands[1] = {{0}};
    return rule;
  }
};

/// Each element reads one factor, whose position is not the element's.
struct ScaleReads
    : weft::KernelOpInterface::ExternalModel<ScaleReads, ScaleOp> {
  int64_t getElementsReadElsewhere(Operation *, unsigned operand) const {
    return operand == 0 ? 0 : 1;
  }
};

struct ScaleCode
    : weft::elements::ElementCodeOpInterface::ExternalModel<ScaleCode,
                                                            ScaleOp> {
  FailureOr<Value> emitElement(Operation *op, ElementEmitter &e,
                               const ElementIndex &index) const {
    FailureOr<Value> x = e.element(op->getOperand(0), index);
    FailureOr<Value> factor =
        e.element(op->getOperand(1), e.makeIndex(index.dims[0], index.depth));
    if (failed(x) || failed(factor))
      return failure();
    e.enterDepth(index.depth);
    return arith::MulFOp::create(e.builder, e.loc, *x, *factor).getResult();
  }
};
} // namespace

void registerScaleDialect(DialectRegistry &registry) {
  registry.insert<MineDialect>();
  registry.addExtension(+[](MLIRContext *context, MineDialect *) {
    ScaleOp::attachInterface<ScaleRule, ScaleReads, ScaleCode>(*context);
  });
}
