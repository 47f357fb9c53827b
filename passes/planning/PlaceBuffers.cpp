//===- PlaceBuffers.cpp - gives every value a buffer, emits the plan ------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/planning/ArenaPacking.h"
#include "weft/passes/planning/BufferAssignment.h"
#include "weft/passes/planning/Passes.h"

#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/LayoutPrice.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/PortName.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/layout/Sizes.h"

#include <map>

namespace weft {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "weft/passes/planning/Passes.h.inc"

bool becomesProgram(mlir::func::FuncOp function) {
  return function.isPublic() && !function.isExternal();
}

namespace {
using namespace mlir;

/// The names of the module's builtins, by their runtime's names and parameters.
using Builtins =
    std::map<std::pair<std::string, std::vector<int64_t>>, StringAttr>;

/// Emits the program of one function.
class ProgramEmitter {
public:
  ProgramEmitter(func::FuncOp function, MeshAttr mesh,
                 Builtins &builtins [[clang::lifetimebound]])
      : function(function), mesh(mesh), builtins(builtins),
        assignment(function), builder(function) {}

  LogicalResult emit();
  int64_t inPlace = 0, copies = 0;

private:
  /// Copies as pairs of source and target. All sources are read before any
  /// target is written.
  using Moves = SmallVector<std::pair<Value, Value>>;
  LogicalResult emitPorts();
  LogicalResult emitInstruction(Operation &op);
  void emitLaunch(func::CallOp call);
  void emitBuiltin(PlannedCallOpInterface call);
  IntegerAttr timesAttr() {
    return times == 1 ? IntegerAttr() : builder.getI64IntegerAttr(times);
  }
  LogicalResult emitBlock(Block &block);
  LogicalResult emitWhile(PlannedLoopOpInterface loop);
  LogicalResult emitRound(PlannedLoopOpInterface loop, StringAttr exit,
                          Moves &atExit);
  LogicalResult emitCase(PlannedBranchOpInterface choice);
  void emitJumpUnless(Location loc, Value condition, StringRef label);
  void emitFinalCopies(func::ReturnOp op);
  void emitMoves(Location loc, Moves moves);
  Moves movesBetween(ArrayRef<Value> sources, ArrayRef<Value> targets);
  /// A unique label: "loop 3".
  std::string label(StringRef what) {
    return (what + " " + Twine(labels++)).str();
  }
  Value buffer(Value value);
  SmallVector<Value> buffers(ValueRange values);
  LayoutAttr layoutOf(DictionaryAttr attributes, int64_t rank);

