//===- ChooseSharding.cpp - the sharding of one op, and its price ---------===//

#include "weft/passes/sharding/propagation/ChooseSharding.h"

#include "weft/base/Saturating.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/layout/FetchTraffic.h"
#include "weft/passes/sharding/FetchedOperands.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/STLExtras.h"

#include <cmath>
#include <numeric>

using namespace weft;
using namespace mlir;

//===----------------------------------------------------------------------===//
// Price
//===----------------------------------------------------------------------===//

int64_t ShardingPrices::positionsSent(const FetchedRange &range, int64_t size,
                                      int64_t shards) {
  FetchedPositions fetched{size,         range.block,   range.step,
                           range.offset, range.divisor, range.modulus};
  auto [known, fresh] =
      sent.try_emplace({size, range.block, range.step, range.offset,
                        range.divisor, range.modulus, range.count, shards});
  if (fresh)
    known->second = mostPositionsSent(fetched, shards, range.count);
  return known->second;
}

/// The size of the dimension whose positions the map maps: of the result, as a
/// slice is smaller than its factor, unless the factor is reduced.
static int64_t positionsWanted(const OpWithRule &op, const PositionMap &map) {
  const Factor &factor = op.rule.factors[map.factor];
  const TensorFactors &result = op.rule.results[map.result];
  auto dim = llvm::find(result, DimFactors{map.factor});
  if (map.operandUnit != 0 || factor.kind == FactorKind::Reduce ||
      dim == result.end())
    return factor.size;
  Value value = op.value(op.numOperands() + map.result);
  return cast<RankedTensorType>(value.getType())
      .getDimSize(dim - result.begin());
}

std::vector<OperandFetch> ShardingPrices::fetches(const OpWithRule &op,
                                                  const OpSharding &sharding) {
  std::vector<OperandFetch> all;
  for (const PositionMap &map : op.rule.positions) {
    const SubAxes &over = sharding.axes[map.factor];
    int64_t shards = shardCount(over);
    if (shards == 1 || !isFetchedBefore(op.rule, map))
      continue;
    auto type = cast<RankedTensorType>(op.value(map.operand).getType());
    auto local = localShape(sharding.operands[map.operand], type.getShape());
    int64_t bytes = bytesOf(type.getElementType());
    OperandFetch &fetch = all.emplace_back();
    fetch.operand = map.operand;
    for (auto [dim, factors] : llvm::enumerate(op.factors(map.operand))) {
      if (factors != DimFactors{map.factor}) {
        bytes *= local[dim];
        continue;
      }
      int64_t size = type.getDimSize(dim);
      FetchedRange range = fetchedRange(map, op.rule.factors[map.factor].kind,
                                        size, positionsWanted(op, map), shards);
      bytes *= positionsSent(range, size, shards);
      fetch.positions = {int64_t(dim),  size,         range.block,
                         range.step,    range.offset, range.divisor,
                         range.modulus, range.count};
    }
    for (const SubAxis &axis : over)
      fetch.positions.insert(fetch.positions.end(),
                             {int64_t(axis.axis), axis.skip, axis.size});
    fetch.price = Price::of(slowestLink(mesh, over), bytes);
  }
  return all;
}

/// Whether an op reads one block along the factor, at a start that is known when
/// the program runs: a row of a stack takes as long as the row. (Rows that many
/// indices name are counted with their table.)
static bool isReadAtOnePlace(const ShardingRule &rule, unsigned factor) {
  auto has = [&](const TensorFactors &dims) {
    return llvm::any_of(dims, [&](const DimFactors &dim) {
      return llvm::is_contained(dim, factor);
    });
  };
  auto isScalar = [](const TensorFactors &dims) { return dims.empty(); };
  return rule.factors[factor].kind == FactorKind::Lookup &&
         llvm::none_of(rule.results, has) &&
         llvm::count_if(rule.operands, isScalar) + 1 ==
             int64_t(rule.operands.size());
}

/// The time of one device's loops.
Price ShardingPrices::work(const OpWithRule &op,
                           const OpSharding &sharding) const {
  double iterations = 1;
  for (auto [index, factor] : llvm::enumerate(op.rule.factors)) {
    if (isReadAtOnePlace(op.rule, index))
      continue;
    int64_t shards = shardCount(sharding.axes[index]);
    iterations *= double(shardSize(factor.size, shards));
  }
  return {femtoseconds(iterations / iterationsPerSecond), 0, 0};
}

