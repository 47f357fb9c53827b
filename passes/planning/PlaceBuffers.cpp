//===- PlaceBuffers.cpp - gives every value a buffer, emits the plan ------===//

#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/planning/ProgramEmitter.h"

#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/plan/Sharing.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/LayoutPrice.h"
#include "weft/dialects/weft/ObservesLayout.h"
#include "weft/dialects/weft/PortName.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/layout/Sizes.h"

using namespace mlir;

namespace weft {
#define GEN_PASS_DEF_PLACEBUFFERSPASS
#include "weft/passes/planning/Passes.h.inc"

bool becomesProgram(func::FuncOp function) {
  return function.isPublic() && !function.isExternal();
}

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
    partOfPort[inputs.back()] =
        layoutOf(attributes, type.getRank()).getLayout().part;
    share(inputs.back().getDefiningOp(),
          assignment.shared(Place{PlaceKind::Argument, n}));
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
    partOfPort[outputs.back()] =
        layoutOf(attributes, type.getRank()).getLayout().part;
    if (!donatedArgument)
      share(outputs.back().getDefiningOp(),
            assignment.shared(
                Place{PlaceKind::Result, static_cast<unsigned>(n)}));
  }
  return success();
}

void ProgramEmitter::share(Operation *op, LayoutAttr axes) {
  if (axes)
    op->setAttr(plan::kSharedAttr, axes);
}

/// Emits a jump to the label that is returned, for devices that are not in the
/// part and may be here; null if there are none.
StringAttr ProgramEmitter::emitJumpOutside(Location loc, const MeshPart &part) {
  if (includes(part, inside))
    return {};
  StringAttr end = builder.getStringAttr(label("end"));
  plan::JumpOutsideOp::create(builder, loc, AtOp::placeOn(mesh, part), end);
  return end;
}

/// Emits a copy, which is done once for the devices that share its target, and by
/// devices that have both buffers only.
void ProgramEmitter::emitCopy(Location loc, Value source, Value target) {
  MeshPart part =
      partOfPort.lookup(partOfPort.contains(source) ? source : target);
  StringAttr end = emitJumpOutside(loc, part);
  auto copy = plan::CopyOp::create(builder, loc, source, target);
  share(copy, plan::sharedOver(target));
  ++copies;
  if (end)
    plan::LabelOp::create(builder, loc, end, IntegerAttr());
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
        emitCopy(call.getLoc(), source, target);
      }
      source = target;
    }
    all.push_back(target);
  }
  std::optional<unsigned> scratch = assignment.scratch(call);
  auto launch =
      plan::LaunchOp::create(builder, call.getLoc(), call.getCalleeAttr(), all,
                             scratch ? arena[*scratch] : Value());
  share(launch, call->getAttrOfType<LayoutAttr>(plan::kSharedAttr));
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
  auto launch = plan::LaunchOp::create(builder, call.getLoc(),
                                       FlatSymbolRefAttr::get(kernel), all,
                                       /*scratch=*/Value());
  share(launch, call->getAttrOfType<LayoutAttr>(plan::kSharedAttr));
}

