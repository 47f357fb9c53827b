//===- FitMemory.cpp - a program in the memory that a device has ----------===//
//
// With `weft.memory = 80` bytes a device, and weights in shards of 8 bytes:
//
//   %a = coll.all_gather %w1          // 32 bytes, kept for the gradient
//   %x1 = call @dot(%x, %a)
//   %b = coll.all_gather %w2          // 32 more, which is too much
//   ...
//   %g = call @dot_gradient(%dx2, %a)
//
// becomes
//
//   %a = coll.all_gather %w1
//   %x1 = call @dot(%x, %a)           // %a ends here
//   %b = coll.all_gather %w2
//   ...
//   %a2 = coll.all_gather %w1         // gathered again
//   %g = call @dot_gradient(%dx2, %a2)
//
// First, and also without a stated memory, ops that free memory are scheduled
// as early as possible, if the plan then needs less: a gradient is scattered
// and added to its weight's shard before the next gradient is computed.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/planning/ArenaPacking.h"
#include "weft/passes/planning/BufferAssignment.h"
#include "weft/passes/planning/Passes.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/Ports.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/Support/MathExtras.h"

namespace weft {
#define GEN_PASS_DEF_FITMEMORYPASS
#include "weft/passes/planning/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

static int64_t bytesHeld(Type type) {
  return isa<RankedTensorType>(type) ? bufferBytes(bufferType(type)) : 0;
}

static int64_t bytesHeld(ValueRange values) {
  int64_t bytes = 0;
  for (Value value : values)
    bytes += bytesHeld(value.getType());
  return bytes;
}

//===----------------------------------------------------------------------===//
// Early scheduling of ops that free memory
//===----------------------------------------------------------------------===//

namespace {
/// Reorders a block. An op that frees at least as much memory as it takes is
/// scheduled as soon as it is possible.
class EarlyScheduling {
public:
  explicit EarlyScheduling(func::FuncOp function)
      : block(function.getBody().front()) {
    for (BlockArgument argument : function.getArguments())
      if (auto result = donatedResult(function, argument.getArgNumber()))
        donations[block.getTerminator()->getOperand(*result)] = argument;
  }

  void run() {
    for (Operation &op : block.without_terminator())
      before.push_back(&op);
    for (Operation *op : before)
      if (!done.contains(op))
        perform(op);
    for (Operation *op : done)
      op->moveBefore(block.getTerminator());
  }
  void undo() {
    for (Operation *op : before)
      op->moveBefore(block.getTerminator());
  }

private:
  void perform(Operation *op) {
    llvm::SmallVector<Operation *> work{op};
    while (!work.empty()) {
      Operation *next = work.pop_back_val();
      if (!done.insert(next))
        continue;
      llvm::SetVector<Operation *> users;
      for (Operation *user : next->getUsers())
        users.insert(block.findAncestorOpInBlock(*user));
      for (Operation *user : llvm::reverse(users))
        if (!done.contains(user) && isWorthwhile(user))
          work.push_back(user);
    }
  }

  bool isWorthwhile(Operation *op) {
    if (op->getNumRegions() || op->hasTrait<OpTrait::IsTerminator>() ||
        overwritesReadValue(op) || hasOwnPlace(op))
      return false;
    llvm::SmallVector<Operation *> missing;
    if (!isPossible(op, missing) || frees(op) < takes(op))
      return false;
    done.insert(missing.begin(), missing.end());
    return true;
  }

  /// Whether the op changes elements of a value that later ops read.
  bool overwritesReadValue(Operation *op) {
    return llvm::any_of(op->getResults(), [&](OpResult result) {
      OpOperand *changed = changedOperand(result);
      return changed && !isLastUse(changed->get(), op);
    });
  }

  /// Whether the op writes memory that other ops may read, as a call of the
  /// host does: such ops keep their order.
  static bool hasOwnPlace(Operation *op) {
    return hasEffect<MemoryEffects::Write>(op);
  }

  /// Whether all operands are computed, or lack only ops whose results have 64
  /// bytes at most. The lacking ops are added to `missing` in order.
  bool isPossible(Operation *op, llvm::SmallVectorImpl<Operation *> &missing) {
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (!def || done.contains(def) || llvm::is_contained(missing, def))
        continue;
      if (def->getNumRegions() || isa<coll::CollDialect>(def->getDialect()) ||
          hasOwnPlace(def) || bytesHeld(def->getResults()) > kScalars ||
          !isPossible(def, missing))
        return false;
      missing.push_back(def);
    }
    return true;
  }

  bool isLastUse(Value value, Operation *op) {
    return llvm::all_of(value.getUsers(), [&](Operation *user) {
      Operation *at = block.findAncestorOpInBlock(*user);
      return at == op || at == block.getTerminator() || done.contains(at);
    });
  }

  int64_t frees(Operation *op) {
    llvm::SetVector<Value> operands(op->operand_begin(), op->operand_end());
    int64_t bytes = 0;
    for (Value operand : operands)
      if (operand.getDefiningOp() && !isReturned(operand) &&
          isLastUse(operand, op))
        bytes += bytesHeld(operand.getType());
    return bytes;
  }
  bool isReturned(Value value) {
    return llvm::is_contained(value.getUsers(), block.getTerminator());
  }

  /// The bytes that a result takes: none if it reuses an argument's memory and
  /// the argument has no other use left.
  int64_t takes(Operation *op) {
    int64_t bytes = 0;
    for (Value result : op->getResults()) {
      auto donatedArgument = donations.find(result);
      bool inherits = donatedArgument != donations.end() &&
                      isLastUse(donatedArgument->second, op);
      bytes += inherits ? 0 : bytesHeld(result.getType());
    }
    return bytes;
  }

