//===- RoundMoves.h - moves that some rounds of a loop make -----*- C++ -*-===//
//
//   weft.for 5 {
//     %a = weft.case %has {...} {...} {weft.taken = [1, 3]}       stage 0
//     %b = weft.reshard %a                                        to stage 1
//
// The branch is taken in rounds 1 to 3, and stage 1 reads %b for these only: the
// loop is weft.ordered. So only these rounds send something:
//
//     %now = 1 <= %i < 4
//     %b = weft.case %now { coll.exchange %a } { zeros } {weft.taken = [1, 3]}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_ROUNDMOVES_H
#define WEFT_PASSES_SHARDING_ROUNDMOVES_H

#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/Weft.h"

#include <map>

namespace weft {

class RoundMoves {
public:
  /// Notes the loop whose body is built next, and its local counter.
  void enter(mlir::Operation *loop, mlir::Value counter) {
    counters[loop] = counter;
  }
  /// Builds a move of the local value by `build`, in the rounds in which the
  /// branch that gives it is taken; in all rounds if there is no such branch.
  mlir::Value build(mlir::OpBuilder &builder, ReshardOp move, mlir::Value value,
                    llvm::function_ref<mlir::Value(mlir::Value)> build);

private:
  mlir::Value isTaken(mlir::OpBuilder &builder, mlir::Value counter,
                      TakenRounds rounds);

  llvm::DenseMap<mlir::Operation *, mlir::Value> counters;
  std::map<std::tuple<void *, int64_t, int64_t>, mlir::Value> known;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_ROUNDMOVES_H
