//===- ConvertCollectives.cpp - communication that a program asks for -----===//
//
// Groups are lists of device numbers in StableHLO, but axes in coll:
//
//   replica_groups = [[0, 4], [1, 5], [2, 6], [3, 7]]    over #mesh ["x"]
//
// Groups that no axes make become permutes (AnyGroups.h).
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/AnyGroups.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/layout/GroupAxes.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

StringAttr reason(Converter &c, ForeignOp op) {
  return c.builder.getStringAttr(op.name() + " of a manual computation");
}

/// The position of each device in the mesh, indexed by the device's number.
SmallVector<int64_t> positionsOf(const Mesh &mesh) {
  SmallVector<int64_t> positions(mesh.size());
  for (int64_t position = 0; position < mesh.size(); ++position) {
    int64_t device = deviceAt(mesh, position);
    if (device >= 0 && device < mesh.size())
      positions[device] = position;
  }
  return positions;
}

/// Converts a table of device numbers to rows of positions in the mesh.
FailureOr<std::vector<DeviceGroup>> readRows(Converter &c, ForeignOp op,
                                             StringRef name) {
  const Mesh mesh = c.shardings.mesh().getMesh();
  auto table = dyn_cast_or_null<DenseIntElementsAttr>(op.attribute(name));
  if (!table || table.getType().getRank() != 2)
    return op.refuse() << "has no table of devices '" << name << "'";
  SmallVector<int64_t> positions = positionsOf(mesh);
  std::vector<DeviceGroup> rows(table.getType().getDimSize(0));
  Ints numbers = integersOf(table);
  int64_t columns = table.getType().getDimSize(1);
  for (auto [i, number] : llvm::enumerate(numbers)) {
    if (number == -1 && name == "replica_groups")
      continue; // shorter groups are filled up
    if (number < 0 || number >= mesh.size())
      return op.refuse() << "names device " << number << " of " << mesh.size();
    rows[i / columns].push_back(positions[number]);
  }
  return rows;
}

/// Checks that the manual computation does not leave one of the axes to the
/// compiler, as values are global along such an axis.
LogicalResult checkManual(Converter &c, ForeignOp op, ArrayRef<SubAxis> axes) {
  for (const SubAxis &axis : axes)
    for (const SubAxis &free : c.freeAxes)
      if (axis.axis == free.axis)
        return op.refuse() << "communicates along \""
                           << c.shardings.mesh().getMesh().axes[axis.axis].name
                           << "\", which its manual computation leaves to the "
                              "compiler; name that axis in manual_axes";
  return success();
}

/// Whether the op is in code for one device.
bool seesOneDevice(Converter &c) { return c.perDevice || c.isOneDevice; }

/// Whether the program has one device.
bool isAlone(Converter &c) {
  return !c.shardings.mesh() || c.shardings.mesh().getMesh().size() == 1;
}

/// Refuses code for all devices.
LogicalResult checkOneDevice(Converter &c, ForeignOp op) {
  if (seesOneDevice(c))
    return success();
  return op.refuse() << "communicates outside a manual computation, where "
                        "values are those of all devices";
}

/// Refuses rows in which a device is twice, or none at all, and groups of
/// different sizes unless the op reduces over them.
LogicalResult checkGroups(ForeignOp op, const Mesh &mesh,
                          ArrayRef<DeviceGroup> rows) {
  llvm::SmallDenseSet<int64_t> seen;
  for (const DeviceGroup &row : rows) {
    if (row.empty())
      return op.refuse() << "has a group without devices";
    for (int64_t position : row)
      if (!seen.insert(position).second)
        return op.refuse() << "has device " << deviceAt(mesh, position)
                           << " in two groups; name each device once";
    if (row.size() != rows.front().size() && op.name() != "all_reduce")
      return op.refuse() << "has groups of " << rows.front().size() << " and "
                         << row.size()
                         << " devices; only all_reduce has groups of different "
                            "sizes";
  }
  for (int64_t position = 0; position < mesh.size(); ++position)
    if (!seen.contains(position))
      return op.refuse() << "has device " << deviceAt(mesh, position)
                         << " in no group; name each device once";
  return success();
}

