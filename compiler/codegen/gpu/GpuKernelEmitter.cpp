//===- GpuKernelEmitter.cpp - loops of one kernel over threads ------------===//

#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/TileSums.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

GpuKernelEmitter::GpuKernelEmitter(func::FuncOp kernel, nest::LoopsOp loops)
    : kernel(kernel), elements(kernel, this, {"r", "l"}),
      builder(elements.builder), loc(kernel.getLoc()), loops(loops) {
  Operation *end = kernel.getBody().front().getTerminator();
  for (Value value : end->getOperands())
    stored.push_back(
        loops.getStored()[cast<OpResult>(value).getResultNumber()]);
  shape.assign(tensorType(stored[0]).getShape().begin(),
               tensorType(stored[0]).getShape().end());
  if (auto rows = dyn_cast<nest::RowsAttr>(loops.getWalk()))
    shape.resize(rows.getDims());
}

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
  bool inPlace = mayWorkInPlace(kernel);
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
  elements.placeGlobals(function);
  Block *block = &function.getBody().front();
  builder.setInsertionPointToStart(block);
  Operation *end = mlir::gpu::ReturnOp::create(builder, loc);
  elements.setEnd(end);
  builder.setInsertionPoint(end);
  unsigned position = 0;
  for (BlockArgument argument : kernel.getArguments())
    elements.place(argument, block->getArgument(position++));
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    resultPointers.push_back(block->getArgument(position++));
  elements.placeCoordinates(block->getArgument(position));
  if (failed(elements.placeConstants()))
    return failure();
  if (auto sums = dyn_cast<nest::SumsAttr>(loops.getWalk()))
    return emitSums(sums);
  if (isa<nest::TilesAttr>(loops.getWalk()))
    return TileSums(elements, loops, stored, resultPointers,
                    {threadInBlock(), blockInGrid(), blocksOfGrid()})
        .emit(function, kernel.getName());
  if (isa<nest::OwnAttr>(loops.getWalk()))
    return emitOwn();
  return isa<nest::RowsAttr>(loops.getWalk()) ? emitRows() : emitElements();
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

/// Each thread takes every so many elements; neighbours are neighbours.
Value GpuKernelEmitter::openElements() {
  int64_t count = ShapedType::getNumElements(shape);
  Value first =
      elements.add(elements.mul(blockInGrid(), kBlockThreads), threadInBlock());
  Value step = elements.mul(blocksOfGrid(), kBlockThreads);
  return elements.openStridedLoop(first, elements.constant(count), step);
}

LogicalResult GpuKernelEmitter::emitElements() {
  Value linear = openElements();
  ArrayRef<Value> roots = stored;
  auto walk = cast<nest::ElementsAttr>(loops.getWalk());
  ElementIndex index =
      walk.getOrder() == nest::ElementOrder::Flat
          ? elements.makeFlatIndex(linear, elements.depth())
          : elements.makeIndex(elements.positionsOf(linear, shape),
                               elements.depth());
  FailureOr<SmallVector<Value>> values = elements.storedElements(roots, index);
  if (failed(values))
    return failure();
  for (auto [root, value, pointer] :
       llvm::zip_equal(roots, *values, resultPointers))
    elements.store(value, pointer, tensorType(root).getElementType(), linear);
  elements.beginNest();
  return success();
}

LogicalResult GpuKernelEmitter::emitRows() {
  Value thread = threadInBlock();
  lane = arith::AndIOp::create(builder, loc, thread,
                               elements.constant(kWarpLanes - 1));
  Value warp = arith::DivUIOp::create(builder, loc, thread,
                                      elements.constant(kWarpLanes));
  constexpr int64_t warps = kBlockThreads / kWarpLanes;
  Value first = elements.add(elements.mul(blockInGrid(), warps), warp);
  Value step = elements.mul(blocksOfGrid(), warps);
  // A single row needs no loop: every warp computes and writes the same.
  row = shape.empty()
            ? elements.constant(0)
            : elements.openStridedLoop(
                  first, elements.constant(ShapedType::getNumElements(shape)),
                  step);
  rowDepth = elements.depth();
  rowDims = elements.positionsOf(row, shape);
  for (ReduceOp op : loops.getBody().getOps<ReduceOp>())
    if (failed(emitRowReduce(op)))
      return failure();
  if (failed(storeRowElements()))
    return failure();
  llvm::MapVector<ArrayRef<int64_t>, SmallVector<unsigned>> ofShape;
  for (auto [i, result] : llvm::enumerate(stored))
    if (tensorType(result).getShape() != ArrayRef<int64_t>(shape))
      ofShape[tensorType(result).getShape()].push_back(i);
  for (auto &entry : ofShape)
    if (failed(storeRowColumns(entry.second)))
      return failure();
  elements.beginNest();
  return success();
}

