//===- ScatterByBody.cpp - updates that a region combines -----------------===//
//
// Scatters that weft.scatter does not have: other bodies, and several tensors.
//
//   scatter(%x, %at, %u) { max of complex numbers }
//
// becomes, for distinct indices, one gather, the body on all gathered elements,
// and one scatter that sets the results:
//
//   %old = gather %x at %at        %new = body(%old, %u)
//   %r = scatter set %x at %at with %new
//
// Otherwise it becomes a loop over the indices. Scalars that the body uses from
// outside are broadcast to the shape of the updates.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"
#include "weft/compiler/frontends/stablehlo/convert/ScatterWindows.h"

#include "weft/dialects/weft/TensorType.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

#include "mlir/IR/IRMapping.h"

#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

Ints upTo(int64_t count) {
  Ints all(count);
  std::iota(all.begin(), all.end(), 0);
  return all;
}

RankedTensorType withLastDim(RankedTensorType type, int64_t size) {
  Ints shape(type.getShape());
  shape.back() = size;
  return type.clone(shape);
}

/// Whether `dims` are distinct dimensions of a tensor of this rank.
bool areDims(Ints dims, int64_t rank) {
  llvm::sort(dims);
  return llvm::all_of(dims,
                      [&](int64_t dim) { return dim >= 0 && dim < rank; }) &&
         std::adjacent_find(dims.begin(), dims.end()) == dims.end();
}

class ScatterByBody {
public:
  /// The body's arguments are elements of the tensors and of the updates, and
  /// then the scalars from outside.
  ScatterByBody(Converter &c [[clang::lifetimebound]], ForeignOp op,
                Block &body [[clang::lifetimebound]], ValueRange outside)
      : c(c), op(op), body(body), count(op->getNumOperands() / 2),
        inputs(c.inputs(op)), outside(outside), dims(ScatterDims::of(op)) {}

  LogicalResult convert() {
    if (!isSound())
      return op.refuse() << "has dimension numbers that do not fit its tensors";
    inputs[count] = indicesOfWholeWindows(c, op, inputs.front(), inputs[count],
                                          inputs[count + 1], dims);
    ValueRange all(inputs);
    if (op.flag("unique_indices"))
      return c.give(op, combine(all.take_front(count), inputs[count],
                                all.drop_front(count + 1), dims));
    return c.give(
        op, typeOf(inputs[count]).getNumElements()
                ? loop()
                : SmallVector<Value>(ValueRange(inputs).take_front(count)));
  }

private:
  /// Checks the scatter's conditions that the ops in its place do not verify.
  bool isSound() const {
    auto indices = typeOf(inputs[count]);
    int64_t rank = indices.getRank(), length = 1;
    if (dims.vector < 0 || dims.vector > rank)
      return false;
    if (dims.vector < rank)
      length = indices.getDimSize(dims.vector);
    auto isOf = [](const Ints &dims) {
      return
          [&](Value value) { return areDims(dims, typeOf(value).getRank()); };
    };
    ValueRange all(inputs), updates = all.drop_front(count + 1);
    return length == static_cast<int64_t>(dims.toOperand.size()) &&
           dims.batching.size() == dims.indexBatching.size() &&
           areDims(dims.indexBatching, rank) &&
           !llvm::is_contained(dims.indexBatching, dims.vector) &&
           llvm::all_of(updates, isOf(dims.window)) &&
           llvm::all_of(updates,
                        [&](Value update) {
                          return typeOf(update).getShape() ==
                                     typeOf(updates.front()).getShape() &&
                                 typeOf(update).getRank() -
                                         static_cast<int64_t>(
                                             dims.window.size()) ==
                                     rank - (dims.vector < rank);
                        }) &&
           haveOneType(all.take_front(count), updates) &&
           llvm::all_of(
               llvm::zip_equal(all.take_front(count), updates), [&](auto pair) {
                 auto [tensor, update] = pair;
                 return dims.windowSizes(typeOf(tensor), typeOf(update))
                     .has_value();
               });
  }

