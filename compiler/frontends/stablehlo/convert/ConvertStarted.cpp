//===- ConvertStarted.cpp - collectives that are started and awaited ------===//
//
//   %f = "stablehlo.async_start"(%x) ({ all_reduce }) : ... -> !future<tensor>
//   %y = "stablehlo.async_done"(%f)
//
// The readers take a future as its value, so the collective takes place where
// it is started.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult start(Converter &c, ForeignOp op) {
  SmallVector<Value> results;
  if (failed(
          c.inlineBlock(op, op->getRegion(0).front(), c.inputs(op), results)))
    return failure();
  return c.give(op, results);
}

LogicalResult done(Converter &c, ForeignOp op) {
  return c.give(op, c.inputs(op));
}

constexpr ConversionEntry kEntries[] = {
    {"async_start", start, 1, 1},
    {"async_done", done},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::startedConversions() { return kEntries; }
