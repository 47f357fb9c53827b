//===- ConvertWindows.cpp - convolution, pooling, cumulative ops ----------===//

#include "weft/compiler/frontends/stablehlo/convert/ProductPrecision.h"
#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"

#include "weft/dialects/weft/ops/ScanOps.h"
#include "weft/dialects/weft/ops/WindowOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

/// Padding before and after each dimension, of [low, high] pairs.
struct Padding {
  Ints low, high;
  explicit Padding(const Ints &pairs, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      low.push_back(2 * i < pairs.size() ? pairs[2 * i] : 0);
      high.push_back(2 * i + 1 < pairs.size() ? pairs[2 * i + 1] : 0);
    }
  }
};

/// The dimensions in the attributes `first` and `second`, then the spatial
/// ones.
Ints dimsOf(ForeignOp op, StringRef first, StringRef second,
            StringRef spatial) {
  Ints dims = {op.integer(first).value_or(-1), op.integer(second).value_or(-1)};
  dims.append(op.ints(spatial));
  return dims;
}

LogicalResult convolution(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2)
    return op.refuse() << "has " << op->getNumOperands() << " operands, not 2";
  Ints lhs = dimsOf(op, "input_batch_dimension", "input_feature_dimension",
                    "input_spatial_dimensions");
  Ints rhs =
      dimsOf(op, "kernel_output_feature_dimension",
             "kernel_input_feature_dimension", "kernel_spatial_dimensions");
  Ints out = dimsOf(op, "output_batch_dimension", "output_feature_dimension",
                    "output_spatial_dimensions");
  size_t spatial = lhs.size() - 2;
  Padding padding(op.ints("padding"), spatial);
  Type element = op.resultType().getElementType();
  FailureOr<ProductPrecision> asked = productPrecisionOf(op);
  if (failed(asked))
    return failure();
  Value kernel = c.summand(op, c.input(op, 1), element);
  Ints turned, flags = op.ints("window_reversal");
  for (size_t i = 0; i < flags.size() && i + 2 < rhs.size(); ++i)
    if (flags[i])
      turned.push_back(rhs[i + 2]);
  llvm::sort(turned);
  if (!turned.empty())
    kernel = c.make<ReverseOp>(op, kernel, turned);
  return c.give(
      op, c.make<ConvolutionOp>(
              op, op.resultType(), c.summand(op, c.input(op, 0), element),
              kernel, lhs, rhs, out, op.ints("window_strides", spatial, 1),
              padding.low, padding.high, op.ints("lhs_dilation", spatial, 1),
              op.ints("rhs_dilation", spatial, 1),
              op.integer("feature_group_count").value_or(1),
              op.integer("batch_group_count").value_or(1), asked->precision));
}

std::optional<ScanKind> scanOf(ReduceKind kind) {
  switch (kind) {
  case ReduceKind::Sum:
    return ScanKind::Sum;
  case ReduceKind::Prod:
    return ScanKind::Prod;
  case ReduceKind::Max:
    return ScanKind::Max;
  case ReduceKind::Min:
    return ScanKind::Min;
  default:
    return std::nullopt;
  }
}

struct Pooling {
  Ints window, strides, baseDilation, windowDilation;
  Padding padding;
  Pooling(ForeignOp op, size_t rank)
      : window(op.ints("window_dimensions")),
        strides(op.ints("window_strides", rank, 1)),
        baseDilation(op.ints("base_dilations", rank, 1)),
        windowDilation(op.ints("window_dilations", rank, 1)),
        padding(op.ints("padding"), rank) {}
};

int64_t productOf(ArrayRef<int64_t> sizes) {
  int64_t product = 1;
  for (int64_t size : sizes)
    if (__builtin_mul_overflow(product, size, &product))
      return std::numeric_limits<int64_t>::max();
  return product;
}

/// The dimension of a cumulative op such as cumsum: the window covers all
/// elements up to a position or, with `reverse`, all from it on.
std::optional<int64_t> scannedDim(const Pooling &pooling, RankedTensorType type,
                                  bool &reverse) {
  std::optional<int64_t> scanned;
  for (int64_t d = 0; d < type.getRank(); ++d) {
    if (pooling.strides[d] != 1 || pooling.baseDilation[d] != 1 ||
        pooling.windowDilation[d] != 1)
      return std::nullopt;
    if (pooling.window[d] == 1 && !pooling.padding.low[d] &&
        !pooling.padding.high[d])
      continue;
    int64_t size = type.getDimSize(d);
    if (scanned || pooling.window[d] != size || size < 2 ||
        pooling.padding.low[d] + pooling.padding.high[d] != size - 1 ||
        (pooling.padding.low[d] && pooling.padding.high[d]))
      return std::nullopt;
    reverse = pooling.padding.high[d] != 0;
    scanned = d;
  }
  return scanned;
}

