//===- AddBlocks.cpp - sums that change a block of an array alone ---------===//
//
//   for (%sum) {
//     %g = dynamic_update_slice %zeros, %u at %i
//     yield add %sum, %g                =>   %b = add (dynamic_slice %sum at %i), %u
//   }                                        yield dynamic_update_slice %sum, %b at %i
//
//   add (add (pad %a low 0), (pad %b low 2)), (pad %c low 4)
//                                       =>   concatenate %a + 0, %b + 0, %c + 0
//
// These are the gradients of what reads an array layer by layer. Each element of
// a block is added as before, the others are added to 0. That changes -0 alone:
// a carried sum must not have one, and blocks have none once 0 is added to them.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/sharding/RegionFlow.h"

#include "mlir/IR/Matchers.h"

namespace weft {
#define GEN_PASS_DEF_ADDBLOCKSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// A carried array has at least this many times the elements of a block: adding to
/// all of it is a sum of two operands, to the block one, a read and a write.
static constexpr int64_t kLeastTimes = 4;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Whether all elements are 0; for floats, -0 is not 0.
static bool isZeros(Value value) {
  DenseElementsAttr data;
  if (!value || !matchPattern(value, m_Constant(&data)) || !data.isSplat())
    return !value;
  Attribute splat = data.getSplatValue<Attribute>();
  if (auto number = dyn_cast<FloatAttr>(splat))
    return number.getValue().isPosZero();
  auto number = dyn_cast<IntegerAttr>(splat);
  return number && number.getValue().isZero();
}

static bool isNumber(Value value) {
  Type element = tensorOf(value).getElementType();
  return isa<FloatType>(element) || element.isIntOrIndex();
}

/// The op that makes the value by placing a block among zeros, for this use
/// alone.
static PlacesBlockOpInterface blockAmongZeros(Value value) {
  auto placed = value.getDefiningOp<PlacesBlockOpInterface>();
  return placed && value.hasOneUse() && isNumber(value) &&
                 placed.getPlacedBlock() && isZeros(placed.getAround())
             ? placed
             : PlacesBlockOpInterface();
}

//===----------------------------------------------------------------------===//
// Sums that loops carry
//===----------------------------------------------------------------------===//

namespace {
/// Shows that no element of a value is -0.
class NegativeZeros {
public:
  /// `known`: values without -0.
  explicit NegativeZeros(const RegionFlow &flow [[clang::lifetimebound]],
                         const llvm::SmallPtrSetImpl<Value> &known
                         [[clang::lifetimebound]])
      : flow(flow), known(known) {}

  /// What a loop carries lacks -0 if none enters the loop, and no round makes one
  /// of a value that has none. That is assumed of all loops at first, and again
  /// without those for which it turned out to be wrong.
  bool areAbsentFrom(Value value) {
    if (!isNumber(value))
      return false;
    for (;;) {
      size_t before = refuted.size();
      assumed.clear();
      steps = 0;
      bool result = lacks(value);
      if (refuted.size() == before)
        return result;
    }
  }

private:
  bool lacksAll(Value leader, ArrayRef<OpOperand *> sources) {
    if (refuted.contains(leader))
      return false;
    if (!assumed.insert(leader).second ||
        llvm::all_of(sources,
                     [&](OpOperand *source) { return lacks(source->get()); }))
      return true;
    refuted.insert(leader);
    return false;
  }
  bool lacks(Value value) {
    if (known.contains(value) || ++steps > kMostSteps)
      return steps <= kMostSteps;
    Value leader = flow.leader(value);
    if (ArrayRef<OpOperand *> sources = flow.sources(leader); !sources.empty())
      return lacksAll(leader, sources);
    Operation *def = value.getDefiningOp();
    if (tensorOf(value).getElementType().isIntOrIndex() ||
        (def && isZeros(value)))
      return true;
    if (!def)
      return false;
    if (isa<AddOp>(def)) // -0 is the sum of -0 and -0 only.
      return llvm::any_of(def->getOperands(),
                          [&](Value operand) { return lacks(operand); });
    if (auto placed = dyn_cast<PlacesBlockOpInterface>(def))
      return placed.getPlacedBlock() && lacks(placed.getPlacedBlock()) &&
             (isZeros(placed.getAround()) || lacks(placed.getAround()));
    return def->hasTrait<MovesElements>() && lacks(def->getOperand(0));
  }

