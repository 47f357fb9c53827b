//===- LinalgRules.cpp - one rule for every structured op -----------------===//
//
// Loops are factors: parallel loops have kind Pass (Window if windows slide
// along them), reduction loops kind Reduce with the body's combiner, and loops
// that cannot be sharded kind Replicated. linalg.matmul of 128x784 and 784x10
// has the loops m, n, k:
//
//   ([m, k], [k, n], [m, n]) -> ([m, n]) {m=128, n=10, k=784} reduce={k}
//
// Operand 2 is an init: if k is sharded, one coordinate adds it.
//
//===----------------------------------------------------------------------===//

#include "weft/passes/upstream/StructuredBlocks.h"
#include "weft/passes/upstream/UpstreamRules.h"

#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Combiners of loop bodies
//===----------------------------------------------------------------------===//

/// The reduction of a combiner in which the order of partial results does not
/// matter, or nothing. Unsigned max and min, max and min that skip NaN, and all
/// combiners of i1 except `and` and `or` differ from Weft's reductions.
static std::optional<ReduceKind> kindOf(Operation *combiner) {
  bool bits = getElementTypeOrSelf(combiner->getResult(0)).isInteger(1);
  std::optional<ReduceKind> kind =
      llvm::TypeSwitch<Operation *, std::optional<ReduceKind>>(combiner)
          .Case<arith::AddFOp, arith::AddIOp>(
              [](auto) { return ReduceKind::Sum; })
          .Case<arith::MulFOp, arith::MulIOp>(
              [](auto) { return ReduceKind::Prod; })
          .Case<arith::MaximumFOp, arith::MaxSIOp>(
              [](auto) { return ReduceKind::Max; })
          .Case<arith::MinimumFOp, arith::MinSIOp>(
              [](auto) { return ReduceKind::Min; })
          .Case<arith::AndIOp>([](auto) { return ReduceKind::And; })
          .Case<arith::OrIOp>([](auto) { return ReduceKind::Or; })
          .Default([](auto) { return std::nullopt; });
  if (bits && kind && *kind != ReduceKind::And && *kind != ReduceKind::Or)
    return std::nullopt;
  return kind;
}

/// The reduction that combines the results of all outputs, or nothing if they
/// differ or the body does more with its accumulator.
static std::optional<ReduceKind> reductionOf(linalg::LinalgOp op) {
  std::optional<ReduceKind> common;
  ArrayRef<BlockArgument> outputs = op.getRegionOutputArgs();
  for (auto [index, output] : llvm::enumerate(outputs)) {
    SmallVector<Operation *> combiners;
    if (!output.hasOneUse() || !matchReduction(outputs, index, combiners) ||
        combiners.size() != 1)
      return std::nullopt;
    auto kind = kindOf(combiners.front());
    if (!kind || (common && *common != *kind))
      return std::nullopt;
    common = kind;
  }
  return common;
}

//===----------------------------------------------------------------------===//
// Indexing maps
//===----------------------------------------------------------------------===//

namespace {
/// An index scale * p + dilation * k: position k of the window at position p.
struct WindowExpr {
  unsigned position = 0, inside = 0;
  int64_t scale = 1, dilation = 1;
};

class StructuredRule {
public:
  explicit StructuredRule(linalg::LinalgOp op)
      : op(op), sizes(op.getStaticLoopRanges()) {}
  ShardingRule build();

private:
  void addFactors();
  void replicate(unsigned loop) {
    rule.factors[loop].kind = FactorKind::Replicated;
  }
  void replicate(AffineExpr expr);
  TensorFactors factorsOf(OpOperand &operand);
  /// The factors of a dimension whose index is not a single loop.
  DimFactors windowOf(OpOperand &operand, AffineExpr expr);
  std::optional<WindowExpr> matchWindow(AffineExpr expr);
  bool isReduction(unsigned loop) {
    return op.getIteratorTypesArray()[loop] == utils::IteratorType::reduction;
  }
  void checkOutputs();

  linalg::LinalgOp op;
  SmallVector<int64_t> sizes;
  ShardingRule rule;
};
} // namespace

void StructuredRule::addFactors() {
  std::optional<ReduceKind> combined = reductionOf(op);
  for (auto [loop, size] : llvm::enumerate(sizes)) {
    Factor factor{size, FactorKind::Pass};
    if (isReduction(loop)) {
      factor.kind = combined ? FactorKind::Reduce : FactorKind::Replicated;
      factor.reduce = combined.value_or(ReduceKind::Sum);
      factor.ownsPadding = true; // guardPadding
    }
    rule.factors.push_back(factor);
  }
}

void StructuredRule::replicate(AffineExpr expr) {
  expr.walk([&](AffineExpr inner) {
    if (auto dim = dyn_cast<AffineDimExpr>(inner))
      replicate(dim.getPosition());
  });
}

/// Takes d * c or d apart, as (d, c).
static std::optional<std::pair<unsigned, int64_t>> scaledLoop(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return std::pair(dim.getPosition(), int64_t(1));
  auto product = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!product || product.getKind() != AffineExprKind::Mul)
    return std::nullopt;
  auto dim = dyn_cast<AffineDimExpr>(product.getLHS());
  auto factor = dyn_cast<AffineConstantExpr>(product.getRHS());
  if (!dim || !factor || factor.getValue() < 1)
    return std::nullopt;
  return std::pair(dim.getPosition(), factor.getValue());
}

