//===- KernelPlan.cpp - which values of a kernel are stored, and where ----===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/ElementTypes.h"

using namespace mlir;

namespace weft::cpu {

/// Total of the stack that one kernel may use.
static constexpr int64_t kStackBudget = 1024 * 1024;

static bool isExpensive(Operation *op) {
  return isa<ExpOp, Expm1Op, LogOp, Log1pOp, TanhOp, LogisticOp, ErfOp, PowOp,
             RngBitsOp>(op);
}

namespace {
/// The stored values that a value's elements flow into: none, one, or more. Ops
/// are looked at from the last to the first.
class ReachedStores {
public:
  explicit ReachedStores(const llvm::SetVector<Value> &stored)
      : stored(stored) {}
  /// True where there is more than one.
  bool visit(Value value) {
    Reached all;
    for (Operation *user : value.getUsers()) {
      if (user->getNumResults() != 1)
        continue;
      Value result = user->getResult(0);
      Reached next = stored.contains(result) ? Reached{result, false}
                                             : reached.lookup(result);
      all.many |= next.many || (all.one && next.one && all.one != next.one);
      all.one = next.one ? next.one : all.one;
    }
    reached[value] = all;
    return all.many;
  }

private:
  struct Reached {
    Value one;
    bool many = false;
  };
  const llvm::SetVector<Value> &stored;
  llvm::DenseMap<Value, Reached> reached;
};
} // namespace

bool KernelEmitter::mustStore(Operation *op) {
  if (isa<ReduceOp, DotOp>(op) || op->hasTrait<ComputedWhole>())
    return true;
  Value result = op->getResult(0);
  return llvm::any_of(result.getUsers(), [&](Operation *user) {
    return isa<func::ReturnOp>(user) ||
           (isa<DotOp>(user) && !isa<TransposeOp, ReshapeOp, ConstantOp>(op));
  });
}

void KernelEmitter::chooseStored() {
  // Operands of a dot are read many times: they are stored, except that a
  // transpose or reshape of something stored is only another view of it.
  llvm::SetVector<Value> viewed;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (mustStore(&op))
      stored.insert_range(op.getResults());
    if (auto dot = dyn_cast<DotOp>(op)) {
      for (Value operand : dot->getOperands()) {
        while (
            isa_and_nonnull<TransposeOp, ReshapeOp>(operand.getDefiningOp()) &&
            !stored.contains(operand)) {
          if (isa<ReshapeOp>(operand.getDefiningOp()) &&
              isa_and_nonnull<TransposeOp>(
                  operand.getDefiningOp()->getOperand(0).getDefiningOp()))
            break;
          operand = operand.getDefiningOp()->getOperand(0);
        }
        if (operand.getDefiningOp())
          viewed.insert(operand);
      }
    }
  }
  stored.insert_range(viewed);
  if (kernel->getAttrOfType<StringAttr>("weft.kernel").getValue() ==
      "elementwise")
    return;
  ReachedStores reached(stored);
  for (Operation &op :
       llvm::reverse(kernel.getBody().front().without_terminator()))
    if (op.getNumResults() == 1 && reached.visit(op.getResult(0)) &&
        isExpensive(&op) &&
        bufferBytes(tensorType(op.getResult(0))) <= kStackBytes)
      stored.insert(op.getResult(0));
}

/// An internal value may be kept where a result of the same type will be when
/// that result is the only one it flows into, element by element.
bool KernelEmitter::canShareResult(Value value, Value result) {
  if (!isElementwise(result.getDefiningOp()))
    return false;
  // Each value once: chains branch and join.
  llvm::SetVector<Value> flowing;
  flowing.insert(value);
  for (unsigned i = 0; i < flowing.size(); ++i) {
    if (flowing[i].getType() != result.getType())
      return false;
    for (Operation *user : flowing[i].getUsers()) {
      if (!isElementwise(user))
        return false;
      if (user->getResult(0) == result)
        continue;
      if (stored.contains(user->getResult(0)))
        return false;
      flowing.insert(user->getResult(0));
    }
  }
  return true;
}

LogicalResult KernelEmitter::placeStored() {
  Operation *terminator = kernel.getBody().front().getTerminator();
  for (auto [value, pointer] :
       llvm::zip_equal(terminator->getOperands(), resultPointers))
    memory.try_emplace(value, pointer);
  llvm::SetVector<Value> taken;
  int64_t stack = 0;
  for (Value value : stored) {
    if (memory.contains(value))
      continue;
    for (Value result : terminator->getOperands())
      if (result.getDefiningOp() && !taken.contains(result) &&
          canShareResult(value, result)) {
        taken.insert(result);
        memory[value] = memory[result];
        break;
      }
    if (memory.contains(value))
      continue;
    int64_t bytes = std::max<int64_t>(bufferBytes(tensorType(value)), 1);
    stack += bytes;
    if (stack > kStackBudget)
      return kernel.emitError()
             << "kernel '" << kernel.getName() << "' needs " << stack
             << " bytes of scratch memory, at most " << kStackBudget
             << " fit; return large intermediate values as extra results";
    Type pointerType = LLVM::LLVMPointerType::get(builder.getContext());
    memory[value] = LLVM::AllocaOp::create(
        builder, loc, pointerType, builder.getI8Type(), constant(bytes), 64);
  }
  return success();
}

