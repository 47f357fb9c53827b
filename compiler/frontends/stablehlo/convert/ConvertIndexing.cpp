//===- ConvertIndexing.cpp - gather and scatter ---------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/RegionInputs.h"
#include "weft/compiler/frontends/stablehlo/convert/ScatterWindows.h"
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

/// Converts torch.index_select: the result has the dimensions of the indices,
/// without batching dimensions, in the place of `dim`. An index outside is
/// moved inside.
LogicalResult indexSelect(Converter &c, ForeignOp op) {
  auto input = op.operandType(0), indices = op.operandType(1);
  int64_t dim = op.integer("dim").value_or(-1);
  int64_t batch = op.integer("batch_dims").value_or(0);
  if (op->getNumOperands() != 2 || batch < 0 || batch > indices.getRank() ||
      dim < batch || dim >= input.getRank())
    return op.refuse() << "selects in dimension " << dim << " of " << input
                       << " with " << batch << " batching dimensions of "
                       << indices << "; choose one behind those";
  Ints batching, offset, sizes(input.getShape());
  for (int64_t i = 0; i < batch; ++i) {
    batching.push_back(i);
    sizes[i] = 1;
  }
  sizes[dim] = 1;
  for (int64_t i = batch; i < input.getRank(); ++i)
    if (i != dim)
      offset.push_back(i < dim ? i : i - 1 + indices.getRank() - batch);
  return c.give(op,
                c.make<GatherOp>(op, op.resultType(), c.input(op, 0),
                                 c.input(op, 1), offset, Ints{dim}, batching,
                                 batching, Ints{dim}, indices.getRank(), sizes,
                                 /*zero_outside=*/false));
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
  auto dims = ScatterDims::of(op);
  Value input = c.input(op, 0), updates = c.input(op, 2);
  Value at = indicesOfWholeWindows(c, op, input, c.input(op, 1), updates, dims);
  return c.give(op, c.make<ScatterOp>(op, op.resultType(), *kind, input, at,
                                      updates, dims.window, dims.inserted,
                                      dims.batching, dims.indexBatching,
                                      dims.toOperand, dims.vector));
}

constexpr ConversionEntry kEntries[] = {
    {"gather", gather, 2},
    {"torch_index_select", indexSelect, 2},
    {"scatter", scatter, 3, 1, OpRole::OverElements},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::indexingConversions() { return kEntries; }