Price ShardingPrices::workOfOne(const OpWithRule &op) const {
  Price total;
  for (const OpWithRule &piece : op.pieces()) {
    OpSharding whole;
    whole.axes.resize(piece.rule.factors.size());
    total = total + work(piece, whole);
  }
  return total;
}

Price OpPrice::total() const {
  return std::accumulate(operands.begin(), operands.end(),
                         rest + work + results);
}

OpPrice ShardingPrices::of(const OpWithRule &op, const OpSharding &sharding,
                           const TensorLayouts &layouts) {
  if (!op.parts.empty())
    return ofParts(op, sharding, layouts);
  OpPrice price;
  price.rest = reshards.sending(op, sharding) + messages.of(op, sharding);
  for (const OperandFetch &fetch : fetches(op, sharding))
    price.rest = price.rest + fetch.price;
  price.work = work(op, sharding);
  unsigned operands = op.numOperands();
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    Value value = op.value(tensor);
    const Layout *layout = layouts[tensor];
    if (op.isOperand(tensor))
      price.operands.push_back(
          layout ? move(value, *layout, sharding.operands[tensor]) : Price());
    else if (layout)
      price.results = price.results +
                      move(value, sharding.results[tensor - operands], *layout);
  }
  return price;
}

Price weft::workBeside(const Price &work, const Price &other) {
  constexpr int64_t kTie = 1024;
  return {saturatingAdd(std::max<int64_t>(work.moving - other.moving, 0),
                        work.moving / kTie),
          0, 0};
}

OpSharding weft::shareOf(const OpWithRule &part, const OpWithRule &op,
                         const OpSharding &sharding) {
  OpSharding share;
  for (unsigned factor : part.factorNumbers)
    share.axes.push_back(sharding.axes[factor]);
  for (unsigned tensor = 0; tensor < part.numTensors(); ++tensor) {
    unsigned number = part.numberInOp(tensor);
    if (op.isOperand(number))
      share.operands.push_back(sharding.operands[number]);
    else
      share.results.push_back(sharding.results[number - op.numOperands()]);
  }
  return share;
}

void weft::enterShare(const OpWithRule &part, const OpWithRule &op,
                      const OpSharding &share, OpSharding &sharding) {
  for (auto [factor, list] : llvm::enumerate(share.axes))
    sharding.axes[part.factorNumbers[factor]] = list;
  for (unsigned tensor = 0; tensor < part.numTensors(); ++tensor) {
    unsigned number = part.numberInOp(tensor);
    if (op.isOperand(number))
      sharding.operands[number] = share.operands[tensor];
    else
      sharding.results[number - op.numOperands()] =
          share.results[tensor - part.numOperands()];
  }
}

OpPrice ShardingPrices::ofParts(const OpWithRule &op,
                                const OpSharding &sharding,
                                const TensorLayouts &layouts) {
  OpPrice price;
  price.operands.resize(op.numOperands());
  for (const OpWithRule &part : op.parts) {
    OpPrice one =
        of(part, shareOf(part, op, sharding), layoutsOf(part, layouts));
    price.rest = price.rest + one.rest;
    price.work = price.work + one.work;
    price.results = price.results + one.results;
    for (auto [operand, cost] : llvm::enumerate(one.operands))
      price.operands[part.numberInOp(operand)] = cost;
  }
  return price;
}

//===----------------------------------------------------------------------===//
// Choice
//===----------------------------------------------------------------------===//

/// The sharding of an op without axes: all operands and results are replicated.
static OpSharding replicatedSharding(const OpWithRule &op) {
  OpSharding sharding;
  sharding.axes.resize(op.rule.factors.size());
  auto replicated = [&](const TensorFactors &factors) {
    Layout layout = Layout::replicated(factors.size());
    layout.part = op.place;
    return layout;
  };
  for (const TensorFactors &factors : op.rule.operands)
    sharding.operands.push_back(replicated(factors));
  for (const TensorFactors &factors : op.rule.results)
    sharding.results.push_back(replicated(factors));
  return sharding;
}

namespace {
/// The axes of the factors of one tensor; `has` is true for these factors.
struct Proposal {
  FactorAxes axes;
  llvm::SmallVector<bool, 8> has;
  bool operator==(const Proposal &) const = default;
};
} // namespace