/// Whether the body is JAX's log(e^a + e^b): a + b if a - b is NaN, else max(a,
/// b) + log1p(exp(-|a - b|)).
bool isLogAddExp(Block &block) {
  if (block.getNumArguments() != 2 || block.back().getNumOperands() != 1)
    return false;
  Value a = block.getArgument(0), b = block.getArgument(1);
  auto isOf = [&](Value value, StringRef name) {
    Operation *op = definedBy(value, name, 2);
    return op && op->getOperand(0) == a && op->getOperand(1) == b;
  };
  Operation *choice = definedBy(block.back().getOperand(0), "select", 3);
  Operation *isNan =
      choice ? definedBy(choice->getOperand(0), "compare", 2) : nullptr;
  Operation *sum =
      choice ? definedBy(choice->getOperand(2), "add", 2) : nullptr;
  if (!isNan || !sum || !isOf(choice->getOperand(1), "add") ||
      ForeignOp(isNan).word("comparison_direction") != "NE" ||
      isNan->getOperand(0) != isNan->getOperand(1) ||
      !isOf(isNan->getOperand(0), "subtract") ||
      !isOf(sum->getOperand(0), "maximum"))
    return false;
  Value more = sum->getOperand(1);
  for (StringRef name : {"log_plus_one", "exponential", "negate", "abs"}) {
    Operation *op = definedBy(more, name, 1);
    if (!op)
      return false;
    more = op->getOperand(0);
  }
  return more == isNan->getOperand(0);
}

/// Converts lax.cumlogsumexp, or returns null.
Value cumulativeLogSumExp(Converter &c, ForeignOp op, const Pooling &pooling) {
  bool reverse = false;
  auto scanned = scannedDim(pooling, op.operandType(0), reverse);
  if (!scanned || op->getNumOperands() != 2 ||
      !isLogAddExp(op->getRegion(0).front()) ||
      !c.isNeutral(ReduceKind::Max, c.input(op, 1)))
    return {};
  return c.make<CumulativeOp>(op, ScanKind::LogSumExp, c.input(op, 0), *scanned,
                              reverse);
}

Value poolOne(Converter &c, ForeignOp op, unsigned index, ReduceKind kind,
              const Pooling &pooling) {
  Value input = c.input(op, index);
  auto type = cast<RankedTensorType>(input.getType());
  bool reverse = false;
  auto scanned = scannedDim(pooling, type, reverse);
  auto scan = scanOf(kind);
  Type element = op.resultType(index).getElementType();
  if (scanned && scan)
    return c.make<CumulativeOp>(op, *scan, c.cast(op, input, element), *scanned,
                                reverse);
  input = accumulates(kind) ? c.summand(op, input, element)
                            : c.cast(op, input, element);
  return c.make<ReduceWindowOp>(op, op.resultType(index), kind, input,
                                pooling.window, pooling.strides,
                                pooling.padding.low, pooling.padding.high,
                                pooling.baseDilation, pooling.windowDilation);
}

/// Stacks the elements of each window along a new first dimension: [3] with
/// windows of 2 gives [[x0, x1], [x1, x2]].
Value stackedWindows(Converter &c, ForeignOp op, unsigned index, Value init,
                     const Pooling &pooling) {
  RankedTensorType type = op.operandType(index), result = op.resultType(index);
  Ints shape(type.getShape()), interior(pooling.baseDilation);
  for (size_t d = 0; d < shape.size(); ++d) {
    shape[d] = pooling.padding.low[d] + pooling.padding.high[d] +
               (shape[d] ? (shape[d] - 1) * interior[d] + 1 : 0);
    --interior[d];
  }
  Value padded = PadOp::create(c.builder, op->getLoc(), type.clone(shape),
                               c.input(op, index), init, pooling.padding.low,
                               pooling.padding.high, interior);
  Ints entry(result.getShape());
  entry.insert(entry.begin(), 1);
  SmallVector<Value> all;
  Ints at(shape.size(), 0);
  for (int64_t left = productOf(pooling.window); left > 0; --left) {
    Ints low(shape.size()), high(shape.size());
    for (size_t d = 0; d < shape.size(); ++d) {
      low[d] = at[d] * pooling.windowDilation[d];
      high[d] = low[d] + (result.getDimSize(d) - 1) * pooling.strides[d] + 1;
    }
    Value slice = c.make<SliceOp>(op, padded, low, high, pooling.strides);
    all.push_back(c.make<ReshapeOp>(op, slice, entry));
    for (size_t d = shape.size(); d-- > 0;) {
      if (++at[d] < pooling.window[d])
        break;
      at[d] = 0;
    }
  }
  entry[0] = static_cast<int64_t>(all.size());
  return c.make<ConcatenateOp>(op, result.clone(entry), all, 0);
}

