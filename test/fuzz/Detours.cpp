//===- Detours.cpp - values go to another layout and back -----------------===//
//
//   %1 = weft.relu %0 : tensor<5x4xf32, [{"a"}, {}]>
//   %2 = weft.reshard %1 -> tensor<5x4xf32, [{}, {"a":(1)2}], partial = sum{"b"}>
//   %3 = weft.reshard %2 -> tensor<5x4xf32, [{"a"}, {}]>      users take this
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/Weft.h"
#include "weft/test/fuzz/ProgramCheck.h"
#include "weft/test/fuzz/RandomProgram.h"

#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <random>

using namespace mlir;

namespace weft {

namespace {
class Detours {
public:
  explicit Detours(uint64_t seed) : random(seed) {}
  void add(func::FuncOp function);

private:
  int64_t below(int64_t n) { return static_cast<int64_t>(random() % n); }
  Layout drawLayout(const Mesh &mesh, const Layout &from, int64_t rank,
                    Type element);
  void add(OpBuilder &builder, Value value);

  std::mt19937_64 random;
  /// Whether the program reads bits or signs of floats: sums with zeros of
  /// other devices change the sign of -0.
  bool seesSigns = false;
};
} // namespace

/// Draws a layout with sub-axes on dimensions; axes that `from` does not use
/// may be partial.
Layout Detours::drawLayout(const Mesh &mesh, const Layout &from, int64_t rank,
                           Type element) {
  Layout layout = Layout::replicated(rank);
  layout.reduce = isa<FloatType, ComplexType>(element) || below(2)
                      ? ReduceKind::Sum
                      : ReduceKind::Max;
  if (element.isInteger(1))
    layout.reduce = below(2) ? ReduceKind::And : ReduceKind::Or;
  auto give = [&](const SubAxis &digit) {
    bool isUsed = false;
    for (const SubAxes &dim : from.dims)
      for (const SubAxis &used : dim)
        isUsed |= overlaps(used, digit);
    if (!isUsed && below(4) == 0 && !(seesSigns && isa<FloatType>(element)))
      layout.partial.push_back(digit);
    else if (rank && below(3))
      layout.dims[below(rank)].push_back(digit);
  };
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    int64_t size = mesh.axes[axis].size;
    // Divisors of a source and of a target need not align: 3 and 2 of 6.
    int64_t major = 2 + below(std::clamp<int64_t>(size - 2, 1, 11));
    if (size > major && size % major == 0 && below(2) == 0) {
      give({axis, major, size / major});
      give({axis, 1, major});
    } else if (size > 1) {
      give(fullAxis(mesh, axis));
    }
  }
  // Sometimes only the devices with a coordinate have the value in between.
  if (unsigned axis = below(mesh.axes.size()); below(4) == 0)
    layout = onPart(layout, {{axis, below(mesh.axes[axis].size)}});
  return normalise(mesh, layout);
}

void Detours::add(OpBuilder &builder, Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  LayoutAttr attribute = type ? getLayout(type) : LayoutAttr();
  if (!attribute || attribute.getLayout().isPartial() || below(6))
    return;
  MeshAttr mesh = attribute.getMesh();
  Layout there = drawLayout(mesh.getMesh(), attribute.getLayout(),
                            type.getRank(), type.getElementType());
  auto go = [&](Value from, LayoutAttr to) {
    return ReshardOp::create(builder, value.getLoc(), withLayout(type, to),
                             from, StringAttr());
  };
  ReshardOp away = go(value, LayoutAttr::get(mesh, there));
  ReshardOp back = go(away, attribute);
  value.replaceAllUsesExcept(back, away);
}

void Detours::add(func::FuncOp function) {
  function.walk([&](BitcastOp op) {
    seesSigns |= isa<FloatType>(getElementTypeOrSelf(op.getInput()));
  });
  // Programs with -0 in arguments also compare signs.
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    seesSigns |= function.getArgAttr(i, kDrawAttr) != nullptr;
  OpBuilder builder(function.getContext());
  Block &body = function.getBody().front();
  builder.setInsertionPointToStart(&body);
  for (BlockArgument argument : body.getArguments())
    add(builder, argument);
  for (Operation &op : llvm::make_early_inc_range(body.without_terminator())) {
    builder.setInsertionPointAfter(&op);
    for (Value result : op.getResults())
      add(builder, result);
  }
}

void addDetours(ModuleOp module, uint64_t seed) {
  Detours detours(seed);
  for (auto function : module.getOps<func::FuncOp>())
    if (!function.isPrivate())
      detours.add(function);
}

} // namespace weft
