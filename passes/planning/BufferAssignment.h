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
// A loop's carried value has one buffer for all times: that of the result where
// it has one, else that of the initial value if nobody else needs it. What the
// body yields is written there at once where the old value is not read later.
//
// A kernel with the attribute weft.scratch = 4096 has 4,096 bytes of the arena
// while it runs; another value lies there before and after.
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
/// A place: argument or result number, or the number of the arena buffer or
/// constant.
struct Place {
  PlaceKind kind = PlaceKind::Arena;
  unsigned index = 0;
  bool operator==(const Place &) const = default;
};

/// Where each value of a function lives; no instruction is created.
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
    mlir::Operation *launch = nullptr; ///< the one it is scratch memory of
    /// All values that it holds, one after the other.
    llvm::SmallVector<mlir::Value, 1> values;
  };
  llvm::ArrayRef<ArenaBuffer> arenaBuffers() const { return arena; }
  /// The number of the arena buffer that is a launch's scratch memory, if its
  /// kernel wants any (weft.scratch).
  std::optional<unsigned> scratch(mlir::Operation *launch) const {
    auto found = scratches.find(launch);
    return found == scratches.end() ? std::nullopt
                                    : std::optional(found->second);
  }
  /// When each arena buffer holds a value; the unit are ops, and the ends of
  /// loops and branches.
  llvm::SmallVector<Lifetime> lifetimes() const;
  llvm::ArrayRef<ConstantOp> constants() const { return constantOps; }

private:
  void number(mlir::Block &block, int64_t &next);
  /// The last position at which a value is read, with all times of a loop.
  int64_t lastUse(mlir::Value value) const;
  void assignResults(mlir::func::FuncOp function);
  void assignBlock(mlir::Block &block);
  void assignOp(mlir::Operation &op);
  void assignScratch(mlir::func::CallOp call);
  void assignWhile(WhileOp loop);
  void assignCarried(WhileOp loop, unsigned index);
  void assignCase(CaseOp choice);
  /// Has a yielded value its carried one's place from the start?
  bool mayReplaceCarried(WhileOp loop, unsigned index) const;
  bool mayOverwrite(mlir::Value donated, mlir::Value replacement) const;
  /// May the op use the value's buffer for its own result?
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
