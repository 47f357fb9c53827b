//===- EqualValues.h - which devices hold equal values ----------*- C++ -*-===//
//
// On a mesh of batch = 2, model = 4:
//
//   func @train(%w: ... {layout [{}, {"model"}]}, %x: ... {layout [{"batch"}, {}]})
//   %g = call @dot(%x, %w)                        // differs along batch, model
//   %s = coll.all_reduce sum %g over ["batch"]    // differs along model
//   %v = call @sub(%w, %s)                        // differs along model
//
// %s and %v have equal bits on the devices that differ along batch only. What
// is not known to be equal counts as different. Axes are whole: a digit of an
// axis stands for the axis.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_PLANNING_EQUALVALUES_H
#define WEFT_PASSES_PLANNING_EQUALVALUES_H

#include "weft/dialects/weft/PlannedFlow.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallBitVector.h"

namespace weft {

/// A set of a mesh's axes, one bit each.
using MeshAxes = llvm::SmallBitVector;

/// The axes along which values of a partitioned function differ.
class EqualValues {
public:
  EqualValues(mlir::func::FuncOp function, MeshAttr mesh);

  /// The axes along which devices may have different bits of the value.
  MeshAxes differs(mlir::Value value) const {
    auto found = known.find(value);
    return found == known.end() ? none() : found->second;
  }
  /// The other axes.
  MeshAxes equal(mlir::Value value) const { return differs(value).flip(); }
  MeshAxes none() const { return MeshAxes(mesh.getMesh().axes.size()); }
  /// The axes of digits, each as a whole.
  MeshAxes axesOf(llvm::ArrayRef<SubAxis> digits) const;
  /// The axes along which devices hold different shards or summands.
  MeshAxes axesOf(LayoutAttr layout) const;
  /// The axes that are among the digits as a whole.
  MeshAxes fullAxesOf(llvm::ArrayRef<SubAxis> digits) const;

private:
  MeshAxes all() const { return none().flip(); }
  MeshAxes differs(mlir::ValueRange values) const;
  /// Adds axes; returns whether there were new ones.
  bool add(mlir::Value value, const MeshAxes &axes);
  void visit(mlir::Block &block);
  void visit(mlir::Operation &op);
  void visitLoop(PlannedLoopOpInterface loop);
  void visitBranch(PlannedBranchOpInterface choice);
  MeshAxes axesNamedIn(mlir::Operation *op) const;
  MeshAxes coordinatesIn(mlir::func::FuncOp kernel);

  MeshAttr mesh;
  llvm::DenseMap<mlir::Value, MeshAxes> known;
  llvm::DenseMap<mlir::Operation *, MeshAxes> kernels;
};

} // namespace weft

#endif // WEFT_PASSES_PLANNING_EQUALVALUES_H
