//===- TensorRules.cpp - ops that cut, join and regroup dimensions --------===//

#include "weft/passes/upstream/UpstreamRules.h"

#include "weft/dialects/weft/TensorType.h"

#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Utils/StructuredOpsUtils.h"

using namespace mlir;
using namespace weft;

/// Adds a factor for each dimension of the type; returns the factors of a
/// tensor of this type.
static TensorFactors addFactors(ShardingRule &rule, RankedTensorType type) {
  TensorFactors factors;
  for (int64_t size : type.getShape()) {
    factors.push_back({static_cast<unsigned>(rule.factors.size())});
    rule.factors.push_back({size, FactorKind::Pass});
  }
  return factors;
}

template <typename Model, typename Op>
using RuleModel = ShardingRuleOpInterface::ExternalModel<Model, Op>;

//===----------------------------------------------------------------------===//
// Ops without operands
//===----------------------------------------------------------------------===//

namespace {
/// The rule of tensor.empty and tensor.splat: each device makes its block of
/// the result.
template <typename Op> struct SourceModel : RuleModel<SourceModel<Op>, Op> {
  ShardingRule getShardingRule(Operation *op) const {
    ShardingRule rule;
    rule.results.push_back(addFactors(rule, typeOf(op->getResult(0))));
    rule.operands.resize(op->getNumOperands());
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &) const {
    return cloneWithTypes(builder, op, operands, types);
  }
};

//===----------------------------------------------------------------------===//
// Blocks of a tensor
//===----------------------------------------------------------------------===//

/// The tensor's dimensions that a block covers completely, and those that the
/// block drops.
struct BlockDims {
  RankedTensorType full;
  OffsetSizeAndStrideOpInterface block;
  llvm::SmallBitVector dropped;

