//===- AnyGroups.h - collectives of groups that no axes make ----*- C++ -*-===//
//
// Private to the StableHLO front end. Groups may be any partition of the
// devices, of different sizes as well:
//
//   replica_groups = [[7, 0], [1, 6], [5, 2], [3, 4]]
//   replica_groups = [[0, 1, 2], [3, 4, -1]]
//
// Each device gets the value of the member after it in its group, that of the
// second after it, and so on, by permutes: one step less than the group has
// members. Tables with an entry for each device then put the values in the
// order of the group, so that all members compute the same sum. Groups of
// different sizes communicate one size after the other; the other devices
// neither send nor receive meanwhile.
//
// A large value is reduced in blocks, one for each member: 2(n-1)/n of its bytes
// leave a device in a group of n, as in a ring, instead of n-1 times its bytes.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_ANYGROUPS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_ANYGROUPS_H

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

#include "weft/layout/DeviceGroups.h"

namespace weft::stablehlo {

/// The axes along which some devices of a list differ, such as a group, or a
/// pair of a source and a target.
SubAxes movingAxes(const Mesh &mesh, llvm::ArrayRef<DeviceGroup> lists);

/// The entry for the executing member in a table with an entry for each member.
Value entryOfMember(Converter &c, ForeignOp op, mlir::DenseElementsAttr table,
                    LayoutAttr group);

class AnyGroups {
public:
  /// The groups as positions in the mesh. Requires each position once.
  AnyGroups(Converter &c [[clang::lifetimebound]], ForeignOp op,
            std::vector<DeviceGroup> rows);

  /// The axes along which values move.
  const SubAxes &axes() const { return moving; }
  /// The sizes that groups have, in ascending order.
  llvm::ArrayRef<int64_t> sizes() const { return allSizes; }

  /// The values of the members, in the order of the group. Requires groups of
  /// one size.
  llvm::SmallVector<Value> gather(Value own) const {
    return gather(own, allSizes.back());
  }
  /// What each member has for the executing one: slice `i` of a member's first
  /// dimension is for member i. Requires groups of one size.
  llvm::SmallVector<Value> exchange(Value blocks) const {
    return exchange(blocks, allSizes.back());
  }
  /// Combines values, at least one.
  Value reduce(ReduceKind kind, llvm::ArrayRef<Value> values) const;
  /// Combines the values of the members, on each member.
  Value allReduce(ReduceKind kind, Value value) const;

private:
  /// Whether the groups look the same from all devices that differ along other
  /// axes only.
  bool isCommon(const SubAxes &over) const;
  /// The integers that `entry` gives for an index in a group of this size, for
  /// the executing device; 0 in groups of other sizes.
  Value own(int64_t size, llvm::function_ref<int64_t(int64_t)> entry) const;
  // The following leave values undefined in groups of other sizes.
  Value receive(Value value, int64_t size, int64_t step) const;
  llvm::SmallVector<Value> inOrder(llvm::ArrayRef<Value> received) const;
  llvm::SmallVector<Value> gather(Value own, int64_t size) const;
  llvm::SmallVector<Value> exchange(Value blocks, int64_t size) const;
  Value reduceWhole(ReduceKind kind, Value value, int64_t size) const;
  Value reduceInBlocks(ReduceKind kind, Value value, int64_t size) const;
  Value slice(Value stack, Value at) const;

  Converter &c;
  ForeignOp op;
  const Mesh mesh;
  std::vector<DeviceGroup> rows;
  llvm::SmallVector<int64_t> allSizes;
  /// The row and the index in it, by position in the mesh.
  llvm::SmallVector<int64_t> rowOf, indexIn;
  SubAxes moving;
  LayoutAttr group;
  /// A position for each member of `group`.
  DeviceGroup members;
};

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_ANYGROUPS_H
