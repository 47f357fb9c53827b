//===- Windows.cpp - convolution and pooling ------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/ops/WindowOps.h"
#include "weft/layout/Sizes.h"

#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace weft;

#define GET_OP_CLASSES
#include "weft/dialects/weft/ops/WindowOps.cpp.inc"

/// Checks (C1) and (C2) of pooling, (C2) of convolution: one entry for each
/// dimension, at least 1 except for padding.
static LogicalResult
checkWindows(Operation *op, size_t rank,
             ArrayRef<std::pair<StringRef, ArrayRef<int64_t>>> lists) {
  for (auto [what, list] : lists) {
    if (failed(checkEntries(op, what, list.size(), rank)))
      return failure();
    if (what == "low" || what == "high")
      continue;
    for (auto [dim, entry] : llvm::enumerate(list))
      if (entry < 1)
        return op->emitOpError() << what << " of dimension " << dim << " is "
                                 << entry << ", the least is 1";
  }
  return success();
}

/// Checks that padding, strides and dilated sizes are at most 2^53, so that
/// positions can be counted.
static LogicalResult checkReach(Operation *op, int64_t dim, int64_t size,
                                const Window &window) {
  auto dilated = [](int64_t n, int64_t by) {
    return saturatingMultiply(std::max<int64_t>(n - 1, 0), by);
  };
  for (int64_t reach : {window.low, window.high, window.stride,
                        dilated(size, window.baseDilation),
                        dilated(window.size, window.dilation)})
    if (reach > kMostBytes || reach < -kMostBytes)
      return op->emitOpError("windows of dimension ")
             << dim << " reach over " << reach
             << " elements, a tensor has at most " << kMostBytes
             << "; lower the padding, stride or dilation";
  return success();
}

static SmallVector<int64_t> windowCounts(ArrayRef<int64_t> shape,
                                         const WindowList &windows) {
  SmallVector<int64_t> counts;
  for (auto [size, window] : llvm::zip(shape, windows))
    counts.push_back(window.count(size));
  return counts;
}

//===----------------------------------------------------------------------===//
// Reduce-window
//===----------------------------------------------------------------------===//

WindowList ReduceWindowOp::getWindows() {
  WindowList windows;
  for (auto [i, size] : llvm::enumerate(getWindow()))
    windows.push_back({size, getStrides()[i], getLow()[i], getHigh()[i],
                       getBaseDilation()[i], getWindowDilation()[i]});
  return windows;
}

bool ReduceWindowOp::accumulates() { return weft::accumulates(getKind()); }

LogicalResult ReduceWindowOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (failed(checkCombines(*this, stringifyReduceKind(getKind()),
                           input.getElementType())) ||
      failed(checkAccumulates(*this))) // (C4), (C5)
    return failure();
  if (failed(checkWindows(*this, input.getRank(),
                          {{"window", getWindow()},
                           {"strides", getStrides()},
                           {"low", getLow()},
                           {"high", getHigh()},
                           {"base_dilation", getBaseDilation()},
                           {"window_dilation", getWindowDilation()}})))
    return failure();
  for (auto [dim, window] : llvm::enumerate(getWindows()))
    if (failed(checkReach(*this, dim, input.getDimSize(dim), window)))
      return failure();
  return checkShape(*this,
                    windowCounts(input.getShape(), getWindows())); // (C3)
}

/// The rule of windows; dimensions with trivial windows have the kind Pass.
static ShardingRule windowRule(ArrayRef<int64_t> input,
                               ArrayRef<int64_t> windows,
                               const WindowList &list) {
  ShardingRule rule;
  TensorFactors factors;
  for (auto [i, window] : llvm::enumerate(list)) {
    unsigned factor = i;
    bool passes = window.isTrivial();
    rule.factors.push_back({std::max(input[i], windows[i]),
                            passes ? FactorKind::Pass : FactorKind::Window});
    factors.push_back({factor});
    if (!passes)
      rule.positions.push_back(window.positions(0, factor));
  }
  rule.operands = {factors};
  rule.results = {factors};
  return rule;
}

ShardingRule ReduceWindowOp::getShardingRule() {
  ShardingRule rule = windowRule(typeOf(getInput()).getShape(),
                                 typeOf(getResult()).getShape(), getWindows());
  for (PositionMap &map : rule.positions)
    map.fill = getKind();
  if (getKind() == ReduceKind::Sum)
    rule.linearity = {linearityOfSum(getInput(), getResult())};
  return rule;
}

//===----------------------------------------------------------------------===//
// Select-and-scatter
//===----------------------------------------------------------------------===//

