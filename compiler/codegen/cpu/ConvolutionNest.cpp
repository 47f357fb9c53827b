//===- ConvolutionNest.cpp - convolutions in registers --------------------===//
//
// Loops of convolutions. A tile of a few positions and vectors of output
// features is kept in registers during the loops over the window and the input
// features; nothing is unfolded or packed. 8x32x32x3 with 3x3x3x16, tiles of 6
// positions and one vector of 16:
//
//   for sample, row, tile of 6 columns     acc[6] = 0
//     for ky, kx, c                          w = kernel[ky, kx, c, 0..16]
//                                            acc[i] += x[.., column + i + kx - 1, c] * w
//     result = acc
//
// A small kernel whose output features are not contiguous (the derivative of
// the input) is copied so that they are. If they are not and the kernel is
// large, but input features are contiguous, vectors run along these and are
// summed at the end. With one input feature (or sample) and one output feature in each group
// (depthwise), x is a vector too. The positions of a tile are adjacent along
// the last spatial dimension, or along samples if that is short (the derivative
// of the kernel).
//
// Holes of base dilation are not computed: window element k contributes to
// position p only if p * stride + k * dilation - low is a multiple of the base
// dilation, so k starts at the first such element and steps by the base dilation
// (less its common factor with the other), and a tile has positions at multiples
// of a period, whose windows see the same elements. Nor is padding, except along
// the tile, whose places read 0 there.
//
// Where the kernel is larger than L1 and read by many places, the columns of a
// tile are copied side by side into a panel, and all places are walked with it.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/ConvolutionNest.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

