//===- Collectives.cpp - the meaning of communication ---------------------===//
//
// A collective over a group is a function from the tensors of the members, in
// the order of their coordinates, to the members' results, by its kind.
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

Tensor combined(ReduceKind kind, ArrayRef<const Tensor *> members) {
  Tensor result = *members[0];
  for (const Tensor *member : members.drop_front())
    for (int64_t i = 0; i < result.size(); ++i)
      combineInto(kind, result, i, *member, i);
  return result;
}

/// The operands of a group's members: members[member][operand].
using Members = ArrayRef<ArrayRef<const Tensor *>>;

/// Member k's elements at the positions of the formula.
Tensor fetched(const FetchedPositions &at, int64_t dim, RankedTensorType type,
               Members members, int64_t k) {
  int64_t d = at.divisor, m = at.modulus;
  int64_t block = shardSize(at.size, members.size());
  Tensor result = padding(type);
  SmallVector<int64_t, 4> from(type.getRank(), 0), to(from);
  SmallVector<int64_t, 4> one(type.getShape());
  one[dim] = 1;
  for (int64_t t = 0; t < type.getDimSize(dim); ++t) {
    int64_t q = at.block * k + at.step * t + at.offset;
    if (m > 0)
      q = (q % m + m) % m;
    if (q < 0 || q % d != 0 || q / d >= at.size)
      continue;
    from[dim] = q / d % block;
    to[dim] = t;
    copyBlock(*members[q / d / block][0], from, result, to, one);
  }
  return result;
}

/// Member k's element at each of member k's positions.
Tensor picked(int64_t dim, RankedTensorType type, Members members, int64_t k) {
  Tensor result(type);
  ArrayRef<int64_t> shape = members[0][0]->getShape();
  int64_t block = shape[dim];
  SmallVector<int64_t, 4> strides = stridesOf(shape);
  int64_t last = block * static_cast<int64_t>(members.size()) - 1;
  for (int64_t i = 0; i < result.size() && last >= 0; ++i) {
    int64_t q = std::clamp<int64_t>(members[k][1]->integer(i), 0, last);
    int64_t from = 0;
    for (auto [d, at] : llvm::enumerate(indexOf(i, result.getShape())))
      from += (static_cast<int64_t>(d) == dim ? q % block : at) * strides[d];
    result.copy(i, *members[q / block][0], from);
  }
  return result;
}

/// The results of member k, from the operands of all members. A movement is a
/// function of the whole group: see moved().
struct MemberMeaning {
  Operation *op;
  Members members;
  int64_t k;

  RankedTensorType type(unsigned index = 0) const {
    return cast<RankedTensorType>(op->getResult(index).getType());
  }
  Tensors operator()(const Combination &its) const {
    Tensors results;
    for (unsigned index = 0; index < op->getNumResults(); ++index) {
      SmallVector<const Tensor *> tensors;
      for (ArrayRef<const Tensor *> member : members)
        tensors.push_back(member[index]);
      Tensor all = combined(its.kind, tensors);
      results.push_back(its.dim ? blockOf(all, type(), *its.dim, k)
                                : std::move(all));
    }
    return results;
  }
  Tensors operator()(const Fetching &its) const {
    return {its.positions ? fetched(*its.positions, its.dim, type(), members, k)
                          : picked(its.dim, type(), members, k)};
  }
  Tensors operator()(const Sending &its) const {
    int64_t sender = its.senders[k];
    return {sender < 0 ? padding(type()) : *members[sender][0]};
  }
  Tensors operator()(const Movement &) const { return {}; }
  Tensors operator()(const HostCall &) const { return {}; }
};

/// The digits of the group as a mesh, whose positions are the members.
Mesh meshOf(ArrayRef<SubAxis> digits) {
  Mesh mesh;
  for (const SubAxis &digit : digits)
    mesh.axes.push_back({"", digit.size});
  return mesh;
}

/// The layout, which has digits of the group only, on the mesh of these digits.
Layout onMeshOf(ArrayRef<SubAxis> digits, Layout layout) {
  for (SubAxes &dim : layout.dims)
    for (SubAxis &digit : dim) {
      auto number =
          static_cast<uint32_t>(llvm::find(digits, digit) - digits.begin());
      digit = {number, 1, digit.size};
    }
  return layout;
}

/// The results of a ring, which gives the value of a group another layout.
/// Returns the reason of a refusal, or empty.
std::string rotated(const Movement &its, ArrayRef<SubAxis> digits,
                    Members members, Tensors &results) {
  Mesh group = meshOf(digits);
  Tensors locals;
  for (ArrayRef<const Tensor *> member : members)
    locals.push_back(*member[0]);
  Tensor global;
  std::string reason = gatherTensor(group, onMeshOf(digits, its.from),
                                    its.shape, locals, global);
  if (reason.empty())
    results = shardTensor(group, onMeshOf(digits, its.to), global);
  return reason;
}

