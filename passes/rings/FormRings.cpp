//===- FormRings.cpp - products of blocks that travel ---------------------===//
//
//   %g = coll.all_gather %k dim 0 over #mesh ["x"]      // 4 devices
//          : tensor<16x32xf32> -> tensor<64x32xf32>
//   %s = weft.dot %q, %g contract [1] x [1] : ... -> tensor<16x64xf32>
//
// becomes, without the positions,
//
//   %a = coll.collective_permute %k sources [1, 2, 3, 0] ...
//   %b = coll.collective_permute %k sources [3, 0, 1, 2] ...
//   %0 = 16 columns of weft.dot %q, %k : ... -> tensor<16x16xf32>
//   %c = coll.collective_permute %a sources [1, 2, 3, 0] ...
//   %1 = %0 and 16 columns of weft.dot %q, %a
//   %2 = %1 and 16 columns of weft.dot %q, %b
//   %s = %2 and 16 columns of weft.dot %q, %c
//
//===----------------------------------------------------------------------===//

#include "weft/passes/rings/Passes.h"

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/planning/EqualValues.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/rings/AttentionBody.h"
#include "weft/passes/rings/RingBuilder.h"
#include "weft/passes/rings/RingPrice.h"

namespace weft {
#define GEN_PASS_DEF_FORMRINGSPASS
#include "weft/passes/rings/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// Whether the members' blocks are of one size.
static bool isEven(RankedTensorType whole, RankedTensorType block, int64_t dim,
                   LayoutAttr group) {
  int64_t devices = coll::groupSize(group);
  return devices > 1 &&
         block.getDimSize(dim) * devices == whole.getDimSize(dim);
}

static bool isEven(coll::AllGatherOp gather) {
  return isEven(gather.getResult().getType(), gather.getInput().getType(),
                gather.getDim(), gather.getGroup());
}

namespace {
struct FormRings : weft::impl::FormRingsPassBase<FormRings> {
  using Base::Base;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (failed(verifyPartitioned(*this, module)))
      return signalPassFailure();
    std::optional<Choice> rings = choiceOf(module, kRingsAttr),
                          overlap = choiceOf(module, kOverlapAttr);
    if (!rings || !overlap)
      return signalPassFailure();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    if (rings == Choice::Off || !mesh)
      return;
    StepPrices prices(mesh.getMesh(), target);
    isForced = rings == Choice::On;
    if (!isForced && (!prices.isBesideWork || module->hasAttr(kWholeSumsAttr) ||
                      overlap == Choice::Off))
      return;
    for (auto function : module.getOps<func::FuncOp>())
      runOnFunction(function, mesh, prices);
  }

private:
  void runOnFunction(func::FuncOp function, MeshAttr mesh,
                     const StepPrices &prices) {
    SmallVector<coll::AllGatherOp> gathers;
    SmallVector<coll::ReduceScatterOp> scatters;
    function.walk([&](coll::AllGatherOp op) { gathers.push_back(op); });
    function.walk([&](coll::ReduceScatterOp op) { scatters.push_back(op); });
    if (gathers.empty() && scatters.empty())
      return;
    EqualValues equal(function, mesh);
    RemovedOps removed;
    llvm::SmallPtrSet<Operation *, 8> gone;
    for (coll::AllGatherOp gather : gathers) {
      if (gone.contains(gather))
        continue;
      if (std::optional<AttentionBody> body =
              attention(gather, equal, prices)) {
        gone.insert({gather, body->values});
        buildAttentionRing(*body, removed);
        ++numAttentions;
      }
    }
    for (coll::AllGatherOp gather : gathers)
      if (!gone.contains(gather))
        numGathers += form(gather, equal, prices, removed);
    for (coll::ReduceScatterOp scatter : scatters)
      numScatters += form(scatter, prices, removed);
  }
  /// The attention of gathered keys, if it should be a ring.
  std::optional<AttentionBody> attention(coll::AllGatherOp gather,
                                         const EqualValues &equal,
                                         const StepPrices &prices) {
    if (!isEven(gather))
      return std::nullopt;
    std::optional<AttentionBody> body = attentionOf(gather);
    if (!body || !isEven(body->values) ||
        !mayAddInAnyOrder(body->weighted, gather.getGroup(), equal) ||
        !(isForced || priceOfAttention(prices, *body).pays()))
      return std::nullopt;
    return body;
  }
  bool form(coll::AllGatherOp gather, const EqualValues &equal,
            const StepPrices &prices, RemovedOps &removed) {
    if (!isEven(gather))
      return false;
    std::optional<RingBody> body = bodyOfGather(gather);
    if (!body || !mayAddInAnyOrder(*body, gather.getGroup(), equal) ||
        !(isForced || priceOfGather(prices, gather, *body).pays()))
      return false;
    buildGatherRing(gather, *body, removed);
    return true;
  }
  bool form(coll::ReduceScatterOp scatter, const StepPrices &prices,
            RemovedOps &removed) {
    if (scatter.getKind() != ReduceKind::Sum ||
        !isEven(scatter.getInput().getType(), scatter.getResult().getType(),
                scatter.getDim(), scatter.getGroup()))
      return false;
    std::optional<RingBody> body = bodyOfScatter(scatter);
    if (!body || !(isForced || priceOfScatter(prices, scatter, *body).pays()))
      return false;
    buildScatterRing(scatter, *body, removed);
    return true;
  }
  /// Each device adds up blocks in an order of its own, so that a sum of which
  /// all have equal bits would not be equal.
  static bool mayAddInAnyOrder(const RingBody &body, LayoutAttr group,
                               const EqualValues &equal) {
    MeshAxes axes = equal.axesOf(coll::groupAxes(group));
    return llvm::all_of(body.ops, [&](const BlockedOp &its) {
      MeshAxes differs = equal.differs(its.op->getResult(0));
      return its.resultDim >= 0 || (differs &= axes) == axes;
    });
  }

  bool isForced = false;
};
} // namespace
