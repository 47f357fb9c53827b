//===- Fold.cpp - the meaning of reductions by a body ---------------------===//

#include "weft/dialects/weft/ops/FoldOps.h"
#include "weft/passes/interpret/Meanings.h"

#include "llvm/ADT/DenseMap.h"

using namespace mlir;

namespace weft {

namespace {

/// The results of a body of scalars; empty if one of its ops has no meaning.
Tensors combined(Block &body, const Tensors &left, const Tensors &right) {
  llvm::DenseMap<Value, Tensor> known;
  size_t count = left.size();
  for (size_t i = 0; i < count; ++i) {
    known[body.getArgument(i)] = left[i];
    known[body.getArgument(count + i)] = right[i];
  }
  auto valuesOf = [&](Operation &op) {
    SmallVector<const Tensor *> values;
    for (Value value : op.getOperands())
      values.push_back(&known[value]);
    return values;
  };
  for (Operation &op : body.without_terminator()) {
    FailureOr<Tensors> results = interpretOp(&op, valuesOf(op));
    if (failed(results))
      return {};
    known[op.getResult(0)] = std::move(results->front());
  }
  Tensors yielded;
  for (const Tensor *value : valuesOf(*body.getTerminator()))
    yielded.push_back(*value);
  return yielded;
}

/// Offsets along the dimensions in `dims` if `inside`, else along all others.
std::vector<int64_t> along(const Tensor &x, ArrayRef<int64_t> dims,
                           bool inside) {
  SmallVector<int64_t, 4> strides = stridesOf(x.getShape());
  SmallVector<int64_t> sizes, chosen;
  for (auto [dim, size] : llvm::enumerate(x.getShape()))
    if (llvm::is_contained(dims, static_cast<int64_t>(dim)) == inside) {
      sizes.push_back(size);
      chosen.push_back(strides[dim]);
    }
  return offsets(sizes, chosen);
}

Tensors fold(FoldOp op, Operands in) {
  size_t count = op.getInputs().size();
  Operands inputs = in.take_front(count), inits = in.drop_front(count);
  Tensors results;
  for (Value result : op.getResults())
    results.push_back(Tensor(cast<RankedTensorType>(result.getType())));
  std::vector<int64_t> kept = along(*inputs[0], op.getDims(), false);
  std::vector<int64_t> folded = along(*inputs[0], op.getDims(), true);
  for (size_t place = 0; place < kept.size(); ++place) {
    Tensors left, right;
    for (const Tensor *init : inits) {
      left.push_back(*init);
      right.push_back(*init);
    }
    for (int64_t offset : folded) {
      for (size_t i = 0; i < count; ++i)
        right[i].copy(0, *inputs[i], kept[place] + offset);
      left = combined(op.getBody().front(), left, right);
      if (left.empty())
        return {};
    }
    for (size_t i = 0; i < count; ++i)
      results[i].copy(place, left[i], 0);
  }
  return results;
}

} // namespace

std::optional<Tensors> meaningOfFold(Operation *op, Operands in) {
  auto foldOp = dyn_cast<FoldOp>(op);
  if (!foldOp)
    return std::nullopt;
  return fold(foldOp, in);
}

} // namespace weft
