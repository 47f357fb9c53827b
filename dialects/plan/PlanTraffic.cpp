//===- PlanTraffic.cpp - bytes that the collectives of a plan send --------===//

#include "weft/dialects/plan/Plan.h"

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/layout/ExchangeTraffic.h"
#include "weft/layout/FetchTraffic.h"
#include "weft/layout/PermuteTraffic.h"
#include "weft/layout/RingTraffic.h"
#include "weft/layout/Sizes.h"

#include <algorithm>

using namespace mlir;
using namespace weft;
using namespace weft::plan;

static int64_t totalBytes(ValueRange buffers) {
  int64_t bytes = 0;
  for (Value buffer : buffers)
    bytes += bufferBytes(cast<MemRefType>(buffer.getType()));
  return bytes;
}

//===----------------------------------------------------------------------===//
// Collectives counted by the ring formula
//===----------------------------------------------------------------------===//

static int64_t bytesInRing(RingKind kind, LayoutAttr group, ValueRange sources,
                           ValueRange targets) {
  return ringBytes(kind, groupSize(group), totalBytes(sources),
                   totalBytes(targets));
}

int64_t AllReduceOp::getBytesSent() {
  return bytesInRing(RingKind::AllReduce, getGroup(), getSources(),
                     getTargets());
}
int64_t AllGatherOp::getBytesSent() {
  return bytesInRing(RingKind::AllGather, getGroup(), getSources(),
                     getTargets());
}
int64_t ReduceScatterOp::getBytesSent() {
  return bytesInRing(RingKind::ReduceScatter, getGroup(), getSources(),
                     getTargets());
}
int64_t AllToAllOp::getBytesSent() {
  return bytesInRing(RingKind::AllToAll, getGroup(), getSources(),
                     getTargets());
}

//===----------------------------------------------------------------------===//
// Fetches, picks and permutations
//===----------------------------------------------------------------------===//

int64_t FetchOp::getBytesSent() {
  int64_t count = getTarget().getType().getDimSize(getDim());
  if (count == 0)
    return 0;
  FetchedPositions fetched = {
      static_cast<int64_t>(getSize()),    static_cast<int64_t>(getBlock()),
      static_cast<int64_t>(getStep()),    static_cast<int64_t>(getOffset()),
      static_cast<int64_t>(getDivisor()), static_cast<int64_t>(getModulus())};
  return saturatingMultiply(
      mostPositionsSent(fetched, groupSize(getGroup()), count),
      totalBytes(getTargets()) / count);
}

/// Each element may come from another device.
int64_t PickOp::getBytesSent() { return totalBytes(getTargets()); }

int64_t CollectivePermuteOp::getBytesSent() {
  return permuteBytes(getSenders(), totalBytes(getSources()));
}

int64_t HostCallOp::getBytesSent() { return 0; }

//===----------------------------------------------------------------------===//
// Moves between layouts among all devices
//===----------------------------------------------------------------------===//

/// The axes of either layout, each once and as a full axis.
template <typename MoveOp> static SubAxes axesOfLayouts(MoveOp op) {
  SubAxes all = allAxes(op.getFrom().getMesh().getMesh()), axes;
  for (LayoutAttr attribute : {op.getFrom(), op.getTo()})
    for (Layout layout = attribute.getLayout();
         const SubAxes &dim : layout.dims)
      for (const SubAxis &axis : dim)
        if (llvm::none_of(axes, [&](const SubAxis &known) {
              return known.axis == axis.axis;
            }))
          axes.push_back(all[axis.axis]);
  return axes;
}

template <typename MoveOp> static int64_t mostBytesSent(MoveOp op) {
  return mostSent(op.getFrom().getMesh().getMesh(), op.getFrom().getLayout(),
                  op.getTo().getLayout(), op.getShape()) *
         bytesOf(op.getSource().getType().getElementType());
}

SubAxes PermuteOp::getGroupAxes() {
  return allAxes(getFrom().getMesh().getMesh());
}
SubAxes PermuteOp::getLinks() { return axesOfLayouts(*this); }
int64_t PermuteOp::getBytesSent() { return mostBytesSent(*this); }

SubAxes ExchangeOp::getGroupAxes() {
  return allAxes(getFrom().getMesh().getMesh());
}
SubAxes ExchangeOp::getLinks() { return axesOfLayouts(*this); }
int64_t ExchangeOp::getBytesSent() { return mostBytesSent(*this); }
