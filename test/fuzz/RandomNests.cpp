//===- RandomNests.cpp - other loop nests that mean the same --------------===//
//
// Changes a walk, a tile, a block, a place, a share, or an epilogue at random;
// kernels that the dialect refuses are left unchanged.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/nest/ConvolutionShape.h"
#include "weft/dialects/nest/Epilogue.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/test/fuzz/ProgramCheck.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"

#include <random>

using namespace mlir;

namespace weft {

namespace {
class NestDrawing {
public:
  NestDrawing(func::FuncOp kernel, uint64_t seed)
      : kernel(kernel), context(kernel.getContext()), random(seed),
        limits(*nest::targetLimits(nest::decisionsOf(kernel).getTarget())) {}
  void draw();

private:
  int64_t upTo(int64_t most) {
    return std::uniform_int_distribution<int64_t>(
        1, std::max<int64_t>(most, 1))(random);
  }
  bool isHeads() { return upTo(2) == 1; }
  Attribute drawReduction(ReduceOp op);
  Attribute drawContraction(DotOp op);
  Attribute drawConvolution(ConvolutionOp op);
  Attribute drawWalk(nest::LoopsOp loops);
  void storeOneMore(nest::LoopsOp loops);
  void drawPlaces(nest::LoopsOp loops);
  void drawEpilogues();
  void drawShare();
  void setMemory();