  func::FuncOp function;
  MeshAttr mesh;
  Builtins &builtins;
  BufferAssignment assignment;
  OpBuilder builder;
  ArenaPacking packing;
  plan::ProgramOp program;
  SmallVector<Value> inputs, outputs, arena, constants;
  /// The loops around the present instruction, and the iteration in whose body
  /// it is.
  SmallVector<std::pair<const BufferExchange *, unsigned>> exchanging;
  unsigned labels = 0;
  int64_t times = 1; ///< executions of the present block; 0: unknown
};

LayoutAttr ProgramEmitter::layoutOf(DictionaryAttr attributes, int64_t rank) {
  if (attributes)
    if (auto layout = attributes.getAs<LayoutAttr>(kLayoutAttr))
      return layout;
  return LayoutAttr::get(mesh, Layout::replicated(rank));
}

/// The location with the port's name in the program's text, if it has a name.
static Location namedPort(Location loc, DictionaryAttr attributes) {
  auto name =
      attributes ? attributes.getAs<StringAttr>(kSourceNameAttr) : StringAttr();
  return name ? FusedLoc::get({loc}, name, loc.getContext()) : loc;
}

LogicalResult ProgramEmitter::emitPorts() {
  auto text = [&](DictionaryAttr attributes, StringRef name, Twine fallback) {
    auto attr = attributes ? attributes.getAs<StringAttr>(name) : nullptr;
    return attr ? attr : builder.getStringAttr(fallback);
  };
  auto factsOf = [](DictionaryAttr attributes) {
    return attributes ? attributes.getAs<DictionaryAttr>(kFactsAttr) : nullptr;
  };
  auto globalType = [](DictionaryAttr attributes, Type local) {
    auto attr =
        attributes ? attributes.getAs<TypeAttr>(kGlobalTypeAttr) : nullptr;
    return attr ? attr : TypeAttr::get(local);
  };
  for (BlockArgument argument : function.getArguments()) {
    unsigned n = argument.getArgNumber();
    auto attributes = function.getArgAttrDict(n);
    auto type = cast<RankedTensorType>(argument.getType());
    inputs.push_back(plan::InputOp::create(
        builder, namedPort(argument.getLoc(), attributes), bufferType(type),
        text(attributes, kNameAttr, "in/" + Twine(n)),
        text(attributes, kRoleAttr, "other"), globalType(attributes, type),
        layoutOf(attributes, type.getRank()), factsOf(attributes)));
  }
  for (auto [n, resultType] : llvm::enumerate(function.getResultTypes())) {
    auto attributes = function.getResultAttrDict(n);
    auto type = cast<RankedTensorType>(resultType);
    Value donatedArgument = assignment.donatedArgument(n)
                                ? inputs[*assignment.donatedArgument(n)]
                                : Value();
    if (donatedArgument && donatedArgument.getType() != bufferType(type))
      return function.emitError("result ")
             << n << " of local type " << type
             << " reuses an argument of local type "
             << function.getArgumentTypes()[*assignment.donatedArgument(n)]
             << "; give both the same layout";
    outputs.push_back(plan::OutputOp::create(
        builder, namedPort(function.getLoc(), attributes), bufferType(type),
        text(attributes, kNameAttr, "out/" + Twine(n)),
        text(attributes, kRoleAttr, "other"), globalType(attributes, type),
        layoutOf(attributes, type.getRank()), factsOf(attributes),
        donatedArgument));
  }
  return success();
}

Value ProgramEmitter::buffer(Value value) {
  Place place = assignment.place(value);
  for (auto [exchange, round] : llvm::reverse(exchanging))
    place = exchange->after(place, round);
  switch (place.kind) {
  case PlaceKind::Argument:
    return inputs[place.index];
  case PlaceKind::Result:
    return outputs[place.index];
  case PlaceKind::Arena:
    return arena[place.index];
  case PlaceKind::Constant:
    return constants[place.index];
  }
  return {};
}

SmallVector<Value> ProgramEmitter::buffers(ValueRange values) {
  return llvm::map_to_vector(values, [&](Value v) { return buffer(v); });
}

/// Emits a launch with the kernel's arguments and results, then its scratch
/// memory.
void ProgramEmitter::emitLaunch(func::CallOp call) {
  SmallVector<Value> all = buffers(call.getOperands());
  for (OpResult result : call->getResults()) {
    Value target = buffer(result);
    if (OpOperand *changed = changedOperand(result)) {
      Value &source = all[changed->getOperandNumber()];
      if (source != target) {
        plan::CopyOp::create(builder, call.getLoc(), source, target);
        ++copies;
      }
      source = target;
    }
    all.push_back(target);
  }
  std::optional<unsigned> scratch = assignment.scratch(call);
  plan::LaunchOp::create(builder, call.getLoc(), call.getCalleeAttr(), all,
                         scratch ? arena[*scratch] : Value());
}

/// Emits a launch of the module's plan.builtin with the call's name and
/// parameters, which is made if there is none.
void ProgramEmitter::emitBuiltin(PlannedCallOpInterface call) {
  std::string name = call.getBuiltinName();
  std::vector<int64_t> parameters = call.getBuiltinParameters();
  StringAttr &kernel = builtins[{name, parameters}];
  if (!kernel) {
    OpBuilder outside(function.getContext());
    std::string symbol = name;
    for (int64_t number : parameters)
      symbol += "_" + std::to_string(number);
    auto made = plan::BuiltinOp::create(
        outside, call.getLoc(), outside.getStringAttr(symbol),
        outside.getStringAttr(name), outside.getDenseI64ArrayAttr(parameters),
        /*scratch=*/outside.getI64IntegerAttr(0));
    made->setAttr(plan::kOperationsAttr,
                  outside.getF64FloatAttr(call.getOperations()));
    SymbolTable symbols(function->getParentOfType<ModuleOp>());
    kernel = symbols.insert(made); // makes the name unique
  }
  SmallVector<Value> all = buffers(call->getOperands());
  llvm::append_range(all, buffers(call->getResults()));
  plan::LaunchOp::create(builder, call.getLoc(), FlatSymbolRefAttr::get(kernel),
                         all, /*scratch=*/Value());
}

LogicalResult ProgramEmitter::emitInstruction(Operation &op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    emitLaunch(call);
  } else if (auto builtin = dyn_cast<PlannedCallOpInterface>(op)) {
    emitBuiltin(builtin);
  } else if (auto instruction =
                 dyn_cast<plan::PlanInstructionOpInterface>(op)) {
    // A wait follows at once.
    plan::StartOp start =
        plan::createStart(builder, instruction, buffers(op.getOperands()),
                          buffers(op.getResults()), timesAttr());
    plan::WaitOp::create(builder, op.getLoc(), start.getStarted());
  } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    emitFinalCopies(ret);
  } else if (auto loop = dyn_cast<PlannedLoopOpInterface>(op)) {
    return emitWhile(loop);
  } else if (auto choice = dyn_cast<PlannedBranchOpInterface>(op)) {
    return emitCase(choice);
  } else if (!isa<PlannedDataOpInterface>(op) &&
             !op.hasTrait<OpTrait::IsTerminator>()) {
    return op.emitOpError("is left outside kernels; run "
                          "--weft-outline-kernels before placing buffers");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

ProgramEmitter::Moves ProgramEmitter::movesBetween(ArrayRef<Value> sources,
                                                   ArrayRef<Value> targets) {
  Moves moves;
  for (auto [source, target] : llvm::zip_equal(sources, targets))
    if (source != target)
      moves.push_back({source, target});
  return moves;
}

/// Emits moves, each before another move overwrites its source. If moves form a
/// circle, the first target is saved.
void ProgramEmitter::emitMoves(Location loc, Moves moves) {
  auto emit = [&](Value source, Value target) {
    plan::CopyOp::create(builder, loc, source, target);
    ++copies;
  };
  while (!moves.empty()) {
    auto *ready = llvm::find_if(moves, [&](auto &move) {
      return llvm::none_of(
          moves, [&](auto &other) { return other.first == move.second; });
    });
    if (ready != moves.end()) {
      emit(ready->first, ready->second);
      moves.erase(ready);
      continue;
    }
    Value overwritten = moves.front().second;
    auto type = cast<MemRefType>(overwritten.getType());
    int64_t offset = llvm::alignTo(packing.bytes, 64);
    Value saved = plan::BufferOp::create(builder, loc, type,
                                         builder.getI64IntegerAttr(offset));
    packing.bytes = offset + bufferBytes(type);
    emit(overwritten, saved);
    for (auto &move : moves)
      if (move.first == overwritten)
        move.first = saved;
  }
}

/// Copies results that were not written to the caller's buffers.
void ProgramEmitter::emitFinalCopies(func::ReturnOp op) {
  Moves moves;
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    Value source = buffer(value), target = outputs[index];
    if (auto donatedArgument = assignment.donatedArgument(index))
      target = inputs[*donatedArgument];
    if (source != target)
      moves.push_back({source, target});
  }
  emitMoves(op.getLoc(), std::move(moves));
}

//===----------------------------------------------------------------------===//
// Loops and branches
//===----------------------------------------------------------------------===//

void ProgramEmitter::emitJumpUnless(Location loc, Value condition,
                                    StringRef label) {
  plan::JumpUnlessOp::create(builder, loc, buffer(condition),
                             builder.getStringAttr(label));
}

LogicalResult ProgramEmitter::emitWhile(PlannedLoopOpInterface loop) {
  Location loc = loop.getLoc();
  const BufferExchange &exchange = assignment.exchange(loop);
  StringAttr start = builder.getStringAttr(label("loop"));
  StringAttr end = builder.getStringAttr(label("end"));
  SmallVector<StringAttr> exits{end};
  while (exits.size() < exchange.rounds())
    exits.push_back(builder.getStringAttr(label("exchanged")));
  emitMoves(loc,
            movesBetween(buffers(loop->getOperands()),
                         buffers(loop.getConditionBlock().getArguments())));
  std::optional<int64_t> rounds = roundsOf(loop);
  plan::LabelOp::create(
      builder, loc, start,
      rounds ? builder.getI64IntegerAttr(*rounds / exchange.rounds())
             : IntegerAttr());
  SmallVector<Moves> atExit;
  exchanging.push_back({&exchange, 0});
  for (StringAttr exit : exits)
    if (failed(emitRound(loop, exit, atExit.emplace_back())))
      return failure();
  exchanging.pop_back();
  plan::JumpOp::create(builder, loc, start);
  for (unsigned round = exits.size(); round-- > 0;) {
    plan::LabelOp::create(builder, loc, exits[round], IntegerAttr());
    emitMoves(loc, std::move(atExit[round]));
    if (round > 0)
      plan::JumpOp::create(builder, loc, end);
  }
  return success();
}

/// Emits the condition and the body of the present iteration, and finds the
/// moves that bring the results to their places if the loop ends in it.
LogicalResult ProgramEmitter::emitRound(PlannedLoopOpInterface loop,
                                        StringAttr exit, Moves &atExit) {
  Location loc = loop.getLoc();
  Block &condition = loop.getConditionBlock(), &body = loop.getBodyBlock();
  auto [exchange, round] = exchanging.back();
  int64_t outside = times, bodies = exchange->rounds();
  auto timesOf = [&, before = int64_t(round)](std::optional<int64_t> rounds) {
    return saturatingMultiply(
        outside, rounds ? llvm::divideCeil(*rounds - before, bodies) : 0);
  };
  std::optional<int64_t> rounds = roundsOf(loop);
  // The condition runs once more than the body.
  times = timesOf(rounds ? std::optional(saturatingAdd(*rounds, 1)) : rounds);
  if (failed(emitBlock(condition)))
    return failure();
  emitJumpUnless(loc, loop.getDecision(), exit);
  SmallVector<Value> left = buffers(loop.getPassedOn());
  times = timesOf(rounds);
  if (failed(emitBlock(body)))
    return failure();
  times = outside;
  SmallVector<Value> yielded = buffers(body.getTerminator()->getOperands());
  exchanging.back().second = (round + 1) % bodies;
  emitMoves(loc, movesBetween(yielded, buffers(condition.getArguments())));
  auto inLoop = exchanging.pop_back_val();
  for (auto [source, result] : llvm::zip_equal(left, loop->getResults()))
    if (source != buffer(result) && !result.use_empty())
      atExit.push_back({source, buffer(result)});
  exchanging.push_back(inLoop);
  return success();
}

LogicalResult ProgramEmitter::emitCase(PlannedBranchOpInterface choice) {
  Location loc = choice.getLoc();
  StringAttr other = builder.getStringAttr(label("else"));
  StringAttr end = builder.getStringAttr(label("end"));
  emitJumpUnless(loc, choice.getDecision(), other);
  for (Region &branch : choice->getRegions()) {
    if (failed(emitBlock(branch.front())))
      return failure();
    emitMoves(loc, movesBetween(
                       buffers(branch.front().getTerminator()->getOperands()),
                       buffers(choice->getResults())));
    bool isFirst = branch.getRegionNumber() == 0;
    if (isFirst)
      plan::JumpOp::create(builder, loc, end);
    plan::LabelOp::create(builder, loc, isFirst ? other : end, IntegerAttr());
  }
  return success();
}

LogicalResult ProgramEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emitInstruction(op)))
      return failure();
  return success();
}

