//===- AlignContractions.cpp - rows that begin at 16 bytes ----------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/kernels/Passes.h"

#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_ALIGNCONTRACTIONS
#include "weft/passes/kernels/Passes.h.inc"

/// Bytes at which libraries want rows of short floats to begin: cuBLASLt
/// multiplied at 95 to 150 TFLOP/s with rows of 50,257 bf16 and at 510 to 760
/// with rows of a multiple of 8 (bench/gpu/results/2026-11-27-h100.jsonl).
static constexpr int64_t kRowBytes = 16;
/// The least multiply-adds for which it is worthwhile: fewer gain less than a
/// launch takes, 5 us.
static constexpr int64_t kLeastAligned = int64_t(1) << 29;
/// The least multiply-adds for each element that is copied: 16 bytes for a
/// copied element at 3 TB/s against 10 fs for a multiply-add.
static constexpr int64_t kLeastOfElement = 512;

static ArrayRef<int64_t> sizesOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

/// The dimension of a factor along which elements follow each other in memory
/// although other dimensions' steps are no multiple of `unit` elements.
static std::optional<int64_t> raggedDimension(Value factor, int64_t unit) {
  auto isInMemory = [](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || !nest::isView(op);
  };
  auto view = nest::viewOf(factor, isInMemory);
  std::optional<int64_t> dense;
  bool isRagged = false;
  for (auto [dim, size] : llvm::enumerate(sizesOf(factor))) {
    int64_t stride = view->strides.strides[dim];
    if (size > 1 && stride == 1)
      dense = dim;
    else if (size > 1)
      isRagged |= stride % unit != 0;
  }
  return isRagged ? dense : std::nullopt;
}

/// The dimensions of a factor, in order, that the result has too.
static SmallVector<int64_t> keptDims(Value factor, ArrayRef<int64_t> batch,
                                     ArrayRef<int64_t> contract) {
  SmallVector<int64_t> kept;
  for (int64_t dim = 0, rank = sizesOf(factor).size(); dim < rank; ++dim)
    if (!llvm::is_contained(batch, dim) && !llvm::is_contained(contract, dim))
      kept.push_back(dim);
  return kept;
}

namespace {
/// The dimensions of the factors that become multiples of a size.
struct PaddedDims {
  llvm::SmallSetVector<int64_t, 2> lhs, rhs;
  bool isEmpty() const { return lhs.empty() && rhs.empty(); }
};

/// Values with padded dimensions, each made once.
class Padding {
public:
  /// The value with zeros after the elements of `dim`, up to `size`.
  Value operator()(Value value, int64_t dim, int64_t size);

private:
  llvm::MapVector<std::tuple<Value, int64_t, int64_t>, Value> made;
};
} // namespace

Value Padding::operator()(Value value, int64_t dim, int64_t size) {
  if (sizesOf(value)[dim] == size)
    return value;
  Value &padded = made[{value, dim, size}];
  if (padded)
    return padded;
  OpBuilder builder(value.getContext());
  builder.setInsertionPointAfterValue(value);
  // The copy keeps the order in memory, which the transpose views.
  if (auto transpose = value.getDefiningOp<TransposeOp>()) {
    ArrayRef<int64_t> permutation = transpose.getPermutation();
    Value input = (*this)(transpose.getInput(), permutation[dim], size);
    return made[{value, dim, size}] =
               TransposeOp::create(builder, value.getLoc(), input, permutation);
  }
  SmallVector<int64_t> none(sizesOf(value).size(), 0), high(none);
  high[dim] = size - sizesOf(value)[dim];
  return padded =
             PadOp::create(builder, value.getLoc(), value, none, high, none);
}