std::optional<WindowExpr> StructuredRule::matchWindow(AffineExpr expr) {
  auto sum = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!sum || sum.getKind() != AffineExprKind::Add)
    return std::nullopt;
  auto first = scaledLoop(sum.getLHS()), second = scaledLoop(sum.getRHS());
  if (!first || !second ||
      isReduction(first->first) == isReduction(second->first))
    return std::nullopt;
  if (isReduction(first->first))
    std::swap(first, second);
  return WindowExpr{first->first, second->first, first->second, second->second};
}

DimFactors StructuredRule::windowOf(OpOperand &operand, AffineExpr expr) {
  auto window = matchWindow(expr);
  bool input = op.isDpsInput(&operand);
  if (!window || !input || op.getNumDpsInits() != 1) {
    replicate(expr);
    return {};
  }
  replicate(window->inside);
  Factor &factor = rule.factors[window->position];
  if (factor.kind != FactorKind::Pass) {
    replicate(expr);
    return {};
  }
  factor.kind = FactorKind::Window;
  PositionMap map{operand.getOperandNumber(),
                  0,
                  window->position,
                  window->scale,
                  0,
                  sizes[window->inside],
                  window->dilation};
  map.fill = std::nullopt; // Every position of a window is in the tensor.
  rule.positions.push_back(map);
  return {window->position};
}

TensorFactors StructuredRule::factorsOf(OpOperand &operand) {
  auto type = dyn_cast<RankedTensorType>(operand.get().getType());
  if (!type)
    return {};
  TensorFactors factors;
  llvm::SmallDenseSet<unsigned> seen;
  for (AffineExpr expr : op.getMatchingIndexingMap(&operand).getResults()) {
    auto dim = dyn_cast<AffineDimExpr>(expr);
    if (!dim) {
      factors.push_back(windowOf(operand, expr));
      continue;
    }
    // A loop that indexes two dimensions (a diagonal), or only a part of a
    // dimension, is not sharded.
    bool again = !seen.insert(dim.getPosition()).second;
    if (again || type.getDimSize(factors.size()) != sizes[dim.getPosition()]) {
      replicate(expr);
      factors.push_back({});
    } else {
      factors.push_back({dim.getPosition()});
    }
  }
  return factors;
}

/// Replicates parallel loops that do not index every output, and reduction
/// loops that index an output.
void StructuredRule::checkOutputs() {
  for (const TensorFactors &result : rule.results)
    for (unsigned loop = 0; loop < sizes.size(); ++loop) {
      bool has = llvm::is_contained(result, DimFactors{loop});
      if (has == isReduction(loop))
        replicate(loop);
    }
}

/// Whether the loop alone indexes a dimension of an operand, so that local
/// shapes give its local size.
static bool isSeen(const ShardingRule &rule, unsigned loop) {
  return llvm::any_of(rule.operands, [&](const TensorFactors &operand) {
    return llvm::is_contained(operand, DimFactors{loop});
  });
}

ShardingRule StructuredRule::build() {
  addFactors();
  for (OpOperand &operand : op->getOpOperands())
    rule.operands.push_back(factorsOf(operand));
  for (unsigned result = 0; result < op->getNumResults(); ++result)
    rule.results.push_back(
        rule.operands[op.getDpsInitOperand(result)->getOperandNumber()]);
  checkOutputs();
  for (unsigned loop = 0; loop < sizes.size(); ++loop)
    if (!isSeen(rule, loop))
      replicate(loop);
  // A loop that one operand made replicated is replicated in all operands.
  llvm::erase_if(rule.positions, [&](const PositionMap &map) {
    return rule.factors[map.factor].kind != FactorKind::Window;
  });
  for (OpOperand &init : op.getDpsInitsMutable())
    rule.inits.push_back(init.getOperandNumber());
  return rule;
}

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

namespace {
struct StructuredModel
    : ShardingRuleOpInterface::FallbackModel<StructuredModel> {
  ShardingRule getShardingRule(Operation *op) const {
    return StructuredRule(cast<linalg::LinalgOp>(op)).build();
  }
  SmallVector<Value> buildLocal(Operation *op, OpBuilder &builder,
                                ValueRange operands, TypeRange resultTypes,
                                const LocalPlacement &placement) const {
    return buildStructuredBlock(builder, cast<linalg::LinalgOp>(op),
                                getShardingRule(op), operands, resultTypes,
                                placement);
  }
};
} // namespace

void weft::attachStructuredRule(RegisteredOperationName op) {
  if (op.hasInterface<linalg::LinalgOp>())
    attachRule<StructuredModel>(op);
}

void weft::registerLinalgRules(DialectRegistry &registry) {
  registry.addExtension(
      +[](MLIRContext *context, linalg::LinalgDialect *dialect) {
        // Local blocks are built of ops of these dialects.
        context->loadDialect<arith::ArithDialect, scf::SCFDialect,
                             tensor::TensorDialect>();
        for (RegisteredOperationName op : operationsOf(dialect))
          attachStructuredRule(op);
      });
}
