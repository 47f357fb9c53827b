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
// position p only if p * stride + k - low is a multiple of the dilation, so k
// starts at the first such element and steps by the dilation, and a tile has
// positions at multiples of a period, whose windows see the same elements.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/ElementVectors.h"
#include "weft/compiler/codegen/cpu/KernelEmitter.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/nest/ConvolutionShape.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ops/WindowOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

namespace {

using Lanes = nest::ConvolutionLanes;

/// A dimension of the window: its loop, and the position of the element.
struct WindowLoop {
  Window window;
  int64_t size;     ///< size of the input
  int64_t lhs, rhs; ///< strides in the operands
  Value place;      ///< position in the result
  Value k;
};

class TiledConvolution {
public:
  TiledConvolution(KernelEmitter &kernel [[clang::lifetimebound]],
                   ConvolutionOp op, nest::ConvolutionAttr walk)
      : kernel(kernel), e(kernel.elements), b(e.builder), loc(e.loc), op(op),
        walk(walk), type(typeOf(op.getResult())),
        element(type.getElementType()),
        lhsVectors(b, loc, typeOf(op.getLhs()).getElementType(), element),
        rhsVectors(b, loc, typeOf(op.getRhs()).getElementType(), element),
        givenVectors(rhsVectors), vectors(b, loc, element, element) {}
  LogicalResult emit();

private:
  struct Tile {
    int64_t places, columns; ///< columns: a count of vectors or of features
    int64_t features;        ///< output features of the tile
  };
  bool place();
  Value constant(int64_t value) { return e.constant(value); }
  Value scaled(Value value, int64_t by) { return e.mul(value, by); }

  void placeExtended();
  void copyKernel(Value to);
  void extend(ElementVectors &of, Value &pointer, Value first, int64_t count,
              Value to);
  void copyPanel(const Tile &tile, Value feature);
  void emitPanels();
  void emitRows();
  void emitPlaces();
  void openGroup();
  void emitTile(const Tile &tile, Value feature);
  bool isClipped(int64_t i) const;
  void openWindow(unsigned i, SmallVector<Value> &sums);
  SmallVector<Value> close(unsigned depth, SmallVector<Value> sums);
  SmallVector<Value> products(const Tile &tile, Value feature, Value input,
                              int64_t count, ValueRange sums);
  Value visible(unsigned place, Value &offset);
  void store(const Tile &tile, Value feature, ArrayRef<Value> sums);

  KernelEmitter &kernel;
  ElementEmitter &e;
  OpBuilder &b;
  Location loc;
  ConvolutionOp op;
  nest::ConvolutionAttr walk;
  RankedTensorType type;
  Type element; ///< of the result
  ElementVectors lhsVectors, rhsVectors, givenVectors, vectors;
  StridedView lhs, rhs;
  StridedView given;            ///< the kernel before it is copied
  SmallVector<int64_t> strides; ///< of the result
  int64_t lanes = 1, groups = 1, features = 0, inputs = 0; ///< of a group
  Lanes along = Lanes::Outputs;
  bool inputsOutside = false;
  SmallVector<WindowLoop> windows;
  int64_t tiled = 0, tiledSpatial = -1, period = 1; ///< -1 if samples are tiled
  Tile tile{1, 1, 1};
  Value sample, tilePlace, resultBase; ///< values at the tile's first place
  Value firstFeature, firstInput;      ///< first numbers in the group
  Value extendedSample;                ///< null if loads extend the elements
  Value panel;        ///< memory of the panel; null if there are none
  Tile panelTile{};   ///< the tiles that are walked with the panel
  Value panelFeature; ///< the panel's first feature
};
} // namespace

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

