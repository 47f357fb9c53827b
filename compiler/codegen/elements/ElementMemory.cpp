//===- ElementMemory.cpp - elements in memory -----------------------------===//

#include "weft/compiler/codegen/elements/ComplexOps.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

Value ElementEmitter::address(Value pointer, Type storage, Value linear) {
  return LLVM::GEPOp::create(builder, loc, pointer.getType(), storage, pointer,
                             ArrayRef<LLVM::GEPArg>{linear},
                             LLVM::GEPNoWrapFlags::inbounds);
}

Value ElementEmitter::fromStorage(Value bits, Type elementType) {
  if (isSmallFloat(elementType))
    return smallFromBits(builder, loc, elementType, bits);
  Type inRegister = computeType(elementType);
  if (bits.getType() == inRegister)
    return bits;
  if (isa<FloatType>(inRegister))
    return arith::BitcastOp::create(builder, loc, inRegister, bits);
  return arith::TruncIOp::create(builder, loc, inRegister, bits);
}

Value ElementEmitter::toStorage(Value value, Type elementType) {
  Type storage = storageType(elementType);
  if (isSmallFloat(elementType))
    return smallToBits(builder, loc, elementType, value);
  if (value.getType() == storage)
    return value;
  if (isa<FloatType>(elementType))
    return arith::BitcastOp::create(builder, loc, storage, value);
  return arith::ExtUIOp::create(builder, loc, storage, value);
}

Value ElementEmitter::load(Value pointer, Type elementType, Value linear) {
  if (isa<ComplexType>(elementType)) {
    Type component = componentType(elementType);
    Value at = mul(linear, 2), re = load(pointer, component, at);
    return ComplexEmitter{builder, loc}.make(
        re, load(pointer, component, add(at, constant(1))));
  }
  Type storage = storageType(elementType);
  auto op = LLVM::LoadOp::create(builder, loc, storage,
                                 address(pointer, storage, linear),
                                 bytesOf(elementType));
  op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
  return fromStorage(op, elementType);
}

void ElementEmitter::store(Value value, Value pointer, Type elementType,
                           Value linear) {
  if (isa<ComplexType>(elementType)) {
    ComplexEmitter c{builder, loc};
    Type component = componentType(elementType);
    Value at = mul(linear, 2);
    store(c.re(value), pointer, component, at);
    return store(c.im(value), pointer, component, add(at, constant(1)));
  }
  Type storage = storageType(elementType);
  auto op = LLVM::StoreOp::create(builder, loc, toStorage(value, elementType),
                                  address(pointer, storage, linear),
                                  bytesOf(elementType));
  op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
}

//===----------------------------------------------------------------------===//
// Neighbours
//===----------------------------------------------------------------------===//

/// The alignment of a load or store of `count` elements: its bytes, at most 16.
static int64_t alignmentOf(Type elementType, int64_t count) {
  return std::min<int64_t>(bytesOf(elementType) * count, 16);
}

void ElementEmitter::addNeighbours(ArrayRef<Value> positions) {
  adjacent[positions.front()] = llvm::to_vector(positions);
  for (auto [i, position] : llvm::enumerate(positions))
    neighbours[position] = {positions.front(), int64_t(i),
                            int64_t(positions.size())};
}

/// The positions in the other shape. Equal dimensions at both ends keep theirs.
SmallVector<Value, 4> ElementEmitter::positionsReshaped(ArrayRef<Value> dims,
                                                        ArrayRef<int64_t> from,
                                                        ArrayRef<int64_t> to) {
  SmallVector<Value, 4> front, back;
  while (!from.empty() && !to.empty() && from.front() == to.front()) {
    front.push_back(dims.consume_front());
    from = from.drop_front();
    to = to.drop_front();
  }
  while (!from.empty() && !to.empty() && from.back() == to.back()) {
    back.push_back(dims.consume_back());
    from = from.drop_back();
    to = to.drop_back();
  }
  if (!to.empty()) {
    Value linear = linearIndex(from, makeIndex(dims, depth()));
    SmallVector<Value> parts = positionsOf(linear, to);
    if (parts.size() > 1)
      divided[parts.front()] = {parts, SmallVector<int64_t>(to), linear};
    llvm::append_range(front, parts);
  }
  llvm::append_range(front, llvm::reverse(back));
  return front;
}

ElementIndex ElementEmitter::reshaped(const ElementIndex &index,
                                      ArrayRef<int64_t> from,
                                      ArrayRef<int64_t> to) {
  Neighbour group{{}, 0, 1};
  if (!index.dims.empty() && !to.empty())
    if (auto found = neighbours.find(index.dims.back());
        found != neighbours.end() && from.back() % found->second.count == 0 &&
        to.back() % found->second.count == 0)
      group = found->second;
  SmallVector<Value, 4> first(index.dims);
  if (group.count > 1)
    first.back() = group.first;
  auto keyOf = [](ArrayRef<int64_t> from, ArrayRef<int64_t> to,
                  ArrayRef<Value> dims) {
    SmallVector<int64_t, 8> key(from);
    key.push_back(-1);
    key.append(to.begin(), to.end());
    for (Value dim : dims)
      key.push_back(reinterpret_cast<int64_t>(dim.getAsOpaquePointer()));
    return key;
  };
  auto &dims = reshapedDims[keyOf(from, to, first)];
  if (dims.empty() && !to.empty()) {
    dims = positionsReshaped(first, from, to);
    // A reshape back finds the positions again, without divisions.
    reshapedDims.try_emplace(keyOf(to, from, dims), first);
    if (group.count > 1 && !adjacent.contains(dims.back())) {
      SmallVector<Value> all{dims.back()};
      for (int64_t i = 1; i < group.count; ++i)
        all.push_back(add(dims.back(), constant(i)));
      addNeighbours(all);
    }
  }
  ElementIndex result = makeIndex(dims, index.depth);
  if (group.count > 1)
    result.dims.back() = adjacent[dims.back()][group.number];
  return result;
}

