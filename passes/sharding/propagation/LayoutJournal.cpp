//===- LayoutJournal.cpp - where each axis of each layout comes from ------===//

#include "weft/passes/sharding/propagation/LayoutJournal.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

void LayoutJournal::record(const LayoutReason &like, const Layout &before,
                           const Layout &after) {
  for (unsigned dim = 0; dim < after.dims.size(); ++dim) {
    auto add = [&](const SubAxes &of, const SubAxes &butNot, bool isLost) {
      for (const SubAxis &axis : of) {
        if (llvm::is_contained(butNot, axis))
          continue;
        LayoutReason reason = like;
        reason.dim = dim;
        reason.axis = axis;
        reason.isLost = isLost;
        reasons.push_back(reason);
      }
    };
    const SubAxes &was = before.dims[dim], &is = after.dims[dim];
    add(is, was, /*isLost=*/false);
    if (like.kind == LayoutReason::Kind::Price)
      add(was, is, /*isLost=*/true);
  }
}

/// The dimension of the tensor that has the factor.
static std::optional<unsigned> dimOf(const TensorFactors &factors,
                                     unsigned factor) {
  for (auto [dim, list] : llvm::enumerate(factors))
    if (llvm::is_contained(list, factor))
      return dim;
  return std::nullopt;
}

LayoutJournal::Snapshot
LayoutJournal::snapshotOf(const TensorLayouts &layouts) {
  Snapshot snapshot;
  for (const Layout *layout : layouts)
    snapshot.push_back(layout ? std::optional(*layout) : std::nullopt);
  return snapshot;
}

void LayoutJournal::recordRule(const Mesh &mesh, const OpWithRule &op,
                               const Snapshot &before,
                               const TensorLayouts &after) {
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor)
    if (after[tensor])
      recordTensor(mesh, op, tensor, before, *after[tensor]);
}

void LayoutJournal::recordTensor(const Mesh &mesh, const OpWithRule &op,
                                 unsigned tensor, const Snapshot &before,
                                 const Layout &after) {
  LayoutReason like = {
      .kind = LayoutReason::Kind::Rule, .value = op.value(tensor), .op = op.op};
  size_t first = reasons.size();
  record(like, *before[tensor], after);
  FactorAxes mine = op.project(mesh, tensor, after);
  for (LayoutReason &reason : llvm::drop_begin(reasons, first))
    for (auto [factor, axes] : llvm::enumerate(mine)) {
      if (!llvm::is_contained(axes, reason.axis))
        continue;
      for (unsigned other = 0; other < op.numTensors() && !reason.from;
           ++other) {
        auto dim = dimOf(op.factors(other), factor);
        if (other == tensor || !before[other] || !dim ||
            op.value(other) == reason.value ||
            !llvm::is_contained(before[other]->dims[*dim], reason.axis))
          continue;
        reason.from = op.value(other);
        reason.fromDim = *dim;
      }
    }
}

const LayoutReason *LayoutJournal::last(Value value, unsigned dim,
                                        const SubAxis &axis) const {
  for (const LayoutReason &reason : llvm::reverse(reasons))
    if (reason.value == value && reason.dim == dim && reason.axis == axis)
      return reason.isLost ? nullptr : &reason;
  return nullptr;
}

const LayoutReason *LayoutJournal::lastLost(Value value, unsigned dim) const {
  for (const LayoutReason &reason : llvm::reverse(reasons))
    if (reason.isLost && reason.value == value && reason.dim == dim)
      return &reason;
  return nullptr;
}
