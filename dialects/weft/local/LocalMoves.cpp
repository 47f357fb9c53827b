//===- LocalMoves.cpp - one device's part of a move -----------------------===//
//
// Each operand's boxes are moved at once; where several operands fill the
// result, or boxes do not, a mask selects by position:
//
//   %m = coll.move %x ...            %n = coll.move %y ...
//   select position is in a box of %y, %n, %m
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ShapeChecks.h"
#include "weft/dialects/weft/local/BoxMasks.h"

#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace weft;

SmallVector<Value> MoveOp::buildLocal(OpBuilder &builder, ValueRange operands,
                                      TypeRange resultTypes,
                                      const LocalPlacement &placement) {
  LocalBuilder b{builder, getLoc()};
  auto type = cast<RankedTensorType>(resultTypes[0]);
  MovedBoxes all = getBoxes().getBoxes();
  BoxMasks masks(b, type.getShape(), placement);
  Value result;
  if (!coverAll(all, typeOf(getResult()).getShape()))
    result = ConstantOp::create(builder, getLoc(), splatData(0, type));
  for (auto [operand, value] : llvm::enumerate(operands)) {
    MovedBoxes boxes;
    for (const MovedBox &box : all)
      if (box.operand == int64_t(operand))
        boxes.push_back(box);
    if (boxes.empty())
      continue;
    Value moved = value;
    if (typeOf(value).getRank() == 0 && type.getRank() > 0)
      moved = b.along(value, type.getShape());
    else if (getResharding() || value.getType() != type ||
             !llvm::all_of(boxes, [](const MovedBox &box) {
               return box.keepsPositions();
             })) {
      MovedBoxes alone = boxes;
      for (MovedBox &box : alone)
        box.operand = 0;
      moved = placement.move(builder, getLoc(), value, operand, alone);
      if (!moved) { // No dimension is sharded: the ops that it was made of.
        IRMapping mapping;
        mapping.map(getBody().getArguments(), operands);
        for (Operation &op : getBody().front().without_terminator())
          builder.clone(op, mapping);
        return {
            mapping.lookup(getBody().front().getTerminator()->getOperand(0))};
      }
    }
    result = result ? Value(SelectOp::create(builder, getLoc(), masks.of(boxes),
                                             moved, result))
                    : moved;
  }
  return {result};
}
