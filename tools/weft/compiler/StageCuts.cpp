//===- StageCuts.cpp - the stages of a pipeline, by the cost of layers ----===//

#include "weft/tools/weft/compiler/StageCuts.h"

#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/ScheduleChecks.h"
#include "weft/compiler/explain/Provenance.h"
#include "weft/compiler/frontends/keras/import/Forward.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/passes/planning/StepClock.h"
#include "weft/passes/sharding/RegionFlow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::tool;
using pipeline::ChainLayer;

keras::Distribution
weft::tool::onOneStage(const keras::Distribution &distribution) {
  keras::Distribution one = distribution;
  one.mesh.axes[distribution.pipeline->axis].size = 1;
  one.pipeline.reset();
  return one;
}

static double tensorBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? double(tensor.getNumElements()) *
                      double(bytesOf(tensor.getElementType()))
                : 0;
}

namespace {
/// Prices the calls of a step.
class CallPrices {
public:
  CallPrices(const keras::Model &model [[clang::lifetimebound]],
             const StepPrices &prices [[clang::lifetimebound]])
      : model(model), prices(prices), costs(model.nodes.size()) {}

  std::vector<ChainLayer> run(func::FuncOp function) {
    function.walk<WalkOrder::PreOrder>([&](Operation *op) {
      if (op == function || hasRegionFlow(op))
        return WalkResult::advance();
      addOp(op);
      return WalkResult::skip();
    });
    addVariables(function);
    return std::move(costs);
  }

private:
  std::optional<unsigned> nodeOf(Operation *op);
  void addOp(Operation *op);
  void addVariables(func::FuncOp function);

  const keras::Model &model;
  const StepPrices &prices;
  std::vector<ChainLayer> costs; ///< by node
  llvm::DenseMap<Operation *, unsigned> known;
};
} // namespace

/// The call of an op. Losses, metrics and updates, which are of none, count for
/// the last call that they read.
std::optional<unsigned> CallPrices::nodeOf(Operation *op) {
  std::optional<unsigned> node = keras::callOf(op->getLoc());
  for (Value operand : op->getOperands()) {
    if (node && keras::callOf(op->getLoc()))
      break;
    auto its = known.find(operand.getDefiningOp());
    if (its != known.end())
      node = std::max(node, std::optional(its->second));
  }
  if (node)
    known[op] = *node;
  return node;
}

void CallPrices::addOp(Operation *op) {
  std::optional<unsigned> node = nodeOf(op);
  if (!node || op->hasTrait<OpTrait::IsTerminator>())
    return;
  double times = double(executionsAround(op));
  ChainLayer &cost = costs[*node];
  if (auto sent = dyn_cast<plan::PlanInstructionOpInterface>(op))
    cost.seconds +=
        times * prices.ofSending(sent.getBytesSent(), sent.getLinks());
  else
    cost.seconds += times * prices.ofWork(workOf(op));
  if (isBackward(op->getLoc()) || isa<func::FuncOp>(op->getParentOp()))
    return;
  // What the gradients read is kept.
  for (Value result : op->getResults())
    if (llvm::any_of(result.getUsers(), [](Operation *user) {
          return isBackward(user->getLoc());
        }))
      cost.live += tensorBytes(result.getType());
}

/// Adds variables to the first calls of their layers: a weight with the sum of its
/// gradients, the gradient of a microbatch and a temporary of its update, and
/// slots.
void CallPrices::addVariables(func::FuncOp function) {
  std::map<std::string, unsigned> owners;
  std::map<std::string, bool> hasGradient;
  const std::vector<unsigned> trained = model.trained();
  for (const keras::Variable &variable : model.variables)
    owners[variable.path] = variable.owner;
  for (const keras::OptimizerVariable &variable : model.optimizerVariables())
    if (variable.weight >= 0)
      owners[variable.path] =
          model.variables[trained[size_t(variable.weight)]].owner;
  for (unsigned weight : trained)
    hasGradient[model.variables[weight].path] = true;
  for (BlockArgument argument : function.getArguments()) {
    auto name = function.getArgAttrOfType<StringAttr>(argument.getArgNumber(),
                                                      kNameAttr);
    auto owner = name ? owners.find(name.getValue().str()) : owners.end();
    if (owner == owners.end())
      continue;
    double bytes = tensorBytes(argument.getType());
    auto isOfOwner = [&](const keras::Node &node) {
      return node.layer == owner->second;
    };
    auto first = llvm::find_if(model.nodes, isOfOwner);
    if (first != model.nodes.end())
      costs[size_t(first - model.nodes.begin())].held +=
          bytes * (hasGradient.count(owner->first) ? 4 : 1);
  }
}

