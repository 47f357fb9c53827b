//===- KernelPlan.cpp - which values of a kernel are stored, and where ----===//

#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ElementTypes.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

/// Total of the stack that one kernel may use.
static constexpr int64_t kStackBudget = 1024 * 1024;

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

static bool isContraction(Operation *op) {
  return op->hasTrait<ContractionNest>();
}

/// The tensor that must be in memory so that `value` is a view of it, which is
/// given in `view`, without its pointer.
static Value rootOfView(Value value, const llvm::SetVector<Value> &stored,
                        StridedView &view) {
  auto code = value.getDefiningOp<ElementCodeOpInterface>();
  if (code && code->getNumOperands() > 0 && !stored.contains(value)) {
    StridedView operand;
    Value root = rootOfView(code->getOperand(0), stored, operand);
    if (std::optional<StridedView> found = code.getView(operand)) {
      view = *found;
      return root;
    }
  }
  view = StridedView::rowMajor(value, {});
  return value;
}

/// Is the result another view of the first operand?
static bool isView(Operation *op) {
  auto code = dyn_cast<ElementCodeOpInterface>(op);
  return code && op->getNumOperands() > 0 &&
         code.getView(StridedView::rowMajor(op->getOperand(0), {}));
}

static bool mustStore(Operation *op) {
  if (hasLoopNest(op))
    return true;
  return llvm::any_of(op->getResult(0).getUsers(), [&](Operation *user) {
    return user->hasTrait<OpTrait::IsTerminator>() ||
           (isContraction(user) && !isView(op) &&
            !op->hasTrait<OpTrait::ConstantLike>());
  });
}

void KernelEmitter::chooseStored() {
  // Operands of a contraction are read many times: they are stored, except that
  // a transpose or reshape of something stored is only another view of it.
  llvm::SetVector<Value> viewed;
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (mustStore(&op))
      stored.insert_range(op.getResults());
    if (!isContraction(&op))
      continue;
    for (Value operand : op.getOperands()) {
      StridedView view;
      Value root = rootOfView(operand, stored, view);
      if (root.getDefiningOp())
        viewed.insert(root);
    }
  }
  stored.insert_range(viewed);
  if (mayWorkInPlace(kernel))
    return;
  ReachedStores reached(stored);
  for (Operation &op :
       llvm::reverse(kernel.getBody().front().without_terminator()))
    if (op.getNumResults() == 1 && reached.visit(op.getResult(0)) &&
        op.hasTrait<Costly>() &&
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
    if (!elements.isInMemory(value))
      elements.place(value, pointer);
  llvm::SetVector<Value> taken;
  int64_t stack = 0;
  for (Value value : stored) {
    if (elements.isInMemory(value))
      continue;
    for (Value result : terminator->getOperands())
      if (result.getDefiningOp() && !taken.contains(result) &&
          canShareResult(value, result)) {
        taken.insert(result);
        elements.place(value, elements.memoryOf(result));
        break;
      }
    if (elements.isInMemory(value))
      continue;
    int64_t bytes = std::max<int64_t>(bufferBytes(tensorType(value)), 1);
    stack += bytes;
    if (stack > kStackBudget)
      return kernel.emitError()
             << "kernel '" << kernel.getName() << "' needs " << stack
             << " bytes of scratch memory, at most " << kStackBudget
             << " fit; return large intermediate values as extra results";
    Type pointerType = LLVM::LLVMPointerType::get(builder.getContext());
    elements.place(value, LLVM::AllocaOp::create(builder, loc, pointerType,
                                                 builder.getI8Type(),
                                                 elements.constant(bytes), 64));
  }
  return success();
}

Value KernelEmitter::scratch(int64_t bytes) {
  if (bytes > scratchBytes) {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPointToStart(&entry.getBody().front());
    Value size = elements.constant(scratchBytes = bytes);
    if (scratchMemory)
      scratchMemory.getArraySizeMutable().assign(size);
    else
      scratchMemory = LLVM::AllocaOp::create(
          builder, loc, LLVM::LLVMPointerType::get(builder.getContext()),
          builder.getI8Type(), size, 64);
  }
  return scratchMemory;
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
    for (OpOperand &use : op->getOpOperands()) {
      Value operand = use.get();
      // All scalars of a scalar nest are at its only position.
      bool here = elementsReadElsewhere(use) == 0 ||
                  (tensorType(value).getRank() == 0 &&
                   tensorType(operand).getRank() == 0);
      if (of.contains(operand) && !here)
        return true;
      if (!of.contains(operand) && !elements.isInMemory(operand))
        (here ? same : moved).insert(operand);
    }
  }
  for (unsigned i = 0; i < moved.size(); ++i) {
    Operation *op = moved[i].getDefiningOp();
    if (op && of.contains(moved[i]))
      return true;
    if (op && !elements.isInMemory(moved[i]))
      moved.insert_range(op->getOperands());
  }
  return false;
}

} // namespace weft::cpu