/// Converts a reduction of windows by any other body, such as JAX's maximum of
/// complex numbers.
LogicalResult windowsByBody(Converter &c, ForeignOp op, unsigned count,
                            const Pooling &pooling) {
  constexpr int64_t kMost = 1024;
  int64_t positions = productOf(pooling.window);
  if (positions > kMost || positions < 1 || !op.resultType(0).getNumElements())
    return op.refuse() << "combines a window of " << positions
                       << " elements by a reducer of its own, which is "
                          "supported for 1 to "
                       << kMost;
  SmallVector<Value> stacked, inits;
  for (unsigned i = 0; i < count; ++i) {
    inits.push_back(c.input(op, count + i));
    stacked.push_back(stackedWindows(c, op, i, inits.back(), pooling));
  }
  auto folded = foldByBody(c, op, stacked, inits, ArrayRef<int64_t>{0});
  return failed(folded) ? failure() : c.give(op, *folded);
}

LogicalResult reduceWindow(Converter &c, ForeignOp op) {
  unsigned count = op->getNumOperands() / 2;
  size_t rank = count ? op.operandType(0).getRank() : 0;
  Pooling pooling(op, rank);
  Region &region = op->getRegion(0);
  if (!region.hasOneBlock() || !count || pooling.window.size() != rank ||
      pooling.strides.size() != rank || pooling.baseDilation.size() != rank ||
      pooling.windowDilation.size() != rank)
    return op.refuse() << "has not one window for each of " << rank
                       << " dimensions";
  if (op->getNumResults() != count)
    return op.refuse() << "reduces windows of " << count << " tensors, but has "
                       << op->getNumResults() << " results";
  if (Value scan = cumulativeLogSumExp(c, op, pooling))
    return c.give(op, scan);
  SmallVector<Value> results;
  for (unsigned i = 0; i < count; ++i) {
    auto kind = reductionOf(region.front(), i);
    if (!kind)
      return windowsByBody(c, op, count, pooling);
    Value pooled = poolOne(c, op, i, *kind, pooling);
    Value init = c.input(op, count + i);
    if (!c.isNeutral(*kind, init))
      pooled = c.combine(op, *kind, pooled, c.fill(op, init, op.resultType(i)));
    results.push_back(pooled);
  }
  return c.give(op, results);
}

/// The comparison by which a window's element is selected.
std::optional<CompareKind> selectionOf(Region &region) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 2 ||
      region.front().back().getNumOperands() != 1)
    return std::nullopt;
  Block &block = region.front();
  Operation *body = block.back().getOperand(0).getDefiningOp();
  if (!body || body->getNumOperands() != 2 ||
      body->getOperand(0) != block.getArgument(0) ||
      body->getOperand(1) != block.getArgument(1))
    return std::nullopt;
  return llvm::StringSwitch<std::optional<CompareKind>>(
             ForeignOp(body).word("comparison_direction"))
      .Case("GE", CompareKind::GE)
      .Case("LE", CompareKind::LE)
      .Default(std::nullopt);
}

LogicalResult selectAndScatter(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 3 || op->getNumRegions() != 2)
    return op.refuse() << "has not 3 operands and 2 regions";
  auto kind = selectionOf(op->getRegion(0));
  auto sum = reductionOf(op->getRegion(1));
  Type element = op.resultType().getElementType();
  bool isTruth = element.isInteger(1); // booleans are added by `or`
  if (!kind ||
      (sum != ReduceKind::Sum && !(isTruth && sum == ReduceKind::Or)) ||
      !c.isNeutral(*sum, c.input(op, 2)))
    return op.refuse() << "selects or combines in a way that is not "
                          "supported; known are ge and le with add from 0";
  size_t rank = op.operandType(0).getRank();
  Padding padding(op.ints("padding"), rank);
  Type counted = isTruth ? c.builder.getI32Type() : element;
  Value scattered = c.make<SelectAndScatterOp>(
      op, cast<RankedTensorType>(op.resultType().clone(counted)), *kind,
      c.cast(op, c.input(op, 0), counted), c.cast(op, c.input(op, 1), counted),
      op.ints("window_dimensions", rank, 1), op.ints("window_strides", rank, 1),
      padding.low, padding.high);
  return c.give(op, c.cast(op, scattered, element));
}

constexpr ConversionEntry kEntries[] = {
    {"convolution", convolution, 2},
    {"reduce_window", reduceWindow, 2, 1, OpRole::OverElements},
    {"select_and_scatter", selectAndScatter, 3, 2, OpRole::OverElements},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::windowConversions() { return kEntries; }
