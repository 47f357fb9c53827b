//===- AnyGroups.cpp - collectives of groups that no axes make ------------===//

#include "weft/compiler/frontends/stablehlo/convert/AnyGroups.h"

#include "weft/dialects/coll/Coll.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

SubAxes stablehlo::movingAxes(const Mesh &mesh, ArrayRef<DeviceGroup> lists) {
  SubAxes axes;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    if (llvm::any_of(lists, [&](const DeviceGroup &list) {
          return llvm::any_of(list, [&](int64_t position) {
            return mesh.coordinate(position, axis) !=
                   mesh.coordinate(list.front(), axis);
          });
        }))
      axes.push_back(fullAxis(mesh, axis));
  return axes;
}

Value stablehlo::entryOfMember(Converter &c, ForeignOp op,
                               DenseElementsAttr table, LayoutAttr group) {
  auto scalar = RankedTensorType::get({}, table.getElementType());
  Value all = c.make<ConstantOp>(op, table);
  Value member = c.make<coll::CoordinateOp>(
      op, RankedTensorType::get({}, c.builder.getI64Type()), group);
  Value entry = c.make<DynamicSliceOp>(op, all, member, ArrayRef<int64_t>{1});
  return c.make<ReshapeOp>(op, scalar, entry);
}

AnyGroups::AnyGroups(Converter &c, ForeignOp op, std::vector<DeviceGroup> table)
    : c(c), op(op), mesh(c.shardings.mesh().getMesh()), rows(std::move(table)),
      rowOf(mesh.size(), -1), indexIn(mesh.size(), -1) {
  for (auto [number, row] : llvm::enumerate(rows)) {
    allSizes.push_back(static_cast<int64_t>(row.size()));
    for (auto [index, position] : llvm::enumerate(row)) {
      rowOf[position] = number;
      indexIn[position] = index;
    }
  }
  llvm::sort(allSizes);
  allSizes.erase(llvm::unique(allSizes), allSizes.end());
  moving = movingAxes(mesh, rows);
  if (!isCommon(moving))
    moving = allAxes(mesh);
  group = coll::groupOver(c.shardings.mesh(), normalise(mesh, moving));
  members = groupsOver(mesh.axes, moving).groups.front();
}

bool AnyGroups::isCommon(const SubAxes &over) const {
  auto seenFrom = [&](int64_t position) {
    SmallVector<int64_t> seen{indexIn[position]};
    for (int64_t member : rows[rowOf[position]])
      seen.push_back(coordinate(mesh, member, ArrayRef<SubAxis>(over)));
    return seen;
  };
  DeviceGroups all = groupsOver(mesh.axes, over);
  return llvm::all_of(all.groups, [&](const DeviceGroup &one) {
    return llvm::all_of(llvm::zip_equal(one, all.groups.front()), [&](auto p) {
      return seenFrom(std::get<0>(p)) == seenFrom(std::get<1>(p));
    });
  });
}

Value AnyGroups::own(int64_t size,
                     llvm::function_ref<int64_t(int64_t)> entry) const {
  SmallVector<int64_t> entries;
  for (int64_t position : members)
    entries.push_back(int64_t(rows[rowOf[position]].size()) == size
                          ? entry(indexIn[position])
                          : 0);
  auto type =
      RankedTensorType::get({int64_t(entries.size())}, c.builder.getI64Type());
  return entryOfMember(c, op, DenseElementsAttr::get(type, ArrayRef(entries)),
                       group);
}

/// The value of the member `step` places after the executing one.
Value AnyGroups::receive(Value value, int64_t size, int64_t step) const {
  SmallVector<int64_t> sources;
  for (int64_t position : members) {
    const DeviceGroup &row = rows[rowOf[position]];
    int64_t from = row[(indexIn[position] + step) % row.size()];
    sources.push_back(int64_t(row.size()) == size
                          ? coordinate(mesh, from, ArrayRef<SubAxis>(moving))
                          : -1);
  }
  auto reason = c.builder.getStringAttr(op.name() + " of groups of devices");
  return c.make<coll::CollectivePermuteOp>(op, value.getType(), value, sources,
                                           group, reason);
}

