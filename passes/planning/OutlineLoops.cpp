//===- OutlineLoops.cpp - loops of a device in one launch -----------------===//
//
// A loop of the plan is the instructions from its label to its jump back, the
// labels at which its jumps leave it, and the copies in front that set its
// carried values.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/nest/KernelWork.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/passes/planning/Passes.h"

#include "mlir/IR/IRMapping.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_OUTLINELOOPSPASS
#include "weft/passes/planning/Passes.h.inc"

namespace {

// The price of a loop in a routine. The runtime dispatches an instruction in
// about 10 ns, and LLVM keeps numbers of a routine in registers. Against it
// stand what workers would share, and the time to compile a long function.

/// The most operations of an average launch: some 10 us, of which a dispatch is
/// a thousandth.
constexpr double kMostOperations = 1 << 16;
/// The most instructions, those of loops in the loop included.
constexpr int64_t kMostInstructions = 512;
/// The most bytes of a buffer that the routine copies to memory of its own, and
/// of all such memory. A copy costs as much as a launch.
constexpr int64_t kMostLocal = 4096, kMostLocals = 64 * 1024;

/// Instructions [first, last] of a program.
struct PlanLoop {
  size_t first, last;
  bool contains(size_t position) const {
    return first <= position && position <= last;
  }
  bool overlaps(PlanLoop other) const {
    return first <= other.last && other.first <= last;
  }
};

class LoopOutliner {
public:
  LoopOutliner(plan::ProgramOp program,
               SymbolTable &symbols [[clang::lifetimebound]])
      : program(program), symbols(symbols) {}
  /// Outlines loops; returns their number.
  unsigned run();

private:
  void readInstructions();
  SmallVector<PlanLoop> loops() const;
  std::optional<PlanLoop> loopBetween(size_t start, size_t jump) const;
  bool isWorthOutlining(PlanLoop loop) const;
  func::FuncOp hostKernel(plan::LaunchOp launch) const;
  void outline(PlanLoop loop);
  StringAttr nameOf(PlanLoop loop);

  plan::ProgramOp program;
  SymbolTable &symbols;
  SmallVector<Operation *> instructions; ///< without buffers, with labels
  /// The positions of jumps, in order, with those of their labels.
  SmallVector<std::pair<size_t, size_t>> jumps;
};

/// Builds the routine of one loop.
class RoutineBuilder {
public:
  RoutineBuilder(ArrayRef<Operation *> loop, plan::RoutineOp routine)
      : loop(loop), members(loop.begin(), loop.end()), routine(routine),
        builder(OpBuilder::atBlockBegin(&routine.getBody().emplaceBlock())) {}
  void build(SymbolTable &symbols);
  /// The buffers that a launch of the routine gives.
  ArrayRef<Value> arguments() const { return given; }

private:
  void place(Value buffer);
  bool isOfLoop(Value buffer) const {
    return buffer.getDefiningOp<plan::BufferOp>() &&
           llvm::all_of(buffer.getUsers(), [&](Operation *user) {
             return members.contains(user);
           });
  }

  ArrayRef<Operation *> loop;
  llvm::SmallPtrSet<Operation *, 16> members;
  plan::RoutineOp routine;
  OpBuilder builder;
  IRMapping mapping;
  SmallVector<Value> given;
  int64_t localBytes = 0;
  /// Arguments with their local memory.
  llvm::MapVector<Value, std::pair<Value, Value>> copied;
};

} // namespace

static StringAttr targetOf(Operation *instruction) {
  if (auto jump = dyn_cast<plan::JumpOp>(instruction))
    return jump.getTargetAttr();
  if (auto jump = dyn_cast<plan::JumpUnlessOp>(instruction))
    return jump.getTargetAttr();
  return {};
}

void LoopOutliner::readInstructions() {
  llvm::StringMap<size_t> labels;
  for (Operation &op : program.getBody().front()) {
    if (op.getNumResults() > 0)
      continue;
    if (auto label = dyn_cast<plan::LabelOp>(op))
      labels[label.getName()] = instructions.size();
    instructions.push_back(&op);
  }
  for (auto [i, instruction] : llvm::enumerate(instructions))
    if (StringAttr target = targetOf(instruction))
      jumps.push_back({i, labels.lookup(target.getValue())});
}

