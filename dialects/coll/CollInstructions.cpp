//===- CollInstructions.cpp - what each collective is in a plan -----------===//

#include "weft/dialects/coll/Coll.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;
using plan::CommunicationAttrInterface;

/// The layout of an array that the group splits along one dimension; -1: along
/// none.
static LayoutAttr splitAlong(LayoutAttr group, int64_t rank, int64_t dim) {
  Layout layout = Layout::replicated(rank);
  if (dim >= 0)
    layout.dims[dim] = groupAxes(group);
  return LayoutAttr::get(group.getMesh(), layout);
}

CommunicationAttrInterface AllReduceOp::getCommunication() {
  return plan::CombinationAttr::get(getContext(), getKind(), -1);
}

CommunicationAttrInterface ReduceScatterOp::getCommunication() {
  return plan::CombinationAttr::get(getContext(), getKind(), getDim());
}

CommunicationAttrInterface AllGatherOp::getCommunication() {
  ArrayRef<int64_t> shape = getType().getShape();
  int64_t rank = shape.size();
  return plan::MovementAttr::get(
      getContext(), shape, splitAlong(getGroup(), rank, getDim()),
      splitAlong(getGroup(), rank, -1), /*isRing=*/true);
}

CommunicationAttrInterface AllToAllOp::getCommunication() {
  SmallVector<int64_t> shape(getInput().getType().getShape());
  shape[getConcat()] = getType().getDimSize(getConcat());
  int64_t rank = shape.size();
  return plan::MovementAttr::get(
      getContext(), shape, splitAlong(getGroup(), rank, getConcat()),
      splitAlong(getGroup(), rank, getSplit()), /*isRing=*/true);
}

CommunicationAttrInterface FetchOp::getCommunication() {
  int64_t size = getSize(), block = getBlock(), step = getStep(),
          offset = getOffset(), divisor = getDivisor(), modulus = getModulus();
  return plan::FetchingAttr::get(getContext(), getDim(),
                                 {size, block, step, offset, divisor, modulus});
}

CommunicationAttrInterface PickOp::getCommunication() {
  return plan::FetchingAttr::get(getContext(), getDim(), {});
}

CommunicationAttrInterface CollectivePermuteOp::getCommunication() {
  return plan::SendingAttr::get(getContext(), getSources());
}

CommunicationAttrInterface coll::MoveOp::getCommunication() {
  SmallVector<SourceAttr> others;
  if (ArrayAttr all = getOthersAttr())
    llvm::append_range(others, all.getAsRange<SourceAttr>());
  return plan::MovementAttr::get(getContext(), getShape(), getFrom(), getTo(),
                                 /*isRing=*/false, getBoxes(), getToShape(),
                                 others);
}

//===----------------------------------------------------------------------===//
// Moves between layouts among all devices, or those of a part of the mesh
//===----------------------------------------------------------------------===//

/// The devices along all axes but those along which both parts have one
/// coordinate: devices outside of both do not take part.
static LayoutAttr allDevices(LayoutAttr from, LayoutAttr to) {
  MeshPart before = from.getLayout().part, after = to.getLayout().part;
  SubAxes axes = allAxes(from.getMesh().getMesh());
  llvm::erase_if(axes, [&](const SubAxis &sub) {
    return llvm::any_of(before, [&](const AxisCoordinate &at) {
      return at.axis == sub.axis && llvm::is_contained(after, at);
    });
  });
  return groupOver(from.getMesh(), axes);
}

LayoutAttr PermuteOp::getCommunicatingGroup() {
  return allDevices(getFrom(), getTo());
}
CommunicationAttrInterface PermuteOp::getCommunication() {
  return plan::MovementAttr::get(getContext(), getShape(), getFrom(), getTo(),
                                 /*isRing=*/false);
}

LayoutAttr ExchangeOp::getCommunicatingGroup() {
  return allDevices(getFrom(), getTo());
}
CommunicationAttrInterface ExchangeOp::getCommunication() {
  return plan::MovementAttr::get(getContext(), getShape(), getFrom(), getTo(),
                                 /*isRing=*/false);
}
