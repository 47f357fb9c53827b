//===- RoutineEmitter.cpp - instructions as one function ------------------===//

#include "weft/compiler/codegen/cpu/RoutineEmitter.h"

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;

namespace weft::cpu {

namespace {
class RoutineEmitter {
public:
  explicit RoutineEmitter(plan::RoutineOp routine)
      : routine(routine), builder(routine.getContext()), loc(routine.getLoc()),
        pointer(LLVM::LLVMPointerType::get(routine.getContext())) {}
  LogicalResult emit();

private:
  Value number(int64_t value) {
    return LLVM::ConstantOp::create(builder, loc, builder.getI64Type(), value);
  }
  Value memory(int64_t bytes);
  Value element(Value list, int64_t index);
  LogicalResult placeConstant(plan::ConstantOp constant);
  void createBlocks();
  /// Ends the current block, unless a jump has ended it, and goes on in `next`.
  void goOnIn(Block *next);
  void emitLaunch(plan::LaunchOp launch);
  void emitJumpUnless(plan::JumpUnlessOp jump);
  LogicalResult emitInstruction(Operation &op);

  plan::RoutineOp routine;
  OpBuilder builder;
  Location loc;
  Type pointer;
  LLVM::LLVMFuncOp function;
  Block *locals = nullptr; ///< the first block, with memory of the routine
  DenseMap<Value, Value> pointers;
  llvm::StringMap<Block *> blocks; ///< indexed by label
};
} // namespace

/// Memory for the time of the call. All is in the first block, so that LLVM can
/// keep it in registers.
Value RoutineEmitter::memory(int64_t bytes) {
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(locals);
  Value size = number(std::max<int64_t>(bytes, 1));
  return LLVM::AllocaOp::create(builder, loc, pointer, builder.getI8Type(),
                                size, nest::kScratchAlignment);
}

Value RoutineEmitter::element(Value list, int64_t index) {
  return LLVM::GEPOp::create(
      builder, loc, pointer, pointer, list,
      ArrayRef<LLVM::GEPArg>{static_cast<int32_t>(index)});
}

LogicalResult RoutineEmitter::placeConstant(plan::ConstantOp constant) {
  auto data = dyn_cast<DenseElementsAttr>(constant.getValue());
  if (!data)
    return constant.emitError()
           << "constant data of kind " << constant.getValue()
           << " has no code; use dense<...>";
  DenseElementsAttr flat = elements::flatData(data);
  OpBuilder before(function);
  auto type =
      LLVM::LLVMArrayType::get(flat.getElementType(), flat.getNumElements());
  std::string name =
      (routine.getSymName() + ".constant" + Twine(pointers.size())).str();
  auto global = LLVM::GlobalOp::create(before, loc, type, /*isConstant=*/true,
                                       LLVM::Linkage::Internal, name, flat, 64);
  pointers[constant] = LLVM::AddressOfOp::create(builder, loc, global);
  return success();
}

void RoutineEmitter::createBlocks() {
  for (auto label : routine.getOps<plan::LabelOp>())
    blocks[label.getName()] =
        builder.createBlock(&function.getBody(), function.getBody().end());
}

void RoutineEmitter::goOnIn(Block *next) {
  Block *current = builder.getInsertionBlock();
  if (current->empty() || !current->back().hasTrait<OpTrait::IsTerminator>())
    LLVM::BrOp::create(builder, loc, next);
  builder.setInsertionPointToEnd(next);
}

/// Calls the kernel as a launch does: with a list of buffers, of which nothing
/// is left when LLVM has inlined the kernel's entry.
void RoutineEmitter::emitLaunch(plan::LaunchOp launch) {
  SmallVector<Value> buffers(launch.getBuffers());
  if (launch.getScratch())
    buffers.push_back(launch.getScratch());
  Value list = memory(static_cast<int64_t>(buffers.size()) * 8);
  for (auto [i, buffer] : llvm::enumerate(buffers))
    LLVM::StoreOp::create(builder, loc, pointers.lookup(buffer),
                          element(list, static_cast<int64_t>(i)));
  LLVM::CallOp::create(builder, loc, TypeRange(), launch.getKernelAttr(),
                       ValueRange{list, function.getArgument(1)});
}

void RoutineEmitter::emitJumpUnless(plan::JumpUnlessOp jump) {
  Value flag = LLVM::LoadOp::create(builder, loc, builder.getI8Type(),
                                    pointers.lookup(jump.getCondition()));
  Value zero = LLVM::ConstantOp::create(builder, loc, builder.getI8Type(), 0);
  Value holds =
      LLVM::ICmpOp::create(builder, loc, LLVM::ICmpPredicate::ne, flag, zero);
  Block *here = builder.getInsertionBlock();
  Block *next =
      builder.createBlock(&function.getBody(), std::next(here->getIterator()));
  builder.setInsertionPointToEnd(here);
  LLVM::CondBrOp::create(builder, loc, holds, next, blocks[jump.getTarget()]);
  builder.setInsertionPointToEnd(next);
}

LogicalResult RoutineEmitter::emitInstruction(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](plan::LocalOp local) {
        pointers[local] =
            memory(bufferBytes(cast<MemRefType>(local.getType())));
        return success();
      })
      .Case([&](plan::ConstantOp constant) { return placeConstant(constant); })
      .Case([&](plan::CopyOp copy) {
        auto type = cast<MemRefType>(copy.getSource().getType());
        LLVM::MemmoveOp::create(builder, loc, pointers.lookup(copy.getTarget()),
                                pointers.lookup(copy.getSource()),
                                number(bufferBytes(type)), false);
        return success();
      })
      .Case([&](plan::LabelOp label) {
        goOnIn(blocks[label.getName()]);
        return success();
      })
      .Case([&](plan::JumpOp jump) {
        LLVM::BrOp::create(builder, loc, blocks[jump.getTarget()]);
        return success();
      })
      .Case([&](plan::JumpUnlessOp jump) {
        emitJumpUnless(jump);
        return success();
      })
      .Case([&](plan::LaunchOp launch) {
        emitLaunch(launch);
        return success();
      })
      .Default([](Operation *other) {
        return other->emitOpError("is no instruction of a routine");
      });
}