/// How a collective converts one operand: in groups that axes make, and in
/// others.
struct Moves {
  llvm::function_ref<Value(Value input, RankedTensorType result,
                           LayoutAttr group)>
      overAxes;
  llvm::function_ref<Value(Value input, RankedTensorType result,
                           const AnyGroups &groups)>
      inGroups;
};

/// Converts each operand. Groups of one device leave the operands as they are.
LogicalResult convertEach(Converter &c, ForeignOp op, const Moves &moves) {
  if (failed(checkOneDevice(c, op)))
    return failure();
  if (isAlone(c))
    return c.give(op, c.inputs(op));
  const Mesh mesh = c.shardings.mesh().getMesh();
  auto rows = readRows(c, op, "replica_groups");
  if (failed(rows) || (!rows->empty() && failed(checkGroups(op, mesh, *rows))))
    return failure();
  if (op->getNumOperands() != op->getNumResults())
    return op.refuse() << "has " << op->getNumOperands() << " operands, but "
                       << op->getNumResults() << " results";
  auto axes = rows->empty() ? normalise(mesh, allAxes(mesh))
                            : axesOfGroups(mesh, *rows);
  std::optional<AnyGroups> others;
  if (!axes)
    others.emplace(c, op, *rows);
  if (failed(checkManual(c, op, axes ? *axes : others->axes())))
    return failure();
  if (axes && axes->empty())
    return c.give(op, c.inputs(op));
  SmallVector<Value> results;
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    results.push_back(
        axes ? moves.overAxes(c.input(op, i), op.resultType(i),
                              coll::groupOver(c.shardings.mesh(), *axes))
             : moves.inGroups(c.input(op, i), op.resultType(i), *others));
  return c.give(op, results);
}

/// Splits a dimension into as many blocks as a group has members, along a new
/// first dimension.
Value stackBlocks(Converter &c, ForeignOp op, Value input, int64_t dim,
                  int64_t count) {
  auto type = ::cast<RankedTensorType>(input.getType());
  SmallVector<int64_t> split(type.getShape()), order;
  split[dim] /= count;
  split.insert(split.begin() + dim, count);
  order.push_back(dim);
  for (int64_t d = 0; d < int64_t(split.size()); ++d)
    if (d != dim)
      order.push_back(d);
  Value blocks = c.make<ReshapeOp>(op, type.clone(split), input);
  return c.make<TransposeOp>(op, blocks, order);
}

FailureOr<ReduceKind> readKind(ForeignOp op) {
  if (auto kind = reductionOf(op->getRegion(0)))
    return *kind;
  return op.refuse() << "combines in a way that is not supported; known are "
                        "add, multiply, maximum, minimum, and, or";
}

LogicalResult allReduce(Converter &c, ForeignOp op) {
  auto kind = readKind(op);
  if (failed(kind))
    return failure();
  return convertEach(
      c, op,
      {[&](Value input, RankedTensorType type, LayoutAttr group) -> Value {
         return coll::AllReduceOp::create(
                    c.builder, op->getLoc(), TypeRange{type}, *kind,
                    ValueRange{input}, group, reason(c, op))
             .getResult(0);
       },
       [&](Value input, RankedTensorType, const AnyGroups &groups) {
         return groups.allReduce(*kind, input);
       }});
}

LogicalResult reduceScatter(Converter &c, ForeignOp op) {
  auto kind = readKind(op);
  if (failed(kind))
    return failure();
  int64_t dim = op.integer("scatter_dimension").value_or(0);
  for (unsigned i = 0; i < op->getNumOperands(); ++i)
    if (dim < 0 || dim >= op.operandType(i).getRank())
      return op.refuse() << "scatters dimension " << dim << " of "
                         << op.operandType(i);
  return convertEach(
      c, op,
      {[&](Value input, RankedTensorType type, LayoutAttr group) {
         return c.make<coll::ReduceScatterOp>(op, type, input, *kind, dim,
                                              group, reason(c, op));
       },
       [&](Value input, RankedTensorType, const AnyGroups &groups) {
         Value blocks = stackBlocks(c, op, input, dim, groups.sizes().back());
         return groups.reduce(*kind, groups.exchange(blocks));
       }});
}

LogicalResult allGather(Converter &c, ForeignOp op) {
  int64_t dim = op.integer("all_gather_dim").value_or(0);
  return convertEach(
      c, op,
      {[&](Value input, RankedTensorType type, LayoutAttr group) {
         return c.make<coll::AllGatherOp>(op, type, input, dim, group,
                                          reason(c, op));
       },
       [&](Value input, RankedTensorType type, const AnyGroups &groups) {
         return c.make<ConcatenateOp>(op, type, groups.gather(input), dim);
       }});
}