LogicalResult GpuKernelEmitter::emitRowReduce(ReduceOp op) {
  Type elementType = tensorType(op.getResult()).getElementType();
  ArrayRef<int64_t> columns =
      tensorType(op.getInput()).getShape().drop_front(shape.size());
  elements.enterDepth(rowDepth);
  Value neutral = emitNeutral(builder, loc, op.getKind(), elementType);
  Value column = elements.openStridedLoop(
      lane, elements.constant(ShapedType::getNumElements(columns)),
      elements.constant(kWarpLanes), neutral);
  scf::ForOp loop = elements.innermostLoop();
  SmallVector<Value> dims(rowDims);
  llvm::append_range(dims, elements.positionsOf(column, columns));
  FailureOr<Value> value =
      elements.element(op.getInput(), elements.makeIndex(dims, rowDepth + 1));
  if (failed(value))
    return failure();
  elements.enterDepth(rowDepth + 1);
  Value next =
      extendScalar(builder, loc, tensorType(op.getInput()).getElementType(),
                   elementType, *value);
  next = emitCombine(builder, loc, op.getKind(), elementType,
                     loop.getRegionIterArgs()[0], next);
  loop.getBody()->getTerminator()->setOperand(0, next);
  elements.closeLoops(rowDepth);
  elements.enterDepth(rowDepth);
  elements.setElementOfNest(op.getResult(),
                            combineLanes(op, loop.getResult(0)));
  return success();
}

/// What the lane at this distance has. Lanes exchange 32 bits.
Value GpuKernelEmitter::otherLane(Value value, int64_t distance) {
  Type type = value.getType(), i32 = builder.getI32Type();
  if (isa<ComplexType>(type)) {
    ComplexEmitter c{builder, loc};
    return c.make(otherLane(c.re(value), distance),
                  otherLane(c.im(value), distance));
  }
  auto number = [&](int64_t n) -> Value {
    return arith::ConstantOp::create(builder, loc,
                                     builder.getI32IntegerAttr(n));
  };
  if (type == i32 || type.isF32())
    return mlir::gpu::ShuffleOp::create(builder, loc, value, number(distance),
                                        number(kWarpLanes),
                                        mlir::gpu::ShuffleMode::XOR)
        .getShuffleResult();
  unsigned width = type.getIntOrFloatBitWidth();
  Type bits = builder.getIntegerType(width);
  if (type != bits)
    return arith::BitcastOp::create(
        builder, loc, type,
        otherLane(arith::BitcastOp::create(builder, loc, bits, value),
                  distance));
  if (width < 32)
    return arith::TruncIOp::create(
        builder, loc, bits,
        otherLane(arith::ExtUIOp::create(builder, loc, i32, value), distance));
  Value half = elements.constant(32);
  Value high = arith::ShRUIOp::create(builder, loc, value, half);
  auto exchanged = [&](Value wide) -> Value {
    Value narrow = arith::TruncIOp::create(builder, loc, i32, wide);
    return arith::ExtUIOp::create(builder, loc, bits,
                                  otherLane(narrow, distance));
  };
  Value low = exchanged(value);
  return arith::OrIOp::create(
      builder, loc, low,
      arith::ShLIOp::create(builder, loc, exchanged(high), half));
}

Value GpuKernelEmitter::combineLanes(ReduceOp op, Value value) {
  Type elementType = tensorType(op.getResult()).getElementType();
  for (int64_t distance = kWarpLanes / 2; distance > 0; distance /= 2)
    value = emitCombine(builder, loc, op.getKind(), elementType, value,
                        otherLane(value, distance));
  return value;
}

LogicalResult GpuKernelEmitter::storeRowElements() {
  SmallVector<std::pair<unsigned, Value>> values;
  for (auto [i, result] : llvm::enumerate(stored)) {
    if (tensorType(result).getShape() != ArrayRef<int64_t>(shape))
      continue;
    FailureOr<Value> value =
        elements.element(result, elements.makeIndex(rowDims, rowDepth));
    if (failed(value))
      return failure();
    values.emplace_back(i, *value);
  }
  if (values.empty())
    return success();
  elements.enterDepth(rowDepth);
  Value first = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                      lane, elements.constant(0));
  auto branch = scf::IfOp::create(builder, loc, first);
  builder.setInsertionPointToStart(branch.thenBlock());
  for (auto [i, value] : values)
    elements.store(value, resultPointers[i],
                   tensorType(stored[i]).getElementType(), row);
  elements.enterDepth(rowDepth);
  return success();
}

LogicalResult GpuKernelEmitter::storeRowColumns(ArrayRef<unsigned> results) {
  ArrayRef<int64_t> columns =
      tensorType(stored[results[0]]).getShape().drop_front(shape.size());
  elements.enterDepth(rowDepth);
  int64_t count = ShapedType::getNumElements(columns);
  Value column = elements.openStridedLoop(lane, elements.constant(count),
                                          elements.constant(kWarpLanes));
  SmallVector<Value> dims(rowDims);
  llvm::append_range(dims, elements.positionsOf(column, columns));
  ElementIndex index = elements.makeIndex(dims, rowDepth + 1);
  SmallVector<Value> values;
  for (unsigned i : results) {
    FailureOr<Value> value = elements.element(stored[i], index);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  elements.enterDepth(rowDepth + 1);
  Value linear = elements.add(elements.mul(row, count), column);
  for (auto [i, value] : llvm::zip_equal(results, values))
    elements.store(value, resultPointers[i],
                   tensorType(stored[i]).getElementType(), linear);
  elements.closeLoops(rowDepth);
  return success();
}

} // namespace weft::gpu
