//===- DotEmitter.cpp - contractions --------------------------------------===//

#include "weft/compiler/codegen/cpu/DotShape.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/compiler/codegen/elements/SmallFloatOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/TargetParser/Triple.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

/// The shape of a contraction; nothing if an operand is not in memory. The
/// result's pointer is null if sums are not stored.
static std::optional<DotShape> dotShape(ElementEmitter &emitter, DotOp op) {
  std::optional<StridedView> lhs = emitter.viewOf(op.getLhs()),
                             rhs = emitter.viewOf(op.getRhs());
  Value result = emitter.memoryOf(op.getResult());
  if (!lhs || !rhs)
    return std::nullopt;
  return DotShape{nest::contractionShape(op, *lhs, *rhs), lhs->pointer,
                  rhs->pointer, result};
}

namespace {
/// Offsets in the three tensors, computed from the open loops.
struct DotOffsets {
  Value lhs, rhs, result;
};
} // namespace

static DotOffsets step(ElementEmitter &emitter, DotOffsets from,
                       const DotDimension &dim, Value position) {
  auto advance = [&](Value offset, int64_t stride) {
    return stride == 0 ? offset
                       : emitter.add(offset, emitter.mul(position, stride));
  };
  return {advance(from.lhs, dim.lhs), advance(from.rhs, dim.rhs),
          advance(from.result, dim.result)};
}

/// Loads an operand's element, converted to the result's type.
static Value loadFactor(ElementEmitter &emitter, Value pointer, Type type,
                        Value offset, Type resultType) {
  return extendScalar(emitter.builder, emitter.loc, type, resultType,
                      emitter.load(pointer, type, offset));
}

/// Adds products in a register, as f32: floats of at most 8 bits are too narrow
/// for sums in memory.
static void addInRegister(ElementEmitter &emitter, const DotShape &shape,
                          DotOffsets offsets) {
  Type elementType = shape.resultType;
  for (const DotDimension &dim : shape.columns)
    offsets = step(emitter, offsets, dim, emitter.openLoop(dim.size));
  auto add = [&](ValueRange positions,
                 ValueRange sums) -> FailureOr<SmallVector<Value>> {
    DotOffsets at = offsets;
    for (auto [dim, position] : llvm::zip_equal(shape.contract, positions))
      at = step(emitter, at, dim, position);
    Value product = emitProduct(
        emitter, elementType,
        loadFactor(emitter, shape.lhs, shape.lhsType, at.lhs, elementType),
        loadFactor(emitter, shape.rhs, shape.rhsType, at.rhs, elementType));
    return SmallVector<Value>{emitCombine(emitter.builder, emitter.loc,
                                          ReduceKind::Sum, elementType, sums[0],
                                          product)};
  };
  auto sizes = llvm::map_to_vector(
      shape.contract, [](const DotDimension &dim) { return dim.size; });
  auto sum = emitter.loops(sizes, zeroOf(emitter, elementType), add);
  emitter.store(sum->front(), shape.result, elementType, offsets.result);
}

/// Stores 0 in all columns of a row.
static void clearColumns(ElementEmitter &emitter, const DotShape &shape,
                         ArrayRef<DotDimension> columns, DotOffsets at) {
  if (columns.empty()) {
    Value neutral = emitNeutral(emitter.builder, emitter.loc, ReduceKind::Sum,
                                shape.resultType);
    return emitter.store(neutral, shape.result, shape.resultType, at.result);
  }
  emitter.each(columns.front().size, [&](Value i) {
    clearColumns(emitter, shape, columns.drop_front(),
                 step(emitter, at, columns.front(), i));
  });
}

