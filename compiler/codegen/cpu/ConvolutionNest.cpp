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

/// Finds the tensors in memory; nothing if an operand is not in memory.
std::optional<TiledConvolution::At> TiledConvolution::place() {
  std::optional<StridedView> left = e.viewOf(op.getLhs()),
                             right = e.viewOf(op.getRhs());
  if (!left || !right)
    return std::nullopt;
  auto read = [&](const StridedView &view, Value operand) {
    Type memory = typeOf(operand).getElementType();
    return Operand{view, ElementVectors(b, loc, memory, element)};
  };
  At at{read(*left, op.getLhs()), read(*right, op.getRhs())};
  given = at.rhs;
  nest::Strides &kernelStrides = at.rhs.view;
  kernelStrides = nest::kernelRead(op, *right, along, walk.getCopiesKernel());
  shape =
      nest::convolutionShape(op, *left, kernelStrides, along, walk.getAlong());
  lanes = std::max<int64_t>(kernel.target.vectorBytes / bytesOf(element), 1);
  tile = {walk.getTile()[0], walk.getTile()[1], 0};
  if (walk.getCopiesPanels())
    kernelStrides = nest::panelRead(op, shape, tile.columns * lanes);
  ArrayRef<int64_t> l = op.getLhsDims(), r = op.getRhsDims();
  for (auto [i, window] : llvm::enumerate(op.getWindows()))
    windows.push_back({window, left->sizes[l[2 + i]], left->strides[l[2 + i]],
                       kernelStrides.strides[r[2 + i]]});
  at.result = constant(0);
  at.places.resize(windows.size());
  return at;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

LogicalResult TiledConvolution::emit() {
  std::optional<At> at = place();
  if (!at)
    return op.emitError() << "operands of 'weft.convolution' are not in memory";
  if (walk.getCopiesSample()) {
    int64_t bytes = bytesOf(element),
            weights = walk.getCopiesKernel() ? elementCount(op.getRhs())
                      : walk.getCopiesPanels()
                          ? nest::panelElements(op, tile.columns * lanes)
                          : 0;
    sampleMemory = vectors.address(
        e.scratch(), constant(llvm::alignTo(weights * bytes, 64) / bytes));
  }
  // The loops over all dimensions of the result but the features and the tiled
  // one are around the tiles.
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim)
    if (dim != op.getResultDims()[1] && dim != shape.tiled)
      dims.push_back(dim);
  if (walk.getCopiesPanels()) {
    eachTile(constant(0), [&](const Tile &current, Value feature) {
      At with = *at;
      copyPanel(with, current, feature);
      emitRows(dims, with);
    });
    return success();
  }
  if (walk.getCopiesKernel())
    copyKernel(*at);
  emitRows(dims, *at);
  return success();
}

void TiledConvolution::eachTile(
    Value first, llvm::function_ref<void(const Tile &, Value)> emit) {
  bool isOfVectors = along != Lanes::Inputs;
  int64_t width = tile.columns * (isOfVectors ? lanes : 1),
          full = shape.features / width, rest = shape.features % width;
  if (full > 0)
    e.eachOrOnce(full, [&](Value block) {
      emit({tile.places, tile.columns, width},
           e.add(first, scaled(block, width)));
    });
  if (rest > 0)
    emit({tile.places, isOfVectors ? (rest + lanes - 1) / lanes : rest, rest},
         e.add(first, constant(full * width)));
}

void TiledConvolution::emitRows(ArrayRef<int64_t> dims, const At &at) {
  if (dims.empty())
    return emitPlaces(at);
  int64_t dim = dims.front();
  ArrayRef<int64_t> out = op.getResultDims();
  e.eachShared(dim, type.getDimSize(dim), [&](Value i) {
    At in = at;
    in.result = e.add(at.result, scaled(i, shape.result.strides[dim]));
    if (dim != out[0]) {
      in.places[llvm::find(out.drop_front(2), dim) - out.begin() - 2] = i;
    } else {
      in.sample = i;
      if (sampleMemory)
        extendSample(in);
    }
    emitRows(dims.drop_front(), in);
  });
}