  /// The most values that are looked at; with more, nothing is shown.
  static constexpr unsigned kMostSteps = 1000;

  const RegionFlow &flow;
  const llvm::SmallPtrSetImpl<Value> &known;
  llvm::SmallPtrSet<Value, 8> assumed, refuted; ///< leaders
  unsigned steps = 0;
};
} // namespace

namespace {
/// Replaces array + (zeros with a block), where a loop carries the array, by the
/// array with the sum of its block and that one.
class CarriedSums {
public:
  explicit CarriedSums(const RegionFlow &flow [[clang::lifetimebound]])
      : flow(flow) {}

  bool replace(AddOp sum) {
    for (unsigned operand : {1, 0}) {
      auto placed = blockAmongZeros(sum->getOperand(operand));
      Value array = sum->getOperand(1 - operand);
      if (!placed || array.getType() != sum.getType() ||
          tensorOf(placed.getPlacedBlock()).getNumElements() * kLeastTimes >
              tensorOf(array).getNumElements() ||
          !isCarried(array) || !NegativeZeros(flow, made).areAbsentFrom(array))
        continue;
      OpBuilder builder(sum);
      Value block = placed.readPlace(builder, array);
      Value added =
          AddOp::create(builder, sum.getLoc(), block, placed.getPlacedBlock());
      Value all = placed.writePlace(builder, array, added);
      made.insert(all);
      sum.replaceAllUsesWith(all);
      sum.erase();
      placed->erase();
      return true;
    }
    return false;
  }

private:
  /// Whether a loop carries the array, or it was made of such a one, and nothing
  /// else reads it: its memory can be that of the sum.
  bool isCarried(Value array) const {
    bool isOfLoop =
        isa<BlockArgument>(array) && !flow.sources(flow.leader(array)).empty();
    return array.hasOneUse() && (isOfLoop || made.contains(array));
  }

  const RegionFlow &flow;
  llvm::SmallPtrSet<Value, 8> made;
};
} // namespace

//===----------------------------------------------------------------------===//
// Sums of blocks side by side
//===----------------------------------------------------------------------===//

namespace {
/// The operands of a tree of sums that nothing else reads.
struct SumOfBlocks {
  SmallVector<PlacesBlockOpInterface> blocks; ///< among zeros
  SmallVector<Value> others;

  explicit SumOfBlocks(AddOp root) {
    SmallVector<Value> terms(root->getOperands());
    while (!terms.empty()) {
      Value value = terms.pop_back_val();
      auto sum = value.getDefiningOp<AddOp>();
      if (PlacesBlockOpInterface placed = blockAmongZeros(value);
          placed && placed.getPlace())
        blocks.push_back(placed);
      else if (sum && value.hasOneUse() && isOfOneType(sum))
        llvm::append_range(terms, sum->getOperands());
      else
        others.push_back(value);
    }
  }
  static bool isOfOneType(AddOp sum) {
    return llvm::all_of(sum->getOperandTypes(),
                        [&](Type type) { return type == sum.getType(); });
  }
};
} // namespace

/// The dimension along which the blocks lie one after the other, whole in the
/// other dimensions; sorts them.
static std::optional<unsigned>
dimOfBlocks(SmallVectorImpl<PlacesBlockOpInterface> &blocks,
            ArrayRef<int64_t> shape) {
  std::optional<unsigned> found;
  for (PlacesBlockOpInterface placed : blocks)
    for (auto [dim, size] :
         llvm::enumerate(tensorOf(placed.getPlacedBlock()).getShape()))
      if (size != shape[dim]) {
        if (found && *found != dim)
          return std::nullopt;
        found = dim;
      }
  if (!found)
    return std::nullopt;
  auto start = [&](PlacesBlockOpInterface placed) {
    return (*placed.getPlace())[*found];
  };
  llvm::stable_sort(blocks,
                    [&](auto a, auto b) { return start(a) < start(b); });
  for (auto [before, after] : llvm::zip(blocks, llvm::drop_begin(blocks)))
    if (start(before) + tensorOf(before.getPlacedBlock()).getDimSize(*found) >
        start(after))
      return std::nullopt;
  return found;
}

static Value zeros(OpBuilder &builder, Location loc, RankedTensorType type) {
  return ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(type, builder.getZeroAttr(type.getElementType())));
}

