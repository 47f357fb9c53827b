//===- RowWalk.cpp - kernels that go row by row ---------------------------===//

#include "weft/dialects/nest/RowWalk.h"

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/dialects/weft/Weft.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;

namespace weft::nest {

static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

static ArrayRef<int64_t> shapeOf(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

namespace {
/// Checks a row walk and keeps the reason of the first refusal.
class RowWalk {
public:
  RowWalk(ArrayRef<Operation *> ops, int64_t dims,
          std::string &why [[clang::lifetimebound]])
      : ops(ops), dims(dims), why(why) {}
  bool check(ValueRange stored);

private:
  bool refuse(const llvm::Twine &reason) {
    why = reason.str();
    return false;
  }
  bool checkReduce(ReduceOp op);
  bool keepsRows(OpOperand &operand);
  bool checkUse(Operation &op);

  ArrayRef<Operation *> ops;
  const int64_t dims;
  std::string &why;
  ReduceOp first;
  llvm::SmallPtrSet<Value, 16> ofRows; ///< values that depend on a reduction
};
} // namespace

bool RowWalk::checkReduce(ReduceOp op) {
  auto type = cast<RankedTensorType>(op.getInput().getType());
  int64_t rank = type.getRank(), count = op.getDims().size();
  for (int64_t dim : op.getDims())
    if (dim < rank - count)
      return refuse("weft.reduce combines dimension " + Twine(dim) + " of " +
                    text(type) + ", which is not among its last " +
                    Twine(count));
  first = first ? first : op;
  if (shapeOf(op.getResult()) != shapeOf(first.getResult()))
    return refuse("its reductions give " + text(first.getResult().getType()) +
                  " and " + text(op.getResult().getType()) +
                  ", rows of two kinds");
  if (int64_t(shapeOf(op.getResult()).size()) != dims)
    return refuse("its reductions give " + text(op.getResult().getType()) +
                  ", whose rows are not numbered by " + Twine(dims) +
                  " dimensions");
  return true;
}

/// Whether each row dimension of an operand is the same dimension of the
/// result.
bool RowWalk::keepsRows(OpOperand &operand) {
  auto ruled = dyn_cast<ShardingRuleOpInterface>(operand.getOwner());
  if (!ruled)
    return false;
  ShardingRule rule = ruled.getShardingRule();
  ArrayRef<DimFactors> from = rule.operands[operand.getOperandNumber()],
                       to = rule.results[0];
  for (size_t i = 0; i < size_t(dims); ++i)
    if (i >= from.size() || i >= to.size() || from[i] != to[i] ||
        llvm::any_of(from[i], [&](unsigned factor) {
          return rule.factors[factor].kind != FactorKind::Pass;
        }))
      return false;
  return true;
}

/// Checks that a value that depends on a reduction is read only in its own row.
bool RowWalk::checkUse(Operation &op) {
  if (op.getNumResults() != 1)
    return true;
  for (OpOperand &operand : op.getOpOperands()) {
    if (!ofRows.contains(operand.get()))
      continue;
    ofRows.insert(op.getResult(0));
    if (!keepsRows(operand))
      return refuse(op.getName().getStringRef() +
                    " reads results of a reduction in other rows");
  }
  return true;
}

bool RowWalk::check(ValueRange stored) {
  for (Operation *op : ops)
    if (hasLoopNest(op) && !isa<ReduceOp>(op))
      return refuse("it contains " + op->getName().getStringRef());
  for (Operation *op : ops)
    if (auto reduce = dyn_cast<ReduceOp>(op); reduce && !checkReduce(reduce))
      return false;
  if (!first)
    return refuse("it has no reduction");
  for (Operation *op : ops) {
    if (!checkUse(*op))
      return false;
    if (isa<ReduceOp>(op))
      ofRows.insert(op->getResult(0));
  }
  if (stored.empty())
    return refuse("it has no result");
  for (Value value : stored)
    if (shapeOf(value).take_front(dims) != shapeOf(first.getResult()))
      return refuse("its result " + text(value.getType()) +
                    " does not begin with the dimensions of the rows");
  return true;
}

bool checkRowWalk(ArrayRef<Operation *> ops, ValueRange stored, int64_t dims,
                  std::string &why) {
  return RowWalk(ops, dims, why).check(stored);
}

std::optional<int64_t> rowDimsOf(ArrayRef<Operation *> ops) {
  for (Operation *op : ops)
    if (auto reduce = dyn_cast<ReduceOp>(op))
      return shapeOf(reduce.getResult()).size();
  return std::nullopt;
}

/// Whether no other op has loops.
static bool standsAlone(Operation *only, ArrayRef<Operation *> ops,
                        std::string &why) {
  for (Operation *op : ops)
    if (op != only && hasLoopNest(op)) {
      why = "it contains " + op->getName().getStringRef().str() + " beside " +
            only->getName().getStringRef().str();
      return false;
    }
  return true;
}

/// The reason why a stored value cannot be computed from the sums at its own
/// position, or empty.
static std::string refuseStored(Operation *sum, ArrayRef<Operation *> ops,
                                ValueRange stored) {
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  llvm::SetVector<Value> before;
  before.insert(sum->getResult(0));
  for (Value value : stored) {
    if (shapeOf(value) != shapeOf(sum->getResult(0)))
      return "its result " + text(value.getType()) +
             " has another shape than the sums that it follows from, " +
             text(sum->getResult(0).getType());
    if (value != sum->getResult(0) &&
        readsElsewhere(value, before, [&](Value read) {
          return !inside.contains(read.getDefiningOp());
        }))
      return "its result " + text(value.getType()) +
             " reads other positions of a value stored beside it";
    before.insert(value);
  }
  return "";
}

Operation *sumOf(ArrayRef<Operation *> ops, ValueRange stored,
                 std::string &why) {
  auto *found = llvm::find_if(ops, hasLoopNest);
  Operation *sum = found == ops.end() ? nullptr : *found;
  auto loops = dyn_cast_or_null<OpLoopsInterface>(sum);
  if (stored.empty() || !loops || !loops.getTermSizes()) {
    why = "its " + std::to_string(stored.size()) +
          " results do not follow from one op that combines terms";
    return nullptr;
  }
  if (!standsAlone(sum, ops, why))
    return nullptr;
  why = refuseStored(sum, ops, stored);
  return why.empty() ? sum : nullptr;
}

int64_t termsOf(Operation *sum) {
  return llvm::product_of(*cast<OpLoopsInterface>(sum).getTermSizes());
}

int64_t columnsSideBySide(RowsAttr walk, ArrayRef<int64_t> columns) {
  return columns.empty() ? 1 : std::gcd(walk.getSide(), columns.back());
}

std::string refuseHeld(LoopsOp loops, RowsAttr walk) {
  int64_t held = walk.getHeld(), side = walk.getSide(),
          together = walk.getTogether();
  if (together < 1 || (together > 1 && held > 0))
    return "reads " + std::to_string(together) + " columns at once and keeps " +
           std::to_string(held) + "; lanes that keep none read several";
  if (held == 0)
    return side == 1 ? ""
                     : "takes " + std::to_string(side) +
                           " columns side by side, which only lanes do that "
                           "hold them";
  SmallVector<Value> all(loops.getStored());
  for (auto op : loops.getBody().getOps<ReduceOp>())
    all.push_back(op.getInput());
  auto columnsOf = [&](Value value) {
    return typeOf(value).getShape().drop_front(walk.getDims());
  };
  int64_t most = 0;
  for (Value value : all)
    most = std::max(most, ShapedType::getNumElements(columnsOf(value)));
  auto refuse = [&](Value value) -> std::string {
    ArrayRef<int64_t> columns = columnsOf(value);
    int64_t count = ShapedType::getNumElements(columns);
    if (columns.empty())
      return "";
    if (held < 0 || held * walk.getLanes() < count)
      return std::to_string(walk.getLanes()) + " lanes hold " +
             std::to_string(held) + " columns each, and a row has " +
             std::to_string(count);
    if (side < 1 || side > 16 || !llvm::isPowerOf2_64(side) ||
        held % side != 0 || (count == most && columns.back() % side != 0))
      return "of " + std::to_string(held) + " columns of a lane, in rows of " +
             std::to_string(columns.back()) + ", no " + std::to_string(side) +
             " are side by side; use a power of two up to 16 that divides both";
    return "";
  };
  for (Value value : all)
    if (std::string why = refuse(value); !why.empty())
      return why;
  return "";
}

Operation *ownOf(ArrayRef<Operation *> ops, ValueRange stored,
                 std::string &why) {
  Operation *own = stored.empty() ? nullptr : stored[0].getDefiningOp();
  if (!own || !hasLoopsOfItsOwn(own) ||
      stored != ValueRange(own->getResults())) {
    why = "its " + std::to_string(stored.size()) +
          " results are not those of one op with loops of its own";
    return nullptr;
  }
  return standsAlone(own, ops, why) ? own : nullptr;
}

bool fitsOneNest(ArrayRef<Operation *> ops, ValueRange stored,
                 std::string &why) {
  std::string unused;
  if (sumOf(ops, stored, unused) || ownOf(ops, stored, unused))
    return true;
  if (std::optional<int64_t> dims = rowDimsOf(ops))
    return checkRowWalk(ops, stored, *dims, why);
  for (Operation *op : ops)
    if (hasLoopNest(op)) {
      why = "it contains " + op->getName().getStringRef().str();
      return false;
    }
  for (Value value : stored)
    if (shapeOf(value) != shapeOf(stored[0])) {
      why = "its result " + text(value.getType()) +
            " has another shape than its first";
      return false;
    }
  llvm::SmallPtrSet<Operation *, 16> inside(ops.begin(), ops.end());
  llvm::SetVector<Value> before;
  for (Value value : stored) {
    if (readsElsewhere(value, before, [&](Value read) {
          return !inside.contains(read.getDefiningOp());
        })) {
      why = "its result " + text(value.getType()) +
            " reads other positions of another one";
      return false;
    }
    before.insert(value);
  }
  if (stored.empty())
    why = "it has no result";
  return !stored.empty();
}

SmallVector<Operation *> opsOf(Block &block) {
  return llvm::to_vector(llvm::make_pointer_range(block.without_terminator()));
}

} // namespace weft::nest