/// Emits tiles of positions whose windows see the same elements; the last tile
/// starts earlier, so that it is full.
void TiledConvolution::emitPlaces(const At &at) {
  int64_t period = shape.period, size = type.getDimSize(shape.tiled);
  e.eachOrOnce(period, [&](Value phase) {
    Value count = constant(size);
    if (period > 1) {
      count = arith::SubIOp::create(b, loc, constant(size + period - 1), phase);
      count = arith::DivUIOp::create(b, loc, count, constant(period));
    }
    e.each(constant(0), count, constant(tile.places), [&](Value start) {
      if (period > 1 || size % tile.places != 0) {
        Value last =
            arith::SubIOp::create(b, loc, count, constant(tile.places));
        start = arith::MinSIOp::create(b, loc, start, last);
      }
      At in = at;
      Value place = e.add(scaled(start, period), phase);
      in.result =
          e.add(at.result, scaled(place, shape.result.strides[shape.tiled]));
      (shape.tiledSpatial >= 0 ? in.places[shape.tiledSpatial] : in.sample) =
          place;
      emitGroups(in);
    });
  });
}

/// Emits the tiles of each group's features: they use only the input features,
/// or the samples, of their group.
void TiledConvolution::emitGroups(const At &at) {
  At in = at;
  if (at.panel) {
    in.firstInput = constant(0);
    return emitTile(at.panel->tile, at.panel->feature, in);
  }
  e.eachOrOnce(shape.groups, [&](Value group) {
    in.firstInput = scaled(group, op.getFeatureGroups() > 1 ? shape.inputs : 0);
    if (op.getBatchGroups() > 1)
      in.sample = e.add(at.sample,
                        scaled(group, type.getDimSize(op.getResultDims()[0])));
    eachTile(scaled(group, shape.features),
             [&](const Tile &current, Value feature) {
               emitTile(current, feature, in);
             });
  });
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

void TiledConvolution::copyKernel(ArrayRef<int64_t> dims, const At &at,
                                  Value from, Value to,
                                  llvm::function_ref<void(Value, Value)> copy) {
  if (dims.empty())
    return copy(from, to);
  int64_t dim = dims.front();
  e.each(given->view.sizes[dim], [&](Value i) {
    copyKernel(dims.drop_front(), at,
               e.add(from, scaled(i, given->view.strides[dim])),
               e.add(to, scaled(i, at.rhs.view.strides[dim])), copy);
  });
}

/// Copies the kernel's elements for the features of a tile from `feature` on,
/// extended, to the panel.
void TiledConvolution::copyPanel(At &at, const Tile &current, Value feature) {
  ArrayRef<int64_t> r = op.getRhsDims();
  SmallVector<int64_t> order(r.drop_front(1));
  llvm::sort(order, [&](int64_t x, int64_t y) {
    return at.rhs.view.strides[x] > at.rhs.view.strides[y];
  });
  Value panel = e.scratch(),
        first = e.add(constant(given->view.first),
                      scaled(feature, given->view.strides[r[0]]));
  copyKernel(order, at, first, constant(0), [&](Value from, Value to) {
    for (int64_t v = 0; v < current.columns; ++v) {
      Value lane = constant(v * lanes);
      Value row =
          given->vectors.loadFirst(given->view.pointer, e.add(from, lane),
                                   lanes, current.features - v * lanes);
      vectors.store(row, panel, e.add(to, lane));
    }
  });
  at.rhs.vectors = vectors;
  at.rhs.view.pointer = panel;
  at.panel = Panel{current, feature};
}

/// Copies the kernel, extended, to memory where output features are adjacent.
void TiledConvolution::copyKernel(At &at) {
  ArrayRef<int64_t> r = op.getRhsDims();
  SmallVector<int64_t> order(r.drop_front(2));
  order.append({r[1], r[0]});
  Value memory = e.scratch();
  copyKernel(order, at, constant(given->view.first), constant(0),
             [&](Value from, Value to) {
               vectors.store(
                   given->vectors.loadScalar(given->view.pointer, from), memory,
                   to);
             });
  at.rhs.vectors = vectors;
  at.rhs.view.pointer = memory;
}

/// Copies a sample, extended, and reads it there.
void TiledConvolution::extendSample(At &at) {
  int64_t count = at.lhs.view.strides[op.getLhsDims()[0]];
  Value first = scaled(at.sample, count);
  e.each(count, [&](Value i) {
    vectors.store(
        at.lhs.vectors.loadScalar(at.lhs.view.pointer, e.add(first, i)),
        sampleMemory, i);
  });
  at.lhs.vectors = vectors;
  at.lhs.view.pointer = sampleMemory;
  at.sample = constant(0);
}

LogicalResult emitTiledConvolution(KernelEmitter &kernel, ConvolutionOp op,
                                   nest::ConvolutionAttr walk) {
  return TiledConvolution(kernel, op, walk).emit();
}

} // namespace weft::cpu
