//===- OverlapGraph.cpp - what a straight piece of a step needs -----------===//

#include "weft/passes/planning/OverlapGraph.h"

#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace weft;

//===----------------------------------------------------------------------===//
// Pieces
//===----------------------------------------------------------------------===//

bool weft::isSentOverLinks(Operation *op) {
  auto collective = dyn_cast<plan::PlanInstructionOpInterface>(op);
  return collective && op->getNumResults() && !collective.getLinks().empty();
}

Operation *weft::firstUser(ValueRange values, Block &block) {
  Operation *first = nullptr;
  for (Value value : values)
    for (Operation *user : value.getUsers()) {
      Operation *here = block.findAncestorOpInBlock(*user);
      if (!first || here->isBeforeInBlock(first))
        first = here;
    }
  return first;
}

/// Whether the op may change places with others.
static bool isMovable(Operation &op) {
  return isa<func::CallOp, PlannedCallOpInterface, PlannedDataOpInterface,
             plan::PlanInstructionOpInterface>(op) &&
         op.getNumRegions() == 0 && !hasEffect<MemoryEffects::Write>(&op);
}

std::vector<StraightOps> weft::straightPieces(Block &block) {
  std::vector<StraightOps> pieces;
  StraightOps piece;
  for (Operation &op : block) {
    if (isMovable(op)) {
      piece.push_back(&op);
      continue;
    }
    if (llvm::any_of(piece, isSentOverLinks))
      pieces.push_back(piece);
    piece.clear();
  }
  return pieces;
}

double weft::operationsOf(Operation *op) {
  if (auto builtin = dyn_cast<PlannedCallOpInterface>(op))
    return builtin.getOperations();
  auto call = dyn_cast<func::CallOp>(op);
  auto kernel = call ? SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
                           call, call.getCalleeAttr())
                     : func::FuncOp();
  return kernel && !kernel.isExternal() ? nest::operationsOf(kernel) : 0;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

OverlapGraph::OverlapGraph(StraightOps given,
                           const BufferAssignment &assignment,
                           const BufferAssignment &apart,
                           const StepPrices &prices)
    : piece(std::move(given)) {
  addNodes(prices);
  addBuffers(apart);
  addOrder(assignment);
}

std::optional<unsigned> OverlapGraph::nodeOf(Operation *op) const {
  auto found = nodes.find(op);
  return found == nodes.end() ? std::nullopt : std::optional(found->second);
}

void OverlapGraph::addNodes(const StepPrices &prices) {
  llvm::DenseMap<Attribute, double> known; // indexed by kernel
  Attribute shared;
  for (Operation *op : piece) {
    if (isa<PlannedDataOpInterface>(op)) {
      data.push_back(op);
      continue;
    }
    auto collective = dyn_cast<plan::PlanInstructionOpInterface>(op);
    Attribute its = collective ? Attribute() : op->getAttr(plan::kSharedAttr);
    bool joins = its && its == shared;
    shared = its;
    if (!joins) {
      graph.nodes.emplace_back();
      ops.emplace_back();
    }
    ops.back().push_back(op);
    nodes[op] = unsigned(ops.size() - 1);
    ScheduledNode &node = graph.nodes.back();
    if (collective) {
      SubAxes links = collective.getLinks();
      node.isSent = isSentOverLinks(op);
      node.axes = axisNumbers(links);
      node.seconds = prices.ofSending(collective.getBytesSent(), links);
      continue;
    }
    auto call = dyn_cast<func::CallOp>(op);
    Attribute kernel = call ? Attribute(call.getCalleeAttr()) : Attribute();
    auto found = kernel ? known.find(kernel) : known.end();
    double work = found != known.end() ? found->second : operationsOf(op);
    if (kernel)
      known[kernel] = work;
    node.seconds += prices.ofWork(work);
  }
}

