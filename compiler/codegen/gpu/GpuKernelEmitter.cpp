//===- GpuKernelEmitter.cpp - loops of one kernel over threads ------------===//

#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::gpu {

static const CpuTarget &noProcessor() {
  static const CpuTarget none; // only dots ask for registers
  return none;
}

GpuKernelEmitter::GpuKernelEmitter(func::FuncOp kernel, KernelWalk walk)
    : KernelEmitter(kernel, noProcessor()), walk(std::move(walk)),
      terminator(kernel.getBody().front().getTerminator()) {}

mlir::gpu::GPUFuncOp
GpuKernelEmitter::createFunction(mlir::gpu::GPUModuleOp module) {
  MLIRContext *context = builder.getContext();
  FunctionType type = kernel.getFunctionType();
  SmallVector<Type> tensors(type.getInputs());
  llvm::append_range(tensors, type.getResults());
  SmallVector<Type> parameters(tensors.size() + 1,
                               LLVM::LLVMPointerType::get(context));
  builder.setInsertionPointToEnd(&module.getBodyRegion().front());
  auto function = mlir::gpu::GPUFuncOp::create(
      builder, loc, kernel.getName(), builder.getFunctionType(parameters, {}));
  function->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({kBlockThreads, 1, 1}));
  bool inPlace = kernel->getAttrOfType<StringAttr>("weft.kernel").getValue() ==
                 "elementwise";
  unsigned inputs = type.getNumInputs();
  for (unsigned i = 0; i <= tensors.size(); ++i) {
    // In a kernel "elementwise" an argument and a result of the same type may
    // be one buffer; everything else is apart.
    ArrayRef<Type> others = i < inputs ? type.getResults() : type.getInputs();
    if (inPlace && i < tensors.size() && llvm::is_contained(others, tensors[i]))
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
    if (i < inputs || i == tensors.size())
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                          builder.getUnitAttr());
  }
  return function;
}

LogicalResult GpuKernelEmitter::emit(mlir::gpu::GPUModuleOp module) {
  mlir::gpu::GPUFuncOp function = createFunction(module);
  globalsBefore = function;
  Block *block = &function.getBody().front();
  builder.setInsertionPointToStart(block);
  nestAnchor = mlir::gpu::ReturnOp::create(builder, loc);
  builder.setInsertionPoint(nestAnchor);
  unsigned position = 0;
  for (BlockArgument argument : kernel.getArguments())
    memory[argument] = block->getArgument(position++);
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    resultPointers.push_back(block->getArgument(position++));
  coordinates = block->getArgument(position);
  for (ConstantOp op : kernel.getOps<ConstantOp>())
    if (!cast<DenseElementsAttr>(op.getValue()).isSplat())
      memory[op.getResult()] = globalConstant(op);
  return walk.byRows ? emitRows() : emitElements();
}

Value GpuKernelEmitter::threadInBlock() {
  Value thread =
      mlir::gpu::ThreadIdOp::create(builder, loc, mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), thread);
}
Value GpuKernelEmitter::blockInGrid() {
  Value block =
      mlir::gpu::BlockIdOp::create(builder, loc, mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), block);
}
Value GpuKernelEmitter::blocksOfGrid() {
  Value blocks =
      mlir::gpu::GridDimOp::create(builder, loc, mlir::gpu::Dimension::x);
  return arith::IndexCastOp::create(builder, loc, builder.getI64Type(), blocks);
}

SmallVector<Value> GpuKernelEmitter::split(Value linear,
                                           ArrayRef<int64_t> shape) {
  SmallVector<Value> dims(shape.size());
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    if (i == 0) {
      dims[i] = linear;
      break;
    }
    Value size = constant(shape[i]);
    dims[i] = arith::RemUIOp::create(builder, loc, linear, size);
    linear = arith::DivUIOp::create(builder, loc, linear, size);
  }
  return dims;
}

