//===- CountedLoop.h - loops whose number of rounds is known ----*- C++ -*-===//
//
//   roundsOf(weft.for 10 ...)          10
//   roundsOf(weft.while ... times 7)   7
//   roundsOf(weft.while ...)           nothing
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_COUNTEDLOOP_H
#define WEFT_DIALECTS_WEFT_COUNTEDLOOP_H

#include "mlir/IR/OpDefinition.h"

#include <optional>

#include "weft/dialects/weft/CountedLoop.h.inc"

namespace weft {

/// Attaches the interface to the loops of the dialect.
void attachCountedLoops(mlir::MLIRContext &context);

/// The number of iterations of a loop, if it is known.
std::optional<int64_t> roundsOf(mlir::Operation *loop);

/// The number of iterations of the loop that an op is in, on a part of the mesh
/// or on the whole.
std::optional<int64_t> roundsAround(mlir::Operation *op);

/// On a branch (two numbers): the rounds of the loop around in which the first
/// region is taken, as the first and their count.
inline constexpr llvm::StringLiteral kTakenAttr = "weft.taken";
struct TakenRounds {
  int64_t first = 0, count = 0;
};
std::optional<TakenRounds> takenRounds(mlir::Operation *branch);
void setTakenRounds(mlir::Operation *branch, TakenRounds rounds);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_COUNTEDLOOP_H