  static constexpr int64_t kScalars = 64;
  Block &block;
  llvm::SmallVector<Operation *> before; ///< ops in their original order
  llvm::SetVector<Operation *> done;
  llvm::DenseMap<Value, Value>
      donations; ///< by result, the argument that it replaces
};

//===----------------------------------------------------------------------===//
// Rematerialization of large values
//===----------------------------------------------------------------------===//

/// Ends values before the op of a block with the most live bytes, and computes
/// them again after it. Arguments are not counted.
class Rematerialization {
public:
  Rematerialization(Block &block [[clang::lifetimebound]], StringAttr why)
      : block(block), why(why) {
    number();
  }

  int64_t peak() const { return live[fullest]; }

  /// Ends the result of a collective before the fullest op, and computes it
  /// again after that op. Returns false if no such value saves memory.
  bool step() {
    Operation *best = nullptr;
    int64_t most = 0;
    for (Operation &op : block)
      if (int64_t saved = savedBy(op); saved > most) {
        most = saved;
        best = &op;
      }
    if (!best)
      return false;
    makeAgain(best);
    number();
    return true;
  }

private:
  void number() {
    positions.clear();
    for (Operation &op : block)
      positions.push_back(&op);
    at.clear();
    for (auto [index, op] : llvm::enumerate(positions))
      at[op] = index;
    live.assign(positions.size() + 1, 0);
    for (Operation *op : positions)
      for (Value result : op->getResults()) {
        live[at[op]] += bytesHeld(result.getType());
        live[lastUse(result) + 1] -= bytesHeld(result.getType());
      }
    for (size_t i = 1; i < live.size(); ++i)
      live[i] += live[i - 1];
    fullest = std::max_element(live.begin(), live.end()) - live.begin();
  }

  size_t lastUse(Value value) const {
    size_t last = value.getDefiningOp() ? at.lookup(value.getDefiningOp()) : 0;
    for (Operation *user : value.getUsers())
      last = std::max(last, at.lookup(block.findAncestorOpInBlock(*user)));
    return last;
  }

  /// The bytes that a device saves at the fullest op if the result of `op` ends
  /// before it and is computed again after it; 0 if that is impossible.
  int64_t savedBy(Operation &op) const {
    if (!isa<coll::CollDialect>(op.getDialect()) || op.getNumOperands() != 1 ||
        op.getNumResults() != 1 || at.lookup(&op) >= fullest)
      return 0;
    Value result = op.getResult(0), source = op.getOperand(0);
    if (lastUse(result) <= fullest)
      return 0;
    bool readBefore = false;
    for (Operation *user : result.getUsers()) {
      size_t when = at.lookup(block.findAncestorOpInBlock(*user));
      readBefore |= when < fullest;
      if (when == fullest)
        return 0;
    }
    // Without this condition, two operands of one op could be moved in turn
    // forever.
    if (!readBefore && made.contains(&op))
      return 0;
    int64_t saved = bytesHeld(result.getType());
    bool livesOn = !source.getDefiningOp() || lastUse(source) > fullest;
    return saved - (livesOn ? 0 : bytesHeld(source.getType()));
  }

  void makeAgain(Operation *op) {
    Operation *first = nullptr;
    for (Operation *user : op->getUsers()) {
      Operation *place = block.findAncestorOpInBlock(*user);
      if (at[place] > fullest && (!first || at[place] < at[first]))
        first = place;
    }
    Operation *again = op->clone();
    block.getOperations().insert(Block::iterator(first), again);
    made.insert(again);
    auto reason = op->getAttrOfType<StringAttr>("reason");
    again->setAttr("reason", StringAttr::get(op->getContext(),
                                             (reason ? reason.getValue() : "") +
                                                 why.getValue()));
    op->getResult(0).replaceUsesWithIf(
        again->getResult(0), [&](OpOperand &use) {
          return at.lookup(block.findAncestorOpInBlock(*use.getOwner())) >
                 fullest;
        });
    if (op->use_empty()) // All uses are later, so the op only moves.
      op->erase();
  }

  Block &block;
  StringAttr why;
  llvm::DenseSet<Operation *> made; ///< ops that are not moved again
  llvm::SmallVector<Operation *> positions;
  llvm::DenseMap<Operation *, size_t> at;
  llvm::SmallVector<int64_t> live; ///< indexed by position
  size_t fullest = 0;
};

struct FitMemory : weft::impl::FitMemoryPassBase<FitMemory> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    Attribute attribute = getOperation()->getDiscardableAttr(kMemoryAttr);
    auto bytes = dyn_cast_or_null<IntegerAttr>(attribute);
    if (attribute && (!bytes || bytes.getInt() <= 0)) {
      getOperation().emitError()
          << kMemoryAttr << " is " << attribute
          << "; write the bytes of a device as 67108864 : i64";
      return signalPassFailure();
    }
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (becomesProgram(function))
        fit(function,
            bytes ? bytes.getInt() : std::numeric_limits<int64_t>::max());
  }

  void fit(func::FuncOp function, int64_t bytes) {
    int64_t before = bytesNeeded(function);
    EarlyScheduling early(function);
    early.run();
    if (bytesNeeded(function) < before)
      ++numReordered;
    else
      early.undo();
    auto why = StringAttr::get(&getContext(), ", again: a device has " +
                                                  Twine(bytes) + " bytes");
    Rematerialization rematerialization(function.getBody().front(), why);
    if (bytes < before)
      while (bytesNeeded(function) > bytes && rematerialization.step())
        ++numRematerialized;
  }
};
} // namespace