static std::vector<Proposal> listProposals(const Mesh &mesh,
                                           const OpWithRule &op,
                                           const TensorLayouts &layouts) {
  std::vector<Proposal> proposals;
  for (unsigned tensor = 0; tensor < op.numTensors(); ++tensor) {
    if (!layouts[tensor])
      continue;
    Proposal proposal{op.project(mesh, tensor, *layouts[tensor]), {}};
    proposal.has.resize(op.rule.factors.size());
    for (const DimFactors &dim : op.factors(tensor))
      for (unsigned factor : dim)
        proposal.has[factor] = true;
    // Equal proposals of several tensors are kept once, as each proposal leads
    // once.
    if (!llvm::is_contained(proposals, proposal))
      proposals.push_back(std::move(proposal));
  }
  return proposals;
}

/// The leader's axes, merged with those of the other proposals. A factor of
/// kind Pass that the leader has keeps the leader's axes, even if there are
/// none. Other kinds leave sums, which later ops may add up for the price of
/// one, so that the price of a single op says little about them.
static FactorAxes exactly(const OpWithRule &op, const Proposal &leader,
                          llvm::ArrayRef<Proposal> proposals) {
  FactorAxes axes = leader.axes;
  for (const Proposal &proposal : proposals) {
    FactorAxes more = proposal.axes;
    for (auto [factor, list] : llvm::enumerate(more))
      if (leader.has[factor] &&
          op.rule.factors[factor].kind == FactorKind::Pass)
        list.clear();
    mergeInto(op, axes, more);
  }
  return axes;
}

static std::vector<FactorAxes>
listCandidates(const OpWithRule &op, llvm::ArrayRef<Proposal> proposals,
               bool &conflict) {
  std::vector<FactorAxes> candidates;
  auto add = [&](FactorAxes axes) {
    if (!llvm::is_contained(candidates, axes))
      candidates.push_back(std::move(axes));
  };
  conflict = false;
  for (const Proposal &leader : proposals) {
    FactorAxes axes = leader.axes;
    for (const Proposal &proposal : proposals)
      conflict |= !mergeInto(op, axes, proposal.axes);
    add(std::move(axes));
  }
  for (const Proposal &leader : proposals)
    add(exactly(op, leader, proposals));
  if (candidates.empty())
    candidates.emplace_back(op.rule.factors.size());
  return candidates;
}

std::vector<FactorAxes> weft::listCandidates(const Mesh &mesh,
                                             const OpWithRule &op,
                                             const TensorLayouts &layouts,
                                             bool &conflict) {
  return ::listCandidates(op, listProposals(mesh, op, layouts), conflict);
}

/// Variants of the candidates without sums over factors for which a tensor has
/// other axes: the other tensors are gathered.
static std::vector<FactorAxes>
listWithoutSums(const OpWithRule &op, llvm::ArrayRef<Proposal> proposals,
                llvm::ArrayRef<FactorAxes> candidates) {
  auto isSplitOtherwise = [&](unsigned factor, const SubAxes &list) {
    return llvm::any_of(proposals, [&](const Proposal &proposal) {
      return proposal.has[factor] && proposal.axes[factor] != list;
    });
  };
  std::vector<FactorAxes> more;
  for (FactorAxes axes : candidates) {
    for (auto [factor, list] : llvm::enumerate(axes))
      if (op.rule.factors[factor].kind != FactorKind::Pass &&
          isSplitOtherwise(factor, list))
        list.clear();
    if (!llvm::is_contained(candidates, axes) &&
        !llvm::is_contained(more, axes))
      more.push_back(std::move(axes));
  }
  return more;
}

/// Whether the value may be a sum over devices. A function's arguments are not,
/// nor values computed from them without a reduced factor.
static bool mayBeSum(Value value, unsigned depth = 4) {
  Operation *def = value.getDefiningOp();
  if (!def)
    return !isa<func::FuncOp>(value.getParentRegion()->getParentOp());
  auto ruled = dyn_cast<ShardingRuleOpInterface>(def);
  if (!ruled || depth == 0)
    return true;
  ShardingRule rule = ruled.getShardingRule();
  auto leavesSums = [](const Factor &factor) {
    return factor.kind == FactorKind::Reduce ||
           factor.kind == FactorKind::Lookup;
  };
  if (llvm::any_of(rule.factors, leavesSums))
    return true;
  auto passes = [&](OpOperand &operand) {
    unsigned index = operand.getOperandNumber();
    return index < rule.linearity.size() &&
           passedReduction(rule.linearity[index], ReduceKind::Sum) &&
           mayBeSum(operand.get(), depth - 1);
  };
  return llvm::any_of(def->getOpOperands(), passes);
}

