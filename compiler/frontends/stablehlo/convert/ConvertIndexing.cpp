//===- ConvertIndexing.cpp - gather and scatter ---------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"
#include "weft/dialects/weft/ops/IndexingOps.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

LogicalResult gather(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2)
    return op.refuse() << "has " << op->getNumOperands() << " operands, not 2";
  return c.give(op, c.make<GatherOp>(
                        op, op.resultType(), c.input(op, 0), c.input(op, 1),
                        op.ints("offset_dims"), op.ints("collapsed_slice_dims"),
                        op.ints("operand_batching_dims"),
                        op.ints("start_indices_batching_dims"),
                        op.ints("start_index_map"),
                        op.integer("index_vector_dim").value_or(0),
                        op.ints("slice_sizes"), /*zero_outside=*/false));
}

/// The kind of a region (old, update): Set if it returns the update, else that
/// of the reduction that combines both.
std::optional<ScatterKind> scatterOf(Region &region) {
  if (!region.hasOneBlock() || region.front().getNumArguments() != 2 ||
      region.front().empty() || region.front().back().getNumOperands() != 1)
    return std::nullopt;
  if (region.front().back().getOperand(0) == region.front().getArgument(1))
    return ScatterKind::Set;
  auto kind = reductionOf(region);
  if (!kind)
    return std::nullopt;
  switch (*kind) {
  case ReduceKind::Sum:
    return ScatterKind::Sum;
  case ReduceKind::Prod:
    return ScatterKind::Prod;
  case ReduceKind::Max:
    return ScatterKind::Max;
  case ReduceKind::Min:
    return ScatterKind::Min;
  case ReduceKind::And:
    return ScatterKind::And;
  case ReduceKind::Or:
    return ScatterKind::Or;
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult scatter(Converter &c, ForeignOp op) {
  auto kind = scatterOf(op->getRegion(0));
  if (op->getNumOperands() != 3 || !kind)
    return scatterByBody(c, op);
  return c.give(
      op, c.make<ScatterOp>(
              op, op.resultType(), *kind, c.input(op, 0), c.input(op, 1),
              c.input(op, 2), op.ints("update_window_dims"),
              op.ints("inserted_window_dims"), op.ints("input_batching_dims"),
              op.ints("scatter_indices_batching_dims"),
              op.ints("scatter_dims_to_operand_dims"),
              op.integer("index_vector_dim").value_or(0)));
}

constexpr ConversionEntry kEntries[] = {
    {"gather", gather, 2},
    {"scatter", scatter, 3, 1, OpRole::OverElements},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::indexingConversions() { return kEntries; }
