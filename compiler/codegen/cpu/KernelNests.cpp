//===- KernelNests.cpp - loop nests of a kernel ---------------------------===//

#include "weft/compiler/codegen/cpu/NestCode.h"
#include "weft/compiler/codegen/elements/ElementCode.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

KernelEmitter::KernelEmitter(func::FuncOp kernel, const CpuTarget &target)
    : elements(kernel, this), target(target), kernel(kernel),
      builder(elements.builder), loc(kernel.getLoc()) {}

/// The loops, on a pointer for each tensor, the coordinates, and the part.
LLVM::LLVMFuncOp KernelEmitter::createBody() {
  MLIRContext *context = builder.getContext();
  auto pointer = LLVM::LLVMPointerType::get(context);
  FunctionType type = kernel.getFunctionType();
  SmallVector<Type> tensors(type.getInputs());
  llvm::append_range(tensors, type.getResults());
  bool inPlace = mayWorkInPlace(kernel);

  SmallVector<Type> parameters(tensors.size() + 1, pointer);
  parameters.append(2, builder.getI64Type());
  builder.setInsertionPoint(kernel);
  auto body = LLVM::LLVMFuncOp::create(
      builder, loc, (kernel.getName() + ".body").str(),
      LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(context), parameters),
      LLVM::Linkage::Internal);
  body.setNoInline(true);
  unsigned inputs = type.getNumInputs();
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    body.setArgAttr(i, "llvm.align", builder.getI64IntegerAttr(64));
    // In a kernel "elementwise" an argument and a result of the same type may
    // be one buffer; everything else is apart.
    ArrayRef<Type> others = i < inputs ? type.getResults() : type.getInputs();
    if (!inPlace || !llvm::is_contained(others, tensor))
      body.setArgAttr(i, "llvm.noalias", builder.getUnitAttr());
  }
  body.setArgAttr(tensors.size(), "llvm.noalias", builder.getUnitAttr());
  return body;
}

/// `void NAME(buffers, coordinates[, part, parts])` calls the body.
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
  unsigned tensors = body.getNumArguments() - 3;
  for (unsigned i = 0; i < tensors; ++i) {
    Value slot = LLVM::GEPOp::create(builder, loc, pointer, pointer,
                                     block->getArgument(0),
                                     ArrayRef<LLVM::GEPArg>{int32_t(i)});
    arguments.push_back(LLVM::LoadOp::create(builder, loc, pointer, slot));
  }
  llvm::append_range(arguments, block->getArguments().drop_front());
  if (parameters.size() == 2) // all of it
    arguments.append({elements.constant(0), elements.constant(1)});
  LLVM::CallOp::create(builder, loc, body, arguments);
  LLVM::ReturnOp::create(builder, loc, ValueRange());
}

LogicalResult KernelEmitter::checkElements() {
  for (Operation &op : kernel.getBody().front()) {
    SmallVector<Type> types(op.getOperandTypes());
    llvm::append_range(types, op.getResultTypes());
    for (Type any : types)
      if (auto type = dyn_cast<RankedTensorType>(any);
          type && !hasRegister(type.getElementType()))
        return op.emitError() << "elements of " << type.getElementType()
                              << " have no CPU code; convert them to i2, i4, "
                                 "i8 or a float of 4, 8, 16, 32 or 64 bits";
  }
  return success();
}

LogicalResult KernelEmitter::emit() {
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
  elements.placeCoordinates(block->getArgument(position));
  part = block->getArgument(position + 1);
  partCount = block->getArgument(position + 2);

  if (failed(checkElements()) || failed(elements.placeConstants()))
    return failure();
  chooseStored();
  if (failed(placeStored()))
    return failure();
  chooseSplit();
  if (split)
    exportParts(entry);
  if (failed(emitNests()))
    return failure();
  return emitCopies();
}