/// Finds the tensors in memory; false if an operand is not in memory.
bool TiledConvolution::place() {
  std::optional<StridedView> left = e.viewOf(op.getLhs()),
                             right = e.viewOf(op.getRhs());
  if (!left || !right)
    return false;
  lhs = *left;
  given = rhs = *right;
  static_cast<nest::Strides &>(rhs) =
      nest::kernelRead(op, rhs, walk.getLanes(), walk.getCopiesKernel());
  nest::ConvolutionShape shape =
      nest::convolutionShape(op, lhs, rhs, walk.getLanes(), walk.getAlong());
  strides.assign(shape.result.strides.begin(), shape.result.strides.end());
  groups = shape.groups;
  features = shape.features;
  inputs = shape.inputs;
  tiled = shape.tiled;
  tiledSpatial = shape.tiledSpatial;
  inputsOutside = shape.inputsOutside;
  period = shape.period;
  lanes = std::max<int64_t>(kernel.target.vectorBytes / bytesOf(element), 1);
  along = walk.getLanes();
  if (walk.getCopiesPanels())
    static_cast<nest::Strides &>(rhs) =
        nest::panelRead(op, shape, walk.getTile()[1] * lanes);
  tile = {walk.getTile()[0], walk.getTile()[1], 0};
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims();
  for (auto [i, window] : llvm::enumerate(op.getWindows()))
    windows.push_back({window,
                       lhs.sizes[l[2 + i]],
                       lhs.strides[l[2 + i]],
                       rhs.strides[r[2 + i]],
                       {},
                       {}});
  return true;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult TiledConvolution::emit() {
  if (!place())
    return op.emitError() << "operands of 'weft.convolution' are not in memory";
  placeExtended();
  if (panel)
    emitPanels();
  else
    emitRows();
  return success();
}

/// Emits the loops over all places for each panel: full tiles, then the rest.
void TiledConvolution::emitPanels() {
  int64_t width = tile.columns * lanes, full = features / width,
          rest = features % width;
  unsigned outside = e.depth();
  auto emit = [&](const Tile &current, Value feature) {
    copyPanel(current, feature);
    panelTile = current;
    panelFeature = feature;
    emitRows();
    e.closeLoops(outside);
  };
  if (full > 0) {
    Value block = full == 1 ? constant(0) : e.openLoop(full);
    emit({tile.places, tile.columns, width}, scaled(block, width));
  }
  if (rest > 0)
    emit({tile.places, (rest + lanes - 1) / lanes, rest},
         constant(full * width));
}

/// Opens the loops over all dimensions of the result but the features and the
/// tiled one, and emits tiles.
void TiledConvolution::emitRows() {
  ArrayRef<int64_t> out = op.getResultDims();
  std::pair given{lhs, lhsVectors}; // Samples may be extended below.
  resultBase = constant(0);
  for (auto [dim, size] : llvm::enumerate(type.getShape())) {
    int64_t d = dim;
    if (d == out[1] || d == tiled)
      continue;
    Value at = e.openSharedLoop(d, size);
    resultBase = e.add(resultBase, scaled(at, strides[d]));
    if (d == out[0]) {
      sample = at;
      if (extendedSample) {
        extend(lhsVectors, lhs.pointer,
               scaled(at, lhs.strides[op.getLhsDims()[0]]),
               lhs.strides[op.getLhsDims()[0]], extendedSample);
        sample = constant(0);
      }
    } else
      windows[llvm::find(out.drop_front(2), d) - out.begin() - 2].place = at;
  }
  emitPlaces();
  std::tie(lhs, lhsVectors) = given;
}

/// Places operands that are extended to the result's type in scratch memory.
/// The kernel is extended here, each sample at the start of its loop.
void TiledConvolution::placeExtended() {
  if (!walk.getCopiesKernel() && !walk.getCopiesSample() &&
      !walk.getCopiesPanels())
    return;
  int64_t bytes = bytesOf(element), weights = 0;
  if (walk.getCopiesKernel())
    weights = elementCount(op.getRhs());
  if (walk.getCopiesPanels())
    weights = nest::panelElements(op, tile.columns * lanes);
  Value memory = e.scratch();
  if (walk.getCopiesSample())
    extendedSample = vectors.address(
        memory, constant(llvm::alignTo(weights * bytes, 64) / bytes));
  if (walk.getCopiesKernel())
    copyKernel(memory);
  if (walk.getCopiesPanels())
    panel = memory;
}

/// Copies the kernel's elements for the features of a tile from `feature` on,
/// extended, to the panel.
void TiledConvolution::copyPanel(const Tile &current, Value feature) {
  unsigned outside = e.depth();
  ArrayRef<int64_t> r = op.getRhsDims();
  SmallVector<int64_t> order(r.drop_front(1));
  llvm::sort(order, [&](int64_t a, int64_t b) {
    return rhs.strides[a] > rhs.strides[b];
  });
  Value from = constant(given.first), at = constant(0);
  from = e.add(from, scaled(feature, given.strides[r[0]]));
  for (int64_t dim : order) {
    Value i = e.openLoop(given.sizes[dim]);
    from = e.add(from, scaled(i, given.strides[dim]));
    at = e.add(at, scaled(i, rhs.strides[dim]));
  }
  for (int64_t v = 0; v < current.columns; ++v) {
    Value lane = constant(v * lanes);
    Value row = givenVectors.loadFirst(given.pointer, e.add(from, lane), lanes,
                                       current.features - v * lanes);
    vectors.store(row, panel, e.add(at, lane));
  }
  e.closeLoops(outside);
  rhsVectors = vectors;
  rhs.pointer = panel;
}

/// Copies the kernel, extended, to memory where output features are adjacent.
void TiledConvolution::copyKernel(Value to) {
  unsigned outside = e.depth();
  Value from = constant(given.first), at = constant(0);
  ArrayRef<int64_t> r = op.getRhsDims();
  SmallVector<int64_t> order(r.drop_front(2));
  order.append({r[1], r[0]});
  for (int64_t dim : order) {
    Value i = e.openLoop(given.sizes[dim]);
    from = e.add(from, scaled(i, given.strides[dim]));
    at = e.add(at, scaled(i, rhs.strides[dim]));
  }
  vectors.store(rhsVectors.loadScalar(rhs.pointer, from), to, at);
  e.closeLoops(outside);
  rhsVectors = vectors;
  rhs.pointer = to;
}

/// Copies `count` elements from `first` on, extended, from `pointer` to `to`,
/// and sets `pointer` and `of` to the copy's.
void TiledConvolution::extend(ElementVectors &of, Value &pointer, Value first,
                              int64_t count, Value to) {
  unsigned outside = e.depth();
  Value at = e.openLoop(count);
  vectors.store(of.loadScalar(pointer, e.add(first, at)), to, at);
  e.closeLoops(outside);
  of = vectors;
  pointer = to;
}

/// Emits tiles of positions whose windows see the same elements; the last tile
/// starts earlier, so that it is full.
void TiledConvolution::emitPlaces() {
  Value phase = period > 1 ? e.openLoop(period) : constant(0);
  int64_t size = type.getDimSize(tiled);
  Value count = constant(size);
  if (period > 1) {
    count = arith::SubIOp::create(b, loc, constant(size + period - 1), phase);
    count = arith::DivUIOp::create(b, loc, count, constant(period));
  }
  Value start = e.openStridedLoop(constant(0), count, constant(tile.places));
  if (period > 1 || size % tile.places != 0) {
    Value last = arith::SubIOp::create(b, loc, count, constant(tile.places));
    start = arith::MinSIOp::create(b, loc, start, last);
  }
  tilePlace = e.add(scaled(start, period), phase);
  resultBase = e.add(resultBase, scaled(tilePlace, strides[tiled]));
  if (tiledSpatial >= 0)
    windows[tiledSpatial].place = tilePlace;
  else
    sample = tilePlace;
  if (panel) {
    firstInput = constant(0);
    emitTile(panelTile, panelFeature);
    return;
  }
  openGroup();
  // Features are processed in full tiles, then the rest.
  int64_t width = along == Lanes::Inputs ? tile.columns : tile.columns * lanes;
  int64_t full = features / width, rest = features % width;
  unsigned outside = e.depth();
  if (full > 0) {
    Value block = full == 1 ? constant(0) : e.openLoop(full);
    emitTile({tile.places, tile.columns, width},
             e.add(firstFeature, scaled(block, width)));
    e.closeLoops(outside);
  }
  if (rest > 0)
    emitTile({tile.places,
              along == Lanes::Inputs ? rest : (rest + lanes - 1) / lanes, rest},
             e.add(firstFeature, constant(full * width)));
}

/// Opens the loop over groups: features use only the input features, or the
/// samples, of their group.
void TiledConvolution::openGroup() {
  Value group = groups > 1 ? e.openLoop(groups) : constant(0);
  firstFeature = scaled(group, features);
  firstInput = scaled(group, op.getFeatureGroups() > 1 ? inputs : 0);
  if (op.getBatchGroups() > 1)
    sample =
        e.add(sample, scaled(group, type.getDimSize(op.getResultDims()[0])));
}

LogicalResult emitTiledConvolution(KernelEmitter &kernel, ConvolutionOp op,
                                   nest::ConvolutionAttr walk) {
  return TiledConvolution(kernel, op, walk).emit();
}

} // namespace weft::cpu
