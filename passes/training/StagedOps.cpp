//===- StagedOps.cpp - which stage computes an op, and when ---------------===//

#include "weft/passes/training/StagedOps.h"

#include "weft/dialects/weft/Ports.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;
using pipeline::WorkKind;

llvm::SetVector<Value> weft::valuesReadBy(Operation *op) {
  llvm::SetVector<Value> values;
  getUsedValuesDefinedAbove(op->getRegions(), values);
  values.insert(op->operand_begin(), op->operand_end());
  return values;
}

StagedOps::StagedOps(func::FuncOp function, ForOp loop, unsigned axis,
                     int64_t stages, int64_t chunks)
    : function(function), loop(loop), axis(axis), stages(stages),
      chunks(chunks), places(function) {}

std::optional<int64_t> StagedOps::stageOf(Operation *op) const {
  auto known = stage.find(op);
  return known == stage.end() ? std::nullopt : std::optional(known->second);
}

WorkKind StagedOps::kindOf(Operation *op) const {
  if (forward.contains(op))
    return WorkKind::Forward;
  return awaited.contains(op) ? WorkKind::InputGradient
                              : WorkKind::WeightGradient;
}

/// Whether any stage may compute the value, which no iteration changes: it is on
/// the whole mesh, or is computed from such values and constants.
bool StagedOps::isAnywhere(Value value) const {
  auto argument = dyn_cast<BlockArgument>(value);
  if (argument && argument.getOwner() == &loop.getBody().front())
    return isAnywhere(loop.getInits()[argument.getArgNumber() - 1]);
  if (places.of(value).empty())
    return true;
  Operation *def = value.getDefiningOp();
  if (!def || def->getNumRegions() > 0 || !isMemoryEffectFree(def))
    return false;
  auto known = anywhere.find(value);
  if (known != anywhere.end())
    return known->second;
  bool isOne = llvm::all_of(def->getOperands(),
                            [&](Value operand) { return isAnywhere(operand); });
  return anywhere[value] = isOne;
}

/// Whether the op computes the same on all stages: from the number of the
/// microbatch, or from values of all stages that no iteration changes.
bool StagedOps::isRepeated(Operation *op) const {
  if (!isMemoryEffectFree(op))
    return false;
  bool isOfNumber = true, isUnchanged = true, isOfAll = true;
  for (Value value : valuesReadBy(op)) {
    Operation *def = value.getDefiningOp();
    if (value == loop.getCounter() || (def && repeated.contains(def)))
      continue;
    isOfNumber = false;
    auto argument = dyn_cast<BlockArgument>(value);
    bool isCarried = argument && argument.getOwner() == &loop.getBody().front();
    isUnchanged &= isCarried ? loop.isInvariant(argument.getArgNumber() - 1)
                             : value.getParentRegion() != &loop.getBody();
    isOfAll = isUnchanged && isOfAll && isAnywhere(value);
  }
  return isOfNumber || (isUnchanged && (places.of(op).empty() || isOfAll));
}

/// The coordinate of a part along the axis.
static std::optional<int64_t> coordinateOf(const MeshPart &part,
                                           unsigned axis) {
  for (const AxisCoordinate &at : part)
    if (at.axis == axis)
      return at.coordinate;
  return std::nullopt;
}

/// The stage of the op's place; for an op that costs nothing on any place, the
/// last one of what it reads.
std::optional<int64_t> StagedOps::findStage(Operation *op) const {
  if (auto own = coordinateOf(places.of(op), axis))
    return own;
  std::optional<int64_t> last;
  for (Value value : valuesReadBy(op)) {
    Operation *def = value.getDefiningOp();
    auto its = def && stage.contains(def)
                   ? stageOf(def)
                   : coordinateOf(places.of(value), axis);
    last = std::max(last, its);
  }
  return last;
}

LogicalResult StagedOps::run() {
  for (Operation &op : loop.getBody().front().without_terminator()) {
    if (isRepeated(&op)) {
      repeated.insert(&op);
      continue;
    }
    std::optional<int64_t> its = findStage(&op);
    if (!its || *its >= stages)
      return op.emitError("is computed for each microbatch by no stage of the "
                          "pipeline; put the layer that it belongs to into a "
                          "stage");
    stage[&op] = *its;
  }
  findForward();
  findInputGradients();
  findChunks();
  return success();
}

void StagedOps::addSources(Operation *op,
                           llvm::DenseSet<Operation *> &sources) const {
  SmallVector<Operation *> work{op};
  while (!work.empty())
    for (Value value : valuesReadBy(work.pop_back_val()))
      if (Operation *def = value.getDefiningOp();
          def && def->getParentOp() == loop && sources.insert(def).second)
        work.push_back(def);
}

