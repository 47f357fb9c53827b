//===- ScheduledCost.cpp - costs of a step without its kernels ------------===//

#include "weft/compiler/explain/ScheduledCost.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/passes/planning/BufferAssignment.h"
#include "weft/passes/planning/Passes.h"

#include "mlir/IR/OpDefinition.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/Support/SaveAndRestore.h"

#include <algorithm>

using namespace mlir;
using namespace weft;

namespace {

/// Adds up the costs of one function.
class ScheduleCounter {
public:
  ScheduleCounter(func::FuncOp function, MeshAttr mesh)
      : function(function), mesh(mesh), builder(function.getContext()) {
    builder.setInsertionPointToEnd(&instructions);
  }
  Explanation count();

private:
  /// Counts a block that runs `times` times; 0: unknown.
  void countBlock(Block &block, int64_t times);
  void countRegions(Operation &op, int64_t times);
  void countCollective(plan::PlanInstructionOpInterface op, int64_t times);
  SmallVector<Value> buffers(ValueRange values);
  void countPorts();
  /// The most bytes of values that are needed at once in a block.
  static int64_t mostHeld(Block &block);

  func::FuncOp function;
  MeshAttr mesh;
  Explanation result;
  MeshPart part;      ///< that runs the present ops
  Block instructions; ///< a plan's; each is removed once counted
  OpBuilder builder;
};

} // namespace

static int64_t bytesOf(Value value) {
  return isa<RankedTensorType>(value.getType())
             ? bufferBytes(bufferType(value.getType()))
             : 0;
}

SmallVector<Value> ScheduleCounter::buffers(ValueRange values) {
  SmallVector<Value> made;
  for (Value value : values)
    made.push_back(plan::BufferOp::create(builder, function.getLoc(),
                                          bufferType(value.getType()),
                                          builder.getI64IntegerAttr(0)));
  return made;
}

void ScheduleCounter::countCollective(plan::PlanInstructionOpInterface op,
                                      int64_t times) {
  SmallVector<Value> sources = buffers(op->getOperands());
  SmallVector<Value> targets = buffers(op->getResults());
  plan::StartOp made = plan::createStart(
      builder, op, sources, targets,
      times == 1 ? IntegerAttr() : builder.getI64IntegerAttr(times));
  result.collectives.push_back(explainCollective(made, mesh.getMesh()));
  result.collectives.back().part = part;
  while (!instructions.empty())
    instructions.back().erase();
}

void ScheduleCounter::countRegions(Operation &op, int64_t times) {
  if (auto loop = dyn_cast<WhileOp>(op)) {
    std::optional<int64_t> rounds = loop.getTripCount();
    int64_t tests = rounds ? saturatingAdd(*rounds, 1) : 0;
    countBlock(loop.getCondition().front(), saturatingMultiply(times, tests));
    countBlock(loop.getBody().front(),
               saturatingMultiply(times, rounds.value_or(0)));
    return;
  }
  llvm::SaveAndRestore inside(part);
  if (auto at = dyn_cast<AtOp>(op))
    part = at.getPart();
  if (auto loop = dyn_cast<ForOp>(op))
    times = saturatingMultiply(times, static_cast<int64_t>(loop.getCount()));
  std::optional<TakenRounds> taken = takenRounds(&op);
  std::optional<int64_t> rounds = roundsAround(&op);
  for (Region &region : op.getRegions()) {
    bool isTaken = taken && rounds && region.getRegionNumber() == 0;
    int64_t its =
        isTaken && *rounds > 0 ? times / *rounds * taken->count : times;
    for (Block &block : region)
      countBlock(block, its);
  }
}

void ScheduleCounter::countBlock(Block &block, int64_t times) {
  for (Operation &op : block) {
    ++result.instructions;
    if (auto collective = dyn_cast<plan::PlanInstructionOpInterface>(op))
      countCollective(collective, times);
    else
      countRegions(op, times);
  }
}

/// Whether the kernel of the value's only user can compute it.
static bool isOftenFused(Value value) {
  Operation *op = value.getDefiningOp();
  bool isSimple = op->hasTrait<KeepsPositions>() ||
                  op->hasTrait<MovesElements>() ||
                  op->hasTrait<GeneratesElements>();
  return isSimple && value.hasOneUse();
}

int64_t ScheduleCounter::mostHeld(Block &block) {
  llvm::DenseMap<Operation *, int64_t> freed;
  int64_t held = 0, most = 0;
  Operation *end = block.getTerminator();
  for (Operation &op : block) {
    int64_t inside = 0;
    for (Region &region : op.getRegions())
      for (Block &inner : region)
        inside = std::max(inside, mostHeld(inner));
    for (Value value : op.getResults()) {
      if (op.hasTrait<OpTrait::ConstantLike>() || isOftenFused(value))
        continue;
      Operation *last = nullptr;
      for (Operation *user : value.getUsers()) {
        Operation *here = block.findAncestorOpInBlock(*user);
        if (here && (!last || last->isBeforeInBlock(here)))
          last = here;
      }
      if (!last || last == end)
        continue; // Results of the function have separate memory.
      held += bytesOf(value);
      freed[last] += bytesOf(value);
    }
    most = std::max(most, held + inside);
    held -= freed.lookup(&op);
  }
  return most;
}

void ScheduleCounter::countPorts() {
  MemoryUse &memory = result.memory;
  std::set<int64_t> reused;
  for (BlockArgument argument : function.getArguments()) {
    unsigned index = argument.getArgNumber();
    auto donated = function.getArgAttrOfType<IntegerAttr>(index, kDonatedAttr);
    auto role = function.getArgAttrOfType<StringAttr>(index, kRoleAttr);
    if (donated)
      reused.insert(donated.getInt());
    addArgument(bytesOf(argument), role ? role.getValue() : "other",
                donated != nullptr, memory);
  }
  Operation *end = function.getBody().front().getTerminator();
  for (auto [index, value] : llvm::enumerate(end->getOperands()))
    if (!reused.contains(static_cast<int64_t>(index)))
      memory.activations += bytesOf(value);
  memory.temporaries = mostHeld(function.getBody().front());
}

Explanation ScheduleCounter::count() {
  result.step = function.getSymName().str();
  countBlock(function.getBody().front(), 1);
  countPorts();
  return std::move(result);
}

std::optional<Explanation> weft::explainScheduled(ModuleOp module) {
  func::FuncOp only;
  for (auto function : module.getOps<func::FuncOp>())
    if (becomesProgram(function)) {
      if (only)
        return std::nullopt;
      only = function;
    }
  if (!only)
    return std::nullopt;
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  if (!mesh) // The program is for one device.
    return std::nullopt;
  // The passes that make plans load the dialect later.
  module.getContext()->getOrLoadDialect<plan::PlanDialect>();
  return ScheduleCounter(only, mesh).count();
}