/// The same for a movement that is no ring. A group outside of the parts that
/// hold the array has nothing to move.
std::string moved(const Movement &its, const Mesh &mesh,
                  ArrayRef<int64_t> positions, Members members,
                  Tensors &results) {
  if (llvm::none_of(positions, [&](int64_t position) {
        return holds(mesh, its.from, position);
      })) {
    for (ArrayRef<const Tensor *> member : members)
      results.push_back(padding(Tensor(localShape(its.to, its.shape),
                                       member[0]->getType().getElementType())
                                    .getType()));
    return {};
  }
  Tensors locals(mesh.size(), *members[0][0]);
  for (auto [position, member] : llvm::zip_equal(positions, members))
    locals[position] = *member[0];
  Tensor global;
  std::string reason = gatherTensor(mesh, its.from, its.shape, locals, global);
  if (!reason.empty())
    return reason;
  Tensors all = shardTensor(mesh, its.to, global);
  for (int64_t position : positions)
    results.push_back(std::move(all[position]));
  return {};
}

/// The results of a movement of boxes.
Tensors movedByBoxes(const Movement &its, const Mesh &mesh,
                     ArrayRef<int64_t> positions, Members members) {
  auto type = RankedTensorType::get(localShape(its.to, its.toShape),
                                    members[0][0]->getElementType());
  Tensors results(members.size(), padding(type));
  for (const MovedPiece &piece : piecesOf(its.boxed(), mesh, positions))
    fillBox(results[piece.target], *members[piece.source][piece.box.operand],
            piece.box);
  return results;
}

/// The results of a collective on all devices.
FailureOr<SmallVector<Tensors>>
communicated(plan::PlanInstructionOpInterface op, const Mesh &mesh,
             ArrayRef<SmallVector<const Tensor *>> operands) {
  Communication communication = op.getCommunication().getCommunication();
  SubAxes digits = plan::groupAxes(op.getCommunicatingGroup());
  SmallVector<Tensors> results(mesh.size());
  DeviceGroups all = groupsOf(communication, {mesh, digits});
  for (const DeviceGroup &positions : all.groups) {
    SmallVector<ArrayRef<const Tensor *>> members;
    for (int64_t position : positions)
      members.push_back(operands[position]);
    if (const auto *its = std::get_if<Movement>(&communication)) {
      Tensors blocks;
      std::string reason;
      if (!its->boxes.empty())
        blocks = movedByBoxes(*its, mesh, positions, members);
      else
        reason = its->isRing ? rotated(*its, digits, members, blocks)
                             : moved(*its, mesh, positions, members, blocks);
      if (!reason.empty())
        return op->emitOpError(reason);
      for (auto [block, position] : llvm::zip_equal(blocks, positions))
        results[position] = {std::move(block)};
      continue;
    }
    for (auto [k, position] : llvm::enumerate(positions))
      results[position] = std::visit(
          MemberMeaning{op, members, static_cast<int64_t>(k)}, communication);
  }
  return results;
}

/// The results of an op that moves nothing: each member computes its own from
/// its operand and its number in the group.
SmallVector<Tensors> onEachMember(
    Operation *op, const Mesh &mesh, LayoutAttr group,
    ArrayRef<SmallVector<const Tensor *>> operands,
    llvm::function_ref<Tensor(RankedTensorType, const Tensor &, int64_t)>
        meaning) {
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  SmallVector<Tensors> results;
  for (int64_t position = 0; position < mesh.size(); ++position)
    results.push_back(
        {meaning(type, *operands[position][0],
                 coordinate(mesh, position,
                            ArrayRef<SubAxis>(plan::groupAxes(group))))});
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
  auto on = [&](LayoutAttr group, auto results) -> Result {
    if (group.getMesh().getMesh().axes != mesh.axes)
      return FailureOr<SmallVector<Tensors>>(
          op->emitOpError("is over another mesh than the one of ")
          << mesh.size() << " devices that the program runs on");
    return results();
  };
  return llvm::TypeSwitch<Operation *, Result>(op)
      .Case([&](coll::CoordinateOp its) {
        return on(its.getGroup(),
                  [&] { return FailureOr(coordinates(its, mesh)); });
      })
      .Case([&](coll::SliceOp its) {
        return on(its.getGroup(), [&] {
          return FailureOr(onEachMember(
              op, mesh, its.getGroup(), operands,
              [&](RankedTensorType type, const Tensor &x, int64_t k) {
                return blockOf(x, type, its.getDim(), k);
              }));
        });
      })
      .Case([&](coll::MakePartialOp its) {
        return on(its.getGroup(), [&] {
          return FailureOr(onEachMember(
              op, mesh, its.getGroup(), operands,
              [&](RankedTensorType type, const Tensor &x, int64_t k) {
                return k == 0 ? x : absentTensor(its.getKind(), type);
              }));
        });
      })
      .Case([&](plan::PlanInstructionOpInterface its) -> Result {
        if (!isa<coll::CollDialect>(op->getDialect()))
          return std::nullopt; // calls of the host
        return on(its.getCommunicatingGroup(),
                  [&] { return communicated(its, mesh, operands); });
      })
      .Default([](Operation *) { return std::nullopt; });
}

} // namespace weft