Value AnyGroups::slice(Value stack, Value at) const {
  auto type = ::cast<RankedTensorType>(stack.getType());
  SmallVector<int64_t> sizes(type.getShape());
  sizes[0] = 1;
  SmallVector<Value> starts(
      sizes.size(),
      c.splat(op, 0, RankedTensorType::get({}, c.builder.getI64Type())));
  starts[0] = at;
  Value part = c.make<DynamicSliceOp>(op, stack, starts, sizes);
  return c.make<ReshapeOp>(op, type.clone(ArrayRef(sizes).drop_front()), part);
}

SmallVector<Value> AnyGroups::inOrder(ArrayRef<Value> received) const {
  auto type = ::cast<RankedTensorType>(received.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.insert(shape.begin(), 1);
  SmallVector<Value> parts;
  for (Value value : received)
    parts.push_back(c.make<ReshapeOp>(op, type.clone(shape), value));
  shape[0] = static_cast<int64_t>(parts.size());
  Value stack = c.make<ConcatenateOp>(op, type.clone(shape), parts, 0);
  SmallVector<Value> out;
  int64_t size = shape[0];
  for (int64_t member = 0; member < size; ++member)
    out.push_back(slice(stack, own(size, [&](int64_t index) {
                          return (member - index + size) % size;
                        })));
  return out;
}

SmallVector<Value> AnyGroups::gather(Value value, int64_t size) const {
  SmallVector<Value> received{value};
  for (int64_t step = 1; step < size; ++step)
    received.push_back(receive(value, size, step));
  return inOrder(received);
}

SmallVector<Value> AnyGroups::exchange(Value blocks, int64_t size) const {
  SmallVector<Value> received;
  for (int64_t step = 0; step < size; ++step) {
    // The member `step` places before the executing one gets this block.
    Value block = slice(blocks, own(size, [&](int64_t index) {
                          return (index - step + size) % size;
                        }));
    received.push_back(step ? receive(block, size, step) : block);
  }
  return inOrder(received);
}

Value AnyGroups::reduce(ReduceKind kind, ArrayRef<Value> values) const {
  Value sum = values.front();
  for (Value value : values.drop_front())
    sum = c.combine(op, kind, sum, value);
  return sum;
}

/// Each member combines one block of all members' values, which it then gives
/// to the others.
Value AnyGroups::reduceInBlocks(ReduceKind kind, Value value,
                                int64_t size) const {
  auto type = ::cast<RankedTensorType>(value.getType());
  int64_t count = type.getNumElements();
  int64_t block = llvm::divideCeil(count, size), padding = block * size - count;
  Value flat = c.make<ReshapeOp>(op, type.clone({count}), value);
  if (padding) // the values after the last element are not used
    flat = c.make<ConcatenateOp>(
        op, type.clone({count + padding}),
        ValueRange{flat, c.splat(op, 0, type.clone({padding}))}, 0);
  Value blocks = c.make<ReshapeOp>(op, type.clone({size, block}), flat);
  Value mine = reduce(kind, exchange(blocks, size));
  Value all = c.make<ConcatenateOp>(op, type.clone({count + padding}),
                                    gather(mine, size), 0);
  if (padding)
    all = c.make<SliceOp>(op, all, Ints{0}, Ints{count}, Ints{1});
  return c.make<ReshapeOp>(op, type, all);
}

/// Combines in the way that sends fewer elements, in fewer steps if both send
/// as many.
Value AnyGroups::reduceWhole(ReduceKind kind, Value value, int64_t size) const {
  int64_t count = ::cast<RankedTensorType>(value.getType()).getNumElements();
  bool isSmall = count <= 2 * int64_t(llvm::divideCeil(count, size));
  // A dimension that is sharded over free axes is not merged with others.
  if (isSmall || !c.freeAxes.empty())
    return reduce(kind, gather(value, size));
  return reduceInBlocks(kind, value, size);
}

Value AnyGroups::allReduce(ReduceKind kind, Value value) const {
  auto type = ::cast<RankedTensorType>(value.getType());
  auto flags = RankedTensorType::get({}, c.builder.getI1Type());
  Value result = value; // that of a group of one
  for (int64_t size : allSizes) {
    if (size == 1)
      continue;
    Value combined = reduceWhole(kind, value, size);
    if (allSizes.size() == 1)
      return combined;
    Value isMember = own(size, [](int64_t) { return int64_t(1); });
    isMember =
        c.fill(op, c.make<ConvertOp>(op, isMember, flags.getElementType()),
               flags.clone(type.getShape()));
    result = c.make<SelectOp>(op, isMember, combined, result);
  }
  return result;
}
