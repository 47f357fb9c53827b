//===- BufferAssignment.h - where each value lives --------------*- C++ -*-===//
//
// Worked example, an update in place:
//
//   func @train(%w {weft.donated = 0}, %g) -> (%new) {
//     %new = call @sub_8(%w, %g)        // elementwise
//     return %new }
//
// %new may take %w's buffer: no instruction after the call reads %w, and an
// elementwise kernel loads an element before it stores it.
//
// A kernel that changes elements of an argument (weft.updated) writes them in
// the argument's memory if no op reads the old value afterwards: the result
// takes the argument's place. If it has another place, the plan copies first.
//
// A loop's carried value has one buffer for all iterations: the buffer of the
// initial value if no iteration changes it; else the buffer of the result if
// there is one; else the buffer of the initial value if that may be overwritten
// and is not read afterwards; else a new one. The yielded value is written
// there directly if the old value is not read later. Values that a loop
// exchanges, or computes while the old values are still read, exchange their
// buffers instead (BufferExchange.h). The result of a branch takes an input's
// place if every region may overwrite that input with it.
//
// Values that several devices share (plan.shared) have buffers of their own, in
// which no other value is: devices are at different instructions, so that one
// would overwrite what another reads.
//
// A collective that is awaited later (plan.await) uses its operands, and its
// results are live, until then.
//
// A kernel with the attribute weft.scratch = 4096 has 4,096 bytes of the arena
// while it runs; other values may use them before and after.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H
#define WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H

#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/PlannedFlow.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/planning/ArenaPacking.h"
#include "weft/passes/planning/BufferExchange.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

/// The buffer of a tensor.
mlir::MemRefType bufferType(mlir::Type tensor);

/// The operand whose elements the kernel of a call changes to make a result
/// (weft.updated); null if there is none.
mlir::OpOperand *changedOperand(mlir::OpResult result);

/// The memory of each value of a function; no instruction is created.
class BufferAssignment {
public:
  /// `shares`: whether values with plan.shared have buffers of their own.
  explicit BufferAssignment(mlir::func::FuncOp function, bool shares = true);

  Place place(mlir::Value value) const { return places.lookup(value); }
  /// All values at a place.
  llvm::ArrayRef<mlir::Value> valuesAt(Place place) const {
    auto found = held.find(place.key());
    return found == held.end() ? llvm::ArrayRef<mlir::Value>()
                               : llvm::ArrayRef<mlir::Value>(found->second);
  }
  /// The argument whose memory a result reuses, if any.
  std::optional<unsigned> donatedArgument(unsigned result) const {
    return donatedArguments[result];
  }
  /// A buffer of the arena, with the values or the launch that use it.
  struct ArenaBuffer {
    mlir::MemRefType type;
    mlir::Location loc;
    mlir::Operation *launch = nullptr; ///< launch with this scratch memory
    /// All values in the buffer, one after the other.
    llvm::SmallVector<mlir::Value, 1> values;
    mlir::Operation *exchanging = nullptr; ///< loop that exchanges the buffer
    LayoutAttr shared = {}; ///< the axes over which devices share it, or null
  };
  llvm::ArrayRef<ArenaBuffer> arenaBuffers() const { return arena; }
  /// The number of the arena buffer that is a launch's scratch memory, if its
  /// kernel needs any (weft.scratch).
  std::optional<unsigned> scratch(mlir::Operation *launch) const {
    auto found = scratches.find(launch);
    return found == scratches.end() ? std::nullopt
                                    : std::optional(found->second);
  }
  /// The lifetime of each arena buffer; times count ops, and the ends of loops
  /// and branches.
  llvm::SmallVector<Lifetime> lifetimes() const;
  /// The axes over which devices share a value or a place, or null.
  LayoutAttr shared(mlir::Value value) const;
  LayoutAttr shared(Place place) const;
  /// The places that a loop exchanges from one iteration to the next.
  const BufferExchange &exchange(mlir::Operation *loop) const {
    return exchanges.find(loop)->second;
  }
  llvm::ArrayRef<PlannedDataOpInterface> constants() const {
    return constantOps;
  }