/// Loads an element with adjacent elements; null if it is in no group of
/// contiguous elements.
Value ElementEmitter::loadNeighbour(Value tensor, Value pointer,
                                    const ElementIndex &index) {
  RankedTensorType type = typeOf(tensor);
  Type element = type.getElementType();
  if (isa<ComplexType>(element) || (!index.linear && index.dims.empty()))
    return {};
  auto found = neighbours.find(index.linear ? index.linear : index.dims.back());
  int64_t line = index.linear ? type.getNumElements() : type.getShape().back();
  if (found == neighbours.end() || found->second.count < 2 ||
      line % found->second.count != 0)
    return {};
  auto [begin, number, count] = found->second;
  ElementIndex first = index;
  (first.linear ? first.linear : first.dims.back()) = begin;
  SmallVector<void *, 4> key{tensor.getAsOpaquePointer(),
                             begin.getAsOpaquePointer()};
  for (Value dim : first.dims)
    key.push_back(dim.getAsOpaquePointer());
  Value &vector = vectors[key];
  if (!vector) {
    Type storage = storageType(element);
    auto op = LLVM::LoadOp::create(
        builder, loc, VectorType::get(count, storage),
        address(pointer, storage, linearIndex(type.getShape(), first)),
        alignmentOf(element, count));
    op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
    vector = op;
  }
  Value bits =
      LLVM::ExtractElementOp::create(builder, loc, vector, constant(number));
  return fromStorage(bits, element);
}

void ElementEmitter::storeNeighbours(ArrayRef<Value> values, Value pointer,
                                     Type elementType, Value linear) {
  if (values.size() == 1 || isa<ComplexType>(elementType)) {
    for (auto [i, value] : llvm::enumerate(values))
      store(value, pointer, elementType, add(linear, constant(i)));
    return;
  }
  Type storage = storageType(elementType);
  int64_t count = values.size();
  Value vector =
      LLVM::PoisonOp::create(builder, loc, VectorType::get(count, storage));
  for (auto [i, value] : llvm::enumerate(values))
    vector = LLVM::InsertElementOp::create(
        builder, loc, vector, toStorage(value, elementType), constant(i));
  auto op = LLVM::StoreOp::create(builder, loc, vector,
                                  address(pointer, storage, linear),
                                  alignmentOf(elementType, count));
  op.setAccessGroupsAttr(builder.getArrayAttr({accessGroup}));
}

DenseElementsAttr flatData(DenseElementsAttr data) {
  Type storage = storageType(data.getElementType());
  int64_t cells = data.getNumElements() * componentsOf(storage);
  storage = componentType(storage);
  auto flat = RankedTensorType::get(cells, storage);
  if (data.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool bit : data.getValues<bool>())
      bytes.push_back(bit);
    return DenseElementsAttr::get(flat, ArrayRef<int8_t>(bytes));
  }
  if (data.isSplat() && isa<ComplexType>(data.getElementType())) {
    std::string numbers;
    for (int64_t i = 0; i < data.getNumElements(); ++i)
      numbers.append(data.getRawData().begin(), data.getRawData().end());
    return DenseElementsAttr::getFromRawBuffer(flat, ArrayRef<char>(numbers));
  }
  return DenseElementsAttr::getFromRawBuffer(flat, data.getRawData());
}

LogicalResult ElementEmitter::placeConstants() {
  WalkResult result = kernel.walk([&](ConstantOp op) {
    auto data = dyn_cast<DenseElementsAttr>(op.getValue());
    if (!data) {
      op.emitError() << "constant data of kind " << op.getValue()
                     << " has no code; use dense<...>";
      return WalkResult::interrupt();
    }
    if (!data.isSplat())
      place(op.getResult(), globalData(flatData(data)));
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

Value ElementEmitter::globalData(DenseElementsAttr flat) {
  std::string name = (kernel.getName() + ".constant" + Twine(globals++)).str();
  OpBuilder moduleBuilder(globalsBefore);
  auto type =
      LLVM::LLVMArrayType::get(flat.getElementType(), flat.getNumElements());
  auto global =
      LLVM::GlobalOp::create(moduleBuilder, loc, type, /*isConstant=*/true,
                             LLVM::Linkage::Internal, name, flat, 64);
  return LLVM::AddressOfOp::create(builder, loc, global);
}

std::optional<StridedView> ElementEmitter::viewOf(Value tensor) {
  std::optional<nest::TensorView> view =
      nest::viewOf(tensor, [&](Value value) { return isInMemory(value); });
  if (!view)
    return std::nullopt;
  return StridedView{view->strides, memoryOf(view->root)};
}

Value ElementEmitter::coordinate(LayoutAttr group) {
  Mesh mesh = group.getMesh().getMesh();
  Layout layout = group.getLayout();
  Value result = constant(0);
  for (const SubAxis &sub : layout.dims[0]) {
    Value along = load(coordinates, builder.getI64Type(), constant(sub.axis));
    int64_t minor = minorOf(mesh.axes, sub);
    Value digit = arith::DivUIOp::create(builder, loc, along, constant(minor));
    digit = arith::RemUIOp::create(builder, loc, digit, constant(sub.size));
    result = add(mul(result, sub.size), digit);
  }
  return result;
}

} // namespace weft::elements