/// The loop from `start` to a jump back to it.
std::optional<PlanLoop> LoopOutliner::loopBetween(size_t start,
                                                  size_t jump) const {
  PlanLoop loop{start, jump};
  for (auto [from, to] : jumps)
    if (loop.contains(from)) {
      if (to < loop.first)
        return std::nullopt; // The body goes on with a loop around it.
      loop.last = std::max(loop.last, to);
    }
  // The only entry is at the start.
  for (auto [from, to] : jumps)
    if (!loop.contains(from) && loop.contains(to))
      return std::nullopt;
  while (loop.first > 0 && isa<plan::CopyOp>(instructions[loop.first - 1]))
    --loop.first;
  return loop;
}

/// All loops, outer loops first.
SmallVector<PlanLoop> LoopOutliner::loops() const {
  SmallVector<PlanLoop> found;
  for (auto [from, to] : jumps)
    if (to < from)
      if (std::optional<PlanLoop> loop = loopBetween(to, from))
        found.push_back(*loop);
  llvm::sort(found, [](const PlanLoop &a, const PlanLoop &b) {
    return std::make_pair(b.last - b.first, a.first) <
           std::make_pair(a.last - a.first, b.first);
  });
  return found;
}

/// The launch's kernel, if it is a function of the host with chosen nests that
/// workers do not share; null otherwise.
func::FuncOp LoopOutliner::hostKernel(plan::LaunchOp launch) const {
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  nest::KernelAttr decisions = kernel ? nest::decisionsOf(kernel) : nullptr;
  if (!decisions || decisions.getShare())
    return {};
  auto limits = nest::targetLimits(decisions.getTarget());
  return limits && limits->isOfHost() ? kernel : func::FuncOp();
}

bool LoopOutliner::isWorthOutlining(PlanLoop loop) const {
  double operations = 0;
  int64_t launches = 0;
  for (size_t i = loop.first; i <= loop.last; ++i) {
    auto launch = dyn_cast<plan::LaunchOp>(instructions[i]);
    if (!launch &&
        !isa<plan::CopyOp, plan::LabelOp, plan::JumpOp, plan::JumpUnlessOp>(
            instructions[i]))
      return false;
    func::FuncOp kernel = launch ? hostKernel(launch) : nullptr;
    if (launch && !kernel)
      return false;
    if (launch)
      operations += nest::operationsOf(kernel), ++launches;
  }
  // A loop of copies has nothing to launch.
  return launches > 0 && operations <= kMostOperations * double(launches) &&
         loop.last - loop.first < kMostInstructions;
}

/// The name of the loop's longest kernel, after "loop_".
StringAttr LoopOutliner::nameOf(PlanLoop loop) {
  StringRef longest;
  double most = -1;
  for (size_t i = loop.first; i <= loop.last; ++i)
    if (auto launch = dyn_cast<plan::LaunchOp>(instructions[i]))
      if (double its = nest::operationsOf(hostKernel(launch)); its > most) {
        most = its;
        longest = launch.getKernel();
      }
  return StringAttr::get(program.getContext(), "loop_" + longest);
}

/// The buffers that an instruction writes.
static ValueRange writtenBy(Operation *instruction, SymbolTable &symbols) {
  if (isa<plan::CopyOp>(instruction))
    return instruction->getOperands().take_back(1);
  auto launch = dyn_cast<plan::LaunchOp>(instruction);
  if (!launch)
    return {};
  auto kernel = symbols.lookup<func::FuncOp>(launch.getKernel());
  return launch.getBuffers().take_back(kernel.getNumResults());
}

