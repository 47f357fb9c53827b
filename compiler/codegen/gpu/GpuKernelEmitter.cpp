//===- GpuKernelEmitter.cpp - loops of one kernel over threads ------------===//

#include "weft/compiler/codegen/gpu/GpuKernelEmitter.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/gpu/TileSums.h"
#include "weft/compiler/codegen/gpu/TransposedTiles.h"
#include "weft/compiler/codegen/gpu/UpdateParts.h"
#include "weft/dialects/weft/UpdatedOperand.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

/// The parts of sums that the nest stores; null if it stores results.
static nest::PartsOp partsOf(nest::LoopsOp loops) {
  return loops.getStored()[0].getDefiningOp<nest::PartsOp>();
}

GpuKernelEmitter::GpuKernelEmitter(func::FuncOp kernel, nest::LoopsOp loops,
                                   StringRef name)
    : kernel(kernel), name(name), elements(kernel, this, {"r", "l"}),
      builder(elements.builder), loc(kernel.getLoc()), loops(loops),
      shared(elements) {
  elements.divideNarrow();
  Operation *end = kernel.getBody().front().getTerminator();
  if (nest::PartsOp parts = partsOf(loops))
    stored.push_back(parts);
  else
    for (Value value : end->getOperands())
      stored.push_back(
          loops.getStored()[cast<OpResult>(value).getResultNumber()]);
  shape.assign(typeOf(stored[0]).getShape().begin(),
               typeOf(stored[0]).getShape().end());
  if (auto rows = dyn_cast<nest::RowsAttr>(loops.getWalk()))
    shape.resize(rows.getDims());
}

mlir::gpu::GPUFuncOp
GpuKernelEmitter::createFunction(mlir::gpu::GPUModuleOp module) {
  MLIRContext *context = builder.getContext();
  FunctionType type = kernel.getFunctionType();
  SmallVector<Type> tensors(type.getInputs());
  llvm::append_range(tensors, type.getResults());
  SmallVector<Type> parameters(tensors.size() + (hasPlanned() ? 2 : 1),
                               LLVM::LLVMPointerType::get(context));
  builder.setInsertionPointToEnd(&module.getBodyRegion().front());
  auto function = mlir::gpu::GPUFuncOp::create(
      builder, loc, name, builder.getFunctionType(parameters, {}));
  function->setAttr(mlir::gpu::GPUDialect::getKernelFuncAttrName(),
                    builder.getUnitAttr());
  function.setKnownBlockSizeAttr(
      builder.getDenseI32ArrayAttr({kBlockThreads, 1, 1}));
  bool inPlace = mayWorkInPlace(kernel);
  unsigned inputs = type.getNumInputs();
  for (unsigned i = 0; i < parameters.size(); ++i) {
    // In a kernel "elementwise" an argument and a result of the same type may
    // share a buffer; all other buffers are disjoint.
    ArrayRef<Type> others = i < inputs ? type.getResults() : type.getInputs();
    if (inPlace && i < tensors.size() && llvm::is_contained(others, tensors[i]))
      continue;
    function.setArgAttr(i, LLVM::LLVMDialect::getNoAliasAttrName(),
                        builder.getUnitAttr());
    if (i < inputs || i + 1 == parameters.size())
      function.setArgAttr(i, LLVM::LLVMDialect::getReadonlyAttrName(),
                          builder.getUnitAttr());
  }
  return function;
}

bool GpuKernelEmitter::hasPlanned() const {
  return nest::decisionsOf(kernel).getPlanned() > 0;
}

/// Places the kernel's arguments, the values of other nests, and what this nest
/// stores.
void GpuKernelEmitter::placeMemory(Block &block) {
  unsigned position = 0;
  for (BlockArgument argument : kernel.getArguments())
    elements.place(argument, block.getArgument(position++));
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    resultPointers.push_back(block.getArgument(position++));
  for (unsigned i = 0; i < kernel.getNumResults(); ++i)
    if (std::optional<unsigned> updated = updatedArgument(kernel, i))
      elements.place(kernel.getArgument(*updated), resultPointers[i]);
  if (hasPlanned()) {
    Value planned = block.getArgument(position++);
    for (auto each : kernel.getOps<nest::LoopsOp>())
      for (OpResult value : each->getResults())
        if (nest::PlaceAttr place = each.getPlace(value.getResultNumber());
            place.getKind() == nest::PlaceKind::Planned)
          elements.place(value, shared.at(planned, builder.getI8Type(),
                                          elements.constant(place.getAt())));
  }
  if (partsOf(loops))
    resultPointers = {elements.memoryOf(loops->getResult(0))};
  elements.placeCoordinates(block.getArgument(position));
}

