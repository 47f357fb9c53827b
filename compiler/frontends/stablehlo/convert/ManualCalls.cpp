//===- ManualCalls.cpp - XLA's form of shard_map --------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/ManualCalls.h"
#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

/// Whether the op is a custom call of the target with one operand and one
/// result.
static bool calls(Operation *op, StringRef target) {
  return op && op->getNumOperands() == 1 && op->getNumResults() == 1 &&
         ForeignOp(op).word("call_target_name") == target;
}

static Operation *onlyUser(Value value) {
  return value.hasOneUse() ? *value.user_begin() : nullptr;
}

namespace {
class ManualCall {
public:
  explicit ManualCall(Operation *call) : call(call) {}

  /// Whether the call has operands or results that are values of one device.
  bool isManual() const {
    return llvm::any_of(call->getOperands(), isBlock) ||
           llvm::any_of(call->getResults(),
                        [](Value v) { return fullValue(v); });
  }
  LogicalResult replace();

private:
  static bool isBlock(Value value) {
    return calls(value.getDefiningOp(), "SPMDFullToShardShape");
  }
  /// The op that makes the global value of a result, or null.
  static Operation *fullValue(Value result) {
    Operation *marked = onlyUser(result);
    Operation *full =
        calls(marked, "Sharding") ? onlyUser(marked->getResult(0)) : marked;
    return calls(full, "SPMDShardToFullShape") ? full : nullptr;
  }
  LogicalResult addOperand(Value block);
  LogicalResult addResult(Value block);
  void addSharding(SmallVectorImpl<Attribute> &list, Attribute sharding);
  ArrayAttr array(ArrayRef<Attribute> list) {
    return ArrayAttr::get(call->getContext(), list);
  }

  Operation *call;
  SmallVector<Value> operands, yielded;
  SmallVector<Operation *> results;
  SmallVector<Attribute> from, to;
  llvm::SetVector<Attribute> axes;
};
} // namespace

void ManualCall::addSharding(SmallVectorImpl<Attribute> &list,
                             Attribute sharding) {
  list.push_back(sharding);
  auto mesh = cast<DictionaryAttr>(sharding).getAs<DictionaryAttr>("mesh");
  for (Attribute name : mesh.getAs<ArrayAttr>("names"))
    axes.insert(name);
}

LogicalResult ManualCall::addOperand(Value block) {
  Value full = isBlock(block) ? block.getDefiningOp()->getOperand(0) : Value();
  Operation *marked = full ? full.getDefiningOp() : nullptr;
  Attribute sharding =
      calls(marked, "Sharding") ? marked->getAttr("sharding") : Attribute();
  if (!sharding)
    return ForeignOp(call).refuse()
           << "is given a value by a shard_map without its sharding";
  operands.push_back(full);
  addSharding(from, sharding);
  return success();
}

LogicalResult ManualCall::addResult(Value block) {
  if (block.use_empty())
    return success();
  Operation *full = fullValue(block);
  Attribute sharding = full ? full->getAttr("sharding") : Attribute();
  if (!sharding)
    return ForeignOp(call).refuse()
           << "gives a value to a shard_map without its sharding";
  results.push_back(full);
  yielded.push_back(block);
  addSharding(to, sharding);
  return success();
}

LogicalResult ManualCall::replace() {
  for (Value operand : call->getOperands())
    if (failed(addOperand(operand)))
      return failure();
  for (Value result : call->getResults())
    if (failed(addResult(result)))
      return failure();
  OpBuilder builder(call);
  OperationState state(call->getLoc(), "sdy.manual_computation");
  state.addOperands(operands);
  for (Operation *full : results)
    state.addTypes(full->getResult(0).getType());
  state.addAttribute("in_shardings", array(from));
  state.addAttribute("out_shardings", array(to));
  state.addAttribute("manual_axes", array(axes.getArrayRef()));
  auto *block = new Block();
  state.addRegion()->push_back(block);
  Operation *manual = builder.create(state);
  IRMapping inside;
  for (Value operand : call->getOperands())
    inside.map(operand, block->addArgument(operand.getType(), call->getLoc()));
  builder.setInsertionPointToEnd(block);
  builder.clone(*call, inside);
  OperationState end(call->getLoc(), "sdy.return");
  for (Value value : yielded)
    end.addOperands(inside.lookup(value));
  builder.create(end);
  for (auto [full, result] : llvm::zip_equal(results, manual->getResults())) {
    full->getResult(0).replaceAllUsesWith(result);
    Operation *marked = full->getOperand(0).getDefiningOp();
    full->erase();
    if (marked != call)
      marked->erase();
  }
  SmallVector<Value> blocks(call->getOperands());
  call->erase();
  for (Value value : blocks)
    if (value.use_empty())
      value.getDefiningOp()->erase();
  return success();
}

LogicalResult stablehlo::gatherManualCalls(ModuleOp program) {
  SmallVector<Operation *> found;
  program.walk([&](Operation *op) {
    if (ForeignOp(op).name() == "func.call" && ManualCall(op).isManual())
      found.push_back(op);
  });
  for (Operation *call : found)
    if (failed(ManualCall(call).replace()))
      return failure();
  return success();
}