/// Chooses the memory of a buffer: the routine's, a copy of a constant, or an
/// argument with or without a copy in the routine's memory.
void RoutineBuilder::place(Value buffer) {
  if (auto output = buffer.getDefiningOp<plan::OutputOp>();
      output && output.getDonated()) { // This is another name of the input.
    if (!mapping.contains(output.getDonated()))
      place(output.getDonated());
    return mapping.map(buffer, mapping.lookup(output.getDonated()));
  }
  int64_t bytes = bufferBytes(cast<MemRefType>(buffer.getType()));
  bool isSmall = bytes <= kMostLocal && localBytes + bytes <= kMostLocals;
  localBytes += isSmall ? bytes : 0;
  Location loc = buffer.getLoc();
  if (auto constant = buffer.getDefiningOp<plan::ConstantOp>();
      constant && isSmall) {
    builder.clone(*constant, mapping);
    return;
  }
  auto local = [&] {
    return plan::LocalOp::create(builder, loc, buffer.getType());
  };
  if (isSmall && isOfLoop(buffer)) {
    mapping.map(buffer, local());
    return;
  }
  Value argument = routine.getBody().addArgument(buffer.getType(), loc);
  given.push_back(buffer);
  if (isSmall)
    copied[buffer] = {argument, local()};
  mapping.map(buffer, isSmall ? copied[buffer].second : argument);
}

void RoutineBuilder::build(SymbolTable &symbols) {
  for (Operation *instruction : loop)
    for (Value buffer : instruction->getOperands())
      if (!mapping.contains(buffer))
        place(buffer);
  llvm::SetVector<Value> written;
  for (Operation *instruction : loop)
    for (Value buffer : writtenBy(instruction, symbols))
      written.insert(mapping.lookup(buffer));
  for (auto &[buffer, memory] : copied)
    plan::CopyOp::create(builder, buffer.getLoc(), memory.first, memory.second);
  for (Operation *instruction : loop)
    builder.clone(*instruction, mapping);
  for (auto &[buffer, memory] : copied)
    if (written.contains(memory.second))
      plan::CopyOp::create(builder, buffer.getLoc(), memory.second,
                           memory.first);
}

void LoopOutliner::outline(PlanLoop loop) {
  ArrayRef<Operation *> members =
      ArrayRef(instructions).slice(loop.first, loop.last + 1 - loop.first);
  OpBuilder builder(program);
  auto routine =
      plan::RoutineOp::create(builder, members.front()->getLoc(), nameOf(loop));
  RoutineBuilder body(members, routine);
  body.build(symbols);
  StringAttr name = symbols.insert(routine);
  auto launch = llvm::find_if(members, llvm::IsaPred<plan::LaunchOp>);
  // A buffer may be defined among the members, in front of its first use.
  builder.setInsertionPointAfter(members.back());
  plan::LaunchOp::create(builder, (*launch)->getLoc(),
                         FlatSymbolRefAttr::get(name), body.arguments(),
                         /*scratch=*/Value());
  for (Operation *member : members)
    member->erase();
}

unsigned LoopOutliner::run() {
  readInstructions();
  SmallVector<PlanLoop> outlined;
  for (PlanLoop loop : loops())
    if (llvm::none_of(outlined,
                      [&](PlanLoop other) { return other.overlaps(loop); }) &&
        isWorthOutlining(loop)) {
      outline(loop);
      outlined.push_back(loop);
    }
  return outlined.size();
}

/// Removes buffers that only routines had, and ends the arena with the last
/// buffer that is left.
static void trimArena(plan::ProgramOp program) {
  int64_t bytes = 0;
  for (auto constant :
       llvm::make_early_inc_range(program.getOps<plan::ConstantOp>()))
    if (constant.getBuffer().use_empty())
      constant.erase();
  for (auto buffer :
       llvm::make_early_inc_range(program.getOps<plan::BufferOp>())) {
    if (buffer.getBuffer().use_empty())
      buffer.erase();
    else
      bytes = std::max<int64_t>(
          bytes,
          buffer.getOffset() + bufferBytes(cast<MemRefType>(buffer.getType())));
  }
  program.setArena(llvm::alignTo(bytes, 64));
}

namespace {
struct OutlineLoopsPass : impl::OutlineLoopsPassBase<OutlineLoopsPass> {
  void runOnOperation() override {
    SymbolTable symbols(getOperation());
    for (auto program : getOperation().getOps<plan::ProgramOp>())
      if (unsigned outlined = LoopOutliner(program, symbols).run()) {
        numOutlined += outlined;
        trimArena(program);
      }
  }
};
} // namespace
} // namespace weft
