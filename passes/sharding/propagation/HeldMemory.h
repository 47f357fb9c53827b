//===- HeldMemory.h - which values a device holds when it is fullest -------===//
//
// Ops are numbered in the order of the program; a value is held from its op to
// the last op that uses it, one used in a loop to the loop's end. With 4 bytes a
// value of
//
//   0: %a = exp %x     1: %b = exp %a     2: %c = add %a, %b     3: return %c
//
// a device holds 4, 8, 12 and 4 bytes. It is fullest at 2, where all three are
// held: their shares are 1. The share of a value that is held elsewhere only is
// lower, in quarters: (its fullest moment / the fullest of all)^2.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_HELDMEMORY_H
#define WEFT_PASSES_SHARDING_PROPAGATION_HELDMEMORY_H

#include "weft/passes/sharding/propagation/LayoutTable.h"

namespace weft {

class HeldMemory {
public:
  /// What devices hold under the layouts of a table.
  explicit HeldMemory(const LayoutTable &table [[clang::lifetimebound]]);

  /// The bytes of a tensor on the fullest device under a layout.
  static int64_t bytesOf(mlir::RankedTensorType type, const Layout &layout);
  /// Shares of a value, or of what an op has while it runs, from 0 to kQuarters.
  int64_t shareOf(mlir::Value value) const;
  int64_t shareAt(mlir::Operation *op) const;
  static constexpr int64_t kQuarters = 4;

private:
  void number(mlir::Block &block);
  void hold(mlir::Value value);
  int64_t shareIn(size_t first, size_t last) const;
  size_t lastUse(mlir::Value value) const;

  const LayoutTable &table;
  size_t count = 0;
  llvm::DenseMap<mlir::Operation *, std::pair<size_t, size_t>>
      positions; ///< of an op and of the last op in it
  std::vector<int64_t> held;
  int64_t most = 0;
  llvm::DenseMap<mlir::Value, int64_t> shares; ///< by leader
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_HELDMEMORY_H
