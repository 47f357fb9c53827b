//===- CopiedOps.cpp - ops that each kernel computes again ----------------===//
//
//   %0 = weft.broadcast %x dims [0, 1, 3]      stored: the convolution reads
//   %1 = weft.reshape %0                       each element 288 times
//   %2 = weft.convolution %1, %w               a kernel: reshape, convolution
//
//   %3 = weft.transpose %w [0, 1, 3, 2]        stored: the convolution is
//   %4 = weft.transpose %3 [0, 1, 3, 2]        faster with adjacent features
//   %5 = weft.convolution %g, %4               a kernel: transpose, convolution
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/kernels/KernelGroups.h"

#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>
#include <cstdlib>

using namespace mlir;

namespace weft {

/// The most elements of a splat constant that is stored in the plan. A kernel
/// fills a larger constant, so that neither plan nor file has it in full.
static constexpr int64_t kMostWritten = 16;

bool isFilled(Operation *op) {
  DenseElementsAttr data;
  return matchPattern(op, m_Constant(&data)) && data.isSplat() &&
         data.getNumElements() > kMostWritten &&
         llvm::any_of(op->getUsers(), staysOutside);
}

/// The length at which a chain of copied ops ends in a stored value; shorter
/// chains are copied.
static constexpr unsigned kCopiedChain = 8;
/// The most ops that are looked at for whether one needs another.
static constexpr unsigned kMostNeeding = 1024;

static bool canBeCopied(Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return !isFilled(op);
  return isElementSource(op) && llvm::none_of(op->getUsers(), staysOutside);
}

CopiedOps::CopiedOps(Block &block) {
  for (Operation &op : block.without_terminator())
    if (canBeCopied(&op))
      tryCopy(&op);
}

bool CopiedOps::tryCopy(Operation *op) {
  unsigned depth = 1;
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp())
      depth = std::max(depth, depths.lookup(producer) + 1);
  if (depth >= kCopiedChain || isReadAfterUpdate(op))
    return false;
  depths[op] = depth;
  return true;
}

void addCopies(Operation *op, const CopiedOps &copied,
               llvm::SetVector<Operation *> &ops) {
  for (Value operand : op->getOperands())
    if (Operation *producer = operand.getDefiningOp();
        producer && copied.contains(producer)) {
      addCopies(producer, copied, ops);
      ops.insert(producer);
    }
}

/// The values from which the op and copies of its operands compute.
llvm::SetVector<Value> CopiedOps::readThroughCopies(Operation *op) const {
  llvm::SetVector<Value> read;
  llvm::SetVector<Operation *> chain;
  chain.insert(op);
  for (unsigned i = 0; i < chain.size(); ++i)
    for (Value operand : chain[i]->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && contains(def))
        chain.insert(def);
      else
        read.insert(operand);
    }
  return read;
}

/// Whether the user needs the result of the op, directly or not.
static bool needs(Operation *user, Operation *op) {
  llvm::SetVector<Operation *> needing;
  needing.insert(op);
  for (unsigned i = 0; i < needing.size() && i < kMostNeeding; ++i)
    needing.insert_range(needing[i]->getUsers());
  return needing.contains(user);
}

bool CopiedOps::isReadAfterUpdate(Operation *op) const {
  for (Value value : readThroughCopies(op))
    for (Operation *update : value.getUsers()) {
      OpOperand *updated = updatedOperand(update);
      if (update != op && updated && updated->get() == value &&
          llvm::any_of(op->getUsers(),
                       [&](Operation *user) { return needs(user, update); }))
        return true;
    }
  return false;
}

//===----------------------------------------------------------------------===//
// Operands that are stored
//===----------------------------------------------------------------------===//

/// Lets a kernel store what `operand` is a view of, unless one does.
static void storeRoot(Value operand, CopiedOps &copies,
                      nest::IsInMemory isInMemory) {
  Operation *root = nest::rootOfView(operand, isInMemory).getDefiningOp();
  if (root && !root->hasTrait<OpTrait::ConstantLike>())
    copies.store(root);
}

/// Whether the op's result has the dimensions of its operand, in their order
/// but perhaps another direction.
static bool keepsOrder(Operation *op) {
  auto loops = dyn_cast_or_null<nest::OpLoopsInterface>(op);
  if (!loops || op->getNumOperands() != 1)
    return false;
  nest::Strides operand = nest::Strides::rowMajor(op->getOperand(0));
  std::optional<nest::Strides> view = loops.getView(operand);
  return view && view->sizes == operand.sizes &&
         llvm::equal(view->strides, operand.strides,
                     [](int64_t a, int64_t b) { return std::abs(a) == b; });
}

/// Lets a kernel store the operand in another order of its dimensions: two
/// transposes in front of the ops that keep the order, of which the second is a
/// view of the first.
static void storeTurned(OpOperand &operand, ArrayRef<int64_t> order,
                        CopiedOps &copies) {
  SmallVector<Operation *> kept; // the last first
  Value value = operand.get();
  while (Operation *op = value.getDefiningOp()) {
    if (!copies.contains(op) || !keepsOrder(op))
      break;
    kept.push_back(op);
    value = op->getOperand(0);
  }
  Operation *user = operand.getOwner();
  OpBuilder builder(user);
  Location loc = user->getLoc();
  Value copy = TransposeOp::create(builder, loc, value, order);
  value =
      TransposeOp::create(builder, loc, copy, invertPermutationVector(order));
  copies.copy(value.getDefiningOp());
  for (Operation *op : llvm::reverse(kept)) {
    Operation *view = builder.clone(*op);
    view->setOperand(0, value);
    copies.copy(view);
    value = view->getResult(0);
  }
  operand.set(value);
}

void KernelGroups::storeReadOften(Block &block) {
  auto isInMemory = [&](Value value) {
    Operation *op = value.getDefiningOp();
    return !op || !copies.contains(op) || nest::isDataConstant(op);
  };
  for (Operation &op : llvm::make_early_inc_range(block)) {
    auto loops = dyn_cast<nest::OpLoopsInterface>(op);
    if (!loops || copies.contains(&op))
      continue;
    for (OpOperand &operand : op.getOpOperands()) {
      auto order =
          loops.getStoredOrder(operand.getOperandNumber(), limits, isInMemory);
      if (!order)
        continue;
      if (llvm::is_sorted(*order))
        storeRoot(operand.get(), copies, isInMemory);
      else
        storeTurned(operand, *order, copies);
    }
  }
}

} // namespace weft