namespace {
/// The calls that are cut, in their order: each with the nodes of its results, and
/// of the nested models that give them.
class Chain {
public:
  Chain(const keras::Model &model [[clang::lifetimebound]],
        const std::vector<ChainLayer> &costs)
      : model(model), linkOf(model.nodes.size(), -1) {
    for (size_t node = 0; node < model.nodes.size(); ++node)
      add(unsigned(node), costs[node]);
  }
  /// Adds the seconds of what crosses each border: what is read behind it.
  void addBorders(const std::function<double(unsigned node)> &seconds);
  /// The stage of each node.
  std::vector<int64_t> stages(const std::vector<size_t> &begins) const;

  std::vector<ChainLayer> layers;

private:
  void add(unsigned node, const ChainLayer &cost);

  const keras::Model &model;
  std::vector<int64_t> linkOf; ///< by node; -1 for inputs
};
} // namespace

void Chain::add(unsigned node, const ChainLayer &cost) {
  const keras::Node &its = model.nodes[node];
  if (model.layerOf(node).isInput())
    return;
  if (model.layerOf(node).isModel()) {
    linkOf[node] = linkOf[its.inputs[0]];
    return;
  }
  if (its.result == 0)
    layers.emplace_back();
  linkOf[node] = int64_t(layers.size()) - 1;
  layers.back().seconds += cost.seconds;
  layers.back().held += cost.held;
  layers.back().live += cost.live;
}

void Chain::addBorders(const std::function<double(unsigned)> &seconds) {
  std::vector<int64_t> last = linkOf;
  for (size_t node = 0; node < model.nodes.size(); ++node)
    for (unsigned input : model.nodes[node].inputs)
      last[input] = std::max(last[input], linkOf[node]);
  for (size_t node = 0; node < model.nodes.size(); ++node)
    if (linkOf[node] >= 0 && !model.layerOf(unsigned(node)).isModel())
      for (int64_t at = linkOf[node] + 1; at <= last[node]; ++at)
        layers[size_t(at)].border += seconds(unsigned(node));
}

std::vector<int64_t> Chain::stages(const std::vector<size_t> &begins) const {
  std::vector<int64_t> stages;
  for (int64_t link : linkOf)
    stages.push_back(
        link < 0 ? -1
                 : llvm::count_if(
                       begins,
                       [&](size_t begin) { return int64_t(begin) <= link; }) -
                       1);
  return stages;
}

/// How many microbatches each stage keeps.
static std::vector<int> liveMicrobatches(const keras::Pipeline &its,
                                         int64_t microbatches) {
  auto schedule = its.lists.empty()
                      ? pipeline::generate(its.schedule, int(its.count),
                                           int(microbatches), 1)
                      : pipeline::scheduleOf(its.lists);
  if (!schedule)
    return std::vector<int>(size_t(its.count), int(microbatches));
  return pipeline::liveActivations(*schedule);
}

Status weft::tool::cutStages(ModuleOp priced, const keras::Model &model,
                             const CutOptions &options,
                             keras::Distribution &distribution) {
  keras::Pipeline &its = *distribution.pipeline;
  const Mesh &mesh = distribution.mesh;
  StepPrices prices(mesh, options.target);
  bool isTrained = false;
  priced.walk([&](Operation *op) { isTrained |= isBackward(op->getLoc()); });
  auto functions = priced.getOps<func::FuncOp>();
  Chain chain(model, CallPrices(model, prices).run(*functions.begin()));
  int64_t microbatches = std::min(its.microbatches, options.batchSize);
  int64_t rows = llvm::divideCeil(options.batchSize, microbatches);
  auto batch = mesh.find(distribution.batchAxis);
  if (batch && *batch != its.axis)
    rows = llvm::divideCeil(rows, mesh.axes[*batch].size);
  SubAxis link = fullAxis(mesh, its.axis);
  chain.addBorders([&](unsigned node) {
    int64_t elements = rows;
    for (int64_t size : model.nodes[node].shape)
      elements *= size;
    // The value, and its gradient.
    return double(microbatches * (isTrained ? 2 : 1)) *
           prices.ofSending(elements * int64_t(sizeof(float)), link);
  });
  auto cut = pipeline::cutChain(
      chain.layers, liveMicrobatches(its, microbatches), options.memory);
  if (!cut)
    return cut.error().in("pipeline");
  its.calls = chain.stages(cut->begins);
  its.seconds = cut->seconds;
  return {};
}
