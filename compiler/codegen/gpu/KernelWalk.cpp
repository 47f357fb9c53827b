//===- KernelWalk.cpp - how the threads of a kernel divide its work -------===//

#include "weft/compiler/codegen/gpu/KernelWalk.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

namespace {
/// Collects the reason of the first refusal.
class WalkFinder {
public:
  WalkFinder(func::FuncOp kernel, std::string &why)
      : kernel(kernel), why(why) {}
  std::optional<KernelWalk> find();

private:
  bool refuse(const llvm::Twine &reason) {
    why = reason.str();
    return false;
  }
  bool checkOp(Operation &op);
  bool checkReduce(ReduceOp op);
  bool keepsRows(OpOperand &operand);
  bool checkRowUse(Operation &op);
  bool checkResults();

  func::FuncOp kernel;
  std::string &why;
  KernelWalk walk;
  ReduceOp firstReduce;
  llvm::SmallPtrSet<Value, 16> ofRows; ///< values that depend on a reduction
};
} // namespace

static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

static bool beginsWith(ArrayRef<int64_t> shape, ArrayRef<int64_t> rows) {
  return shape.take_front(rows.size()) == rows;
}

/// Polynomials stand in for the functions of floats up to 32 bits.
static bool isFunctionWithoutCode(Operation &op) {
  if (op.getNumResults() != 1)
    return false;
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  return isElementwise(&op) && op.hasTrait<Costly>() && element.isF64();
}

bool WalkFinder::checkOp(Operation &op) {
  if (isFunctionWithoutCode(op))
    return refuse("it contains " + op.getName().getStringRef() + " on " +
                  text(op.getResult(0).getType()) +
                  ", which is no instruction");
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue()) ||
           refuse("it contains constant data that is not dense<...>");
  return op.hasTrait<ReductionNest>() || isElementwise(&op) ||
         isa<ElementCodeOpInterface>(op) ||
         refuse("it contains " + op.getName().getStringRef());
}

bool WalkFinder::checkReduce(ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  Type element = getElementTypeOrSelf(op.getResult().getType());
  if (!element.isF32() && !element.isInteger(32) && !element.isInteger(1))
    return refuse("weft.reduce combines elements of type " + text(element) +
                  " but lanes exchange f32, i32, ui32 and i1");
  int64_t rank = type.getRank(), count = op.getDims().size();
  for (int64_t dim : op.getDims())
    if (dim < rank - count)
      return refuse("weft.reduce combines dimension " + Twine(dim) + " of " +
                    text(type) + ", which is not among its last " +
                    Twine(count));
  ArrayRef<int64_t> rows = shapeOf(op.getResult());
  if (walk.byRows && rows != ArrayRef<int64_t>(walk.shape))
    return refuse("its reductions give " +
                  text(firstReduce.getResult().getType()) + " and " +
                  text(op.getResult().getType()) + ", rows of two kinds");
  if (!walk.byRows)
    firstReduce = op;
  walk.byRows = true;
  walk.shape.assign(rows.begin(), rows.end());
  return true;
}

/// Is each dimension of the rows of an operand the same one of the result?
bool WalkFinder::keepsRows(OpOperand &operand) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(operand.getOwner());
  if (!ruled)
    return false;
  ShardingRule rule = ruled.getShardingRule();
  ArrayRef<DimFactors> from = rule.operands[operand.getOperandNumber()],
                       to = rule.results[0];
  for (size_t i = 0; i < walk.shape.size(); ++i)
    if (i >= from.size() || i >= to.size() || from[i] != to[i] ||
        llvm::any_of(from[i], [&](unsigned factor) {
          return rule.factors[factor].kind != FactorKind::Pass;
        }))
      return false;
  return true;
}

/// A value that depends on a reduction is read in its own row only.
bool WalkFinder::checkRowUse(Operation &op) {
  if (op.getNumResults() != 1)
    return true;
  for (OpOperand &operand : op.getOpOperands()) {
    if (!ofRows.contains(operand.get()))
      continue;
    ofRows.insert(op.getResult(0));
    if (!keepsRows(operand))
      return refuse(op.getName().getStringRef() +
                    " reads what a reduction gave in other rows");
  }
  return true;
}

bool WalkFinder::checkResults() {
  Operation *end = kernel.getBody().front().getTerminator();
  if (end->getNumOperands() == 0)
    return refuse("it has no result");
  if (!walk.byRows)
    walk.shape.assign(shapeOf(end->getOperand(0)).begin(),
                      shapeOf(end->getOperand(0)).end());
  for (Value result : end->getOperands()) {
    ArrayRef<int64_t> shape = shapeOf(result);
    if (walk.byRows ? !beginsWith(shape, walk.shape)
                    : shape != ArrayRef<int64_t>(walk.shape))
      return refuse("its result " + text(result.getType()) +
                    (walk.byRows
                         ? " does not begin with the dimensions of the rows"
                         : " has another shape than its first"));
  }
  return true;
}

std::optional<KernelWalk> WalkFinder::find() {
  for (Operation &op : kernel.getBody().front().without_terminator())
    if (!checkOp(op))
      return std::nullopt;
  for (ReduceOp op : kernel.getOps<ReduceOp>())
    if (!checkReduce(op))
      return std::nullopt;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (!checkRowUse(op))
      return std::nullopt;
    if (isa<ReduceOp>(op))
      ofRows.insert(op.getResult(0));
  }
  if (!checkResults())
    return std::nullopt;
  return walk;
}

std::optional<KernelWalk> findWalk(func::FuncOp kernel, std::string &why) {
  return WalkFinder(kernel, why).find();
}

} // namespace weft::gpu