/// Exchanges blocks within one dimension: the dimension is split into block
/// numbers and blocks, of which the numbers are exchanged.
Value exchangeBlocks(Converter &c, ForeignOp op, Value input, int64_t dim,
                     LayoutAttr group) {
  auto type = ::cast<RankedTensorType>(input.getType());
  int64_t members = coll::groupSize(group);
  SmallVector<int64_t> split(type.getShape()), joined;
  split[dim] /= members;
  split.insert(split.begin() + dim, {1, members});
  joined = split;
  std::swap(joined[dim], joined[dim + 1]);
  Value blocks = c.make<ReshapeOp>(op, type.clone(split), input);
  Value moved = c.make<coll::AllToAllOp>(op, type.clone(joined), blocks,
                                         dim + 1, dim, group, reason(c, op));
  return c.make<ReshapeOp>(op, type, moved);
}

LogicalResult allToAll(Converter &c, ForeignOp op) {
  int64_t split = op.integer("split_dimension").value_or(0);
  int64_t concat = op.integer("concat_dimension").value_or(0);
  for (unsigned i = 0; i < op->getNumOperands(); ++i) {
    RankedTensorType type = op.operandType(i);
    int64_t count = op.integer("split_count").value_or(1);
    if (split < 0 || split >= type.getRank() || concat < 0 ||
        concat >= type.getRank() || count < 1 || type.getDimSize(split) % count)
      return op.refuse() << "splits dimension " << split << " of " << type
                         << " in " << count << " parts";
  }
  return convertEach(
      c, op,
      {[&](Value input, RankedTensorType type, LayoutAttr group) {
         if (split == concat)
           return exchangeBlocks(c, op, input, split, group);
         return c.make<coll::AllToAllOp>(op, type, input, split, concat, group,
                                         reason(c, op));
       },
       [&](Value input, RankedTensorType type, const AnyGroups &groups) {
         Value blocks = stackBlocks(c, op, input, split, groups.sizes().back());
         return c.make<ConcatenateOp>(op, type, groups.exchange(blocks),
                                      concat);
       }});
}

//===----------------------------------------------------------------------===//
// Permutes and broadcasts
//===----------------------------------------------------------------------===//

/// The source of each member of a group, if all groups have the same sources;
/// -1 stands for none.
std::optional<SmallVector<int64_t>> sourcesOver(const Mesh &mesh,
                                                const SubAxes &axes,
                                                ArrayRef<DeviceGroup> pairs) {
  SmallVector<int64_t> sourceOf(mesh.size(), -1);
  for (const DeviceGroup &pair : pairs)
    sourceOf[pair[1]] = coordinate(mesh, pair[0], ArrayRef<SubAxis>(axes));
  std::optional<SmallVector<int64_t>> common;
  DeviceGroups all = groupsOver(mesh.axes, axes);
  for (const DeviceGroup &group : all.groups) {
    auto own =
        llvm::map_to_vector(group, [&](int64_t p) { return sourceOf[p]; });
    if (common && *common != own)
      return std::nullopt;
    common = own;
  }
  return common;
}

/// Sets the value to zero on members that have no source.
Value zeroWithoutSource(Converter &c, ForeignOp op, Value value,
                        ArrayRef<int64_t> sources, LayoutAttr group) {
  if (!llvm::is_contained(sources, -1))
    return value;
  auto type = ::cast<RankedTensorType>(value.getType());
  auto flags = llvm::map_to_vector(sources, [](int64_t s) { return s >= 0; });
  auto table =
      RankedTensorType::get({int64_t(flags.size())}, c.builder.getI1Type());
  Value flag =
      entryOfMember(c, op, DenseElementsAttr::get(table, flags), group);
  Value all = c.fill(
      op, flag, RankedTensorType::get(type.getShape(), c.builder.getI1Type()));
  return c.make<SelectOp>(op, all, value, c.splat(op, 0, type));
}

