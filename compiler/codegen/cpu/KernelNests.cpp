//===- KernelNests.cpp - loop nests of a kernel ---------------------------===//

#include "weft/compiler/codegen/cpu/DotShape.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/NestCode.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/dialects/weft/UpdatedOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

KernelEmitter::KernelEmitter(func::FuncOp kernel, const CpuTarget &target)
    : elements(kernel, this), target(target), kernel(kernel),
      builder(elements.builder), loc(kernel.getLoc()),
      decisions(nest::decisionsOf(kernel)) {}

/// Ranges [begin, end) of a kernel's scratch or planned memory whose values
/// overlap. Values that do not overlap have separate pointers, so that LLVM
/// knows that they are disjoint.
static SmallVector<std::pair<int64_t, int64_t>>
regionsOf(func::FuncOp kernel, nest::PlaceKind kind) {
  SmallVector<std::pair<int64_t, int64_t>> all, joined;
  for (auto loops : kernel.getOps<nest::LoopsOp>())
    for (OpResult value : loops->getResults())
      if (auto place = loops.getPlace(value.getResultNumber());
          place.getKind() == kind)
        all.push_back(
            {place.getAt(), place.getAt() + bufferBytes(typeOf(value))});
  llvm::sort(all);
  for (auto [begin, end] : all)
    if (!joined.empty() && begin < joined.back().second)
      joined.back().second = std::max(joined.back().second, end);
    else
      joined.push_back({begin, end});
  return joined;
}

/// The starts of the regions of planned memory: first stored values, then the
/// temporary memory of loops, if that is planned.
static SmallVector<int64_t> plannedRegions(func::FuncOp kernel) {
  auto begins = llvm::map_to_vector(
      regionsOf(kernel, nest::PlaceKind::Planned),
      [](const auto &region) -> int64_t { return region.first; });
  if (nest::worksInPlanned(kernel) && nest::workingBytes(kernel) > 0)
    begins.push_back(nest::keptBytes(kernel, nest::PlaceKind::Planned));
  return begins;
}

static Value bytesBehind(ElementEmitter &e, Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return LLVM::GEPOp::create(e.builder, e.loc, pointer.getType(),
                             e.builder.getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{e.constant(bytes)});
}

/// Creates the function with the loops: its arguments are a pointer for each
/// tensor and each region of planned memory, the coordinates, and the share.
LLVM::LLVMFuncOp KernelEmitter::createBody() {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  FunctionType type = kernel.getFunctionType();
  SmallVector<Type> tensors(type.getInputs());
  llvm::append_range(tensors, type.getResults());
  bool inPlace = mayWorkInPlace(kernel);

  unsigned pointers = tensors.size() + plannedRegions(kernel).size();
  SmallVector<Type> parameters(pointers + 1, pointer);
  parameters.append(2, builder.getI64Type());
  builder.setInsertionPoint(kernel);
  auto body = LLVM::LLVMFuncOp::create(
      builder, loc, (kernel.getName() + ".body").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters),
      LLVM::Linkage::Internal);
  body.setNoInline(true);
  if (usesByteProducts(kernel, target))
    body.setTargetFeaturesAttr(
        LLVM::TargetFeaturesAttr::get(context, StringRef("+avx512vnni")));
  unsigned inputs = type.getNumInputs();
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    body.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(64));
    // In a kernel "elementwise" an argument and a result of the same type may
    // share a buffer; all other buffers are disjoint.
    ArrayRef<Type> others = i < inputs ? type.getResults() : type.getInputs();
    if (!inPlace || !llvm::is_contained(others, tensor))
      body.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  }
  for (unsigned i = tensors.size(); i <= pointers; ++i)
    body.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  for (unsigned i = tensors.size(); i < pointers; ++i)
    body.setArgAttr(i, "llvm.align",
                    builder.getI64IntegerAttr(nest::kScratchAlignment));
  return body;
}

