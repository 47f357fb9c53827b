//===- ElementEmitter.cpp - the value of one element ----------------------===//

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;

namespace weft::elements {

ElementEmitter::ElementEmitter(func::FuncOp kernel, ProcessorLoops *processor,
                               RegisterNames registers)
    : LoopNest(kernel.getLoc()), kernel(kernel), processor(processor),
      registers(registers), globalsBefore(kernel) {}

void ElementEmitter::beginNest() {
  closeLoops(outerLoops);
  leastDepth = 0;
  elements.clear();
  ofNest.clear();
  positionNumbers.clear();
  vectors.clear();
  neighbours.clear();
  adjacent.clear();
}

ElementIndex ElementEmitter::openLoops(ArrayRef<int64_t> shape) {
  SmallVector<Value> dims;
  for (int64_t size : shape)
    dims.push_back(openLoop(size));
  return makeIndex(dims, depth());
}

ElementIndex ElementEmitter::makeIndex(ArrayRef<Value> dims, unsigned depth) {
  ElementIndex index;
  index.dims.assign(dims.begin(), dims.end());
  // The least depth at which the position is known. Elements at equal positions
  // are computed once, at this depth, so before all uses.
  unsigned known = 0;
  for (Value dim : dims)
    known = std::max(known, depthOf(dim, depth));
  index.depth = std::max(std::min(depth, known), leastDepth);
  return index;
}

unsigned ElementEmitter::numberOf(const ElementIndex &index) {
  SmallVector<void *, 4> key;
  for (Value dim : index.linear ? ArrayRef(index.linear) : ArrayRef(index.dims))
    key.push_back(dim.getAsOpaquePointer());
  return positionNumbers.try_emplace(key, positionNumbers.size()).first->second;
}

ElementIndex ElementEmitter::makeFlatIndex(Value linear, unsigned depth) {
  ElementIndex index = makeIndex(linear, depth);
  index.dims.clear();
  index.linear = linear;
  return index;
}

SmallVector<Value> ElementEmitter::positionsOf(Value linear,
                                               ArrayRef<int64_t> shape) {
  SmallVector<Value> dims(shape.size());
  Type type = linear.getType();
  if (dividesNarrow && shape.size() > 1 &&
      llvm::product_of(shape) <= std::numeric_limits<int32_t>::max())
    linear = resized(linear, builder.getI32Type());
  for (int64_t i = shape.size() - 1; i >= 0; --i) {
    if (i == 0) {
      dims[i] = resized(linear, type);
      break;
    }
    Value size = constant(shape[i], linear.getType());
    dims[i] = resized(arith::RemUIOp::create(builder, loc, linear, size), type);
    linear = arith::DivUIOp::create(builder, loc, linear, size);
  }
  return dims;
}

Value ElementEmitter::linearIndex(ArrayRef<int64_t> shape,
                                  const ElementIndex &index) {
  if (index.linear)
    return index.linear;
  Value linear;
  for (ArrayRef<Value> dims = index.dims; !dims.empty();) {
    Value part = dims.front();
    int64_t size = shape.front();
    unsigned count = 1;
    // Positions that a reshape took apart are put together without arithmetic.
    if (auto found = divided.find(part); found != divided.end())
      if (const Divided &of = found->second;
          dims.take_front(of.dims.size()) == ArrayRef(of.dims) &&
          shape.take_front(of.dims.size()) == ArrayRef(of.shape)) {
        part = of.linear;
        size = llvm::product_of(of.shape);
        count = of.dims.size();
      }
    linear = linear ? add(mul(linear, size), part) : part;
    dims = dims.drop_front(count);
    shape = shape.drop_front(count);
  }
  return linear ? linear : constant(0);
}

FailureOr<Value> ElementEmitter::shifted(Value position, Value offset,
                                         unsigned depth) {
  if (!offset)
    return position;
  FailureOr<Value> by = element(offset, makeIndex({}, 0));
  if (failed(by))
    return failure();
  enterDepth(depth);
  return add(position, *by);
}

Value ElementEmitter::extended(Value value, Type elementType) {
  Type i64 = builder.getI64Type();
  if (value.getType() == i64)
    return value;
  if (isUnsigned(elementType))
    return arith::ExtUIOp::create(builder, loc, i64, value);
  return arith::ExtSIOp::create(builder, loc, i64, value);
}

Value ElementEmitter::narrowed(Value position, Value tensor) {
  Type type = computeType(typeOf(tensor).getElementType());
  if (position.getType() == type)
    return position;
  return arith::TruncIOp::create(builder, loc, type, position);
}

Value ElementEmitter::clampedPosition(Value value, Type elementType,
                                      int64_t last) {
  value = extended(value, elementType);
  if (isUnsigned(elementType))
    return arith::MinUIOp::create(builder, loc, value, constant(last));
  value = arith::MaxSIOp::create(builder, loc, value, constant(0));
  return arith::MinSIOp::create(builder, loc, value, constant(last));
}

bool ElementEmitter::mixesBits() const {
  return func::FuncOp(kernel)
      .walk([](XorOp op) {
        return typeOf(op.getResult()).getElementType().isInteger(1)
                   ? WalkResult::advance()
                   : WalkResult::interrupt();
      })
      .wasInterrupted();
}

Value ElementEmitter::unknownZero(Type type) {
  OpBuilder::InsertionGuard guard(builder);
  enterDepth(0);
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getIntegerAttr(type, 0));
  llvm::StringRef name(type.getIntOrFloatBitWidth() > 32 ? registers.wide
                                                         : registers.narrow);
  return LLVM::InlineAsmOp::create(
             builder, loc, type, zero, /*asm_string=*/"",
             /*constraints=*/("=" + name + ",0").str(),
             /*has_side_effects=*/false,
             /*is_align_stack=*/false, LLVM::TailCallKind::None,
             /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr)
      .getRes();
}

