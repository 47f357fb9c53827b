//===- BufferAssignment.h - where each value lives ------------*- C++ -*-===//
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
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H
#define WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

enum class PlaceKind { Argument, Result, Arena, Constant };
/// A place: argument or result number, or the arena buffer's number.
struct Place {
  PlaceKind kind = PlaceKind::Arena;
  unsigned index = 0;
  bool operator==(const Place &) const = default;
};

/// Where each value of a flat function lives, decided in one backward and one
/// forward look; no instruction is created.
class BufferAssignment {
public:
  explicit BufferAssignment(mlir::func::FuncOp function);

  Place place(mlir::Value value) const { return places.lookup(value); }
  /// The argument whose memory a result takes over, if any.
  std::optional<unsigned> donor(unsigned result) const {
    return donors[result];
  }
  /// Number of an op in the function, the unit of lifetimes.
  int64_t position(mlir::Operation *op) const { return positions.lookup(op); }
  /// Last op that reads a value (the return counts).
  int64_t lastUse(mlir::Value value) const;
  /// Arena values in order of their numbers.
  llvm::ArrayRef<mlir::Value> arenaValues() const { return arena; }

private:
  void assignResults(mlir::func::FuncOp function);
  void assignArena(mlir::func::FuncOp function);
  bool mayOverwrite(mlir::Value donated, mlir::Value replacement) const;

  llvm::DenseMap<mlir::Value, Place> places;
  llvm::DenseMap<mlir::Operation *, int64_t> positions;
  llvm::SmallVector<std::optional<unsigned>> donors;
  llvm::SmallVector<mlir::Value> arena;
};

} // namespace weft

#endif // WEFT_PASSES_PLANNING_BUFFERASSIGNMENT_H