/// Emits a contraction of any element type and strides: for each row and k,
/// result[row] += lhs[row, k] * rhs[k] with the columns innermost. Small floats
/// are added up in a register.
void emitPlainDot(KernelEmitter &kernel, const DotShape &shape) {
  ElementEmitter &emitter = kernel.elements;
  Type elementType = shape.resultType;
  Type type = computeType(elementType);
  DotOffsets offsets{emitter.constant(shape.lhsFirst),
                     emitter.constant(shape.rhsFirst), emitter.constant(0)};
  for (const DotDimension &dim :
       llvm::concat<const DotDimension>(shape.batch, shape.rows))
    offsets = step(emitter, offsets, dim,
                   emitter.depth() ? emitter.openLoop(dim.size)
                                   : kernel.openSplitLoop(dim.size));
  clearColumns(emitter, shape, shape.columns, offsets);

  if (isSmallFloat(elementType))
    return addInRegister(emitter, shape, offsets);
  for (const DotDimension &dim : shape.contract)
    offsets = step(emitter, offsets, dim, emitter.openLoop(dim.size));
  Value a =
      loadFactor(emitter, shape.lhs, shape.lhsType, offsets.lhs, elementType);
  for (const DotDimension &dim : shape.columns)
    offsets = step(emitter, offsets, dim, emitter.openLoop(dim.size));
  if (!shape.columns.empty())
    emitter.markParallel();
  Value b =
      loadFactor(emitter, shape.rhs, shape.rhsType, offsets.rhs, elementType);
  Value sum = emitter.load(shape.result, elementType, offsets.result);
  OpBuilder &builder = emitter.builder;
  if (isa<ComplexType>(type)) {
    Value product =
        emitCombine(builder, emitter.loc, ReduceKind::Prod, elementType, a, b);
    sum = emitCombine(builder, emitter.loc, ReduceKind::Sum, elementType, sum,
                      product);
  } else if (isa<FloatType>(type)) {
    // The rounding must not depend on the code around the kernel's.
    sum = math::FmaOp::create(builder, emitter.loc, a, b, sum);
  } else {
    Value product = arith::MulIOp::create(builder, emitter.loc, a, b);
    sum = arith::AddIOp::create(builder, emitter.loc, sum, product);
  }
  emitter.store(sum, shape.result, elementType, offsets.result);
}

int64_t stepsTogether(Type lhs, Type rhs, Type result,
                      const CpuTarget &target) {
  auto fits = [](Type type, unsigned bits) {
    return type.isInteger() && type.getIntOrFloatBitWidth() <= bits;
  };
  auto isShort = [&](Type type) {
    return fits(type, 16) && !type.isUnsignedInteger(16);
  };
  if (!result.isInteger(32) || !llvm::Triple(target.triple).isX86() ||
      !isShort(lhs) || !isShort(rhs))
    return 1;
  bool areBytes =
      lhs.isInteger(8) && rhs.isInteger(8) && !rhs.isUnsignedInteger();
  return areBytes && target.hasByteProducts ? 4 : 2;
}

bool usesByteProducts(func::FuncOp kernel, const CpuTarget &target) {
  for (auto loops : kernel.getOps<nest::LoopsOp>()) {
    auto walk = dyn_cast<nest::ContractionAttr>(loops.getWalk());
    auto op = dyn_cast_or_null<DotOp>(loops.getNestOp());
    if (walk && op && walk.getForm() == nest::ContractionForm::Packed &&
        stepsTogether(typeOf(op.getLhs()).getElementType(),
                      typeOf(op.getRhs()).getElementType(),
                      typeOf(op.getResult()).getElementType(), target) == 4)
      return true;
  }
  return false;
}

LogicalResult emitDot(KernelEmitter &kernel, nest::LoopsOp loops,
                      nest::ContractionAttr walk) {
  auto op = cast<DotOp>(loops.getNestOp());
  std::optional<DotShape> shape = dotShape(kernel.elements, op);
  if (!shape)
    return op.emitError() << "operands of 'weft.dot' are not in memory";
  switch (walk.getForm()) {
  case nest::ContractionForm::Plain:
    emitPlainDot(kernel, *shape);
    break;
  case nest::ContractionForm::Columns:
  case nest::ContractionForm::Depth:
    emitTiledDot(kernel, *shape, walk);
    break;
  case nest::ContractionForm::Packed:
    return emitPackedDot(kernel, *shape, loops, walk);
  }
  return success();
}

} // namespace weft::cpu
