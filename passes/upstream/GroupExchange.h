//===- GroupExchange.h - groups of devices by MPI ---------------*- C++ -*-===//
//
// A device's rank is its position in the mesh. On x=2, y=4 the group over "x"
// of rank 6 = (1, 2) is {2, 6}, and its coordinate is 1.
//
// No communicator is split: upstream's lowering truncates the new communicator
// to 32 bits, but in OpenMPI it is a pointer.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_UPSTREAM_GROUPEXCHANGE_H
#define WEFT_PASSES_UPSTREAM_GROUPEXCHANGE_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace weft {

class GroupExchange {
public:
  /// Emits the exchanges of one group, which is a rank-1 layout as in ops of
  /// `coll`.
  GroupExchange(mlir::OpBuilder &builder, mlir::Location loc, LayoutAttr group);

  int64_t size() const { return count; }
  /// The number of the device in its group, an index.
  mlir::Value coordinate();
  /// The rank of a member of the device's group, an index.
  mlir::Value rankOfMember(mlir::Value member);

  /// Combines the members' values; the result has `value`'s type.
  mlir::Value allReduce(ReduceKind kind, mlir::Value value);
  /// Gathers [block] of each member as [p, block].
  mlir::Value gather(mlir::Value value);
  /// Exchanges [p, block]: block k of the result is member k's block for this
  /// device.
  mlir::Value transpose(mlir::Value blocks);

private:
  mlir::Value constant(int64_t value);
  mlir::Value allReduceOfWorld(ReduceKind kind, mlir::Value value);
  /// Sends [p, n], or [n] to each member if `same`, and returns the received
  /// [p, n].
  mlir::Value exchange(mlir::Value blocks, bool same);
  void exchangeWith(mlir::Value partner, mlir::Value me, mlir::Value mine,
                    mlir::Value theirs);

  mlir::ImplicitLocOpBuilder b;
  const Mesh mesh;
  SubAxes axes;
  int64_t count;
};

} // namespace weft

#endif // WEFT_PASSES_UPSTREAM_GROUPEXCHANGE_H