/// Moves the operand along pairs of a sender and a receiver. The result is the
/// sender's operand on each receiver, and zero on other devices.
LogicalResult moveAlong(Converter &c, ForeignOp op,
                        ArrayRef<DeviceGroup> pairs) {
  const Mesh mesh = c.shardings.mesh().getMesh();
  llvm::SmallDenseSet<int64_t> targets;
  for (const DeviceGroup &pair : pairs)
    if (!targets.insert(pair[1]).second)
      return op.refuse() << "sends to device " << deviceAt(mesh, pair[1])
                         << " twice; name each receiver once";
  SubAxes axes = movingAxes(mesh, pairs);
  auto sources = sourcesOver(mesh, axes, pairs);
  if (!sources) {
    axes = allAxes(mesh);
    sources = sourcesOver(mesh, axes, pairs);
  }
  if (failed(checkManual(c, op, axes)))
    return failure();
  Value input = c.input(op, 0);
  LayoutAttr group = coll::groupOver(c.shardings.mesh(), normalise(mesh, axes));
  Value moved = c.make<coll::CollectivePermuteOp>(
      op, input.getType(), input, *sources, group, reason(c, op));
  return c.give(op, zeroWithoutSource(c, op, moved, *sources, group));
}

LogicalResult permute(Converter &c, ForeignOp op) {
  if (failed(checkOneDevice(c, op)))
    return failure();
  if (isAlone(c)) { // one device may only send to itself
    bool sends = !integersOf(op.attribute("source_target_pairs")).empty();
    return c.give(op,
                  sends ? c.input(op, 0) : c.splat(op, 0, op.operandType(0)));
  }
  auto pairs = readRows(c, op, "source_target_pairs");
  if (failed(pairs))
    return failure();
  for (const DeviceGroup &pair : *pairs)
    if (pair.size() != 2)
      return op.refuse() << "has a row of " << pair.size()
                         << " devices, not a pair";
  return moveAlong(c, op, *pairs);
}

/// Sends the operand of each group's first device to all devices of the group.
/// Without groups all devices are one group, with device 0 as the first.
LogicalResult collectiveBroadcast(Converter &c, ForeignOp op) {
  if (failed(checkOneDevice(c, op)))
    return failure();
  if (isAlone(c))
    return c.give(op, c.input(op, 0));
  auto rows = readRows(c, op, "replica_groups");
  if (failed(rows))
    return failure();
  if (rows->empty()) {
    auto all = positionsOf(c.shardings.mesh().getMesh());
    rows->emplace_back(all.begin(), all.end());
  }
  std::vector<DeviceGroup> pairs;
  for (const DeviceGroup &row : *rows)
    for (int64_t member : row)
      pairs.push_back({row.front(), member});
  return moveAlong(c, op, pairs);
}

//===----------------------------------------------------------------------===//
// The number of the device
//===----------------------------------------------------------------------===//

LogicalResult partitionId(Converter &c, ForeignOp op) {
  if (!seesOneDevice(c))
    return op.refuse() << "asks which device it runs on outside a manual "
                          "computation";
  if (isAlone(c))
    return c.give(op, c.splat(op, 0, op.resultType()));
  const Mesh mesh = c.shardings.mesh().getMesh();
  LayoutAttr group =
      coll::groupOver(c.shardings.mesh(), normalise(mesh, allAxes(mesh)));
  auto type = RankedTensorType::get({}, c.builder.getI64Type());
  Value number;
  if (mesh.devices.empty())
    number = c.make<coll::CoordinateOp>(op, type, group);
  else
    number =
        entryOfMember(c, op,
                      DenseElementsAttr::get(type.clone({mesh.size()}),
                                             ArrayRef<int64_t>(mesh.devices)),
                      group);
  return c.give(op, c.cast(op, number, op.resultType().getElementType()));
}

LogicalResult replicaId(Converter &c, ForeignOp op) {
  return c.give(op, c.splat(op, 0, op.resultType()));
}

constexpr ConversionEntry kEntries[] = {
    {"all_reduce", allReduce, 1, 1, OpRole::OverElements},
    {"reduce_scatter", reduceScatter, 1, 1, OpRole::OverElements},
    {"all_gather", allGather},
    {"all_to_all", allToAll},
    {"collective_broadcast", collectiveBroadcast},
    {"collective_permute", permute},
    {"partition_id", partitionId, 0},
    {"replica_id", replicaId, 0},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::collectiveConversions() {
  return kEntries;
}
