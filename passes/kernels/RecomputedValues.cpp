//===- RecomputedValues.cpp - values that kernels compute again -----------===//
//
//   kernel 0: %u = weft.add %dot, %bias          : bf16
//             %v = weft.convert %u               : f32, stored besides %u
//   kernel 1: %d = weft.sub %v, mean             : f32, stored
//   kernel 2: weft.mul %d, %d; weft.reduce sum
//   kernel 3: weft.mul %d, scale
//
// Where each kernel is a launch, memory is what cheap elementwise ops wait for.
// So a kernel does not store %v or %d: each reader has a copy of these ops and
// reads %u, of which an element has half of the bytes. A value is computed again
// if that reads no more bytes than the value has, and if its readers are
// elementwise or reduce it at the positions where it would be stored.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/TensorType.h"
#include "weft/passes/kernels/KernelGroups.h"

using namespace mlir;

namespace weft {

/// The most ops that compute a value again.
static constexpr size_t kMostRecomputed = 8;
/// A value of this many times fewer bytes is one for each row or column: caches
/// have it.
static constexpr int64_t kCached = 16;

/// Whether the op computes an element of its result from those of its operands
/// at the same position, with a few instructions.
static bool isCheap(Operation *op) {
  return op->hasTrait<OpTrait::Elementwise>() && op->getNumResults() == 1 &&
         !op->hasTrait<Costly>();
}

namespace {
/// What computes a value again.
struct Recomputed {
  llvm::SetVector<Operation *> ops; ///< operands first
  llvm::SetVector<Value> read;      ///< values that are in memory
};
} // namespace

/// Whether memory of the value may be written while later kernels would read
/// it: an argument that a loop carries, or that a result takes over.
static bool isOverwritten(Value value) {
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument)
    return false;
  auto function = dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp());
  return !function ||
         function.getArgAttr(argument.getArgNumber(), kDonatedAttr);
}

bool KernelGroups::isStored(Operation *op) const {
  unsigned own = groupOf.lookup(op);
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    auto found = groupOf.find(user);
    return found == groupOf.end()
               ? !copies.contains(user) || isReadOutside(user, own)
               : found->second != own;
  });
}

bool KernelGroups::isReadOutside(Operation *copied, unsigned own) const {
  llvm::SetVector<unsigned> readers;
  addReaders(copied->getResult(0), readers);
  readers.remove(own);
  return !readers.empty();
}

/// Whether a kernel reads its operands once: a walk over rows that stores their
/// elements besides reductions reads them for each.
static bool readsOnce(const KernelGroup &group, int64_t elements) {
  bool reduces = llvm::any_of(
      group.ops, [](Operation *op) { return op->hasTrait<ReductionNest>(); });
  return !reduces || llvm::none_of(group.ops, [&](Operation *op) {
    return typeOf(op->getResult(0)).getNumElements() >= elements &&
           llvm::any_of(op->getUsers(), [&](Operation *user) {
             return !llvm::is_contained(group.ops, user);
           });
  });
}

/// Whether each reader outside of the value's own kernel computes with the value
/// at the positions at which it would be stored.
bool KernelGroups::mayBeRecomputed(Value value, unsigned own,
                                   int64_t elements) const {
  return llvm::all_of(value.getUsers(), [&](Operation *user) {
    auto found = groupOf.find(user);
    if (found == groupOf.end())
      return copies.contains(user) &&
             typeOf(user->getResult(0)).getNumElements() <= elements &&
             mayBeRecomputed(user->getResult(0), own, elements);
    if (found->second == own)
      return true;
    const KernelGroup &group = groups[found->second];
    return !group.isFixed && !group.hasContraction && !group.hasOwnNest &&
           !group.isUpdate && !group.isDonated && readsOnce(group, elements) &&
           (user->hasTrait<OpTrait::Elementwise>() ||
            user->hasTrait<ReductionNest>());
  });
}

/// Adds what computes the value from memory; false if that is not cheap.
static bool addRecomputed(Value value, const CopiedOps &copies,
                          llvm::function_ref<bool(Operation *)> isInMemory,
                          Recomputed &all) {
  Operation *op = value.getDefiningOp();
  if (!op || isInMemory(op)) {
    all.read.insert(value);
    return !isOverwritten(value);
  }
  bool isCopied = copies.contains(op);
  if (!isCopied && !isCheap(op))
    return false;
  for (Value operand : op->getOperands())
    if (!addRecomputed(operand, copies, isInMemory, all))
      return false;
  if (!isCopied)
    all.ops.insert(op);
  return all.ops.size() <= kMostRecomputed;
}

bool KernelGroups::recompute(Operation *op) {
  auto found = groupOf.find(op);
  if (found == groupOf.end() || !isCheap(op) || !isStored(op))
    return false;
  const KernelGroup &own = groups[found->second];
  RankedTensorType type = typeOf(op->getResult(0));
  if (own.isFixed || own.isDonated || own.isUpdate ||
      !mayBeRecomputed(op->getResult(0), found->second, type.getNumElements()))
    return false;
  Recomputed all;
  bool isPossible = addRecomputed(
      op->getResult(0), copies,
      [&](Operation *producer) {
        auto of = groupOf.find(producer);
        return producer != op && !copies.contains(producer) &&
               (of == groupOf.end() || of->second != found->second ||
                isStored(producer));
      },
      all);
  if (!isPossible)
    return false;
  int64_t bytes = 0;
  for (Value value : all.read)
    if (int64_t its = bufferBytes(typeOf(value));
        its * kCached > bufferBytes(type))
      bytes += its;
  if (bytes > bufferBytes(type))
    return false;
  for (auto [i, each] : llvm::enumerate(all.ops))
    if (!copies.tryCopy(each)) {
      for (Operation *done : ArrayRef(all.ops.getArrayRef()).take_front(i))
        copies.store(done);
      return false;
    }
  return true;
}

bool KernelGroups::recomputeStored(Block &block) {
  bool any = false;
  for (Operation &op : block.without_terminator())
    any |= recompute(&op);
  return any;
}

} // namespace weft