/// Opens the loop over a dimension of the window, over the elements that exist:
/// those k for which place * stride + k * dilation - low is a multiple of the
/// base dilation, and, unless the tile's places differ in it, is in the input.
void TiledConvolution::openWindow(unsigned i, SmallVector<Value> &sums) {
  WindowLoop &loop = windows[i];
  const Window &w = loop.window;
  bool clips = isClipped(i);
  if (w.size == 1 && w.baseDilation == 1 && !clips) {
    loop.k = constant(0);
    return;
  }
  Value first = constant(0), end = constant(w.size);
  Value before = arith::SubIOp::create(b, loc, constant(w.low),
                                       scaled(loop.place, w.stride));
  if (w.baseDilation > 1) {
    // The least k >= 0 with k - before a multiple of the base.
    first = arith::RemSIOp::create(b, loc, before, constant(w.baseDilation));
    first = arith::AddIOp::create(b, loc, first, constant(w.baseDilation));
    first = arith::RemSIOp::create(b, loc, first, constant(w.baseDilation));
  }
  if (clips) {
    auto steps = [&](Value distance) -> Value {
      Value ahead = arith::MaxSIOp::create(b, loc, distance, constant(0));
      return w.dilation == 1 ? ahead
                             : arith::CeilDivUIOp::create(b, loc, ahead,
                                                          constant(w.dilation));
    };
    first = arith::MaxSIOp::create(b, loc, first, steps(before));
    Value size = constant(Window::dilated(loop.size, w.baseDilation));
    end = arith::MinSIOp::create(b, loc, end, steps(e.add(before, size)));
  }
  loop.k = e.openStridedLoop(first, end, constant(w.baseDilation), sums);
  sums.assign(e.innermostLoop().getRegionIterArgs().begin(),
              e.innermostLoop().getRegionIterArgs().end());
}

SmallVector<Value> TiledConvolution::close(unsigned depth,
                                           SmallVector<Value> sums) {
  while (e.depth() > depth) {
    scf::ForOp loop = e.innermostLoop();
    loop.getBody()->getTerminator()->setOperands(sums);
    sums.assign(loop.getResults().begin(), loop.getResults().end());
    e.closeLoops(e.depth() - 1);
  }
  return sums;
}

void TiledConvolution::emitTile(const Tile &current, Value feature) {
  SmallVector<Value> sums(current.places * current.columns,
                          vectors.zeros(lanes));
  unsigned outside = e.depth();
  SmallVector<Value> rounds; ///< sums of the outermost loop's iterations so far
  auto startRound = [&] {
    if (walk.getSumsApart() && rounds.empty() && e.depth() == outside + 1) {
      rounds = sums;
      sums.assign(sums.size(), vectors.zeros(lanes));
    }
  };
  Value input = constant(0);
  auto openInputs = [&] {
    if (inputs == 1)
      return;
    input = e.openLoop(inputs, sums);
    sums.assign(e.innermostLoop().getRegionIterArgs().begin(),
                e.innermostLoop().getRegionIterArgs().end());
    startRound();
  };
  if (inputsOutside)
    openInputs();
  for (unsigned i = 0; i < windows.size(); ++i) {
    openWindow(i, sums);
    startRound();
  }
  if (along == Lanes::Inputs) {
    unsigned window = e.depth();
    if (inputs >= lanes) {
      input = e.openLoop(inputs / lanes, sums);
      SmallVector<Value> carried(e.innermostLoop().getRegionIterArgs().begin(),
                                 e.innermostLoop().getRegionIterArgs().end());
      sums = close(window, products(current, feature, scaled(input, lanes),
                                    lanes, carried));
    }
    if (inputs % lanes != 0)
      sums = products(current, feature, constant(inputs / lanes * lanes),
                      inputs % lanes, sums);
  } else {
    if (!inputsOutside)
      openInputs();
    sums = products(current, feature, input, lanes, sums);
  }
  if (!rounds.empty()) {
    sums = close(outside + 1, sums);
    for (auto [sum, before] : llvm::zip_equal(sums, rounds))
      sum = vectors.add(before, sum);
  }
  store(current, feature, close(outside, sums));
  e.closeLoops(outside);
}

//===----------------------------------------------------------------------===//
// A tile
//===----------------------------------------------------------------------===//

/// Whether a window reaches over the edges of the input.
static bool seesPadding(const WindowLoop &loop) {
  const Window &w = loop.window;
  int64_t end =
      (w.count(loop.size) - 1) * w.stride + (w.size - 1) * w.dilation - w.low;
  return w.low > 0 || end >= Window::dilated(loop.size, w.baseDilation);
}

/// Whether the loop over dimension `i` of the window has only the elements that
/// are in the input.
bool TiledConvolution::isClipped(int64_t i) const {
  return i != tiledSpatial && seesPadding(windows[i]);
}