/// Creates `void NAME(buffers, coordinates[, share, shares])`, which calls the
/// body.
void KernelEmitter::createCaller(StringRef name, LLVM::LLVMFuncOp body,
                                 ArrayRef<Type> parameters) {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto nothing = LLVM::LLVMVoidType::get(builder.getContext());
  builder.setInsertionPoint(kernel);
  auto caller = LLVM::LLVMFuncOp::create(
      builder, loc, name, LLVM::LLVMFunctionType::get(nothing, parameters));
  Block *block = caller.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  SmallVector<Value> arguments;
  auto bufferOf = [&](unsigned i) -> Value {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    return LLVM::LoadOp::create(builder, loc, pointer, slot);
  };
  unsigned tensors = kernel.getNumArguments() + kernel.getNumResults();
  for (unsigned i = 0; i < tensors; ++i)
    arguments.push_back(bufferOf(i));
  // Planned memory comes after the tensors.
  for (int64_t begin : plannedRegions(kernel))
    arguments.push_back(bytesBehind(elements, bufferOf(tensors), begin));
  llvm::append_range(arguments, block->getArguments().drop_front());
  if (parameters.size() == 2) // The caller computes the only share.
    arguments.append({elements.constant(0), elements.constant(1)});
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

LogicalResult KernelEmitter::checkTarget() {
  if (!decisions)
    return kernel.emitError()
           << "the loop nests of kernel '" << kernel.getName()
           << "' are not chosen; run --weft-choose-nests";
  if (decisions.getTarget() == target.name)
    return success();
  return kernel.emitError()
         << "the loop nests of kernel '" << kernel.getName()
         << "' are chosen for " << decisions.getTarget() << ", not for "
         << target.name << "; compile for that target, or from the stage "
         << "'kernels' on";
}

LogicalResult KernelEmitter::checkElements() {
  WalkResult result = kernel.walk([](Operation *op) {
    SmallVector<Type> types(op->getOperandTypes());
    llvm::append_range(types, op->getResultTypes());
    for (Type any : types)
      if (auto type = dyn_cast<RankedTensorType>(any);
          type && !hasRegister(type.getElementType())) {
        op->emitError() << "elements of " << type.getElementType()
                        << " have no CPU code; convert them to i2, i4, i8 or a "
                           "float of 4, 8, 16, 32 or 64 bits";
        return WalkResult::interrupt();
      }
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

LogicalResult KernelEmitter::emit() {
  if (failed(checkTarget()))
    return failure();
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  entry = createBody();
  createCaller((kernel.getName() + ".entry").str(), entry, {pointer, pointer});
  Block *block = entry.addEntryBlock(builder);
  builder.setInsertionPointToStart(block);
  auto end = LLVM::ReturnOp::create(builder, loc, ValueRange());
  elements.setEnd(end);
  builder.setInsertionPoint(end);
  unsigned position = 0;
  for (BlockArgument argument : kernel.getArguments())
    elements.place(argument, block->getArgument(position++));
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    resultPointers.push_back(block->getArgument(position++));
  for (int64_t begin : plannedRegions(kernel))
    plannedMemory.push_back({begin, block->getArgument(position++)});
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (std::optional<unsigned> updated = updatedArgument(kernel, i))
      elements.place(kernel.getArgument(*updated), resultPointers[i]);
  elements.placeCoordinates(block->getArgument(position));
  shareNumber = block->getArgument(position + 1);
  shareCount = block->getArgument(position + 2);

  if (failed(checkElements()) || failed(elements.placeConstants()))
    return failure();
  placeStored();
  if (nest::ShareAttr share = decisions.getShare()) {
    openSplit(share);
    exportShare(entry, share);
    if (share.getBlock() > 0)
      openBlocks(share);
  }
  for (auto loops : kernel.getOps<nest::LoopsOp>())
    if (failed(emitNest(loops)))
      return failure();
  elements.endOuterLoops();
  elements.beginNest();
  return emitCopies();
}

/// The pointer to an offset in memory of several regions.
static Value pointerTo(ElementEmitter &e,
                       ArrayRef<std::pair<int64_t, Value>> regions,
                       int64_t at) {
  auto found = llvm::find_if(llvm::reverse(regions),
                             [&](auto &region) { return region.first <= at; });
  return bytesBehind(e, found->second, at - found->first);
}

void KernelEmitter::placeStored() {
  auto pointer = LLVM::LLVMPointerType::get(builder.getContext());
  auto allocate = [&](int64_t bytes) -> Value {
    return LLVM::AllocaOp::create(builder, loc, pointer, builder.getI8Type(),
                                  elements.constant(bytes),
                                  nest::kScratchAlignment);
  };
  SmallVector<std::pair<int64_t, Value>> onStack;
  for (auto [begin, end] : regionsOf(kernel, nest::PlaceKind::Scratch))
    onStack.push_back({begin, allocate(std::max<int64_t>(end - begin, 1))});
  auto memoryAt = [&](nest::PlaceAttr place) {
    switch (place.getKind()) {
    case nest::PlaceKind::Result:
      return resultPointers[place.getAt()];
    case nest::PlaceKind::Scratch:
      return pointerTo(elements, onStack, place.getAt());
    case nest::PlaceKind::Planned:
      return pointerTo(elements, plannedMemory, place.getAt());
    }
  };
  for (auto loops : kernel.getOps<nest::LoopsOp>())
    for (auto [i, value] : llvm::enumerate(loops.getStored())) {
      Value where = memoryAt(loops.getPlace(i));
      elements.place(value, where);
      elements.place(loops.getResult(i), where);
    }
  int64_t bytes = nest::workingBytes(kernel);
  if (bytes > 0 && !nest::worksInPlanned(kernel))
    working = allocate(decisions.getScratch() - nest::keptBytes(kernel));
  else if (bytes > 0) // Each share has separate memory.
    working = LLVM::GEPOp::create(
        builder, loc, pointer, builder.getI8Type(), plannedMemory.back().second,
        ArrayRef<LLVM::GEPArg>{elements.mul(
            shareNumber,
            int64_t(llvm::alignTo(bytes, nest::kScratchAlignment)))});
}

LogicalResult KernelEmitter::emitOwnNest(Operation *op) {
  auto code = dyn_cast<NestCodeOpInterface>(op);
  if (!code)
    return op->emitError()
           << "'" << op->getName()
           << "' has a loop nest of its own but no code of it; give it "
              "NestCodeOpInterface (compiler/codegen/elements/NestCode.td)";
  return code.emitNest(elements);
}

LogicalResult KernelEmitter::emitNest(nest::LoopsOp loops) {
  if (llvm::all_of(loops->getResults(),
                   [](Value result) { return elementCount(result) == 0; }))
    return success();
  elements.beginNest();
  Operation *op = loops.getNestOp();
  LogicalResult result =
      llvm::TypeSwitch<Attribute, LogicalResult>(loops.getWalk())
          .Case([&](nest::ElementsAttr walk) {
            return emitElements(loops, walk.getOrder());
          })
          .Case([&](nest::TransposedAttr walk) {
            return emitTransposed(*this, loops, walk);
          })
          .Case([&](nest::ReductionAttr walk) {
            return emitReduce(*this, cast<ReduceOp>(op), walk);
          })
          .Case([&](nest::ContractionAttr walk) {
            return emitDot(*this, loops, walk);
          })
          .Case([&](nest::ConvolutionAttr walk) {
            return emitTiledConvolution(*this, cast<ConvolutionOp>(op), walk);
          })
          .Case([&](nest::OwnAttr) { return emitOwnNest(op); })
          .Default([&](Attribute walk) {
            return loops.emitOpError("walks as ")
                   << walk << ", for which there is no CPU code";
          });
  elements.beginNest();
  return result;
}

/// Copies results that are an argument, constant data or another result.
LogicalResult KernelEmitter::emitCopies() {
  Operation *terminator = kernel.getBody().front().getTerminator();
  for (auto [value, pointer] :
       llvm::zip_equal(terminator->getOperands(), resultPointers)) {
    Value from = elements.memoryOf(value);
    if (from == pointer || elementCount(value) == 0)
      continue;
    elements.beginNest();
    Type elementType = typeOf(value).getElementType();
    Value linear = elements.openLoop(elementCount(value));
    elements.store(elements.load(from, elementType, linear), pointer,
                   elementType, linear);
    elements.beginNest();
  }
  return success();
}

} // namespace weft::cpu
