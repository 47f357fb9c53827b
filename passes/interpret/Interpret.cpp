//===- Interpret.cpp - functions, op by op --------------------------------===//

#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/interpret/ForeignMeanings.h"
#include "weft/passes/interpret/Lockstep.h"
#include "weft/passes/interpret/Meanings.h"

#include "mlir/IR/SymbolTable.h"

using namespace mlir;

namespace weft {

namespace {

std::string typeText(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}
} // namespace

LogicalResult Lockstep::checkArguments(func::FuncOp function,
                                       ArrayRef<Tensors> arguments) {
  if (!function.getBody().hasOneBlock())
    return function.emitOpError("has ")
           << function.getBody().getBlocks().size()
           << " blocks; a body of 1 can be interpreted";
  if (static_cast<int64_t>(arguments.size()) != devices)
    return function.emitOpError("is given arguments for ")
           << arguments.size() << " devices, the mesh has " << devices;
  for (const Tensors &tensors : arguments) {
    if (tensors.size() != function.getNumArguments())
      return function.emitOpError("is given ")
             << tensors.size() << " arguments, it takes "
             << function.getNumArguments();
    for (auto [index, tensor] : llvm::enumerate(tensors)) {
      auto type =
          dyn_cast<RankedTensorType>(function.getArgumentTypes()[index]);
      if (!type || withLayout(type, nullptr) != tensor.getType())
        return function.emitOpError("is given ")
               << typeText(tensor.getType()) << " as argument " << index
               << ", it takes " << function.getArgumentTypes()[index];
    }
  }
  return success();
}

FailureOr<SmallVector<Tensors>> Lockstep::run(func::FuncOp function,
                                              ArrayRef<Tensors> arguments) {
  if (failed(checkArguments(function, arguments)))
    return failure();
  return run(function.getBody().front(), arguments);
}

FailureOr<SmallVector<Tensors>> Lockstep::run(Block &block,
                                              ArrayRef<Tensors> arguments) {
  auto valueOf = [&](Value value) -> Tensors & {
    return values[value.getAsOpaquePointer()];
  };
  for (BlockArgument argument : block.getArguments()) {
    Tensors &value = valueOf(argument);
    value.clear();
    for (const Tensors &tensors : arguments)
      value.push_back(tensors[argument.getArgNumber()]);
  }
  auto operandsOf = [&](Operation &op) {
    Operands operands(devices);
    for (Value operand : op.getOperands())
      for (int64_t device = 0; device < devices; ++device)
        operands[device].push_back(&valueOf(operand)[device]);
    return operands;
  };
  for (Operation &op : block.without_terminator()) {
    auto results = step(op, operandsOf(op));
    if (failed(results))
      return failure();
    if (observe)
      observe(op, operandsOf(op).front(), results->front());
    for (OpResult result : op.getResults()) {
      Tensors &value = valueOf(result);
      value.clear();
      for (Tensors &tensors : *results)
        value.push_back(std::move(tensors[result.getResultNumber()]));
    }
  }
  return copied(operandsOf(*block.getTerminator()));
}

/// Parts that add up to the operand: itself, and zeros.
static SmallVector<Tensors>
meaningOfParts(nest::PartsOp op,
               ArrayRef<SmallVector<const Tensor *>> operands) {
  SmallVector<Tensors> results;
  for (const auto &tensors : operands) {
    Tensor parts(cast<RankedTensorType>(op.getResult().getType()));
    for (int64_t i = 0; i < tensors[0]->size(); ++i)
      parts.copy(i, *tensors[0], i);
    results.push_back({std::move(parts)});
  }
  return results;
}

FailureOr<SmallVector<Tensors>> Lockstep::step(Operation &op,
                                               const Operands &operands) {
  if (auto callOp = dyn_cast<func::CallOp>(op))
    return call(callOp, operands);
  // The walk of a loop nest does not affect results.
  if (auto loops = dyn_cast<nest::LoopsOp>(op))
    return run(loops.getBody().front(), {});
  if (auto parts = dyn_cast<nest::PartsOp>(op))
    return meaningOfParts(parts, operands);
  if (auto results = flow(op, operands))
    return std::move(*results);
  if (auto results = foreignFlow(op, operands))
    return std::move(*results);
  if (auto results = structured(op, operands))
    return std::move(*results);
  if (auto results = meaningOfCollective(&op, mesh, operands))
    return std::move(*results);
  SmallVector<Tensors> results;
  for (const auto &tensors : operands) {
    FailureOr<Tensors> local = interpretOp(&op, tensors);
    if (failed(local))
      return failure();
    results.push_back(std::move(*local));
  }
  return results;
}

std::optional<Lockstep::Outcome>
Lockstep::structured(Operation &op, const Operands &operands) {
  SmallVector<Tensors> results;
  for (int64_t device = 0; device < devices; ++device) {
    auto outside = [&](Value value) -> const Tensor * {
      return &values[value.getAsOpaquePointer()][device];
    };
    auto local = meaningOfStructured(&op, operands[device], outside);
    if (!local)
      return std::nullopt;
    if (failed(*local))
      return Outcome(failure());
    results.push_back(std::move(**local));
  }
  return Outcome(std::move(results));
}

SmallVector<Tensors> Lockstep::copied(const Operands &operands) {
  SmallVector<Tensors> result(operands.size());
  for (auto [device, tensors] : llvm::enumerate(operands))
    for (const Tensor *tensor : tensors)
      result[device].push_back(*tensor);
  return result;
}

FailureOr<SmallVector<Tensors>> Lockstep::call(func::CallOp op,
                                               const Operands &operands) {
  auto callee = SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
      op, op.getCalleeAttr());
  constexpr unsigned kMaxDepth = 256;
  if (depth == kMaxDepth)
    return op.emitOpError("is nested ")
           << depth << " calls deep; recursion cannot be interpreted";
  ++depth;
  SmallVector<Tensors> arguments = copied(operands);
  std::unordered_map<void *, Tensors> caller;
  std::swap(caller, values);
  auto results = run(callee, arguments);
  std::swap(caller, values);
  --depth;
  return results;
}

FailureOr<Tensors> interpretOp(Operation *op,
                               ArrayRef<const Tensor *> operands) {
  // Meanings of scalars come first; Weft's own ops have no scalars.
  for (auto meaning :
       {meaningOfArith, meaningOfTensorOp, meaningOfElementwise,
        meaningOfSource, meaningOfShape, meaningOfReduction, meaningOfIndexing,
        meaningOfWindow, meaningOfLinearAlgebra})
    if (std::optional<Tensor> result = meaning(op, operands))
      return Tensors{std::move(*result)};
  for (auto meaning : {meaningOfScan, meaningOfFold, meaningOfLapack})
    if (std::optional<Tensors> results = meaning(op, operands)) {
      if (results->empty())
        return failure();
      return std::move(*results);
    }
  return op->emitOpError("has no meaning in the interpreter");
}

FailureOr<Tensors> interpretFunction(func::FuncOp function,
                                     ArrayRef<Tensor> arguments,
                                     const ObserveOp &observe) {
  Mesh one;
  auto results =
      Lockstep(one, observe)
          .run(function, {Tensors(arguments.begin(), arguments.end())});
  if (failed(results))
    return failure();
  return std::move(results->front());
}

FailureOr<SmallVector<Tensors>> interpretDevices(func::FuncOp function,
                                                 const Mesh &mesh,
                                                 ArrayRef<Tensors> arguments) {
  return Lockstep(mesh).run(function, arguments);
}

} // namespace weft