LogicalResult ProgramEmitter::emit() {
  packing = packArena(assignment.lifetimes());
  program = plan::ProgramOp::create(builder, function.getLoc(),
                                    function.getSymNameAttr(), mesh,
                                    builder.getI64IntegerAttr(packing.bytes));
  if (Attribute observed = function->getAttr(kObservedAttr))
    program->setAttr(kObservedAttr, observed);
  if (Attribute price = function->getAttr(kLayoutPriceAttr))
    program->setAttr(kLayoutPriceAttr, price);
  builder.setInsertionPointToStart(&program.getBody().emplaceBlock());
  if (failed(emitPorts()))
    return failure();
  for (const auto &[buffer, offset] :
       llvm::zip_equal(assignment.arenaBuffers(), packing.offsets))
    arena.push_back(plan::BufferOp::create(builder, buffer.loc, buffer.type,
                                           builder.getI64IntegerAttr(offset)));
  for (PlannedDataOpInterface constant : assignment.constants())
    constants.push_back(plan::ConstantOp::create(
        builder, constant.getLoc(),
        bufferType(constant->getResult(0).getType()), constant.getData()));
  if (failed(emitBlock(function.getBody().front())))
    return failure();
  program.setArena(llvm::alignTo(packing.bytes, 64));
  auto returned = function.getBody().front().getTerminator()->getOperands();
  for (Value value : returned)
    inPlace += value.getDefiningOp() &&
               assignment.place(value).kind == PlaceKind::Argument;
  return success();
}

struct PlaceBuffersPass : impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh)
      mesh = MeshAttr::get(&getContext(), Mesh{{{"device", 1}}, {}});
    Builtins builtins;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!becomesProgram(function))
        continue;
      ProgramEmitter emitter(function, mesh, builtins);
      if (failed(emitter.emit()))
        return signalPassFailure();
      numInPlace += emitter.inPlace;
      numCopies += emitter.copies;
      function.erase();
    }
  }
};
} // namespace
} // namespace weft
