//===- TransposedTiles.cpp - elements that are read the other way ---------===//

#include "weft/compiler/codegen/gpu/TransposedTiles.h"

#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/KernelWalk.h"
#include "weft/compiler/codegen/gpu/Placement.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

using nest::kTurnedStride;
using nest::kTurnedTile;

TransposedTiles::TransposedTiles(ElementEmitter &elements, nest::LoopsOp loops,
                                 ArrayRef<Value> stored,
                                 ArrayRef<Value> pointers, GridPlace grid)
    : elements(elements), builder(elements.builder), loc(elements.loc),
      loops(loops), stored(stored), pointers(pointers),
      shape(typeOf(stored[0]).getShape()), grid(grid), shared(elements),
      along(cast<nest::TransposedAttr>(loops.getWalk()).getAlong()) {
  Block *body = &loops.getBody().front();
  turned = nest::turnedValues(loops.getStored(), along, [&](Value value) {
    return value.getParentBlock() != body;
  });
}

LogicalResult TransposedTiles::emit(Operation *function, StringRef name) {
  int64_t bytes = 0;
  SmallVector<int64_t> begins;
  for (Value value : turned) {
    begins.push_back(bytes);
    bytes += nest::turnedBytes(value);
  }
  shared.allocate(function, (name + ".shared").str(), bytes);
  for (int64_t begin : begins)
    patches.push_back(shared.at(shared.base(), builder.getI8Type(),
                                elements.constant(begin)));
  lane = laneOf(elements, grid.thread);
  warp = warpOf(elements, grid.thread);
  SmallVector<int64_t> tiles = nest::turnedTiles(shape, along);
  Value tile = elements.openStridedLoop(
      grid.block, elements.constant(llvm::product_of(tiles)), grid.blocks);
  first = elements.positionsOf(tile, tiles);
  for (Value *position : {&first[along], &first.back()})
    *position = elements.mul(*position, kTurnedTile);
  if (failed(fill()))
    return failure();
  shared.barrier();
  if (failed(store()))
    return failure();
  shared.barrier(); // the next tile uses the same memory
  elements.beginNest();
  return success();
}

LogicalResult
TransposedTiles::eachRun(llvm::function_ref<LogicalResult(Value run)> body) {
  int64_t rounds = kTurnedTile / kBlockWarps;
  Placement runs({{kRound, rounds}, {kWarp, kBlockWarps}},
                 {{{kRound, 1, rounds}, {kWarp, 1, kBlockWarps}}});
  return elements.loop(rounds, [&](Value round) {
    return body(runs.at(elements, 0, {{kRound, round}, {kWarp, warp}}));
  });
}

ElementIndex TransposedTiles::indexOf(Value alongFirst, Value alongLast,
                                      Value &exists) {
  SmallVector<Value> position(first);
  position[along] =
      elements.clampedToSize(elements.add(first[along], alongFirst),
                             shape[along], kTurnedTile, exists);
  position.back() = elements.clampedToSize(
      elements.add(first.back(), alongLast), shape.back(), kTurnedTile, exists);
  ElementIndex index = elements.makeIndex(position, elements.depth());
  index.depth = elements.depth();
  return index;
}

LogicalResult TransposedTiles::fill() {
  return eachRun([&](Value run) -> LogicalResult {
    Value exists;
    ElementIndex index = indexOf(lane, run, exists);
    Value at = elements.add(elements.mul(run, kTurnedStride), lane);
    for (auto [value, patch] : llvm::zip_equal(turned, patches)) {
      FailureOr<Value> element = elements.element(value, index);
      if (failed(element))
        return failure();
      elements.enterDepth(elements.depth());
      elements.store(*element, patch, typeOf(value).getElementType(), at);
    }
    return success();
  });
}

LogicalResult TransposedTiles::store() {
  return eachRun([&](Value run) -> LogicalResult {
    Value exists;
    ElementIndex index = indexOf(run, lane, exists);
    Value at = elements.add(elements.mul(lane, kTurnedStride), run);
    for (auto [value, patch] : llvm::zip_equal(turned, patches))
      elements.setElement(
          value, index,
          elements.load(patch, typeOf(value).getElementType(), at));
    FailureOr<SmallVector<Value>> values =
        elements.storedElements(stored, index);
    if (failed(values))
      return failure();
    Value linear = elements.linearIndex(shape, index);
    if (exists) {
      auto branch = scf::IfOp::create(builder, loc, exists);
      builder.setInsertionPointToStart(branch.thenBlock());
    }
    for (auto [root, value, pointer] :
         llvm::zip_equal(stored, *values, pointers))
      elements.store(value, pointer, typeOf(root).getElementType(), linear);
    return success();
  });
}

} // namespace weft::gpu