  func::FuncOp kernel;
  MLIRContext *context;
  std::mt19937_64 random;
  const nest::TargetLimits limits;
};
} // namespace

Attribute NestDrawing::drawReduction(ReduceOp op) {
  SmallVector<int64_t> blocks;
  bool isRow = isHeads();
  for (int64_t dim : op.getDims())
    blocks.push_back(upTo(op.getInput().getType().getDimSize(dim)));
  if (isRow && !blocks.empty()) { // sizes 1, then one block, then full sizes
    size_t cut = upTo(blocks.size()) - 1;
    for (size_t i = 0; i < blocks.size(); ++i)
      blocks[i] = i < cut ? 1
                  : i > cut
                      ? op.getInput().getType().getDimSize(op.getDims()[i])
                      : blocks[i];
  }
  if (upTo(3) == 1)
    blocks.clear();
  return nest::ReductionAttr::get(
      context, isRow ? nest::Accumulate::Row : nest::Accumulate::Register,
      blocks);
}

Attribute NestDrawing::drawContraction(DotOp op) {
  using Form = nest::ContractionForm;
  Form form = Form(upTo(4) - 1);
  if (form == Form::Plain)
    return nest::ContractionAttr::get(context, form, {}, {});
  int64_t tile[] = {upTo(6), upTo(2)};
  if (form != Form::Packed)
    return nest::ContractionAttr::get(context, form, tile, {});
  int64_t lanes = limits.lanes(op.getResult().getType().getElementType());
  int64_t blocks[] = {tile[0] * upTo(4), tile[1] * lanes * upTo(3),
                      lanes * upTo(3)};
  return nest::ContractionAttr::get(context, form, tile, blocks);
}

Attribute NestDrawing::drawConvolution(ConvolutionOp op) {
  int64_t dims = op.getResultDims().size();
  int64_t tile[] = {upTo(4), upTo(3)};
  return nest::ConvolutionAttr::get(
      context, nest::ConvolutionLanes(upTo(3) - 1), upTo(dims) - 1, tile,
      isHeads(), false, isHeads(), isHeads());
}

Attribute NestDrawing::drawWalk(nest::LoopsOp loops) {
  Operation *op = loops.getNestOp();
  if (!op)
    return nest::ElementsAttr::get(context,
                                   isHeads() ? nest::ElementOrder::Dimensions
                                             : nest::ElementOrder::Flat,
                                   /*side=*/1);
  if (auto reduce = dyn_cast<ReduceOp>(op))
    return drawReduction(reduce);
  if (auto dot = dyn_cast<DotOp>(op))
    return drawContraction(dot);
  auto convolution = dyn_cast<ConvolutionOp>(op);
  return convolution && isHeads() ? drawConvolution(convolution)
                                  : nest::OwnAttr::get(context);
}

/// Moves one value of a nest of elements to a nest of its own, which stores it.
void NestDrawing::storeOneMore(nest::LoopsOp loops) {
  SmallVector<Operation *> inside;
  for (Operation &op : loops.getBody().front().without_terminator())
    if (op.getNumResults() == 1 && !isElementSource(&op) &&
        !llvm::is_contained(loops.getStored(), op.getResult(0)))
      inside.push_back(&op);
  if (inside.empty() || loops.getNestOp() || mayWorkInPlace(kernel))
    return;
  Operation *chosen = inside[upTo(inside.size()) - 1];
  Value value = chosen->getResult(0);
  if (bufferBytes(cast<RankedTensorType>(value.getType())) > 16 * 1024)
    return;
  OpBuilder builder(loops);
  Attribute place = nest::PlaceAttr::get(context, nest::PlaceKind::Scratch,
                                         nest::keptBytes(kernel));
  auto first = nest::LoopsOp::create(
      builder, loops.getLoc(), value.getType(),
      nest::ElementsAttr::get(context, nest::ElementOrder::Dimensions,
                              /*side=*/1),
      builder.getArrayAttr(place));
  builder.createBlock(&first.getBody());
  IRMapping mapping;
  for (Operation &op : loops.getBody().front()) {
    builder.clone(op, mapping);
    if (&op == chosen)
      break;
  }
  nest::StoreOp::create(builder, loops.getLoc(), mapping.lookup(value));
  value.replaceAllUsesWith(first.getResult(0));
  for (nest::LoopsOp each : {first, loops}) {
    SmallVector<Operation *> ops = llvm::to_vector(
        llvm::make_pointer_range(each.getBody().front().without_terminator()));
    for (Operation *op : llvm::reverse(ops))
      if (op->use_empty())
        op->erase();
  }
}

/// Draws the places of stored values; one that shares a result's memory is
/// moved to scratch or planned memory.
void NestDrawing::drawPlaces(nest::LoopsOp loops) {
  SmallVector<Attribute> places(loops.getPlaces().begin(),
                                loops.getPlaces().end());
  Operation *end = kernel.getBody().front().getTerminator();
  for (OpResult value : loops->getResults()) {
    bool isResult = llvm::is_contained(value.getUsers(), end);
    int64_t bytes = bufferBytes(cast<RankedTensorType>(value.getType()));
    if (isResult || bytes > 16 * 1024 || !isHeads())
      continue;
    auto kind =
        upTo(3) == 1 ? nest::PlaceKind::Planned : nest::PlaceKind::Scratch;
    places[value.getResultNumber()] =
        nest::PlaceAttr::get(context, kind, nest::keptBytes(kernel, kind));
    loops.setPlacesAttr(ArrayAttr::get(context, places));
  }
}

void NestDrawing::drawEpilogues() {
  for (auto loops : llvm::to_vector(kernel.getOps<nest::LoopsOp>()))
    if (auto last = dyn_cast_or_null<nest::LoopsOp>(loops->getPrevNode());
        last && isHeads())
      nest::joinEpilogue(last, loops);
}

void NestDrawing::drawShare() {
  nest::KernelAttr old = nest::decisionsOf(kernel);
  nest::ShareAttr share = old.getShare();
  if (!share)
    return;
  int64_t unit = share.getUnit(), dim = share.getDim();
  bool fits = true;
  for (auto loops : kernel.getOps<nest::LoopsOp>()) {
    auto walk = dyn_cast<nest::ContractionAttr>(loops.getWalk());
    if (!walk)
      continue;
    auto op = cast<nest::OpLoopsInterface>(loops.getNestOp());
    auto shared = op.getSharedRows(
        walk, [&](Value of) { return of.getParentBlock() != op->getBlock(); },
        limits);
    fits &= shared && shared->size == share.getSize();
    unit = shared ? shared->unit : unit;
    dim = shared ? shared->dim : dim;
  }
  int64_t most = std::min<int64_t>(share.getSize() / unit, 64);
  int64_t block = share.getBlock() ? unit * upTo(16) : 0;
  share = !fits || most < 2 || upTo(4) == 1
              ? nest::ShareAttr()
              : nest::ShareAttr::get(context, dim, share.getSize(), unit,
                                     upTo(most - 1) + 1, block);
  kernel->setAttr(nest::kNestAttr,
                  nest::KernelAttr::get(context, old.getTarget(),
                                        old.getScratch(), old.getPlanned(),
                                        share, old.getReason()));
}

/// Gives the kernel memory for its values, and temporary memory for its loops
/// in scratch or planned memory.
void NestDrawing::setMemory() {
  nest::KernelAttr old = nest::decisionsOf(kernel);
  int64_t scratch = nest::keptBytes(kernel),
          planned = nest::keptBytes(kernel, nest::PlaceKind::Planned),
          working = nest::workingBytes(kernel);
  if (upTo(3) != 1)
    scratch += working;
  else
    planned += llvm::alignTo(working, nest::kScratchAlignment) *
               (old.getShare() ? old.getShare().getShares() : 1);
  kernel->setAttr(nest::kNestAttr,
                  nest::KernelAttr::get(context, old.getTarget(), scratch,
                                        planned, old.getShare(),
                                        old.getReason()));
  kernel->removeAttr(plan::kScratchAttr);
  if (planned > 0)
    kernel->setAttr(plan::kScratchAttr,
                    Builder(context).getI64IntegerAttr(planned));
}

void NestDrawing::draw() {
  ScopedDiagnosticHandler silent(context,
                                 [](Diagnostic &) { return success(); });
  for (auto loops : llvm::to_vector(kernel.getOps<nest::LoopsOp>())) {
    auto walk = loops.getWalk();
    loops.setWalkAttr(cast<nest::WalkAttrInterface>(drawWalk(loops)));
    if (failed(loops.getWalk().verifyWalk(loops)))
      loops.setWalkAttr(walk);
    drawPlaces(loops);
    if (upTo(3) == 1)
      storeOneMore(loops);
  }
  drawEpilogues();
  drawShare();
  setMemory();
}

std::string drawNests(ModuleOp module, uint64_t seed) {
  std::mt19937_64 random(seed);
  for (auto kernel : module.getOps<func::FuncOp>()) {
    uint64_t own = random();
    if (!isKernel(kernel) || own % 4 != 0)
      continue;
    func::FuncOp before = kernel.clone();
    NestDrawing(kernel, own).draw();
    LogicalResult isLegal = [&] {
      ScopedDiagnosticHandler silent(module.getContext(),
                                     [](Diagnostic &) { return success(); });
      return mlir::verify(kernel);
    }();
    // The kernel is unchanged if the verifier refuses the new nests, which may
    // not be shared as before.
    if (failed(isLegal)) {
      kernel.getBody().takeBody(before.getBody());
      kernel->setAttrs(before->getAttrDictionary());
    }
    before.erase();
  }
  return failed(mlir::verify(module)) ? "drawn loop nests are refused" : "";
}

} // namespace weft
