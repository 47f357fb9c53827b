//===- Collectives.cpp - the meaning of communication ---------------------===//
//
// A collective over a group is a function from the tensors of the members, in
// the order of their coordinates, to the members' results; permute and exchange
// are functions of the tensors of all devices.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/layout/DeviceGroups.h"
#include "weft/passes/interpret/Meanings.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft {

namespace {

/// Copies the block of `sizes` at `from` of one tensor to `to` of another,
/// except elements outside of either tensor.
void copyBlock(const Tensor &source, ArrayRef<int64_t> from, Tensor &target,
               ArrayRef<int64_t> to, ArrayRef<int64_t> sizes) {
  SmallVector<int64_t, 4> sourceStrides = stridesOf(source.getShape()),
                          targetStrides = stridesOf(target.getShape());
  int64_t count = 1, p = 0, q = 0;
  SmallVector<int64_t, 4> clipped;
  for (size_t dim = 0; dim < sizes.size(); ++dim) {
    int64_t size = std::min({sizes[dim], source.getShape()[dim] - from[dim],
                             target.getShape()[dim] - to[dim]});
    clipped.push_back(std::max<int64_t>(size, 0));
    count *= clipped.back();
    p += from[dim] * sourceStrides[dim];
    q += to[dim] * targetStrides[dim];
  }
  if (count == 0)
    return;
  std::vector<int64_t> sources = offsets(clipped, sourceStrides, p),
                       targets = offsets(clipped, targetStrides, q);
  for (size_t i = 0; i < sources.size(); ++i)
    target.copy(targets[i], source, sources[i]);
}

Tensor padding(RankedTensorType type) {
  Tensor result(type);
  for (int64_t i = 0; i < result.size(); ++i)
    result.setPadding(i);
  return result;
}

/// Block k along `dim`, with the shape of `type`.
Tensor blockOf(const Tensor &x, RankedTensorType type, int64_t dim, int64_t k) {
  Tensor result = padding(type);
  SmallVector<int64_t, 4> from(x.getShape().size(), 0), to(from);
  from[dim] = k * type.getDimSize(dim);
  copyBlock(x, from, result, to, type.getShape());
  return result;
}

/// Concatenates blocks along `dim` and truncates the result to `type`.
Tensor concatenated(ArrayRef<Tensor> blocks, RankedTensorType type,
                    int64_t dim) {
  Tensor result = padding(type);
  SmallVector<int64_t, 4> from(type.getRank(), 0), to(from);
  for (const Tensor &block : blocks) {
    copyBlock(block, from, result, to, block.getShape());
    to[dim] += block.getShape()[dim];
  }
  return result;
}

Tensor combined(ReduceKind kind, ArrayRef<const Tensor *> members) {
  Tensor result = *members[0];
  for (const Tensor *member : members.drop_front())
    for (int64_t i = 0; i < result.size(); ++i)
      combineInto(kind, result, i, *member, i);
  return result;
}

/// The result of coll.fetch: member k's elements at the positions of the op's
/// formula.
Tensor fetched(coll::FetchOp op, ArrayRef<const Tensor *> members, int64_t k) {
  auto type = cast<RankedTensorType>(op.getResult().getType());
  int64_t dim = op.getDim(), d = op.getDivisor(), m = op.getModulus();
  int64_t block = shardSize(op.getSize(), members.size());
  Tensor result = padding(type);
  SmallVector<int64_t, 4> from(type.getRank(), 0), to(from);
  SmallVector<int64_t, 4> one(type.getShape());
  one[dim] = 1;
  for (int64_t t = 0; t < type.getDimSize(dim); ++t) {
    int64_t at = op.getBlock() * k + op.getStep() * t + op.getOffset();
    if (m > 0)
      at = (at % m + m) % m;
    if (at < 0 || at % d != 0 || at / d >= int64_t(op.getSize()))
      continue;
    from[dim] = at / d % block;
    to[dim] = t;
    copyBlock(*members[at / d / block], from, result, to, one);
  }
  return result;
}

/// The result of coll.pick: member k's element at each of member k's positions.
Tensor picked(coll::PickOp op, ArrayRef<const Tensor *> members,
              const Tensor &positions) {
  Tensor result(cast<RankedTensorType>(op.getResult().getType()));
  int64_t dim = op.getDim(), block = members[0]->getShape()[dim];
  SmallVector<int64_t, 4> strides = stridesOf(members[0]->getShape());
  int64_t last = block * static_cast<int64_t>(members.size()) - 1;
  for (int64_t i = 0; i < result.size() && last >= 0; ++i) {
    int64_t q = std::clamp<int64_t>(positions.integer(i), 0, last), from = 0;
    for (auto [d, at] : llvm::enumerate(indexOf(i, result.getShape())))
      from += (static_cast<int64_t>(d) == dim ? q % block : at) * strides[d];
    result.copy(i, *members[q / block], from);
  }
  return result;
}

/// The result of member k, from the operand of each member.
Tensor memberResult(Operation *op, unsigned index,
                    ArrayRef<const Tensor *> members, int64_t k) {
  auto type = cast<RankedTensorType>(op->getResult(index).getType());
  return llvm::TypeSwitch<Operation *, Tensor>(op)
      .Case([&](coll::SliceOp slice) {
        return blockOf(*members[k], type, slice.getDim(), k);
      })
      .Case([&](coll::MakePartialOp partial) {
        return k == 0 ? *members[0] : absentTensor(partial.getKind(), type);
      })
      .Case([&](coll::AllReduceOp reduce) {
        return combined(reduce.getKind(), members);
      })
      .Case([&](coll::ReduceScatterOp scatter) {
        return blockOf(combined(scatter.getKind(), members), type,
                       scatter.getDim(), k);
      })
      .Case([&](coll::AllGatherOp gather) {
        Tensors blocks;
        for (const Tensor *member : members)
          blocks.push_back(*member);
        return concatenated(blocks, type, gather.getDim());
      })
      .Case([&](coll::FetchOp fetch) { return fetched(fetch, members, k); })
      .Case([&](coll::CollectivePermuteOp permute) {
        int64_t source = permute.getSources()[k];
        return source < 0 ? padding(type) : *members[source];
      })
      .Case([&](coll::AllToAllOp move) {
        Tensors blocks;
        for (const Tensor *member : members) {
          SmallVector<int64_t> shape(member->getShape());
          shape[move.getSplit()] = type.getDimSize(move.getSplit());
          blocks.push_back(blockOf(
              *member, RankedTensorType::get(shape, type.getElementType()),
              move.getSplit(), k));
        }
        return concatenated(blocks, type, move.getConcat());
      })
      .DefaultUnreachable("not a grouped collective");
}

SmallVector<Tensors>
groupedMeaning(Operation *op, const Mesh &mesh, LayoutAttr group,
               ArrayRef<SmallVector<const Tensor *>> operands) {
  SmallVector<Tensors> results(mesh.size(), Tensors(op->getNumResults()));
  DeviceGroups all = groupsOver(mesh.axes, group.getLayout().dims[0]);
  for (const DeviceGroup &members : all.groups)
    for (unsigned index = 0; index < op->getNumResults(); ++index) {
      SmallVector<const Tensor *> tensors;
      for (int64_t position : members)
        tensors.push_back(operands[position][index]);
      for (auto [k, position] : llvm::enumerate(members))
        results[position][index] = memberResult(op, index, tensors, k);
    }
  return results;
}

SmallVector<Tensors>
pickMeaning(coll::PickOp op, const Mesh &mesh,
            ArrayRef<SmallVector<const Tensor *>> operands) {
  SmallVector<Tensors> results(mesh.size());
  DeviceGroups all = groupsOver(mesh.axes, op.getGroup().getLayout().dims[0]);
  for (const DeviceGroup &members : all.groups) {
    SmallVector<const Tensor *> tensors;
    for (int64_t position : members)
      tensors.push_back(operands[position][0]);
    for (int64_t position : members)
      results[position] = {picked(op, tensors, *operands[position][1])};
  }
  return results;
}

/// The results of permute and exchange, which give the global value another
/// layout.
FailureOr<SmallVector<Tensors>>
layoutMove(Operation *op, ArrayRef<int64_t> shape, LayoutAttr from,
           LayoutAttr to, ArrayRef<SmallVector<const Tensor *>> operands) {
  Mesh mesh = from.getMesh().getMesh();
  Tensors locals;
  for (const auto &operand : operands)
    locals.push_back(*operand[0]);
  Tensor global;
  std::string reason =
      gatherTensor(mesh, from.getLayout(), shape, locals, global);
  if (!reason.empty())
    return op->emitOpError(reason);
  SmallVector<Tensors> results;
  for (Tensor &block : shardTensor(mesh, to.getLayout(), global))
    results.push_back({std::move(block)});
  return results;
}

SmallVector<Tensors> coordinates(coll::CoordinateOp op, const Mesh &mesh) {
  Layout axes = op.getGroup().getLayout();
  SmallVector<Tensors> results;
  for (int64_t position = 0; position < mesh.size(); ++position) {
    Tensor k(cast<RankedTensorType>(op.getResult().getType()));
    k.setInteger(0,
                 coordinate(mesh, position, ArrayRef<SubAxis>(axes.dims[0])));
    results.push_back({k});
  }
  return results;
}

} // namespace

