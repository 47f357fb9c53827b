//===- ConvertControl.cpp - calls, branches, annotations ------------------===//

#include "weft/compiler/frontends/stablehlo/Converter.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult call(Converter &c, ForeignOp op) {
  if (auto symbol =
          dyn_cast_or_null<FlatSymbolRefAttr>(op.attribute("callee")))
    return c.call(op, symbol.getValue());
  return c.call(op, op.word("callee"));
}

/// A cast between equal types, as stand around sdy's ops in an artifact.
LogicalResult forward(Converter &c, ForeignOp op) {
  return c.give(op, c.inputs(op));
}

LogicalResult constrain(Converter &c, ForeignOp op) {
  auto said = c.shardings.resolve(op->getLoc(), op.attribute("sharding"),
                                  op.resultType().getRank());
  if (failed(said))
    return failure();
  Value value = c.input(op, 0);
  if (said->layout) {
    value = c.make<ConstrainOp>(
        op, value.getType(), value, said->layout,
        c.builder.getStringAttr("sharding constraint"));
    for (NamedAttribute wish : said->wishes())
      value.getDefiningOp()->setDiscardableAttr(wish.getName(),
                                                wish.getValue());
  }
  return c.give(op, value);
}

/// All branches are computed and one is chosen: they have no effects.
LogicalResult branches(Converter &c, ForeignOp op) {
  Value index = c.input(op, 0);
  bool truth = getElementTypeOrSelf(index.getType()).isInteger(1);
  if (op->getNumRegions() == 0)
    return op.refuse() << "has no branch";
  SmallVector<SmallVector<Value>> results;
  for (Region &region : op->getRegions())
    if (!region.hasOneBlock() ||
        failed(c.inlineBlock(op, region.front(), {}, results.emplace_back())))
      return failure();
  // The last branch is that of every index outside.
  SmallVector<Value> chosen = results.back();
  for (int64_t i = results.size() - 2; i >= 0; --i) {
    Value taken =
        truth ? index
              : c.make<CompareOp>(
                    op, CompareKind::EQ, index,
                    c.splat(op, i, cast<RankedTensorType>(index.getType())));
    if (results[i].size() != chosen.size())
      return op.refuse() << "has branches of " << results[i].size() << " and "
                         << chosen.size() << " results";
    for (auto [value, other] : llvm::zip_equal(chosen, results[i])) {
      if (value.getType() != other.getType())
        return op.refuse() << "has branches of types " << value.getType()
                           << " and " << other.getType();
      auto mask = cast<RankedTensorType>(value.getType())
                      .clone(c.builder.getI1Type());
      value = c.make<SelectOp>(op, c.fill(op, taken, mask), other, value);
    }
  }
  return c.give(op, chosen);
}

LogicalResult customCall(Converter &c, ForeignOp op) {
  StringRef target = op.word("call_target_name");
  return op.refuse() << "calls @" << target << ", which is not supported";
}

constexpr ConversionEntry kEntries[] = {
    {"func.call", call, 0},
    {"builtin.unrealized_conversion_cast", forward},
    {"optimization_barrier", forward},
    {"sdy.propagation_barrier", forward},
    {"sdy.sharding_constraint", constrain},
    {"sdy.reshard", constrain},
    {"case", branches, 1, -1},
    {"if", branches, 1, -1},
    {"custom_call", customCall, 0},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::controlConversions() { return kEntries; }
