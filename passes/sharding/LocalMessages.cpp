//===- LocalMessages.cpp - what an op's local form sends -------------------===//

#include "weft/passes/sharding/LocalMessages.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/plan/LocalArrays.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/passes/sharding/FetchedOperands.h"
#include "weft/passes/sharding/LocalBlocks.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace mlir;

/// Whether shards of a factor of this kind may need each other inside of the op.
static bool mixesShards(FactorKind kind) {
  switch (kind) {
  case FactorKind::Pass:
  case FactorKind::Position:
  case FactorKind::Reduce:
    return false;
  case FactorKind::Lookup:
  case FactorKind::Scan:
  case FactorKind::Select:
  case FactorKind::Window:
  case FactorKind::Shift:
  case FactorKind::Replicated:
    return true;
  }
  return true;
}

static bool mixesShards(const OpWithRule &op, const OpSharding &sharding) {
  return llvm::any_of(llvm::zip(op.rule.factors, sharding.axes),
                      [](auto factor) {
                        const auto &[its, axes] = factor;
                        return mixesShards(its.kind) && !axes.empty();
                      });
}

static void appendAxes(std::vector<int64_t> &key, const SubAxes &axes) {
  key.push_back(axes.size());
  for (const SubAxis &sub : axes)
    key.insert(key.end(), {int64_t(sub.axis), sub.skip, sub.size});
}

Price LocalMessages::of(const OpWithRule &op, const OpSharding &sharding) {
  if (!isa<ShardingRuleOpInterface>(op.op) ||
      isa<plan::PlanInstructionOpInterface>(op.op) ||
      !op.tensorNumbers.empty() || !op.parts.empty() ||
      !mixesShards(op, sharding))
    return {};
  std::vector<int64_t> key{reinterpret_cast<int64_t>(op.op)};
  for (const SubAxes &axes : sharding.axes)
    appendAxes(key, axes);
  auto [entry, fresh] = known.try_emplace(std::move(key));
  if (fresh)
    entry->second = built(op, sharding, /*withFetches=*/false);
  return entry->second;
}

Price LocalMessages::ofAll(const OpWithRule &op,
                           const OpSharding &sharding) const {
  return mixesShards(op, sharding) ? built(op, sharding, /*withFetches=*/true)
                                   : Price();
}

/// The price of one collective of a local form.
static Price priceOfMessage(const Mesh &mesh,
                            plan::PlanInstructionOpInterface sends) {
  SubAxes axes = plan::groupAxes(sends.getCommunicatingGroup());
  Communication communication = sends.getCommunication().getCommunication();
  GroupOver group{mesh, axes};
  int64_t bytes = bytesSent(communication, group,
                            plan::localArrays(sends->getOperandTypes()),
                            plan::localArrays(sends->getResultTypes()));
  return Price::of(slowestLink(mesh, linksOf(communication, group)), bytes);
}

Price LocalMessages::built(const OpWithRule &op, const OpSharding &sharding,
                           bool withFetches) const {
  Block block;
  MLIRContext *context = op.op->getContext();
  // Passes have loaded it.
  context->loadDialect<coll::CollDialect>();
  MeshAttr meshAttr = MeshAttr::get(context, mesh);
  Location loc = op.op->getLoc();
  auto laidOut = [&](Value value, const Layout &layout) -> Type {
    auto tensor = dyn_cast<RankedTensorType>(value.getType());
    return tensor ? withLayout(tensor, LayoutAttr::get(meshAttr, layout))
                  : value.getType();
  };
  IRMapping mapping;
  SmallVector<Value> operands;
  for (auto [operand, layout] :
       llvm::zip_equal(op.op->getOperands(), sharding.operands)) {
    Type type = laidOut(operand, layout);
    mapping.map(operand, block.addArgument(type, loc));
    operands.push_back(block.addArgument(localType(type), loc));
  }
  Operation *copy = op.op->clone(mapping);
  block.push_back(copy);
  for (auto [result, layout] :
       llvm::zip_equal(copy->getResults(), sharding.results))
    result.setType(laidOut(result, layout));
  SmallVector<Type> global(copy->getResultTypes()), local;
  for (Type type : global)
    local.push_back(localType(type));
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(&block);
  OpBlocks blocks(*copy);
  BlockPlacement placement(global, blocks);
  Operation *before = copy;
  for (unsigned operand = 0; operand < operands.size(); ++operand)
    fetchOperand(builder, blocks, operand, placement, operands);
  if (!withFetches)
    before = &block.back();
  cast<ShardingRuleOpInterface>(copy).buildLocal(builder, operands, local,
                                                 placement);
  Price total;
  for (Operation *made = before->getNextNode(); made;
       made = made->getNextNode())
    made->walk([&](plan::PlanInstructionOpInterface sends) {
      total = total + priceOfMessage(mesh, sends);
    });
  block.dropAllReferences();
  return total;
}