/// The buffers of the arena that the piece uses.
void OverlapGraph::addBuffers(const BufferAssignment &apart) {
  llvm::DenseMap<unsigned, unsigned> numbers;
  auto use = [&](unsigned node, Value value) {
    Place place = apart.place(value);
    if (place.kind != PlaceKind::Arena)
      return;
    auto [at, isNew] =
        numbers.try_emplace(place.index, unsigned(graph.buffers.size()));
    if (isNew) {
      const auto &buffer = apart.arenaBuffers()[place.index];
      ScheduledBuffer made;
      made.bytes = bufferBytes(buffer.type);
      Operation *first = piece.front(), *last = piece.back();
      for (Value held : apart.valuesAt(place)) {
        Operation *def = held.getDefiningOp();
        bool isInside = def && nodes.contains(def);
        bool isAfter = def && def->getBlock() == first->getBlock() &&
                       last->isBeforeInBlock(def);
        made.isLiveBefore |= !isInside && !isAfter;
        for (Operation *user : held.getUsers())
          made.isLiveAfter |= isInside && !nodes.contains(user);
      }
      graph.buffers.push_back(made);
    }
    if (!llvm::is_contained(graph.nodes[node].buffers, at->second))
      graph.nodes[node].buffers.push_back(at->second);
  };
  for (auto [node, its] : llvm::enumerate(ops))
    for (Operation *op : its)
      for (Value value :
           llvm::concat<Value>(llvm::to_vector(op->getOperands()),
                               llvm::to_vector_of<Value>(op->getResults())))
        use(unsigned(node), value);
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

void OverlapGraph::need(unsigned node, unsigned before) {
  auto &known = graph.nodes[node].before;
  if (node != before && !llvm::is_contained(known, before))
    known.push_back(before);
}

void OverlapGraph::keepBefore(Value other, OpResult written) {
  Operation *writer = written.getOwner();
  unsigned node = *nodeOf(writer);
  auto isBefore = [&](Operation *op) {
    std::optional<unsigned> its = op ? nodeOf(op) : std::nullopt;
    if (its && *its != node && op->isBeforeInBlock(writer))
      need(node, *its);
  };
  isBefore(other.getDefiningOp());
  for (Operation *user : other.getUsers())
    isBefore(user);
}

/// Keeps the order of ops that compute values for each other, and of those that
/// use the memory of a port. In the arena, only values that a kernel changes in
/// place keep theirs: others get other buffers.
void OverlapGraph::addOrder(const BufferAssignment &assignment) {
  for (auto [node, its] : llvm::enumerate(ops))
    for (Operation *op : its) {
      for (Value operand : op->getOperands())
        if (Operation *def = operand.getDefiningOp())
          if (std::optional<unsigned> before = nodeOf(def))
            need(unsigned(node), *before);
      for (OpResult result : op->getResults()) {
        Place place = assignment.place(result);
        OpOperand *changed = changedOperand(result);
        if (place.kind != PlaceKind::Arena)
          for (Value other : assignment.valuesAt(place))
            keepBefore(other, result);
        else if (changed && assignment.place(changed->get()) == place)
          keepBefore(changed->get(), result);
      }
    }
}

//===----------------------------------------------------------------------===//
// A schedule in the program
//===----------------------------------------------------------------------===//

unsigned OverlapGraph::apply(const ListSchedule &schedule) {
  Block *block = piece.front()->getBlock();
  Operation *end = piece.back()->getNextNode();
  for (Operation *op : data)
    op->moveBefore(end);
  OpBuilder builder(block->getParentOp());
  builder.setInsertionPoint(end);
  llvm::SetVector<unsigned> open; // collectives under way
  unsigned overlapped = 0;
  auto wait = [&](unsigned node) {
    Operation *op = ops[node].front();
    open.remove(node);
    if (end->getPrevNode() == op)
      return; // It is awaited at once.
    plan::AwaitOp::create(builder, op->getLoc(), op->getResults());
    ++overlapped;
  };
  for (unsigned n : schedule.order) {
    for (unsigned under : llvm::to_vector(open.getArrayRef()))
      if (llvm::is_contained(graph.nodes[n].before, under))
        wait(under);
    for (Operation *op : ops[n])
      op->moveBefore(end);
    if (graph.nodes[n].isSent)
      open.insert(n);
  }
  for (unsigned under : llvm::to_vector(open.getArrayRef()))
    wait(under);
  return overlapped;
}