Value ElementEmitter::asBits(Value position) {
  return arith::XOrIOp::create(builder, loc, position,
                               unknownZero(position.getType()));
}

void ElementEmitter::forgetClosed() {
  if (elementsClosings != closings()) {
    elements.clear(); // Some were computed in loops that are now closed.
    vectors.clear();
    reshapedDims.clear();
    divided.clear();
  }
  elementsClosings = closings();
}

FailureOr<Value> ElementEmitter::element(Value tensor,
                                         const ElementIndex &index) {
  if (Value known = ofNest.lookup(tensor))
    return known;
  forgetClosed();
  auto key = std::make_pair(tensor, numberOf(index));
  if (Value known = elements.lookup(key))
    return known;
  OpBuilder::InsertionGuard guard(builder);
  enterDepth(index.depth);
  RankedTensorType type = typeOf(tensor);
  FailureOr<Value> result;
  Value pointer = roots.contains(tensor) ? Value() : memory.lookup(tensor);
  if (pointer) {
    result = loadNeighbour(tensor, pointer, index);
    if (!*result)
      result = load(pointer, type.getElementType(),
                    linearIndex(type.getShape(), index));
  } else {
    ++computations[tensor.getDefiningOp()];
    result = compute(tensor.getDefiningOp(), index);
  }
  if (succeeded(result))
    elements[key] = *result;
  return result;
}

void ElementEmitter::setElement(Value tensor, const ElementIndex &index,
                                Value value) {
  forgetClosed();
  elements[{tensor, numberOf(index)}] = value;
}

FailureOr<SmallVector<Value>>
ElementEmitter::storedElements(ArrayRef<Value> tensors,
                               const ElementIndex &index) {
  roots.insert_range(tensors);
  SmallVector<Value> values;
  for (Value tensor : tensors) {
    FailureOr<Value> value = element(tensor, index);
    if (failed(value))
      return failure();
    values.push_back(*value);
  }
  roots.clear();
  enterDepth(depth());
  return values;
}

/// The value that the element code of an op gave, if it is of the compute type.
static FailureOr<Value> checkedElement(Operation *op, Value value) {
  Type type = computeType(typeOf(op->getResult(0)).getElementType());
  if (value && value.getType() == type)
    return value;
  InFlightDiagnostic error = op->emitError() << "the element code of '"
                                             << op->getName() << "' gives ";
  if (value)
    error << "a value of " << value.getType() << " instead of " << type;
  else
    error << "no value; return one of " << type;
  return error;
}

FailureOr<Value> ElementEmitter::compute(Operation *op,
                                         const ElementIndex &index) {
  if (auto code = dyn_cast<ElementCodeOpInterface>(op)) {
    FailureOr<Value> value = code.emitElement(*this, index);
    return failed(value) ? value : checkedElement(op, *value);
  }
  if (!isa<ScalarCodeOpInterface>(op))
    return op->emitError()
           << "'" << op->getName()
           << "' has no code of an element; it must not be part of a kernel";
  SmallVector<Value> operands;
  for (Value operand : op->getOperands()) {
    FailureOr<Value> value = element(operand, index);
    if (failed(value))
      return failure();
    operands.push_back(*value);
  }
  enterDepth(index.depth);
  return emitScalarOp(builder, op, operands);
}

} // namespace weft::elements