  /// Whether each tensor has the element type of its updates.
  static bool haveOneType(ValueRange tensors, ValueRange updates) {
    return llvm::all_of(llvm::zip_equal(tensors, updates), [](auto pair) {
      auto [tensor, update] = pair;
      return typeOf(tensor).getElementType() == typeOf(update).getElementType();
    });
  }

  /// Combines the updates with the tensors; the indices must be distinct.
  SmallVector<Value> combine(ValueRange tensors, Value indices,
                             ValueRange updates, const ScatterDims &at) {
    SmallVector<Value> arguments, results;
    for (auto [tensor, update] : llvm::zip_equal(tensors, updates))
      arguments.push_back(c.make<GatherOp>(
          op, typeOf(update), tensor, indices, at.window, at.inserted,
          at.batching, at.indexBatching, at.toOperand, at.vector,
          *at.windowSizes(typeOf(tensor), typeOf(update)),
          /*zero_outside=*/true)); // results outside are not used
    llvm::append_range(arguments, updates);
    RankedTensorType shape = typeOf(updates.front());
    for (Value scalar : outside)
      arguments.push_back(
          c.fill(op, scalar, shape.clone(typeOf(scalar).getElementType())));
    for (auto [tensor, value] :
         llvm::zip_equal(tensors, repeatBody(arguments, shape.getShape())))
      results.push_back(
          c.make<ScatterOp>(op, tensor.getType(), ScatterKind::Set, tensor,
                            indices, value, at.window, at.inserted, at.batching,
                            at.indexBatching, at.toOperand, at.vector));
    return results;
  }

  /// Clones the body's ops, for tensors of this shape.
  SmallVector<Value> repeatBody(ValueRange arguments, ArrayRef<int64_t> shape) {
    IRMapping known;
    known.map(body.getArguments(), arguments);
    for (Operation &scalar : body.getOperations()) {
      if (auto constant = dyn_cast<ConstantOp>(scalar)) {
        auto data = cast<DenseElementsAttr>(constant.getValue());
        known.map(constant.getResult(),
                  c.make<ConstantOp>(op, data.resizeSplat(RankedTensorType::get(
                                             shape, data.getElementType()))));
        continue;
      }
      if (scalar.hasTrait<OpTrait::IsTerminator>())
        break;
      Operation *copy = c.builder.clone(scalar, known);
      for (Value result : copy->getResults())
        result.setType(typeOf(result).clone(shape));
    }
    return llvm::map_to_vector(
        body.getTerminator()->getOperands(),
        [&](Value value) { return known.lookup(value); });
  }

  /// The indices, with the index vectors in the last dimension.
  Value indexVectors() {
    Value indices = inputs[count];
    auto type = typeOf(indices);
    Ints order = upTo(type.getRank()), shape(type.getShape());
    if (dims.vector == type.getRank()) {
      shape.push_back(1);
      return c.make<ReshapeOp>(
          op, RankedTensorType::get(shape, type.getElementType()), indices);
    }
    order.erase(order.begin() + dims.vector);
    order.push_back(dims.vector);
    return c.make<TransposeOp>(op, indices, order);
  }

  /// The index vectors as rows of a matrix. Batching dimensions are added to
  /// each vector as positions.
  Value indexRows() {
    SmallVector<Value> parts{indexVectors()};
    Ints shape(typeOf(parts.front()).getShape());
    shape.back() = 1;
    auto column =
        RankedTensorType::get(shape, typeOf(parts.front()).getElementType());
    for (auto [tensorDim, indexDim] :
         llvm::zip_equal(dims.batching, dims.indexBatching)) {
      parts.push_back(c.make<IotaOp>(
          op, column, indexDim - (dims.vector < indexDim), Value()));
      dims.toOperand.push_back(tensorDim);
      dims.inserted.push_back(tensorDim);
    }
    llvm::sort(dims.inserted);
    auto rowLength = static_cast<int64_t>(dims.toOperand.size());
    Value all = parts.size() == 1
                    ? parts.front()
                    : c.make<ConcatenateOp>(op, withLastDim(column, rowLength),
                                            parts, column.getRank() - 1);
    int64_t rows = column.getNumElements();
    return c.make<ReshapeOp>(
        op, RankedTensorType::get({rows, rowLength}, column.getElementType()),
        all);
  }

