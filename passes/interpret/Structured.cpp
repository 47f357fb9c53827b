//===- Structured.cpp - the meaning of loop nests -------------------------===//

#include "weft/passes/interpret/ForeignMeanings.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/DenseMap.h"

using namespace mlir;
using namespace weft;

namespace {
/// Runs a body for each iteration, one after the other.
class BodyRun {
public:
  BodyRun(linalg::LinalgOp op, Operands in, Outside outside)
      : op(op), in(in), outside(outside), maps(op.getIndexingMapsArray()) {}
  FailureOr<Tensors> run();

private:
  LogicalResult iterate(ArrayRef<int64_t> iteration);
  LogicalResult runBlock(Block &block, ArrayRef<int64_t> iteration);
  FailureOr<Tensor> step(Operation &inner, ArrayRef<int64_t> iteration);
  LogicalResult branch(scf::IfOp choice, ArrayRef<int64_t> iteration);
  const Tensor *lookup(Value value) {
    auto it = values.find(value);
    return it == values.end() ? outside(value) : &it->second;
  }
  /// The element of an operand that an iteration reads or writes.
  int64_t elementOf(unsigned operand, ArrayRef<int64_t> iteration);

  linalg::LinalgOp op;
  Operands in;
  Outside outside;
  SmallVector<AffineMap> maps;
  Tensors results;
  llvm::DenseMap<Value, Tensor> values;
};
} // namespace

int64_t BodyRun::elementOf(unsigned operand, ArrayRef<int64_t> iteration) {
  SmallVector<int64_t> index = maps[operand].compose(iteration);
  int64_t at = 0;
  for (auto [position, stride] :
       llvm::zip_equal(index, stridesOf(in[operand]->getShape())))
    at += position * stride;
  return at;
}

LogicalResult BodyRun::branch(scf::IfOp choice, ArrayRef<int64_t> iteration) {
  Block *taken = lookup(choice.getCondition())->integer(0) ? choice.thenBlock()
                                                           : choice.elseBlock();
  if (!taken)
    return success();
  if (failed(runBlock(*taken, iteration)))
    return failure();
  for (auto [result, value] : llvm::zip_equal(
           choice.getResults(), taken->getTerminator()->getOperands())) {
    Tensor copy = *lookup(value);
    values[result] = std::move(copy);
  }
  return success();
}

FailureOr<Tensor> BodyRun::step(Operation &inner, ArrayRef<int64_t> iteration) {
  if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
    Tensor result = storedTensor(index.getType());
    result.setInteger(0, iteration[index.getDim()]);
    return result;
  }
  SmallVector<const Tensor *> operands;
  for (Value operand : inner.getOperands())
    operands.push_back(lookup(operand));
  if (auto result = meaningOfArith(&inner, operands))
    return std::move(*result);
  if (auto result = meaningOfTensorOp(&inner, operands))
    return std::move(*result);
  return inner.emitOpError("has no meaning in the interpreter");
}

LogicalResult BodyRun::runBlock(Block &block, ArrayRef<int64_t> iteration) {
  for (Operation &inner : block.without_terminator()) {
    if (auto choice = dyn_cast<scf::IfOp>(inner)) {
      if (failed(branch(choice, iteration)))
        return failure();
      continue;
    }
    auto result = step(inner, iteration);
    if (failed(result))
      return failure();
    values[inner.getResult(0)] = std::move(*result);
  }
  return success();
}

LogicalResult BodyRun::iterate(ArrayRef<int64_t> iteration) {
  Block &body = *op.getBlock();
  unsigned inputs = op.getNumDpsInputs();
  for (BlockArgument argument : body.getArguments()) {
    unsigned operand = argument.getArgNumber();
    const Tensor &from =
        operand < inputs ? *in[operand] : results[operand - inputs];
    Tensor element = storedTensor(argument.getType());
    element.copy(0, from, elementOf(operand, iteration));
    values[argument] = std::move(element);
  }
  if (failed(runBlock(body, iteration)))
    return failure();
  for (auto [index, value] :
       llvm::enumerate(body.getTerminator()->getOperands()))
    results[index].copy(elementOf(inputs + index, iteration), *lookup(value),
                        0);
  return success();
}

FailureOr<Tensors> BodyRun::run() {
  for (const Tensor *output : in.drop_front(op.getNumDpsInputs()))
    results.push_back(*output);
  SmallVector<int64_t> ranges = op.getStaticLoopRanges();
  int64_t count = 1;
  for (int64_t range : ranges)
    count *= range;
  for (int64_t i = 0; i < count; ++i)
    if (failed(iterate(indexOf(i, ranges))))
      return failure();
  return std::move(results);
}

/// The meaning of tensor.pad by one value, from outside or a constant of the
/// region.
static FailureOr<Tensors> padded(tensor::PadOp pad, Operands in,
                                 Outside outside) {
  Value value = pad.getConstantPaddingValue();
  if (!value || !pad.getLow().empty() || !pad.getHigh().empty())
    return pad.emitOpError(
        "has no meaning in the interpreter unless it pads by "
        "one value, and as much as attributes say");
  Operation *def = value.getDefiningOp();
  bool inside = def && pad->isProperAncestor(def);
  std::optional<Tensor> constant =
      inside ? meaningOfArith(def, {}) : std::nullopt;
  if (inside && !constant)
    return def->emitOpError("has no meaning in the interpreter as the padding "
                            "of a tensor.pad; use arith.constant");
  const Tensor &fill = inside ? *constant : *outside(value);
  Tensor result = storedTensor(pad.getType());
  for (int64_t i = 0; i < result.size(); ++i)
    result.copy(i, fill, 0);
  SmallVector<int64_t, 4> strides = stridesOf(result.getShape());
  int64_t start = 0;
  for (auto [low, stride] : llvm::zip_equal(pad.getStaticLow(), strides))
    start += low * stride;
  for (auto [i, place] :
       llvm::enumerate(offsets(in[0]->getShape(), strides, start)))
    result.copy(place, *in[0], i);
  return Tensors{std::move(result)};
}

std::optional<FailureOr<Tensors>>
weft::meaningOfStructured(Operation *op, Operands in, Outside outside) {
  if (auto pad = dyn_cast<tensor::PadOp>(op))
    return padded(pad, in, outside);
  auto structured = dyn_cast<linalg::LinalgOp>(op);
  if (!structured)
    return std::nullopt;
  return BodyRun(structured, in, outside).run();
}
