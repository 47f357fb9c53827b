//===- Placement.cpp - which elements of a tile a thread has --------------===//

#include "weft/compiler/codegen/gpu/Placement.h"

#include "weft/compiler/codegen/gpu/KernelWalk.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

Placement::Placement(ArrayRef<std::pair<PlacementAxis, int64_t>> sizes,
                     std::vector<SubAxes> dims)
    : axes{{"round"}, {"thread"}, {"warp"}, {"lane"}, {"register"}},
      dims(std::move(dims)) {
  for (auto [axis, size] : sizes)
    axes[axis].size = size;
  SubAxes all;
  for (const SubAxes &digits : this->dims)
    all.insert(all.end(), digits.begin(), digits.end());
  assert(invalidReason(axes, all).empty());
}

/// The digit's value of a coordinate on its axis.
static Value emitDigit(LoopNest &nest, const MeshAxis &axis, int64_t minor,
                       const SubAxis &digit, Value coordinate) {
  auto number = [&](int64_t value) {
    return nest.constant(value, coordinate.getType());
  };
  if (minor > 1)
    coordinate = arith::DivUIOp::create(nest.builder, nest.loc, coordinate,
                                        number(minor));
  bool isFirst = minor * digit.size == axis.size;
  return isFirst ? coordinate
                 : arith::RemUIOp::create(nest.builder, nest.loc, coordinate,
                                          number(digit.size))
                       .getResult();
}

Value Placement::at(
    LoopNest &nest, unsigned dim,
    ArrayRef<std::pair<PlacementAxis, Value>> coordinates) const {
  Value sum;
  int64_t stride = 1;
  for (const SubAxis &digit : llvm::reverse(dims[dim])) {
    auto found = llvm::find_if(coordinates, [&](const auto &each) {
      return each.first == digit.axis;
    });
    if (found != coordinates.end() && digit.size > 1) {
      Value term =
          nest.mul(emitDigit(nest, axes[digit.axis], minorOf(axes, digit),
                             digit, found->second),
                   stride);
      sum = sum ? nest.add(term, sum) : term;
    }
    stride *= digit.size;
  }
  return sum ? sum : nest.constant(0, coordinates.front().second.getType());
}

int64_t Placement::at(unsigned dim, PlacementAxis axis,
                      int64_t coordinate) const {
  return weft::coordinate(axes, coordinate * strideOf(axes, axis), dims[dim]);
}

static Value ofThread(LoopNest &nest, const SubAxis &digit, Value thread) {
  return Placement({{kThread, kBlockThreads}}, {{digit}})
      .at(nest, 0, {{kThread, thread}});
}

Value warpOf(LoopNest &nest, Value thread) {
  return ofThread(nest, {kThread, 1, kBlockWarps}, thread);
}
Value laneOf(LoopNest &nest, Value thread) {
  return ofThread(nest, {kThread, kBlockWarps, kWarpLanes}, thread);
}

} // namespace weft::gpu