/// The factors' dimensions to pad so that the rows of factors and result begin
/// at multiples of `unit` elements.
static PaddedDims paddedDimsOf(DotOp op, int64_t unit) {
  PaddedDims dims;
  ArrayRef<int64_t> lhsContract = op.getLhsContract(),
                    rhsContract = op.getRhsContract();
  auto add = [&](bool isLeft, int64_t dim) {
    ArrayRef<int64_t> batch = isLeft ? op.getLhsBatch() : op.getRhsBatch(),
                      contract = isLeft ? lhsContract : rhsContract;
    if (llvm::is_contained(batch, dim))
      return;
    if (auto *at = llvm::find(contract, dim); at != contract.end()) {
      dims.lhs.insert(lhsContract[at - contract.begin()]);
      dims.rhs.insert(rhsContract[at - contract.begin()]);
      return;
    }
    (isLeft ? dims.lhs : dims.rhs).insert(dim);
  };
  if (auto dim = raggedDimension(op.getLhs(), unit))
    add(true, *dim);
  if (auto dim = raggedDimension(op.getRhs(), unit))
    add(false, *dim);
  // The rows of the result: its last dimension is the last one of rhs.
  ArrayRef<int64_t> shape = sizesOf(op.getResult());
  auto columns = keptDims(op.getRhs(), op.getRhsBatch(), rhsContract);
  if (!columns.empty() && shape.back() % unit != 0 &&
      cast<RankedTensorType>(op.getType()).getNumElements() > shape.back())
    add(false, columns.back());
  return dims;
}

/// Whether the product gains more than the copies of its factors take.
static bool isWorthwhile(DotOp op, const PaddedDims &dims) {
  int64_t products = cast<RankedTensorType>(op.getType()).getNumElements();
  for (int64_t dim : op.getLhsContract())
    products *= sizesOf(op.getLhs())[dim];
  int64_t copied = 0;
  if (!dims.lhs.empty())
    copied += cast<RankedTensorType>(op.getLhs().getType()).getNumElements();
  if (!dims.rhs.empty())
    copied += cast<RankedTensorType>(op.getRhs().getType()).getNumElements();
  return products >= kLeastAligned && products / kLeastOfElement >= copied;
}

static void align(DotOp op, const PaddedDims &dims, int64_t unit,
                  Padding &padding) {
  auto padded = [&](Value factor, const auto &its) {
    for (int64_t dim : its)
      factor = padding(factor, dim, llvm::alignTo(sizesOf(factor)[dim], unit));
    return factor;
  };
  Value lhs = padded(op.getLhs(), dims.lhs),
        rhs = padded(op.getRhs(), dims.rhs);
  OpBuilder builder(op);
  Value product =
      DotOp::create(builder, op.getLoc(), lhs, rhs, op.getLhsContract(),
                    op.getRhsContract(), op.getLhsBatch(), op.getRhsBatch(),
                    getElementTypeOrSelf(op.getType()), op.getPrecision());
  ArrayRef<int64_t> shape = sizesOf(op.getResult());
  if (sizesOf(product) != shape) {
    SmallVector<int64_t> start(shape.size(), 0), stride(shape.size(), 1);
    product =
        SliceOp::create(builder, op.getLoc(), product, start, shape, stride);
  }
  op.replaceAllUsesWith(product);
  op.erase();
}

namespace {
struct AlignContractionsPass
    : impl::AlignContractionsBase<AlignContractionsPass> {
  using AlignContractionsBase::AlignContractionsBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    auto limits = nest::targetLimits(target);
    if (!limits || !limits->hasLibraries)
      return;
    SmallVector<DotOp> found;
    getOperation().walk([&](DotOp op) {
      Type element = getElementTypeOrSelf(op.getLhs().getType());
      if (bytesOf(element) == 2 &&
          element == getElementTypeOrSelf(op.getRhs().getType()))
        found.push_back(op);
    });
    Padding padding;
    for (DotOp op : found) {
      PaddedDims dims = paddedDimsOf(op, kRowBytes / 2);
      if (dims.isEmpty() || !isWorthwhile(op, dims))
        continue;
      align(op, dims, kRowBytes / 2, padding);
      ++contractions;
    }
  }
};
} // namespace
} // namespace weft