/// Finds the ops from which results are computed that replace no argument.
void StagedOps::findForward() {
  llvm::DenseSet<unsigned> replacing;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (auto result = donatedResult(function, i))
      replacing.insert(*result);
  SmallVector<Value> work;
  Operation *end = function.getBody().front().getTerminator();
  for (auto [number, value] : llvm::enumerate(end->getOperands()))
    if (!replacing.contains(number))
      work.push_back(value);
  llvm::DenseSet<Value> seen;
  llvm::DenseSet<unsigned> shown;
  while (!work.empty()) {
    auto result = dyn_cast<OpResult>(work.pop_back_val());
    if (!result || !seen.insert(result).second)
      continue;
    if (result.getOwner() == loop)
      shown.insert(result.getResultNumber());
    else
      llvm::append_range(work, valuesReadBy(result.getOwner()));
  }
  for (unsigned number : shown)
    if (Operation *def = loop.getYielded()[number].getDefiningOp();
        def && forward.insert(def).second)
      addSources(def, forward);
}

/// Finds the backward ops that ops of earlier stages read.
void StagedOps::findInputGradients() {
  for (auto &[op, own] : stage) {
    if (forward.contains(op))
      continue;
    isTrained |= own + 1 < stages;
    for (Value value : valuesReadBy(op)) {
      Operation *def = value.getDefiningOp();
      auto known = stage.find(def);
      if (known == stage.end() || known->second == own || forward.contains(def))
        continue;
      if (awaited.insert(def).second)
        addSources(def, awaited);
    }
  }
}

/// Whether the op only brings rows of an input or label, or a weight: it reads no
/// op of a stage but such ones, and nothing else with them.
bool StagedOps::isSource(Operation *op,
                         const llvm::SetVector<Operation *> &sources) const {
  bool readsStage = false, readsOthers = false;
  for (Value value : valuesReadBy(op)) {
    Operation *def = value.getDefiningOp();
    bool isOfStage = stage.contains(def);
    if (isOfStage && !sources.contains(def))
      return false;
    readsStage |= isOfStage;
    readsOthers |=
        !isOfStage && value != loop.getCounter() && !repeated.contains(def);
  }
  return !readsStage || !readsOthers;
}

/// Finds chunks by what ops read: forward, going to an earlier stage leads to the
/// next chunk; backward, going to a later stage leads to the one before. What the
/// backward pass computes from forward values alone is of their chunk.
void StagedOps::findChunks() {
  llvm::SetVector<Operation *> sources;
  for (auto &[op, own] : stage) {
    if (!forward.contains(op))
      continue;
    if (isSource(op, sources))
      sources.insert(op);
    int64_t its = 0;
    for (Value value : valuesReadBy(op))
      if (auto *known = stage.find(value.getDefiningOp());
          known != stage.end() && !sources.contains(known->first))
        its = std::max(its,
                       chunkOf(known->first) + (known->second > own ? 1 : 0));
    chunk[op] = std::min(its, chunks - 1);
  }
  for (Operation *op : llvm::reverse(sources))
    chunk[op] = chunkOfReaders(op);
  for (auto &[op, own] : stage)
    if (!forward.contains(op))
      chunk[op] = chunkBackward(op);
}

/// The chunk of the first forward pass that reads the rows of an input or label,
/// or a weight.
int64_t StagedOps::chunkOfReaders(Operation *op) const {
  std::optional<int64_t> first;
  for (Operation *user : op->getUsers()) {
    auto *known =
        stage.find(loop.getBody().front().findAncestorOpInBlock(*user));
    if (known == stage.end() || !forward.contains(known->first))
      continue;
    int64_t its = chunkOf(known->first) -
                  (stage.find(op)->second > known->second ? 1 : 0);
    first = std::min(first.value_or(its), its);
  }
  return std::clamp<int64_t>(first.value_or(0), 0, chunks - 1);
}

int64_t StagedOps::chunkBackward(Operation *op) const {
  int64_t own = stage.find(op)->second;
  std::optional<int64_t> its, ofForward;
  for (Value value : valuesReadBy(op)) {
    auto *known = stage.find(value.getDefiningOp());
    if (known == stage.end())
      continue;
    int64_t read = chunkOf(known->first);
    if (forward.contains(known->first))
      ofForward = std::max(ofForward, std::optional(read));
    else if (int64_t back = read - (known->second < own ? 1 : 0);
             !its || back < *its)
      its = back;
  }
  // What reads nothing of the loop is known before all backward passes.
  return std::clamp<int64_t>(its.value_or(ofForward.value_or(chunks - 1)), 0,
                             chunks - 1);
}