LogicalResult ProgramEmitter::emitInstruction(Operation &op) {
  if (auto call = dyn_cast<func::CallOp>(op)) {
    emitLaunch(call);
  } else if (auto builtin = dyn_cast<PlannedCallOpInterface>(op)) {
    emitBuiltin(builtin);
  } else if (auto instruction =
                 dyn_cast<plan::PlanInstructionOpInterface>(op)) {
    plan::StartOp start =
        plan::createStart(builder, instruction, buffers(op.getOperands()),
                          buffers(op.getResults()), timesAttr());
    if (plan::awaitOf(&op))
      started[&op] = start;
    else
      plan::WaitOp::create(builder, op.getLoc(), start.getStarted());
  } else if (Operation *collective = plan::awaitedBy(&op)) {
    plan::WaitOp::create(builder, op.getLoc(),
                         started.lookup(collective).getStarted());
  } else if (auto ret = dyn_cast<func::ReturnOp>(op)) {
    emitFinalCopies(ret);
  } else if (auto loop = dyn_cast<PlannedLoopOpInterface>(op)) {
    return emitWhile(loop);
  } else if (auto choice = dyn_cast<PlannedBranchOpInterface>(op)) {
    return emitCase(choice);
  } else if (auto part = dyn_cast<PlannedPartOpInterface>(op)) {
    return emitPart(part);
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
  while (!moves.empty()) {
    auto *ready = llvm::find_if(moves, [&](auto &move) {
      return llvm::none_of(
          moves, [&](auto &other) { return other.first == move.second; });
    });
    if (ready != moves.end()) {
      emitCopy(loc, ready->first, ready->second);
      moves.erase(ready);
      continue;
    }
    Value overwritten = moves.front().second;
    auto type = cast<MemRefType>(overwritten.getType());
    int64_t offset = llvm::alignTo(packing.bytes, 64);
    Value saved = plan::BufferOp::create(builder, loc, type,
                                         builder.getI64IntegerAttr(offset));
    packing.bytes = offset + bufferBytes(type);
    emitCopy(loc, overwritten, saved);
    for (auto &move : moves)
      if (move.first == overwritten)
        move.first = saved;
  }
}

/// Copies results that were not written to the caller's buffers, each on the
/// devices that hold it.
void ProgramEmitter::emitFinalCopies(func::ReturnOp op) {
  std::map<MeshPart, Moves> moves;
  for (auto [index, value] : llvm::enumerate(op.getOperands())) {
    Value source = buffer(value), target = outputs[index];
    if (auto donatedArgument = assignment.donatedArgument(index))
      target = inputs[*donatedArgument];
    LayoutAttr layout = layoutOf(function.getResultAttrDict(index),
                                 cast<ShapedType>(value.getType()).getRank());
    if (source != target)
      moves[layout.getLayout().part].push_back({source, target});
  }
  for (auto &[part, some] : moves) {
    StringAttr end = emitJumpOutside(op.getLoc(), part);
    inside = part;
    emitMoves(op.getLoc(), std::move(some));
    inside.clear();
    if (end)
      plan::LabelOp::create(builder, op.getLoc(), end, IntegerAttr());
  }
}

LogicalResult ProgramEmitter::emitBlock(Block &block) {
  for (Operation &op : block)
    if (failed(emitInstruction(op)))
      return failure();
  return success();
}

LogicalResult ProgramEmitter::emit() {
  packing = placeArena(function, assignment);
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
  for (auto [buffer, op, offset] : llvm::zip_equal(
           assignment.arenaBuffers(), arena, packing.sharedOffsets)) {
    share(op.getDefiningOp(), buffer.shared);
    if (buffer.shared)
      op.getDefiningOp()->setAttr(plan::kSharedOffsetAttr,
                                  builder.getI64IntegerAttr(offset));
  }
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

/// Erases kernels that no instruction launches: the conditions of unrolled
/// loops.
static void eraseUnused(ModuleOp module) {
  llvm::DenseSet<StringAttr> used;
  module.walk([&](Operation *op) {
    op->getAttrDictionary().walk(
        [&](SymbolRefAttr name) { used.insert(name.getRootReference()); });
  });
  for (auto function :
       llvm::make_early_inc_range(module.getOps<func::FuncOp>()))
    if (isKernel(function) && !used.contains(function.getSymNameAttr()))
      function.erase();
}

namespace {
struct PlaceBuffersPass : impl::PlaceBuffersPassBase<PlaceBuffersPass> {
  using PlaceBuffersPassBase::PlaceBuffersPassBase;
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    ModuleOp module = getOperation();
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh)
      mesh = MeshAttr::get(&getContext(), Mesh{{{"device", 1}}, {}});
    FailureOr<nest::TargetLimits> limits =
        nest::targetLimits(target, getOperation());
    if (failed(limits))
      return signalPassFailure();
    Builtins builtins;
    bool unrolled = false;
    for (auto function :
         llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
      if (!becomesProgram(function))
        continue;
      ProgramEmitter emitter(function, mesh, builtins,
                             limits->block.threads ? limits->block.unrolled
                                                   : 0);
      if (failed(emitter.emit()))
        return signalPassFailure();
      numInPlace += emitter.inPlace;
      numCopies += emitter.copies;
      numUnrolled += emitter.unrolledLoops;
      unrolled |= emitter.unrolledLoops > 0;
      function.erase();
    }
    if (unrolled)
      eraseUnused(module);
  }
};
} // namespace
} // namespace weft
