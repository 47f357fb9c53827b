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
// A loop's carried value has one buffer for all iterations: that of the initial
// value if no iteration changes it; else that of the result if there is one;
// else that of the initial value if it is in the arena and has no other use;
// else its own. The yielded value is written there directly if the old value is
// not read later.
//
// A kernel with the attribute weft.scratch = 4096 has 4,096 bytes of the arena
// while it runs; other values may use them before and after.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H
#define WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H

#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/passes/planning/ArenaPacking.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

/// The buffer of a tensor.
mlir::MemRefType bufferType(mlir::Type tensor);

enum class PlaceKind { Argument, Result, Arena, Constant };
/// The memory of a value: the number of an argument, a result, an arena buffer
/// or a constant.
struct Place {
  PlaceKind kind = PlaceKind::Arena;
  unsigned index = 0;
  bool operator==(const Place &) const = default;
};

/// The memory of each value of a function; no instruction is created.
class BufferAssignment {
public:
  explicit BufferAssignment(mlir::func::FuncOp function);

  Place place(mlir::Value value) const { return places.lookup(value); }
  /// The argument whose memory a result reuses, if any.
  std::optional<unsigned> donatedArgument(unsigned result) const {
    return donatedArguments[result];
  }
  /// A buffer of the arena, with the values or the launch that use it.
  struct ArenaBuffer {
    mlir::MemRefType type;
    mlir::Location loc;
    mlir::Operation *launch = nullptr; ///< the launch with this scratch memory
    /// All values in the buffer, one after the other.
    llvm::SmallVector<mlir::Value, 1> values;
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
  llvm::ArrayRef<ConstantOp> constants() const { return constantOps; }

private:
  void number(mlir::Block &block, int64_t &next);
  /// The last position at which a value is read, in all iterations of a loop.
  int64_t lastUse(mlir::Value value) const;
  void assignResults(mlir::func::FuncOp function);
  void assignBlock(mlir::Block &block);
  void assignOp(mlir::Operation &op);
  void assignScratch(mlir::func::CallOp call);
  void assignWhile(WhileOp loop);
  void assignCarried(WhileOp loop, unsigned index);
  void assignCase(CaseOp choice);
  /// Whether a yielded value is in its carried value's memory from the start.
  bool mayReplaceCarried(WhileOp loop, unsigned index) const;
  bool mayOverwrite(mlir::Value donated, mlir::Value replacement) const;
  /// Whether the op may use the value's buffer for its own result.
  bool diesIn(mlir::Value value, mlir::Operation *op) const;
  void put(mlir::Value value, Place place);
  void putInArena(mlir::Value value);

  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Operation *, int64_t> starts, ends;
  llvm::SmallVector<std::optional<unsigned>> donatedArguments;
  llvm::SmallVector<ArenaBuffer> arena;
  llvm::DenseMap<mlir::Operation *, unsigned> scratches;
  llvm::SmallVector<ConstantOp> constantOps;
};

} // namespace weft

#endif // WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H
