//===- InterleavedRows.cpp - every n-th row of a dimension ----------------===//

#include "weft/dialects/weft/InterleavedRows.h"

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/local/LocalBuilder.h"

using namespace mlir;

#include "weft/dialects/weft/InterleavedRows.cpp.inc"

namespace weft {

SplitShape splitAt(ArrayRef<int64_t> shape, const BatchRows &at,
                   ArrayRef<int64_t> rows) {
  SplitShape split;
  llvm::append_range(split.sizes, shape.take_front(at.dim));
  if (at.outer != 1)
    split.sizes.push_back(at.outer);
  split.position = split.sizes.size();
  llvm::append_range(split.sizes, rows);
  if (at.inner != 1)
    split.sizes.push_back(at.inner);
  llvm::append_range(split.sizes, shape.drop_front(at.dim + 1));
  return split;
}

namespace {
/// Element (o, i, r) of outer x share x inner counts
/// (o * batch + i * rounds + k) * inner + r.
struct IotaRows : InterleavedRowsOpInterface::ExternalModel<IotaRows, IotaOp> {
  Value buildRows(Operation *op, OpBuilder &builder, ValueRange operands,
                  RankedTensorType type, const InterleavedRows &rows) const {
    auto iota = cast<IotaOp>(op);
    if (iota.getDim() != rows.at.dim)
      return {};
    Location loc = op->getLoc();
    LocalBuilder b{builder, loc};
    SmallVector<int64_t> shape = {rows.at.outer, rows.share(), rows.at.inner};
    Value position = b.along(b.asI64(rows.round), shape);
    int64_t inner = rows.at.inner;
    position = MulOp::create(builder, loc, position, b.integer(inner, shape));
    const int64_t units[] = {rows.batch * inner, rows.rounds * inner, 1};
    for (auto [dim, unit] : llvm::enumerate(units)) {
      Value at = IotaOp::create(
          builder, loc, RankedTensorType::get(shape, builder.getI64Type()),
          builder.getI64IntegerAttr(dim), Value());
      at = MulOp::create(builder, loc, at, b.integer(unit, shape));
      position = AddOp::create(builder, loc, position, at);
    }
    if (!operands.empty())
      position = AddOp::create(builder, loc, position,
                               b.along(operands.front(), shape));
    int64_t size = type.getDimSize(rows.at.dim);
    position = ReshapeOp::create(builder, loc, position, {size});
    position = b.along(position, type.getShape(), rows.at.dim);
    return position.getType() == type
               ? position
               : ConvertOp::create(builder, loc, type, position).getResult();
  }
};

/// A block of one of `rounds` columns of the bits in outer x share x rounds x
/// inner, of which the first columns of a batch have the same positions.
struct RngRows : InterleavedRowsOpInterface::ExternalModel<RngRows, RngBitsOp> {
  Value buildRows(Operation *op, OpBuilder &builder, ValueRange operands,
                  RankedTensorType type, const InterleavedRows &rows) const {
    ArrayRef<int64_t> shape = type.getShape();
    int64_t before = rows.at.outer;
    for (int64_t size : shape.take_front(rows.at.dim))
      before *= size;
    // Rows past the batch's end would move the positions after them.
    if (operands.size() != 1 || (before != 1 && !rows.isEven()))
      return {};
    LocalBuilder b{builder, op->getLoc()};
    SplitShape all = splitAt(shape, rows.at, {rows.share(), rows.rounds});
    SplitShape one = splitAt(shape, rows.at, {rows.share(), 1});
    SmallVector<Value> offsets(all.sizes.size(), b.integer(0));
    offsets[all.position + 1] = b.asI64(rows.round);
    Value bits = RngBitsOp::create(builder, op->getLoc(), type.clone(one.sizes),
                                   operands[0], offsets,
                                   builder.getDenseI64ArrayAttr(all.sizes));
    return ReshapeOp::create(builder, op->getLoc(), type, bits);
  }
};
} // namespace

void attachInterleavedRows(MLIRContext &context) {
  IotaOp::attachInterface<IotaRows>(context);
  RngBitsOp::attachInterface<RngRows>(context);
}

} // namespace weft