  /// The number of the op's instructions in the plan.
  int64_t instructions(mlir::Operation *op) const;

private:
  void number(mlir::Block &block, int64_t &next);
  /// The position up to which an op reads an operand: a collective until the
  /// wait for it, an op with regions at its start.
  int64_t lastRead(mlir::Operation *user) const {
    return user->getNumRegions() && !plan::awaitOf(user) ? starts.lookup(user)
                                                         : ends.lookup(user);
  }
  /// The last position at which a value is read, in all iterations of a loop.
  int64_t lastUse(mlir::Value value) const;
  void assignResults(mlir::func::FuncOp function);
  void assignBlock(mlir::Block &block);
  void assignOp(mlir::Operation &op);
  void assignScratch(mlir::func::CallOp call);
  void assignWhile(PlannedLoopOpInterface loop);
  void assignCarried(PlannedLoopOpInterface loop, unsigned index);
  /// The carried value whose memory the value yielded for `index` may take.
  /// Each iteration passes on the values between both as the next ones, and
  /// drops the carried value.
  std::optional<unsigned> firstOfShifted(PlannedLoopOpInterface loop,
                                         unsigned index) const;
  void findExchange(PlannedLoopOpInterface loop);
  /// Assigns the buffers of an op whose regions take `passed` and yield its
  /// results.
  void assignRegions(mlir::Operation *op, mlir::OperandRange passed);
  /// Whether a value of the body may be in the carried value's memory from the
  /// start.
  bool mayReplaceCarried(PlannedLoopOpInterface loop, unsigned index,
                         mlir::Value value) const;
  /// Whether `replacement` may be written in the memory of `donated`: no later
  /// op reads `donated`, nor does the producer after it wrote.
  bool mayOverwrite(mlir::Value donated, mlir::Value replacement) const;
  /// Whether the op that reads the value here may write `result` in the value's
  /// memory.
  bool mayTake(mlir::OpOperand &use, mlir::Value result) const;
  bool mayBranchTake(mlir::Region &branch, mlir::BlockArgument argument,
                     unsigned result) const;
  /// Whether the result may have the place that the operand has now: no op
  /// needs a value there that the result would overwrite, or overwrites the
  /// result while it is needed.
  bool takesPlace(mlir::OpOperand &use, mlir::Value result) const;
  bool isWritable(Place place) const;
  void put(mlir::Value value, Place place);
  /// Puts a value in the place, and the values of which it is a changed copy,
  /// as far as the place may hold them.
  void putFrom(mlir::Value value, Place place,
               llvm::function_ref<bool(mlir::Value)> mayHold);
  void putInArena(mlir::Value value);

  mlir::func::FuncOp function;
  bool shares;
  llvm::DenseMap<mlir::Value, Place> places;
  /// The values at each place.
  llvm::DenseMap<std::pair<unsigned, unsigned>, llvm::SmallVector<mlir::Value>>
      held;
  llvm::DenseMap<mlir::Operation *, int64_t> starts, ends;
  llvm::SmallVector<std::optional<unsigned>> donatedArguments;
  llvm::SmallVector<ArenaBuffer> arena;
  llvm::DenseMap<mlir::Operation *, unsigned> scratches;
  llvm::DenseMap<mlir::Operation *, BufferExchange> exchanges;
  llvm::SmallVector<PlannedDataOpInterface> constantOps;
};

/// The offsets of an assignment's arena buffers. A device that shares nothing
/// has all buffers in its arena, as without plan.shared: a shared buffer is where
/// its values would be then, an all-reduced gradient in the place of its
/// summand. Devices that share have shared buffers in memory of their own.
struct ArenaPlaces {
  llvm::SmallVector<int64_t> offsets;       ///< in the arena of each device
  llvm::SmallVector<int64_t> sharedOffsets; ///< in memory of those that share
  int64_t bytes = 0;                        ///< bytes of the arena
};
ArenaPlaces placeArena(mlir::func::FuncOp function,
                       const BufferAssignment &assignment);

/// The bytes that the plan of a function will need on a device, without
/// constants.
int64_t bytesNeeded(mlir::func::FuncOp function);

} // namespace weft

#endif // WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H
