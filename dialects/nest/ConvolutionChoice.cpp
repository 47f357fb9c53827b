//===- ConvolutionChoice.cpp - how a target computes convolutions ---------===//

#include "weft/dialects/nest/WalkChoices.h"

#include "weft/dialects/nest/ContractionShape.h"
#include "weft/dialects/nest/ConvolutionShape.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/TensorType.h"

#include "llvm/Support/MathExtras.h"

#include <limits>

using namespace mlir;

namespace weft::nest {

/// The cheapest tile whose sums fit in the registers, together with a vector of
/// each column and two more.
static TileSize placesTile(const ConvolutionShape &shape, int64_t columns,
                           int64_t registers) {
  TileSize best{1, 1};
  double least = std::numeric_limits<double>::infinity();
  for (int64_t nv = 1; nv <= std::min<int64_t>(columns, 4); ++nv)
    for (int64_t mr = 1; mr <= std::min<int64_t>(shape.places, 8); ++mr) {
      if (mr * nv + nv + 2 > registers)
        continue;
      int64_t rounds =
          llvm::divideCeil(shape.places, mr) * llvm::divideCeil(columns, nv);
      double cost = tileCost(mr, nv) * rounds;
      if (cost < least) {
        least = cost;
        best = {mr, nv};
      }
    }
  return best;
}

/// The lanes of a convolution: channels if it is depthwise; inputs if outputs
/// are not adjacent, or fill no vector and inputs do; else outputs. Nothing if
/// none suits.
static std::optional<ConvolutionLanes> lanesOf(ConvolutionOp op,
                                               const Strides &lhs,
                                               const Strides &rhs,
                                               int64_t lanes) {
  auto can = [&](ConvolutionLanes which) { return suits(op, lhs, rhs, which); };
  if (can(ConvolutionLanes::Channels))
    return ConvolutionLanes::Channels;
  bool outputs = can(ConvolutionLanes::Outputs);
  int64_t groups = op.getFeatureGroups() * op.getBatchGroups(),
          features =
              typeOf(op.getResult()).getDimSize(op.getResultDims()[1]) / groups;
  if (can(ConvolutionLanes::Inputs) &&
      (!outputs ||
       (features < lanes && rhs.sizes[op.getRhsDims()[1]] >= lanes)))
    return ConvolutionLanes::Inputs;
  return outputs ? std::optional(ConvolutionLanes::Outputs) : std::nullopt;
}

/// The most elements of a converted copy, which stays in L2.
static constexpr int64_t kMostCopied = 64 * 1024;
/// The least products of an element that is stored before the convolution: a
/// copy takes about 1 ns an element. With lanes of inputs a product takes 23 ps,
/// with lanes of outputs 12, and one of computed elements 110 (AVX-512).
static constexpr int64_t kLeastOfComputed = 16, kLeastOfTurned = 64;

/// Whether vectors can compute the convolution.
static bool hasVectors(ConvolutionOp op, const TargetLimits &limits) {
  return limits.hasTiles &&
         hasVectorArithmetic(typeOf(op.getResult()).getElementType()) &&
         hasVectorLoads(typeOf(op.getLhs()).getElementType()) &&
         hasVectorLoads(typeOf(op.getRhs()).getElementType());
}

/// The output features of a group.
static int64_t featuresOfGroup(ConvolutionOp op) {
  return typeOf(op.getResult()).getDimSize(op.getResultDims()[1]) /
         (op.getFeatureGroups() * op.getBatchGroups());
}

/// Whether the kernel is worth a copy with adjacent output features, which fill
/// half a vector there and are not adjacent in the kernel.
static bool wantsOutputs(ConvolutionOp op,
                         std::optional<ConvolutionLanes> along,
                         const Strides &lhs, const Strides &rhs,
                         int64_t lanes) {
  Strides copy = copiedKernel(op, rhs, ConvolutionLanes::Outputs);
  return along != ConvolutionLanes::Outputs &&
         (!along || 2 * featuresOfGroup(op) >= lanes) &&
         lanesOf(op, lhs, copy, lanes) == ConvolutionLanes::Outputs;
}

/// The least elements of a kernel whose panels are copied: half of L1; the least
/// products of one of its elements; and the most bytes of a panel: half of L2.
static constexpr int64_t kLeastPanels = 4096, kLeastOfPanel = 32,
                         kMostOfPanel = 512 * 1024;

/// Whether the kernel is worth copies of `width` columns in the order in which
/// they are read: its rows of features are longer, so that the lines of a tile
/// share few sets of L1, and are a stream in a copy.
static bool paysPanels(ConvolutionOp op, const ConvolutionShape &shape,
                       int64_t width) {
  int64_t weights = typeOf(op.getRhs()).getNumElements(),
          bytes = panelElements(op, width) *
                  bytesOf(typeOf(op.getResult()).getElementType());
  return shape.features > width && weights >= kLeastPanels &&
         workOf(op) / weights >= kLeastOfPanel && bytes <= kMostOfPanel;
}

std::optional<SmallVector<int64_t>> storedOrderOf(ConvolutionOp op,
                                                  unsigned operand,
                                                  const TargetLimits &limits,
                                                  IsInMemory isInMemory) {
  RankedTensorType type = typeOf(op->getOperand(operand));
  if (!hasVectors(op, limits) || type.getNumElements() == 0)
    return std::nullopt;
  std::optional<TensorView> lhs = viewOf(op.getLhs(), isInMemory),
                            rhs = viewOf(op.getRhs(), isInMemory);
  int64_t products = workOf(op) / type.getNumElements();
  auto order = llvm::to_vector(llvm::seq<int64_t>(type.getRank()));
  if (!(operand == 0 ? lhs : rhs))
    return products >= kLeastOfComputed ? std::optional(order) : std::nullopt;
  if (operand == 0 || !lhs || type.getNumElements() <= kMostCopied ||
      products < kLeastOfTurned)
    return std::nullopt;
  int64_t lanes = limits.lanes(typeOf(op.getResult()).getElementType());
  if (!wantsOutputs(op, lanesOf(op, lhs->strides, rhs->strides, lanes),
                    lhs->strides, rhs->strides, lanes))
    return std::nullopt;
  ArrayRef<int64_t> dims = op.getRhsDims();
  order.assign(dims.begin() + 2, dims.end());
  order.append({dims[1], dims[0]});
  return order;
}

Attribute chooseConvolution(ConvolutionOp op, const TargetLimits &limits,
                            IsInMemory isInMemory) {
  Type element = typeOf(op.getResult()).getElementType(),
       lhsType = typeOf(op.getLhs()).getElementType(),
       rhsType = typeOf(op.getRhs()).getElementType();
  std::optional<TensorView> lhs = viewOf(op.getLhs(), isInMemory),
                            rhs = viewOf(op.getRhs(), isInMemory);
  if (!lhs || !rhs || !hasVectors(op, limits))
    return ownWalk(op);
  int64_t lanes = limits.lanes(element);
  int64_t weights = typeOf(op.getRhs()).getNumElements();
  auto along = lanesOf(op, lhs->strides, rhs->strides, lanes);
  // Windows read the kernel and the elements of a sample many times, so small
  // kernels and samples are converted once, and a kernel is turned whose output
  // features are not adjacent, if they fill half a vector.
  bool turnsKernel = weights <= kMostCopied &&
                     wantsOutputs(op, along, lhs->strides, rhs->strides, lanes);
  if (turnsKernel)
    along = ConvolutionLanes::Outputs;
  if (!along)
    return ownWalk(op);
  bool copiesKernel =
      turnsKernel || (rhsType != element && weights <= kMostCopied);
  ConvolutionShape shape = convolutionShape(
      op, lhs->strides, kernelRead(op, rhs->strides, *along, copiesKernel),
      *along, tiledDimension(op));
  TileSize tile = placesTile(shape,
                             *along == ConvolutionLanes::Inputs
                                 ? shape.features
                                 : llvm::divideCeil(shape.features, lanes),
                             limits.vectorRegisters);
  int64_t inSample = lhs->strides.strides[op.getLhsDims()[0]];
  bool copiesSample = lhsType != element && inSample <= kMostCopied &&
                      canCopySample(op, lhs->strides, shape.tiled);
  int64_t products = llvm::product_of(shape.rounds);
  bool sumsApart = isa<FloatType>(element) && products > kLongSum &&
                   products / shape.rounds.front() >= kSumBlock;
  bool copiesPanels = along == ConvolutionLanes::Outputs && !copiesKernel &&
                      shape.groups == 1 &&
                      paysPanels(op, shape, tile.columns * lanes);
  return ConvolutionAttr::get(op.getContext(), *along, shape.tiled,
                              {tile.rows, tile.columns}, copiesKernel,
                              copiesSample, sumsApart, copiesPanels);
}

} // namespace weft::nest