WindowList SelectAndScatterOp::getWindows() {
  WindowList windows;
  for (auto [i, size] : llvm::enumerate(getWindow()))
    windows.push_back({size, getStrides()[i], getLow()[i], getHigh()[i]});
  return windows;
}

LogicalResult SelectAndScatterOp::verify() {
  RankedTensorType input = typeOf(getInput());
  if (failed(checkWindows(*this, input.getRank(),
                          {{"window", getWindow()},
                           {"strides", getStrides()},
                           {"low", getLow()},
                           {"high", getHigh()}}))) // (C1) (C2)
    return failure();
  for (auto [dim, window] : llvm::enumerate(getWindows()))
    if (failed(checkReach(*this, dim, input.getDimSize(dim), window)))
      return failure();
  SmallVector<int64_t> counts = windowCounts(input.getShape(), getWindows());
  if (typeOf(getSource()).getShape() != ArrayRef<int64_t>(counts)) { // (C3)
    InFlightDiagnostic error = emitOpError("there are [");
    llvm::interleaveComma(counts, error);
    return error << "] windows, but the source is " << getSource().getType();
  }
  if (getSelect() != CompareKind::GE && getSelect() != CompareKind::LE) // (C4)
    return emitOpError("selects with ge or le, not with ")
           << stringifyCompareKind(getSelect());
  return success();
}