/// Whether position `place` of the tile reads an element (null: always). Adds
/// the offset of the element to `offset`.
Value TiledConvolution::visible(unsigned place, Value &offset) {
  Value inside;
  for (auto [i, loop] : llvm::enumerate(windows)) {
    const Window &w = loop.window;
    Value at = e.add(scaled(loop.place, w.stride), scaled(loop.k, w.dilation));
    if (w.low != 0)
      at = e.add(at, constant(-w.low));
    if (w.baseDilation > 1)
      at =
          arith::DivSIOp::create(b, loc, at, constant(w.baseDilation)); // exact
    if (int64_t(i) == tiledSpatial && place > 0)
      at = e.add(at, constant(place * period * w.stride / w.baseDilation));
    if (seesPadding(loop) && !isClipped(i)) {
      Value exists = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ult,
                                           at, constant(loop.size));
      inside = inside
                   ? arith::AndIOp::create(b, loc, inside, exists).getResult()
                   : exists;
      at = arith::SelectOp::create(b, loc, exists, at, constant(0));
    }
    offset = e.add(offset, scaled(at, loop.lhs));
  }
  return inside;
}

SmallVector<Value> TiledConvolution::products(const Tile &current,
                                              Value feature, Value input,
                                              int64_t count, ValueRange sums) {
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims();
  Value weights = scaled(input, rhs.strides[r[1]]);
  if (!panel)
    weights = e.add(weights, scaled(feature, rhs.strides[r[0]]));
  weights = e.add(weights, constant(rhs.first));
  for (const WindowLoop &loop : windows)
    weights = e.add(weights, scaled(loop.k, loop.rhs));
  SmallVector<Value> columns, next;
  for (int64_t v = 0; v < current.columns; ++v) {
    int64_t left =
        along == Lanes::Inputs ? count : current.features - v * lanes;
    int64_t step = along == Lanes::Inputs ? rhs.strides[r[0]] : lanes;
    columns.push_back(rhsVectors.loadFirst(
        rhs.pointer, e.add(weights, constant(v * step)), lanes, left));
  }
  Value zero = vectors.zeros(lanes);
  for (int64_t i = 0; i < current.places; ++i) {
    Value from = e.add(constant(lhs.first), scaled(sample, lhs.strides[l[0]]));
    if (tiledSpatial < 0)
      from = e.add(from, constant(i * lhs.strides[l[0]]));
    from = e.add(from, scaled(e.add(firstInput, input), lhs.strides[l[1]]));
    Value inside = visible(i, from);
    auto orZero = [&](Value x, Value otherwise) {
      return inside ? arith::SelectOp::create(b, loc, inside, x, otherwise)
                          .getResult()
                    : x;
    };
    Value shared;
    if (along == Lanes::Outputs) {
      shared = orZero(lhsVectors.loadSplat(lhs.pointer, from, lanes), zero);
    } else if (along == Lanes::Inputs) {
      shared =
          orZero(lhsVectors.loadFirst(lhs.pointer, from, lanes, count), zero);
    }
    for (int64_t v = 0; v < current.columns; ++v) {
      Value x = shared;
      if (along == Lanes::Channels) {
        Value channel = e.add(from, e.add(feature, constant(v * lanes)));
        x = orZero(lhsVectors.loadFirst(lhs.pointer, channel, lanes,
                                        current.features - v * lanes),
                   zero);
      }
      next.push_back(
          vectors.multiplyAdd(x, columns[v], sums[i * current.columns + v]));
    }
  }
  return next;
}

void TiledConvolution::store(const Tile &current, Value feature,
                             ArrayRef<Value> sums) {
  Value pointer = e.memoryOf(op.getResult());
  int64_t stride = strides[op.getResultDims()[1]];
  for (int64_t i = 0; i < current.places; ++i)
    for (int64_t v = 0; v < current.columns; ++v) {
      Value sum = sums[i * current.columns + v];
      Value at = e.add(resultBase, constant(i * period * strides[tiled]));
      at = e.add(at, scaled(feature, stride));
      if (along != Lanes::Inputs) {
        vectors.storeFirst(sum, pointer, e.add(at, constant(v * lanes)),
                           current.features - v * lanes);
        continue;
      }
      vectors.store(vectors.sumOfLanes(sum), pointer,
                    e.add(at, constant(v * stride)));
    }
}

LogicalResult emitTiledConvolution(KernelEmitter &kernel, ConvolutionOp op,
                                   nest::ConvolutionAttr walk) {
  return TiledConvolution(kernel, op, walk).emit();
}

} // namespace weft::cpu