LogicalResult RoutineEmitter::emit() {
  builder.setInsertionPoint(routine);
  auto nothing = LLVM::LLVMVoidType::get(routine.getContext());
  auto type = LLVM::LLVMFunctionType::get(nothing, {pointer, pointer});
  std::string name = routine.getSymName().str();
  // The routine has the name until the end.
  function = LLVM::LLVMFuncOp::create(builder, loc, name + ".entry", type);
  locals = function.addEntryBlock(builder);
  Block *start =
      builder.createBlock(&function.getBody(), function.getBody().end());
  createBlocks();
  builder.setInsertionPointToStart(start);
  for (BlockArgument argument : routine.getBody().getArguments())
    pointers[argument] = LLVM::LoadOp::create(
        builder, loc, pointer,
        element(function.getArgument(0), argument.getArgNumber()));
  for (Operation &op : routine.getBody().front())
    if (failed(emitInstruction(op)))
      return failure();
  Block *end =
      builder.createBlock(&function.getBody(), function.getBody().end());
  builder.setInsertionPointToEnd(end);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
  for (Block &block : function.getBody())
    if (block.empty() || !block.back().hasTrait<OpTrait::IsTerminator>()) {
      builder.setInsertionPointToEnd(&block);
      LLVM::BrOp::create(builder, loc, &block == locals ? start : end);
    }
  routine.erase();
  function.setName(name);
  return success();
}

/// Makes the kernel's code a part of its callers, where LLVM finds that good.
static void makeInternal(ModuleOp module, StringRef kernel) {
  auto entry = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel);
  entry.setLinkage(LLVM::Linkage::Internal);
  entry.setAlwaysInline(true);
  module.lookupSymbol<LLVM::LLVMFuncOp>((kernel + ".body").str())
      .setNoInline(false);
}

LogicalResult emitRoutine(plan::RoutineOp routine) {
  auto module = routine->getParentOfType<ModuleOp>();
  llvm::SetVector<StringRef> kernels;
  for (auto launch : routine.getOps<plan::LaunchOp>())
    kernels.insert(launch.getKernel());
  for (StringRef kernel : kernels)
    makeInternal(module, kernel);
  return RoutineEmitter(routine).emit();
}

std::string textOf(plan::RoutineOp routine) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  auto flags =
      OpPrintingFlags().useLocalScope().elideLargeElementsAttrs(INT64_MAX);
  OwningOpRef<plan::RoutineOp> copy(routine.clone());
  llvm::StringSet<> printed;
  for (auto launch : (*copy).getOps<plan::LaunchOp>()) {
    std::string name = (routine.getSymName() + "." + launch.getKernel()).str();
    if (printed.insert(name).second) {
      OwningOpRef<func::FuncOp> kernel(
          SymbolTable::lookupNearestSymbolFrom<func::FuncOp>(
              routine, launch.getKernelAttr())
              .clone());
      (*kernel).setName(name);
      (*kernel).print(stream, flags);
      stream << "\n";
    }
    launch.setKernel(name);
  }
  (*copy).print(stream, flags);
  stream << "\n";
  return text;
}

} // namespace weft::cpu