/// Each thread takes every so many elements; neighbours are neighbours.
LogicalResult GpuKernelEmitter::emitElements() {
  int64_t count = ShapedType::getNumElements(walk.shape);
  Value first = add(mul(blockInGrid(), kBlockThreads), threadInBlock());
  Value step = mul(blocksOfGrid(), kBlockThreads);
  Value linear = openStridedLoop(first, constant(count), step);
  SmallVector<Value> roots(terminator->getOperands());
  bool flat = !walk.shape.empty() && llvm::all_of(roots, [](Value root) {
    return root.getDefiningOp();
  }) && isFlat(roots);
  cpu::ElementIndex index = flat
                                ? makeFlatIndex(linear, depth())
                                : makeIndex(split(linear, walk.shape), depth());
  SmallVector<Value> values;
  for (Value root : roots) {
    FailureOr<Value> value = element(root, index);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  enterDepth(depth());
  for (auto [root, value, pointer] :
       llvm::zip_equal(roots, values, resultPointers))
    store(value, pointer, cpu::tensorType(root).getElementType(), linear);
  beginNest();
  return success();
}

LogicalResult GpuKernelEmitter::emitRows() {
  Value thread = threadInBlock();
  lane = arith::AndIOp::create(builder, loc, thread, constant(kWarpLanes - 1));
  Value warp =
      arith::DivUIOp::create(builder, loc, thread, constant(kWarpLanes));
  constexpr int64_t warps = kBlockThreads / kWarpLanes;
  Value first = add(mul(blockInGrid(), warps), warp);
  Value step = mul(blocksOfGrid(), warps);
  // A single row needs no loop: every warp computes and writes the same.
  row = walk.shape.empty()
            ? constant(0)
            : openStridedLoop(first,
                              constant(ShapedType::getNumElements(walk.shape)),
                              step);
  rowDepth = depth();
  rowDims = split(row, walk.shape);
  for (ReduceOp op : kernel.getOps<ReduceOp>())
    if (failed(emitRowReduce(op)))
      return failure();
  if (failed(storeRowElements()))
    return failure();
  llvm::MapVector<ArrayRef<int64_t>, SmallVector<unsigned>> ofShape;
  for (auto [i, result] : llvm::enumerate(terminator->getOperands()))
    if (cpu::tensorType(result).getShape() != ArrayRef<int64_t>(walk.shape))
      ofShape[cpu::tensorType(result).getShape()].push_back(i);
  for (auto &[shape, results] : ofShape)
    if (failed(storeRowColumns(results)))
      return failure();
  beginNest();
  return success();
}

/// Leaves the loop over columns; what the row has in registers stays known.
void GpuKernelEmitter::closeColumns() {
  closeLoops(rowDepth);
  for (auto [reduction, value] : reductions)
    elements[{reduction, makeIndex(rowDims, rowDepth).id}] = value;
}

LogicalResult GpuKernelEmitter::emitRowReduce(ReduceOp op) {
  Type elementType = cpu::tensorType(op.getResult()).getElementType();
  ArrayRef<int64_t> columns =
      cpu::tensorType(op.getInput()).getShape().drop_front(walk.shape.size());
  enterDepth(rowDepth);
  Value neutral = cpu::emitNeutral(builder, loc, op.getKind(), elementType);
  Value column =
      openStridedLoop(lane, constant(ShapedType::getNumElements(columns)),
                      constant(kWarpLanes), neutral);
  scf::ForOp loop = innermostLoop();
  SmallVector<Value> dims(rowDims);
  llvm::append_range(dims, split(column, columns));
  FailureOr<Value> value =
      element(op.getInput(), makeIndex(dims, rowDepth + 1));
  if (failed(value))
    return failure();
  enterDepth(rowDepth + 1);
  Value next = cpu::emitCombine(builder, loc, op.getKind(), elementType,
                                loop.getRegionIterArgs()[0], *value);
  loop.getBody()->getTerminator()->setOperand(0, next);
  closeColumns();
  enterDepth(rowDepth);
  reductions.emplace_back(op.getResult(), combineLanes(op, loop.getResult(0)));
  closeColumns();
  return success();
}

Value GpuKernelEmitter::combineLanes(ReduceOp op, Value value) {
  Type elementType = cpu::tensorType(op.getResult()).getElementType();
  Type i32 = builder.getI32Type();
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(n));
  };
  for (int64_t distance = kWarpLanes / 2; distance > 0; distance /= 2) {
    bool isBit = value.getType().isInteger(1); // lanes exchange whole registers
    Value sent =
        isBit ? arith::ExtUIOp::create(builder, loc, i32, value).getResult()
              : value;
    Value other = mlir::gpu::ShuffleOp::create(
                      builder, loc, sent, number(distance), number(kWarpLanes),
                      mlir::gpu::ShuffleMode::XOR)
                      .getShuffleResult();
    if (isBit)
      other = arith::TruncIOp::create(builder, loc, value.getType(), other);
    value =
        cpu::emitCombine(builder, loc, op.getKind(), elementType, value, other);
  }
  return value;
}

LogicalResult GpuKernelEmitter::storeRowElements() {
  SmallVector<std::pair<unsigned, Value>> values;
  for (auto [i, result] : llvm::enumerate(terminator->getOperands())) {
    if (cpu::tensorType(result).getShape() != ArrayRef<int64_t>(walk.shape))
      continue;
    FailureOr<Value> value = element(result, makeIndex(rowDims, rowDepth));
    if (failed(value))
      return failure();
    values.emplace_back(i, *value);
  }
  if (values.empty())
    return success();
  enterDepth(rowDepth);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, constant(0));
  auto branch = scf::IfOp::create(builder, loc, first);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (auto [i, value] : values)
    store(value, resultPointers[i],
          cpu::tensorType(terminator->getOperand(i)).getElementType(), row);
  enterDepth(rowDepth);
  return success();
}

LogicalResult GpuKernelEmitter::storeRowColumns(ArrayRef<unsigned> results) {
  ArrayRef<int64_t> columns =
      cpu::tensorType(terminator->getOperand(results[0]))
          .getShape()
          .drop_front(walk.shape.size());
  enterDepth(rowDepth);
  int64_t count = ShapedType::getNumElements(columns);
  Value column = openStridedLoop(lane, constant(count), constant(kWarpLanes));
  SmallVector<Value> dims(rowDims);
  llvm::append_range(dims, split(column, columns));
  cpu::ElementIndex index = makeIndex(dims, rowDepth + 1);
  SmallVector<Value> values;
  for (unsigned i : results) {
    FailureOr<Value> value = element(terminator->getOperand(i), index);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  enterDepth(rowDepth + 1);
  Value linear = add(mul(row, count), column);
  for (auto [i, value] : llvm::zip_equal(results, values))
    store(value, resultPointers[i],
          cpu::tensorType(terminator->getOperand(i)).getElementType(), linear);
  closeColumns();
  return success();
}

} // namespace weft::gpu