  /// The updates as rows: all dimensions except window dimensions are merged
  /// into dimension 0.
  Value updateRows(Value update, int64_t rows) {
    auto type = typeOf(update);
    Ints order, shape{rows};
    for (int64_t dim = 0; dim < type.getRank(); ++dim)
      if (!llvm::is_contained(dims.window, dim))
        order.push_back(dim);
    for (int64_t dim : dims.window) {
      order.push_back(dim);
      shape.push_back(type.getDimSize(dim));
    }
    update = c.make<TransposeOp>(op, update, order);
    return c.make<ReshapeOp>(
        op, RankedTensorType::get(shape, type.getElementType()), update);
  }

  /// Row `number` of a tensor, without dimension 0.
  Value row(Value rows, Value number) {
    auto type = typeOf(rows);
    SmallVector<Value> starts(type.getRank(), c.splat(op, 0, typeOf(number)));
    starts.front() = number;
    Ints sizes(type.getShape());
    sizes.front() = 1;
    Value one = c.make<DynamicSliceOp>(op, rows, starts, sizes);
    return c.make<ReshapeOp>(op,
                             RankedTensorType::get(type.getShape().drop_front(),
                                                   type.getElementType()),
                             one);
  }

  SmallVector<Value> loop() {
    SmallVector<Value> carried(ValueRange(inputs).take_front(count));
    carried.push_back(indexRows());
    int64_t rows = typeOf(carried.back()).getDimSize(0);
    for (Value update : ValueRange(inputs).drop_front(count + 1))
      carried.push_back(updateRows(update, rows));
    llvm::append_range(carried, outside);
    auto loop =
        ForOp::create(c.builder, op->getLoc(), TypeRange(ValueRange(carried)),
                      rows, carried, DenseI64ArrayAttr());
    OpBuilder::InsertionGuard guard(c.builder);
    Block &block = loop.getBody().emplaceBlock();
    c.builder.setInsertionPointToEnd(&block);
    Value number = block.addArgument(
        RankedTensorType::get({}, c.builder.getI32Type()), op->getLoc());
    for (Value value : carried)
      block.addArgument(value.getType(), op->getLoc());
    SmallVector<Value> now(loop.getCarried());
    SmallVector<Value> updates;
    for (Value update : ValueRange(now).slice(count + 1, count))
      updates.push_back(row(update, number));
    outside.assign(now.begin() + 2 * count + 1, now.end());
    ScatterDims one{
        upTo(dims.window.size()), dims.inserted, {}, {}, dims.toOperand, 0};
    SmallVector<Value> next = combine(ValueRange(now).take_front(count),
                                      row(now[count], number), updates, one);
    llvm::append_range(next, ValueRange(now).drop_front(count));
    YieldOp::create(c.builder, op->getLoc(), next);
    return SmallVector<Value>(loop.getResults().take_front(count));
  }

  Converter &c;
  ForeignOp op;
  Block &body;
  unsigned count;
  SmallVector<Value> inputs, outside;
  ScatterDims dims;
};

} // namespace

LogicalResult stablehlo::scatterByBody(Converter &c, ForeignOp op) {
  unsigned count = op->getNumOperands() / 2;
  Region &region = op->getRegion(0);
  if (op->getNumOperands() % 2 == 0 || !region.hasOneBlock() ||
      region.getNumArguments() != 2 * count)
    return op.refuse() << "combines updates by a region of other than "
                       << 2 * count << " scalars";
  SmallVector<Type> scalars;
  for (unsigned i = 0; i < count; ++i)
    scalars.push_back(
        RankedTensorType::get({}, op.operandType(i).getElementType()));
  scalars.append(llvm::to_vector(scalars));
  Region body;
  SmallVector<Value> outside;
  if (failed(convertBody(c, op, scalars, body, &outside)))
    return failure();
  if (body.front().getTerminator()->getOperandTypes() !=
      TypeRange(scalars).take_front(count))
    return op.refuse() << "combines updates by a region that returns "
                       << body.front().getTerminator()->getOperandTypes();
  return ScatterByBody(c, op, body.front(), outside).convert();
}