ShardingRule SelectAndScatterOp::getShardingRule() {
  WindowList windows = getWindows();
  ShardingRule rule = windowRule(typeOf(getInput()).getShape(),
                                 typeOf(getSource()).getShape(), windows);
  rule.operands.push_back(rule.operands[0]);
  rule.positions.clear();
  // Windows that contain position p of the result start in p - size + 1 to p
  // and cover p - size + 1 to p + size - 1.
  bool largest = getSelect() == CompareKind::GE;
  for (auto [dim, window] : llvm::enumerate(windows)) {
    unsigned factor = dim;
    if (rule.factors[factor].kind != FactorKind::Window)
      continue;
    PositionMap seen{0, 0, factor, 1, 1 - window.size, 2 * window.size - 1};
    seen.fill = largest ? ReduceKind::Max : ReduceKind::Min;
    PositionMap begun{1, 0, factor, 1, window.low, window.size, -1};
    begun.divisor = window.stride;
    rule.positions.append({seen, begun});
  }
  rule.linearity = {Linearity::None, Linearity::Linear};
  return rule;
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

WindowList ConvolutionOp::getWindows() {
  WindowList windows;
  for (auto [i, stride] : llvm::enumerate(getStrides()))
    windows.push_back({typeOf(getRhs()).getDimSize(getRhsDims()[2 + i]), stride,
                       getLow()[i], getHigh()[i], getBaseDilation()[i],
                       getWindowDilation()[i]});
  return windows;
}

/// (C1)
static LogicalResult checkRoles(Operation *op, StringRef what,
                                ArrayRef<int64_t> dims, RankedTensorType type) {
  llvm::SmallBitVector seen(type.getRank());
  for (int64_t dim : dims)
    if (dim >= 0 && dim < type.getRank())
      seen.set(dim);
  if (static_cast<int64_t>(dims.size()) == type.getRank() && seen.all() &&
      dims.size() >= 2)
    return success();
  InFlightDiagnostic error = op->emitOpError();
  error << what << " should name each dimension of " << type << " once, not [";
  llvm::interleaveComma(dims, error);
  return error << ']';
}

/// Verifies (C3): the groups divide `size`; `what` names it in messages.
static LogicalResult checkGroups(Operation *op, StringRef what, int64_t size,
                                 int64_t groups) {
  if (groups >= 1 && size % groups == 0)
    return success();
  return op->emitOpError() << groups << " groups do not divide " << size << ' '
                           << what;
}

LogicalResult ConvolutionOp::verify() {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  RankedTensorType result = typeOf(getResult());
  if (failed(checkRoles(*this, "lhs_dims", getLhsDims(), lhs)) ||
      failed(checkRoles(*this, "rhs_dims", getRhsDims(), rhs)) ||
      failed(checkRoles(*this, "result_dims", getResultDims(), result)) ||
      failed(checkWindows(*this, lhs.getRank() - 2,
                          {{"strides", getStrides()},
                           {"low", getLow()},
                           {"high", getHigh()},
                           {"base_dilation", getBaseDilation()},
                           {"window_dilation", getWindowDilation()}}))) // (C2)
    return failure();
  if (failed(checkAccumulates(*this))) // (C5)
    return failure();
  int64_t batch = lhs.getDimSize(getLhsDims()[0]);
  int64_t features = lhs.getDimSize(getLhsDims()[1]);
  int64_t outputs = rhs.getDimSize(getRhsDims()[0]);
  int64_t featureGroups = getFeatureGroups(), batchGroups = getBatchGroups();
  if (failed(checkGroups(*this, "input features", features, featureGroups)) ||
      failed(checkGroups(*this, "output features", outputs, featureGroups)) ||
      failed(checkGroups(*this, "samples", batch, batchGroups)) ||
      failed(checkGroups(*this, "output features", outputs, batchGroups)))
    return failure();
  if (featureGroups > 1 && batchGroups > 1) // (C3)
    return emitOpError("has ") << featureGroups << " feature groups and "
                               << batchGroups << " batch groups, one is 1";
  int64_t seen = rhs.getDimSize(getRhsDims()[1]);
  if (seen != features / featureGroups) // (C4)
    return emitOpError("rhs has ")
           << seen << " input features, but lhs " << features / featureGroups
           << " for each group";
  SmallVector<int64_t> expected(result.getRank());
  expected[getResultDims()[0]] = batch / batchGroups;
  expected[getResultDims()[1]] = outputs;
  for (auto [i, window] : llvm::enumerate(getWindows())) {
    int64_t size = lhs.getDimSize(getLhsDims()[2 + i]);
    if (failed(checkReach(*this, i, size, window)))
      return failure();
    expected[getResultDims()[2 + i]] = window.count(size);
  }
  return checkShape(*this, expected); // (C4)
}

ShardingRule ConvolutionOp::getShardingRule() {
  RankedTensorType lhs = typeOf(getLhs()), rhs = typeOf(getRhs());
  ShardingRule rule;
  rule.operands = {TensorFactors(lhs.getRank()), TensorFactors(rhs.getRank())};
  rule.results = {TensorFactors(lhs.getRank())};
  TensorFactors &l = rule.operands[0], &r = rule.operands[1];
  TensorFactors &out = rule.results[0];
  auto add = [&](int64_t size, FactorKind kind) -> unsigned {
    rule.factors.push_back({size, kind});
    return rule.factors.size() - 1;
  };
  int64_t groups = getFeatureGroups() * getBatchGroups();
  int64_t batch = lhs.getDimSize(getLhsDims()[0]) / getBatchGroups();
  int64_t features = lhs.getDimSize(getLhsDims()[1]) / getFeatureGroups();
  int64_t outputs = rhs.getDimSize(getRhsDims()[0]) / groups;
  DimFactors &lBatch = l[getLhsDims()[0]], &lFeature = l[getLhsDims()[1]];
  DimFactors &rOut = r[getRhsDims()[0]], &outFeature = out[getResultDims()[1]];
  if (groups > 1) {
    unsigned group = add(groups, FactorKind::Pass);
    (getFeatureGroups() > 1 ? lFeature : lBatch).push_back(group);
    rOut.push_back(group);
    outFeature.push_back(group);
  }
  unsigned factor = add(batch, FactorKind::Pass);
  lBatch.push_back(factor);
  out[getResultDims()[0]].push_back(factor);
  factor = add(features, FactorKind::Reduce);
  lFeature.push_back(factor);
  r[getRhsDims()[1]].push_back(factor);
  factor = add(outputs, FactorKind::Pass);
  rOut.push_back(factor);
  outFeature.push_back(factor);
  for (auto [i, window] : llvm::enumerate(getWindows())) {
    int64_t from = lhs.getDimSize(getLhsDims()[2 + i]);
    bool passes = window.isTrivial();
    if (int64_t count = window.count(from); count > 0 && window.size > count) {
      // A window larger than the result, as in gradients of kernels, is a
      // contraction: its position k needs elements for all results.
      factor = add(window.size, FactorKind::Reduce);
      l[getLhsDims()[2 + i]] = r[getRhsDims()[2 + i]] = {factor};
      PositionMap map{0,           0,     factor,       window.dilation,
                      -window.low, count, window.stride};
      map.divisor = window.baseDilation;
      rule.positions.push_back(map);
      continue;
    }
    factor = add(std::max(from, window.count(from)),
                 passes ? FactorKind::Pass : FactorKind::Window);
    l[getLhsDims()[2 + i]] = out[getResultDims()[2 + i]] = {factor};
    if (!passes)
      rule.positions.push_back(window.positions(0, factor));
  }
  for (Value operand : getOperands())
    rule.linearity.push_back(linearityOfSum(operand, getResult()));
  return rule;
}
