//===- LibraryEpilogues.cpp - epilogues that libraries compute ------------===//

#include "weft/passes/kernels/LibraryEpilogues.h"

#include "mlir/IR/Builders.h"

using namespace mlir;

namespace weft {

namespace {
/// An epilogue and a function that builds its ops; `bias` may be null.
/// `mayRound`: the result may be rounded to a shorter type.
struct EpilogueRow {
  plan::Epilogue epilogue;
  bool mayRound;
  Value (*build)(OpBuilder &builder, Location loc, Value sums, Value bias);
};
} // namespace

/// Adds an element of the bias to each column; columns are the last dimensions
/// of the sums.
static Value addBias(OpBuilder &builder, Location loc, Value sums, Value bias) {
  auto type = cast<RankedTensorType>(sums.getType());
  int64_t own = cast<RankedTensorType>(bias.getType()).getRank();
  auto dims =
      llvm::to_vector(llvm::seq<int64_t>(type.getRank() - own, type.getRank()));
  Value wide = BroadcastOp::create(builder, loc, bias, type.getShape(), dims);
  return AddOp::create(builder, loc, sums, wide);
}

static constexpr EpilogueRow kEpilogues[] = {
    {plan::Epilogue::none, true,
     [](OpBuilder &, Location, Value sums, Value) { return sums; }},
    {plan::Epilogue::relu, true,
     [](OpBuilder &b, Location loc, Value sums, Value) -> Value {
       return ReluOp::create(b, loc, sums);
     }},
    {plan::Epilogue::bias, false, addBias},
    {plan::Epilogue::bias_relu, false,
     [](OpBuilder &b, Location loc, Value sums, Value bias) -> Value {
       return ReluOp::create(b, loc, addBias(b, loc, sums, bias));
     }},
};

namespace {
/// Compares values of a kernel with values of an expression; a leaf of the
/// expression stands for one value of the kernel.
struct SameMeaning {
  llvm::SmallDenseMap<Value, Value> leaves; ///< leaves of the expression
  bool compare(Value found, Value wanted) const {
    if (auto leaf = leaves.find(wanted); leaf != leaves.end())
      return leaf->second == found;
    Operation *a = found.getDefiningOp(), *b = wanted.getDefiningOp();
    if (!a || a->getName() != b->getName() ||
        a->getAttrDictionary() != b->getAttrDictionary() ||
        a->getResultTypes() != b->getResultTypes())
      return false;
    if (compareAll(a->getOperands(), b->getOperands()))
      return true;
    return a->hasTrait<OpTrait::IsCommutative>() && a->getNumOperands() == 2 &&
           compare(a->getOperand(0), b->getOperand(1)) &&
           compare(a->getOperand(1), b->getOperand(0));
  }
  bool compareAll(ValueRange found, ValueRange wanted) const {
    return llvm::all_of(llvm::zip_equal(found, wanted), [&](auto pair) {
      return compare(std::get<0>(pair), std::get<1>(pair));
    });
  }
};
} // namespace

/// Whether the bias has an element for each position of the last dimensions.
static bool fitsBias(Value sums, Value bias) {
  auto type = cast<RankedTensorType>(sums.getType()),
       own = dyn_cast<RankedTensorType>(bias.getType());
  return own && own.getElementType() == type.getElementType() &&
         own.getRank() > 0 && own.getRank() <= type.getRank() &&
         own.getShape() == type.getShape().take_back(own.getRank());
}

std::optional<plan::Epilogue> epilogueOf(Value result, Value sums, Value bias) {
  if (bias && !fitsBias(sums, bias))
    return std::nullopt;
  bool isRounded = result.getType() != sums.getType();
  for (const EpilogueRow &row : kEpilogues) {
    if (plan::hasBias(row.epilogue) != static_cast<bool>(bias) ||
        (isRounded && !row.mayRound))
      continue;
    Block block;
    Location loc = result.getLoc();
    SameMeaning same;
    Value leaf = block.addArgument(sums.getType(), loc), biasLeaf;
    same.leaves[leaf] = sums;
    if (bias) {
      biasLeaf = block.addArgument(bias.getType(), loc);
      same.leaves[biasLeaf] = bias;
    }
    OpBuilder builder(result.getContext());
    builder.setInsertionPointToStart(&block);
    Value meaning = row.build(builder, loc, leaf, biasLeaf);
    if (isRounded)
      meaning = ConvertOp::create(builder, loc, result.getType(), meaning);
    if (same.compare(result, meaning))
      return row.epilogue;
  }
  return std::nullopt;
}

} // namespace weft
