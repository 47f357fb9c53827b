//===- LocalMoves.cpp - one device's part of a move -----------------------===//
//
// What other devices have of all operands is moved at once; where values of the
// device fill boxes too, or boxes do not fill the result, a mask selects by
// position:
//
//   %m = coll.move %x, %y ...
//   select position is in a box of %z, %z, %m
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/BoxMasks.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

static MovedBoxes boxesOfOperand(int64_t operand, const MovedBoxes &all) {
  MovedBoxes boxes;
  llvm::copy_if(all, std::back_inserter(boxes),
                [&](const MovedBox &box) { return box.operand == operand; });
  return boxes;
}

/// The ops that a move was made of, on other operands: the yielded value.
static Value cloneBody(MoveOp op, OpBuilder &builder, ValueRange operands) {
  IRMapping mapping;
  mapping.map(op.getBody().getArguments(), operands);
  for (Operation &inner : op.getBody().front().without_terminator())
    builder.clone(inner, mapping);
  return mapping.lookup(op.getBody().front().getTerminator()->getOperand(0));
}

SmallVector<Value> MoveOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  LocalBuilder b{builder, getLoc()};
  auto type = cast<RankedTensorType>(resultTypes[0]);
  MovedBoxes all = getBoxes().getBoxes(), moving;
  SmallVector<FilledBoxes> filled;
  for (auto [operand, value] : llvm::enumerate(operands)) {
    MovedBoxes boxes = boxesOfOperand(operand, all);
    if (boxes.empty())
      continue;
    if (typeOf(value).getRank() == 0 && type.getRank() > 0)
      filled.push_back({b.along(value, type.getShape()), boxes});
    else if (!getResharding() && value.getType() == type &&
             llvm::all_of(boxes, [](const MovedBox &box) {
               return box.keepsPositions();
             }))
      filled.push_back({value, boxes});
    else
      llvm::append_range(moving, boxes);
  }
  if (!moving.empty()) {
    SmallVector<FilledBoxes> moved =
        placement.move(builder, getLoc(), operands, moving);
    if (moved.empty()) // No dimension is sharded.
      return {cloneBody(*this, builder, operands)};
    filled.insert(filled.begin(), moved.begin(), moved.end());
  }
  BoxMasks masks(b, type.getShape(), placement);
  Value result;
  if (!coverAll(all, typeOf(getResult()).getShape()))
    result = ConstantOp::create(builder, getLoc(), splatData(0, type));
  for (const FilledBoxes &each : filled)
    result =
        result ? Value(SelectOp::create(builder, getLoc(), masks.of(each.boxes),
                                        each.value, result))
               : each.value;
  return {result};
}