/// Whether an op may add the value to another sum, directly or after ops that
/// are linear in the value alone, so that two sums over devices become one.
static bool isAddedUp(Value value, unsigned depth = 4) {
  auto adds = [&](OpOperand &use) {
    Operation *user = use.getOwner();
    auto ruled = dyn_cast<ShardingRuleOpInterface>(user);
    if (!ruled || depth == 0)
      return false;
    auto linearity = ruled.getShardingRule().linearity;
    auto isLinear = [&](unsigned operand, Linearity kind) {
      return operand < linearity.size() && has(linearity[operand], kind);
    };
    auto isAdded = [&](OpOperand &other) {
      return other != use && mayBeSum(other.get()) &&
             isLinear(other.getOperandNumber(), Linearity::JointlyLinear);
    };
    unsigned operand = use.getOperandNumber();
    bool isJoint = isLinear(operand, Linearity::JointlyLinear);
    if (isJoint && llvm::any_of(user->getOpOperands(), isAdded))
      return true;
    bool isAlone = isJoint || user->getNumOperands() == 1;
    return isAlone &&
           isLinear(operand, Linearity::Linear | Linearity::JointlyLinear) &&
           isAddedUp(user->getResult(0), depth - 1);
  };
  return llvm::any_of(value.getUses(), adds);
}

/// Whether the op adds sums, or a later op adds the op's sums to others.
static bool addsUp(const OpWithRule &op) {
  auto adds = [](Linearity linearity) {
    return has(linearity, Linearity::JointlyLinear);
  };
  auto results = llvm::seq(op.numOperands(), op.numTensors());
  return llvm::any_of(op.rule.linearity, adds) ||
         llvm::any_of(results, [&](unsigned result) {
           return isAddedUp(op.value(result));
         });
}

/// Chooses the sharding of each part.
static OpSharding chooseParts(const Mesh &mesh, const OpWithRule &op,
                              const TensorLayouts &layouts,
                              ShardingPrices &prices, bool &conflict) {
  OpSharding sharding = replicatedSharding(op);
  conflict = false;
  for (const OpWithRule &part : op.parts) {
    bool inConflict = false;
    enterShare(part, op,
               chooseSharding(mesh, part, layoutsOf(part, layouts), prices,
                              inConflict),
               sharding);
    conflict |= inConflict;
  }
  return sharding;
}

OpSharding weft::chooseSharding(const Mesh &mesh, const OpWithRule &op,
                                const TensorLayouts &layouts,
                                ShardingPrices &prices, bool &conflict) {
  if (nothingSplit(layouts)) {
    conflict = false;
    return replicatedSharding(op);
  }
  if (!op.parts.empty())
    return chooseParts(mesh, op, layouts, prices, conflict);
  std::vector<Proposal> proposals = listProposals(mesh, op, layouts);
  auto candidates = ::listCandidates(op, proposals, conflict);
  auto withoutSums = listWithoutSums(op, proposals, candidates);
  if (candidates.size() + withoutSums.size() == 1)
    return applyAxes(mesh, op, candidates.front());
  std::optional<Price> least;
  OpSharding best;
  Price sums;
  auto consider = [&](const FactorAxes &axes) {
    OpSharding next = applyAxes(mesh, op, axes);
    OpPrice price = prices.of(op, next, layouts);
    if (least && !movesLess(price.total(), *least))
      return;
    least = price.total();
    sums = price.results;
    best = std::move(next);
  };
  for (const FactorAxes &axes : candidates)
    consider(axes);
  // A sum that is added to another costs half, as the two are reduced for the
  // price of one.
  if (!withoutSums.empty() && addsUp(op))
    least = *least - Price{sums.moving / 2, sums.waiting / 2, 0};
  for (const FactorAxes &axes : withoutSums)
    consider(axes);
  return best;
}