LogicalResult KernelEmitter::emitOwnNest(Operation *op) {
  if (llvm::all_of(op->getResults(),
                   [](Value result) { return elementCount(result) == 0; }))
    return success();
  auto code = dyn_cast<NestCodeOpInterface>(op);
  if (!code)
    return op->emitError()
           << "'" << op->getName()
           << "' has a loop nest of its own but no code of it for CPUs; give "
              "it NestCodeOpInterface (compiler/codegen/cpu/NestCode.td)";
  elements.beginNest();
  LogicalResult result = code.emitNest(*this);
  elements.beginNest();
  return result;
}

bool isDataConstant(Operation *op) {
  DenseElementsAttr data;
  return matchPattern(op, m_Constant(&data)) && !data.isSplat();
}

LogicalResult KernelEmitter::emitNests() {
  llvm::SetVector<Value> group;
  unsigned nests = 0;
  auto flush = [&]() -> LogicalResult {
    if (group.empty())
      return success();
    ++nests;
    SmallVector<Value> roots = group.takeVector();
    elements.setRoots(roots);
    LogicalResult result = emitElementwise(roots);
    elements.setRoots({});
    return result;
  };
  for (Operation &op : kernel.getBody().front().without_terminator()) {
    if (op.hasTrait<OwnLoopNest>()) {
      if (failed(flush()) || failed(emitOwnNest(&op)))
        return failure();
      continue;
    }
    if (op.getNumResults() != 1 || !stored.contains(op.getResult(0)))
      continue;
    Value value = op.getResult(0);
    if (isDataConstant(&op))
      continue;
    bool joins = !hasLoopNest(&op) &&
                 (group.empty() || (tensorType(group[0]).getShape() ==
                                        tensorType(value).getShape() &&
                                    !readsElsewhere(value, group)));
    if (!joins && failed(flush()))
      return failure();
    if (auto reduce = dyn_cast<ReduceOp>(op)) {
      if (failed(emitReduce(elements, reduce)))
        return failure();
    } else if (auto dot = dyn_cast<DotOp>(op)) {
      if (failed(emitDot(*this, dot)))
        return failure();
    } else {
      group.insert(value);
    }
  }
  if (failed(flush()))
    return failure();
  if (nests > 1 && mayWorkInPlace(kernel))
    return kernel.emitError()
           << "kernel '" << kernel.getName()
           << "' is called elementwise but needs " << nests
           << " loop nests instead of 1; its results must have one shape";
  return success();
}

LogicalResult KernelEmitter::emitElementwise(ArrayRef<Value> roots) {
  RankedTensorType type = tensorType(roots[0]);
  if (type.getNumElements() == 0)
    return success();
  elements.beginNest();
  ElementIndex index;
  if (type.getRank() > 0 && isFlat(roots, elements)) {
    Value linear = openSplitLoop(type.getNumElements());
    index = elements.makeFlatIndex(linear, elements.depth());
  } else {
    SmallVector<Value> dims;
    for (auto [i, size] : llvm::enumerate(type.getShape()))
      dims.push_back(i == 0 ? openSplitLoop(size) : elements.openLoop(size));
    index = elements.makeIndex(dims, elements.depth());
  }
  if (elements.depth() > 0)
    elements.markParallel();
  SmallVector<Value> values;
  for (Value root : roots) {
    FailureOr<Value> value = elements.element(root, index);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  elements.enterDepth(elements.depth());
  Value linear = elements.linearIndex(type.getShape(), index);
  for (auto [root, value] : llvm::zip_equal(roots, values))
    elements.store(value, elements.memoryOf(root),
                   tensorType(root).getElementType(), linear);
  elements.beginNest();
  return success();
}

/// Results that are an argument, constant data or another result.
LogicalResult KernelEmitter::emitCopies() {
  Operation *terminator = kernel.getBody().front().getTerminator();
  for (auto [value, pointer] :
       llvm::zip_equal(terminator->getOperands(), resultPointers)) {
    Value from = elements.memoryOf(value);
    if (from == pointer || elementCount(value) == 0)
      continue;
    elements.beginNest();
    Type elementType = tensorType(value).getElementType();
    Value linear = elements.openLoop(elementCount(value));
    elements.store(elements.load(from, elementType, linear), pointer,
                   elementType, linear);
    elements.beginNest();
  }
  return success();
}

} // namespace weft::cpu