Value KernelEmitter::scratch(int64_t bytes) {
  if (bytes > scratchBytes) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry.getBody().front());
    Value size = constant(scratchBytes = bytes);
    if (scratchMemory)
      scratchMemory.getArraySizeMutable().assign(size);
    else
      scratchMemory = LLVM::AllocaOp::create(
          builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
          builder.getI8Type(), size, 64);
  }
  return scratchMemory;
}

Value KernelEmitter::globalConstant(ConstantOp op) {
  auto data = dyn_cast<DenseElementsAttr>(op.getValue());
  Type storage = storageType(data.getElementType());
  int64_t cells = data.getNumElements() * partsOf(storage);
  storage = partType(storage);
  auto flat = RankedTensorType::get(cells, storage);
  DenseElementsAttr values;
  if (data.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool bit : data.getValues<bool>())
      bytes.push_back(bit);
    values = DenseElementsAttr::get(flat, ArrayRef<int8_t>(bytes));
  } else {
    values = DenseElementsAttr::getFromRawBuffer(flat, data.getRawData());
  }
  return globalData(values);
}

Value KernelEmitter::globalData(DenseElementsAttr flat) {
  std::string name = (kernel.getName() + ".constant" + Twine(globals++)).str();
  OpBuilder moduleBuilder(globalsBefore);
  auto type =
      LLVM::LLVMArrayType::get(flat.getElementType(), flat.getNumElements());
  auto global =
      LLVM::GlobalOp::create(moduleBuilder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name, flat, 64);
  return LLVM::AddressOfOp::create(builder, loc, global);
}

/// Is each element computed from those at its position?
static bool readsInPlace(Operation *op) {
  return isElementwise(op) || isa<coll::MakePartialOp>(op);
}

bool KernelEmitter::readsElsewhere(Value value,
                                   const llvm::SetVector<Value> &of) {
  // What is read at the same position, through elementwise ops alone, and,
  // through any other op, at other ones. Each value once: chains branch and join.
  llvm::SetVector<Value> same, moved;
  same.insert(value);
  for (unsigned i = 0; i < same.size(); ++i) {
    Operation *op = same[i].getDefiningOp();
    if (!op)
      continue;
    bool elementwise = readsInPlace(op);
    for (Value operand : op->getOperands()) {
      if (of.contains(operand) && !elementwise)
        return true;
      if (!of.contains(operand) && !memory.contains(operand))
        (elementwise ? same : moved).insert(operand);
    }
  }
  for (unsigned i = 0; i < moved.size(); ++i) {
    Operation *op = moved[i].getDefiningOp();
    if (op && of.contains(moved[i]))
      return true;
    if (op && !memory.contains(moved[i]))
      moved.insert_range(op->getOperands());
  }
  return false;
}

/// Can every value be computed from its row-major position alone?
bool KernelEmitter::isFlat(ArrayRef<Value> roots) {
  llvm::SetVector<Value> values(roots.begin(), roots.end());
  for (unsigned i = 0; i < values.size(); ++i) {
    Value value = values[i];
    Operation *op = value.getDefiningOp();
    if (i >= roots.size() && memory.contains(value))
      continue;
    if (isa<ConstantOp>(op))
      continue;
    if (auto broadcast = dyn_cast<BroadcastOp>(op)) {
      if (!broadcast.getDims().empty())
        return false;
      continue;
    }
    if (auto rng = dyn_cast<RngBitsOp>(op)) {
      if (rng.getGlobalShape())
        return false;
      continue;
    }
    if (!isElementwise(op) && !isa<ReshapeOp, coll::MakePartialOp>(op))
      return false;
    if (isa<ReshapeOp>(op) && tensorType(op->getOperand(0)).getRank() == 0)
      return false;
    values.insert_range(op->getOperands());
  }
  return true;
}

std::optional<StridedView> KernelEmitter::viewOf(Value tensor) {
  RankedTensorType type = tensorType(tensor);
  if (Value pointer = memory.lookup(tensor)) {
    StridedView view{pointer, SmallVector<int64_t, 4>(type.getShape()),
                     SmallVector<int64_t, 4>(type.getRank())};
    int64_t stride = 1;
    for (int64_t i = type.getRank() - 1; i >= 0; --i) {
      view.strides[i] = stride;
      stride *= type.getDimSize(i);
    }
    return view;
  }
  if (auto transpose = tensor.getDefiningOp<TransposeOp>()) {
    std::optional<StridedView> view = viewOf(transpose.getInput());
    if (!view)
      return std::nullopt;
    StridedView result = *view;
    for (auto [i, from] : llvm::enumerate(transpose.getPermutation())) {
      result.sizes[i] = view->sizes[from];
      result.strides[i] = view->strides[from];
    }
    return result;
  }
  if (auto reshape = tensor.getDefiningOp<ReshapeOp>())
    if (Value pointer = memory.lookup(reshape.getInput())) {
      memory[tensor] = pointer; // row-major data in another shape
      return viewOf(tensor);
    }
  return std::nullopt;
}

} // namespace weft::cpu