LogicalResult GpuKernelEmitter::emit(mlir::gpu::GPUModuleOp module) {
  mlir::gpu::GPUFuncOp function = createFunction(module);
  elements.placeGlobals(function);
  Block *block = &function.getBody().front();
  builder.setInsertionPointToStart(block);
  Operation *end = mlir::gpu::ReturnOp::create(builder, loc);
  elements.setEnd(end);
  builder.setInsertionPoint(end);
  placeMemory(*block);
  if (failed(elements.placeConstants()))
    return failure();
  if (auto sums = dyn_cast<nest::SumsAttr>(loops.getWalk()))
    return emitSums(sums);
  auto place = [&]() -> GridPlace {
    return {threadInBlock(), blockInGrid(), blocksOfGrid()};
  };
  if (isa<nest::TilesAttr>(loops.getWalk()))
    return TileSums(elements, loops, stored, resultPointers, place())
        .emit(function, name);
  if (isa<nest::TransposedAttr>(loops.getWalk()))
    return TransposedTiles(elements, loops, stored, resultPointers, place())
        .emit(function, name);
  if (isa<nest::UpdatesAttr>(loops.getWalk()))
    return UpdateParts(elements, loops, resultPointers[0], place()).emit();
  if (isa<nest::OwnAttr>(loops.getWalk()))
    return emitOwn();
  if (auto walk = dyn_cast<nest::RowsAttr>(loops.getWalk()))
    return emitRows(walk);
  return emitElements();
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

Value GpuKernelEmitter::isBelow(Value position, int64_t size) {
  return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult,
                               position, elements.constant(size));
}

/// Opens the loop of a thread's elements, with the grid as the step, so that
/// adjacent threads take adjacent elements.
Value GpuKernelEmitter::openElements(int64_t side) {
  int64_t count = ShapedType::getNumElements(shape) / side;
  Value first =
      elements.add(elements.mul(blockInGrid(), kBlockThreads), threadInBlock());
  Value step = elements.mul(blocksOfGrid(), kBlockThreads);
  return elements.mul(
      elements.openStridedLoop(first, elements.constant(count), step), side);
}

SmallVector<ElementIndex>
GpuKernelEmitter::neighboursOf(ArrayRef<Value> front, Value linear,
                               ArrayRef<int64_t> shape, int64_t side,
                               bool isFlat) {
  SmallVector<Value> dims(front), innermost;
  if (isFlat)
    dims.push_back(linear);
  else
    llvm::append_range(dims, elements.positionsOf(linear, shape));
  SmallVector<ElementIndex> all;
  unsigned depth = elements.depth();
  for (int64_t i = 0; i < side; ++i) {
    SmallVector<Value> at(dims);
    if (i > 0)
      at.back() = elements.add(at.back(), elements.constant(i));
    if (!at.empty())
      innermost.push_back(at.back());
    all.push_back(isFlat ? elements.makeFlatIndex(at.back(), depth)
                         : elements.makeIndex(at, depth));
  }
  if (side > 1)
    elements.addNeighbours(innermost);
  return all;
}

LogicalResult GpuKernelEmitter::emitElements() {
  auto walk = cast<nest::ElementsAttr>(loops.getWalk());
  Value linear = openElements(walk.getSide());
  // All loads come before the stores, as results may be in the arguments'
  // memory.
  SmallVector<SmallVector<Value>> values(stored.size());
  bool isFlat = walk.getOrder() == nest::ElementOrder::Flat;
  for (const ElementIndex &index :
       neighboursOf({}, linear, shape, walk.getSide(), isFlat)) {
    FailureOr<SmallVector<Value>> found =
        elements.storedElements(stored, index);
    if (failed(found))
      return failure();
    for (auto [value, of] : llvm::zip_equal(*found, values))
      of.push_back(value);
  }
  for (auto [root, of, pointer] :
       llvm::zip_equal(stored, values, resultPointers))
    elements.storeNeighbours(of, pointer, typeOf(root).getElementType(),
                             linear);
  elements.beginNest();
  return success();
}

} // namespace weft::gpu
