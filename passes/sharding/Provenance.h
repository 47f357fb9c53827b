//===- Provenance.h - why a value moves, for people -------------*- C++ -*-===//
//
//   gradient of d1/kernel is summed over "data"
//   output of d2 is summed over "model"
//   update of bn/moving_mean is summed over "data"
//   d2/kernel is sliced over "model" for d2
//
// Gradients are values of the backward part: the mean of a batch, from which both
// the output of a batch normalization and the gradient of its gamma are computed,
// is no gradient. Names come from the annotations and NameLocs of arguments, the annotations of
// results, and NameLocs of ops, which front ends set to layer names.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROVENANCE_H
#define WEFT_PASSES_SHARDING_PROVENANCE_H

#include "weft/passes/sharding/OpSharding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

/// Joins the reasons of collectives that become one, each clause once: "a; b"
/// and "b; c" are "a; b; c". Null if no member has one.
mlir::StringAttr joinReasons(llvm::ArrayRef<mlir::StringAttr> reasons);

class Provenance {
public:
  /// Collects names. Requires types without layouts: call before they are set.
  explicit Provenance(mlir::func::FuncOp function);

  /// The value's name in a reason: "gradient of d1/kernel", "metrics/loss",
  /// "output of d2"; "value in d2" for one inside of the layer.
  std::string describe(mlir::Value value) const;
  /// The path by which people know a value, as a key of a layout map:
  /// d1/kernel, metrics/loss, d2/output. Without one, "argument 0" for an
  /// argument, else empty.
  std::string path(mlir::Value value) const;
  /// The reason, in one line, of a reshard before `consumer`.
  std::string reason(const Mesh &mesh, mlir::Value value, const Layout &from,
                     const Layout &to, const OpWithRule &consumer,
                     unsigned operand) const;

private:
  /// A value and its name, from which the operands are named.
  using Named = std::pair<mlir::Value, std::string>;
  /// The new values of weights, with the names of their gradients.
  std::vector<Named> updatedWeights();
  /// The other results, with their names.
  std::vector<Named> namedResults();
  /// Names the values from which elementwise ops of its shape compute a value,
  /// back to the first one that another op computes. Of two names, a value gets
  /// that of the nearer one. `mayName` excludes ops.
  void nameBackwards(std::vector<Named> values,
                     llvm::function_ref<bool(mlir::Operation *)> mayName);
  mutable mlir::func::FuncOp function;
  llvm::DenseMap<mlir::Value, std::string> names;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROVENANCE_H