  bool covers(unsigned dim) {
    return block.getStaticSizes()[dim] == full.getDimSize(dim) &&
           isConstantIntValue(block.getMixedOffsets()[dim], 0) &&
           isConstantIntValue(block.getMixedStrides()[dim], 1);
  }
  bool isStatic(unsigned dim) {
    return !block.isDynamicOffset(dim) && !block.isDynamicStride(dim);
  }
  /// The block's factors: the tensor's factors without dropped dimensions.
  TensorFactors factorsOf(const TensorFactors &all) const {
    TensorFactors kept;
    for (unsigned dim = 0; dim < all.size(); ++dim)
      if (!dropped[dim])
        kept.push_back(all[dim]);
    return kept;
  }
  /// The dimension's position in the block.
  unsigned place(unsigned dim) const {
    unsigned before = 0;
    for (unsigned other = 0; other < dim; ++other)
      before += !dropped[other];
    return before;
  }
};

struct ExtractSliceModel
    : RuleModel<ExtractSliceModel, tensor::ExtractSliceOp> {
  static BlockDims dimsOf(Operation *op) {
    auto slice = cast<tensor::ExtractSliceOp>(op);
    return {slice.getSourceType(), slice, slice.getDroppedDims()};
  }
  ShardingRule getShardingRule(Operation *op) const {
    BlockDims dims = dimsOf(op);
    ShardingRule rule;
    TensorFactors source = addFactors(rule, dims.full);
    rule.operands.push_back(source);
    rule.operands.resize(op->getNumOperands());
    rule.results.push_back(dims.factorsOf(source));
    for (unsigned dim = 0; dim < source.size(); ++dim) {
      if (dims.covers(dim) && !dims.dropped[dim])
        continue;
      bool moves = dims.isStatic(dim) && !dims.dropped[dim];
      rule.factors[dim].kind =
          moves ? FactorKind::Shift : FactorKind::Replicated;
      if (!moves)
        continue;
      PositionMap map{0, 0, dim, dims.block.getStaticStrides()[dim],
                      dims.block.getStaticOffsets()[dim]};
      map.fill = std::nullopt; // All sliced positions are in the tensor.
      rule.positions.push_back(map);
    }
    rule.linearity.push_back(Linearity::Moving);
    rule.linearity.resize(op->getNumOperands(), Linearity::None);
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &placement) const {
    BlockDims dims = dimsOf(op);
    IRMapping mapping;
    mapping.map(op->getOperands(), operands);
    SmallVector<OpFoldResult> offsets(dims.block.getMixedOffsets()),
        sizes(dims.block.getMixedSizes()),
        strides(dims.block.getMixedStrides());
    for (auto *list : {&offsets, &strides})
      for (OpFoldResult &entry : *list)
        if (auto value = dyn_cast<Value>(entry))
          entry = mapping.lookup(value);
    for (unsigned dim = 0; dim < sizes.size(); ++dim)
      if (placement.isFetched(0, dim) || dims.covers(dim)) {
        offsets[dim] = builder.getIndexAttr(0);
        strides[dim] = builder.getIndexAttr(1);
        sizes[dim] = builder.getIndexAttr(typeOf(operands[0]).getDimSize(dim));
      }
    if (operands[0].getType() == types[0])
      // The fetched elements are the slice, in its order.
      return {operands[0]};
    return {tensor::ExtractSliceOp::create(
        builder, op->getLoc(), cast<RankedTensorType>(types[0]), operands[0],
        offsets, sizes, strides)};
  }
};

/// The rule of tensor.insert_slice. Dimensions that the source does not cover,
/// or does not have, stay replicated.
struct InsertSliceModel : RuleModel<InsertSliceModel, tensor::InsertSliceOp> {
  static BlockDims dimsOf(Operation *op) {
    auto slice = cast<tensor::InsertSliceOp>(op);
    return {slice.getDestType(), slice, slice.getDroppedDims()};
  }
  ShardingRule getShardingRule(Operation *op) const {
    BlockDims dims = dimsOf(op);
    ShardingRule rule;
    TensorFactors dest = addFactors(rule, dims.full);
    rule.operands = {dims.factorsOf(dest), dest};
    rule.operands.resize(op->getNumOperands());
    rule.results.push_back(dest);
    for (unsigned dim = 0; dim < dest.size(); ++dim)
      if (!dims.covers(dim) || dims.dropped[dim])
        rule.factors[dim].kind = FactorKind::Replicated;
    for (unsigned dim = 0; dim < dest.size(); ++dim)
      if (!dims.covers(dim) && !dims.dropped[dim])
        // The source has another size in this dimension, so it has no factor.
        rule.operands[0][dims.place(dim)].clear();
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &) const {
    BlockDims dims = dimsOf(op);
    Operation *copy = clone(builder, op, types, operands);
    auto slice = cast<tensor::InsertSliceOp>(copy);
    SmallVector<int64_t> sizes(slice.getStaticSizes());
    for (unsigned dim = 0; dim < sizes.size(); ++dim)
      if (dims.covers(dim))
        sizes[dim] = slice.getDestType().getDimSize(dim);
    slice.setStaticSizes(sizes);
    return {copy->getResult(0)};
  }
};

//===----------------------------------------------------------------------===//
// Padding and concatenation
//===----------------------------------------------------------------------===//

struct PadModel : RuleModel<PadModel, tensor::PadOp> {
  ShardingRule getShardingRule(Operation *op) const {
    auto pad = cast<tensor::PadOp>(op);
    ShardingRule rule;
    TensorFactors result = addFactors(rule, pad.getResultType());
    TensorFactors source = result;
    for (auto [dim, low, high] :
         llvm::enumerate(pad.getMixedLowPad(), pad.getMixedHighPad()))
      if (!isConstantIntValue(low, 0) || !isConstantIntValue(high, 0)) {
        rule.factors[dim].kind = FactorKind::Replicated;
        source[dim].clear(); // another size
      }
    // A padding value that is not constant may depend on the position.
    bool constant = bool(pad.getConstantPaddingValue());
    for (Factor &factor : rule.factors)
      if (!constant)
        factor.kind = FactorKind::Replicated;
    rule.operands.push_back(source);
    rule.operands.resize(op->getNumOperands());
    rule.results.push_back(result);
    return rule;
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &) const {
    return {clone(builder, op, types, operands)->getResult(0)};
  }
};

struct ConcatModel : RuleModel<ConcatModel, tensor::ConcatOp> {
  ShardingRule getShardingRule(Operation *op) const {
    unsigned along = cast<tensor::ConcatOp>(op).getDim();
    ShardingRule rule;
    TensorFactors result = addFactors(rule, typeOf(op->getResult(0)));
    rule.factors[along].kind = FactorKind::Replicated;
    TensorFactors input = result;
    input[along].clear(); // another size
    rule.operands.assign(op->getNumOperands(), input);
    rule.results.push_back(result);
    return rule;
  }
};

//===----------------------------------------------------------------------===//
// Reshapes
//===----------------------------------------------------------------------===//

ShardingRule regroupingRule(Operation *op) {
  ShardingRule rule = reshapeRule(typeOf(op->getOperand(0)).getShape(),
                                  typeOf(op->getResult(0)).getShape());
  rule.operands.resize(op->getNumOperands());
  rule.linearity.assign(op->getNumOperands(), Linearity::None);
  rule.linearity[0] = Linearity::Moving;
  return rule;
}

struct ExpandShapeModel : RuleModel<ExpandShapeModel, tensor::ExpandShapeOp> {
  ShardingRule getShardingRule(Operation *op) const {
    return regroupingRule(op);
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange types,
                                const LocalPlacement &) const {
    auto groups = cast<tensor::ExpandShapeOp>(op).getReassociationIndices();
    return {tensor::ExpandShapeOp::create(builder, op->getLoc(), types[0],
                                          operands[0], groups)};
  }
};

struct CollapseShapeModel
    : RuleModel<CollapseShapeModel, tensor::CollapseShapeOp> {
  ShardingRule getShardingRule(Operation *op) const {
    return regroupingRule(op);
  }
};
} // namespace

void weft::registerTensorRules(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, tensor::TensorDialect *) {
    attachRuleTo<tensor::EmptyOp, SourceModel<tensor::EmptyOp>>(context);
    attachRuleTo<tensor::SplatOp, SourceModel<tensor::SplatOp>>(context);
    attachElementwiseRule(*RegisteredOperationName::lookup(
        tensor::CastOp::getOperationName(), context));
    attachRuleTo<tensor::ExtractSliceOp, ExtractSliceModel>(context);
    attachRuleTo<tensor::InsertSliceOp, InsertSliceModel>(context);
    attachRuleTo<tensor::PadOp, PadModel>(context);
    attachRuleTo<tensor::ConcatOp, ConcatModel>(context);
    attachRuleTo<tensor::ExpandShapeOp, ExpandShapeModel>(context);
    attachRuleTo<tensor::CollapseShapeOp, CollapseShapeModel>(context);
  });
}
