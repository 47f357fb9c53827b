//===- GroupExchange.h - groups of devices by MPI ---------------*- C++ -*-===//
//
// A device's rank is its position in the mesh. On x=2, y=4 the group over "x" of
// rank 6 = (1, 2) is {2, 6}, and its coordinate is 1.
//
// No communicator is split: upstream's lowering keeps 32 bits of the new one,
// which OpenMPI's (a pointer) does not survive.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_FOREIGN_GROUPEXCHANGE_H
#define WEFT_PASSES_FOREIGN_GROUPEXCHANGE_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

class GroupExchange {
public:
  /// `group` is a rank-1 layout, as ops of `coll` have it.
  GroupExchange(mlir::OpBuilder &builder, mlir::Location loc, LayoutAttr group);

  int64_t size() const { return count; }
  /// index: which member of its group the device is.
  mlir::Value coordinate();
  /// index: the rank of a member of the device's group.
  mlir::Value rankOfMember(mlir::Value member);

  /// Each member's result; both as tensors of `value`'s type.
  mlir::Value allReduce(ReduceKind kind, mlir::Value value);
  /// [p, block]: what each member had of [block].
  mlir::Value gather(mlir::Value value);
  /// [p, block]: block k of the result is what member k had for this device.
  mlir::Value transpose(mlir::Value blocks);

private:
  mlir::Value constant(int64_t value);
  mlir::Value allReduceOfWorld(ReduceKind kind, mlir::Value value);
  /// [p, n] received for [p, n] sent, or [n] where it is the same for all.
  mlir::Value exchange(mlir::Value blocks, bool same);
  void exchangeWith(mlir::Value partner, mlir::Value me, mlir::Value mine,
                    mlir::Value theirs);

  mlir::ImplicitLocOpBuilder b;
  const Mesh mesh;
  SubAxes axes;
  int64_t count;
};

} // namespace weft

#endif // WEFT_PASSES_FOREIGN_GROUPEXCHANGE_H