/// The sum of the blocks, one after the other along the dimension.
static Value joined(OpBuilder &builder, AddOp sum,
                    ArrayRef<PlacesBlockOpInterface> blocks, unsigned dim,
                    const RegionFlow &flow) {
  RankedTensorType type = tensorOf(sum);
  SmallVector<int64_t> shape(type.getShape());
  SmallVector<Value> parts;
  llvm::SmallPtrSet<Value, 1> none;
  int64_t end = 0;
  auto fillTo = [&](int64_t start) {
    shape[dim] = start - end;
    if (start > end)
      parts.push_back(zeros(builder, sum.getLoc(), type.clone(shape)));
  };
  for (PlacesBlockOpInterface placed : blocks) {
    fillTo((*placed.getPlace())[dim]);
    Value block = placed.getPlacedBlock();
    end = (*placed.getPlace())[dim] + tensorOf(block).getDimSize(dim);
    if (!NegativeZeros(flow, none).areAbsentFrom(block))
      block = AddOp::create(builder, placed.getLoc(), block,
                            zeros(builder, placed.getLoc(), tensorOf(block)));
    parts.push_back(block);
  }
  fillTo(type.getDimSize(dim));
  return ConcatenateOp::create(builder, sum.getLoc(), type, parts, dim);
}

static bool isTermOfSum(AddOp sum) {
  auto above = sum->hasOneUse() ? dyn_cast<AddOp>(*sum->user_begin()) : AddOp();
  return above && SumOfBlocks::isOfOneType(above);
}

/// Erases the op, and the sums and blocks that only it reads.
static void eraseUnused(Operation *root) {
  SmallVector<Operation *> unused{root};
  while (!unused.empty()) {
    Operation *op = unused.pop_back_val();
    SmallVector<Value> operands(op->getOperands());
    op->erase();
    for (Value operand : operands)
      if (Operation *def = operand.getDefiningOp();
          def && def->use_empty() && isa<AddOp, PlacesBlockOpInterface>(def))
        unused.push_back(def);
  }
}

/// Replaces a sum of blocks that lie one after the other, and of at most one
/// other value, so that no element is added in another order.
static bool joinBlocks(AddOp sum, const RegionFlow &flow) {
  SumOfBlocks terms(sum);
  if (terms.blocks.size() < 2 || terms.others.size() > 1)
    return false;
  auto dim = dimOfBlocks(terms.blocks, tensorOf(sum).getShape());
  if (!dim)
    return false;
  OpBuilder builder(sum);
  Value all = joined(builder, sum, terms.blocks, *dim, flow);
  if (!terms.others.empty())
    all = AddOp::create(builder, sum.getLoc(), terms.others.front(), all);
  sum.replaceAllUsesWith(all);
  eraseUnused(sum);
  return true;
}

namespace {
struct AddBlocksPass : weft::impl::AddBlocksPassBase<AddBlocksPass> {
  void runOnOperation() override {
    if (failed(verifyPartitioned(*this, getOperation())))
      return signalPassFailure();
    for (auto function : getOperation().getOps<func::FuncOp>()) {
      if (function.isExternal())
        continue;
      RegionFlow flow(function);
      SmallVector<AddOp> sums;
      function.walk([&](AddOp sum) {
        if (SumOfBlocks::isOfOneType(sum) && !isTermOfSum(sum))
          sums.push_back(sum);
      });
      for (AddOp sum : sums)
        numJoined += joinBlocks(sum, flow);
      CarriedSums carried(flow);
      function.walk([&](AddOp sum) { numCarried += carried.replace(sum); });
    }
  }
};
} // namespace
