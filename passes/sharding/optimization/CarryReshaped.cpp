//===- CarryReshaped.cpp - loops carry the shape that they change ---------===//
//
//   for (%v = %x) {                            for (%f = reshape %x) {
//     %f = reshape %v : 64x8 -> 512
//     %u = dynamic_update_slice %f ...    =>     %u = dynamic_update_slice %f ...
//     %w = reshape %u : 512 -> 64x8
//     yield %w                                   yield %u
//   }                                          }
//                                              %y = reshape %result : 512 -> 64x8
//
// A reshape that is stored copies all elements in each round. Other uses of the
// carried value read a reshape back, which costs nothing where it is read by
// element.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/RegionFlow.h"

#include "mlir/Interfaces/ControlFlowInterfaces.h"

namespace weft {
#define GEN_PASS_DEF_CARRYRESHAPEDPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// The most updates and loops between two reshapes that are followed.
static constexpr unsigned kMostSteps = 64;

/// The value that becomes this one where no op is between the two: the only
/// source of its class, or what its loop begins with.
static Value passedValue(Value value, const RegionFlow &flow) {
  ArrayRef<OpOperand *> sources = flow.sources(flow.leader(value));
  Operation *loop = value.getDefiningOp();
  if (!loop)
    loop = value.getParentBlock()->getParentOp();
  for (OpOperand *source : sources)
    if (sources.size() == 1 || source->getOwner() == loop)
      return source->get();
  return Value();
}

/// The value of which this one is a copy with changed elements, by an op or by
/// the rounds of an inner loop; null if there is none.
static Value changedValue(Value value, const RegionFlow &flow) {
  Operation *def = value.getDefiningOp();
  OpOperand *updated = def ? updatedOperand(def) : nullptr;
  return updated ? updated->get() : passedValue(value, flow);
}

namespace {
/// A carried value that each round changes in another type.
struct ChangedShape {
  Type type;
  SmallVector<Value, 2> leaders; ///< the leaders of the value's classes
};
} // namespace

static std::optional<ChangedShape> changedShape(OpOperand &yielded,
                                                const RegionFlow &flow) {
  auto after = yielded.get().getDefiningOp<ReshapeOp>();
  Value carried = flow.target(yielded);
  if (!after || !carried)
    return std::nullopt;
  Type type = after.getInput().getType();
  Value value = after.getInput();
  for (unsigned step = 0; value && step < kMostSteps; ++step) {
    auto before = value.getDefiningOp<ReshapeOp>();
    if (!before) {
      value = changedValue(value, flow);
      continue;
    }
    if (step == 0 || value.getType() != type)
      break;
    Value seen = flow.leader(before.getInput());
    if (seen == carried)
      return ChangedShape{type, {carried}};
    // A condition passes the carried value on to the body.
    ArrayRef<OpOperand *> sources = flow.sources(seen);
    if (sources.size() == 1 && flow.leader(sources[0]->get()) == carried)
      return ChangedShape{type, {carried, seen}};
    break;
  }
  return std::nullopt;
}

/// The value in this type; its reshape back is not reshaped again.
static Value inType(OpBuilder &builder, Value value, Type type) {
  auto reshape = value.getDefiningOp<ReshapeOp>();
  if (reshape && reshape.getInput().getType() == type)
    return reshape.getInput();
  return ReshapeOp::create(builder, value.getLoc(), type, value);
}

/// Gives all values of the class the type.
static void carryIn(Type type, Value leader, const RegionFlow &flow) {
  for (OpOperand *source : flow.sources(leader)) {
    OpBuilder builder(source->getOwner());
    source->set(inType(builder, source->get(), type));
  }
  for (Value member : flow.members(leader)) {
    Type old = member.getType();
    OpBuilder builder(member.getContext());
    builder.setInsertionPointAfterValue(member);
    member.setType(type);
    auto back = ReshapeOp::create(builder, member.getLoc(), old, member);
    member.replaceUsesWithIf(
        back, [&](OpOperand &use) { return use.getOwner() != back; });
    for (Operation *user : llvm::make_early_inc_range(back->getUsers()))
      if (auto reshape = dyn_cast<ReshapeOp>(user);
          reshape && reshape.getType() == type) {
        reshape.replaceAllUsesWith(member);
        reshape.erase();
      }
    if (back->use_empty())
      back.erase();
  }
}

/// Erases the reshapes back that nothing reads.
static void eraseUnusedReshapes(func::FuncOp function) {
  SmallVector<ReshapeOp> unused;
  function.walk([&](ReshapeOp reshape) {
    if (reshape->use_empty())
      unused.push_back(reshape);
  });
  for (ReshapeOp reshape : unused)
    reshape.erase();
}

namespace {
struct CarryReshapedPass
    : weft::impl::CarryReshapedPassBase<CarryReshapedPass> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      RegionFlow flow(function);
      SmallVector<Operation *> loops;
      forEachLoop(function, [&](Operation *loop) { loops.push_back(loop); });
      for (Operation *loop : loops)
        visit(loop, flow);
      eraseUnusedReshapes(function);
    }
  }

  void visit(Operation *loop, const RegionFlow &flow) {
    for (Region &region : loop->getRegions())
      for (OpOperand &yielded : region.front().getTerminator()->getOpOperands())
        if (auto shape = changedShape(yielded, flow)) {
          for (Value leader : shape->leaders)
            carryIn(shape->type, leader, flow);
          ++numCarried;
        }
  }
};
} // namespace