std::optional<FailureOr<SmallVector<Tensors>>>
meaningOfCollective(Operation *op, const Mesh &mesh,
                    ArrayRef<SmallVector<const Tensor *>> operands) {
  using Result = std::optional<FailureOr<SmallVector<Tensors>>>;
  auto otherMesh = [&](LayoutAttr layout) {
    return layout.getMesh().getMesh().axes != mesh.axes;
  };
  auto refused = [&]() -> Result {
    return FailureOr<SmallVector<Tensors>>(
        op->emitOpError("is over another mesh than the one of ")
        << mesh.size() << " devices that the program runs on");
  };
  auto grouped = [&](auto collective) -> Result {
    if (otherMesh(collective.getGroup()))
      return refused();
    return FailureOr(groupedMeaning(op, mesh, collective.getGroup(), operands));
  };
  auto move = [&](auto collective) -> Result {
    if (otherMesh(collective.getFrom()))
      return refused();
    return layoutMove(op, collective.getShape(), collective.getFrom(),
                      collective.getTo(), operands);
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](coll::CoordinateOp coordinateOp) -> Result {
        if (otherMesh(coordinateOp.getGroup()))
          return refused();
        return FailureOr(coordinates(coordinateOp, mesh));
      })
      .Case<coll::SliceOp, coll::MakePartialOp, coll::AllReduceOp,
            coll::ReduceScatterOp, coll::AllGatherOp, coll::AllToAllOp,
            coll::FetchOp, coll::CollectivePermuteOp>(grouped)
      .Case([&](coll::PickOp pick) -> Result {
        if (otherMesh(pick.getGroup()))
          return refused();
        return FailureOr(pickMeaning(pick, mesh, operands));
      })
      .Case<coll::PermuteOp, coll::ExchangeOp>(move)
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace weft
