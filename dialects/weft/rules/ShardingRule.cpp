//===- ShardingRule.cpp - the sharding rule of an op ----------------------===//

#include "weft/dialects/weft/rules/ShardingRule.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/raw_ostream.h"

#include <numeric>

using namespace weft;

static constexpr llvm::StringLiteral factorKinds[] = {
    "pass",   "position", "reduce", "window",    "shift",
    "lookup", "scan",     "select", "replicated"};

llvm::StringRef weft::stringifyFactorKind(FactorKind kind) {
  return factorKinds[static_cast<unsigned>(kind)];
}

std::optional<ReduceKind> weft::passedReduction(Linearity linearity,
                                                ReduceKind kind) {
  bool extreme = kind == ReduceKind::Max || kind == ReduceKind::Min;
  if (has(linearity, Linearity::Moving) ||
      (extreme && has(linearity, Linearity::Rising)) ||
      (kind == ReduceKind::Sum &&
       has(linearity, Linearity::Linear | Linearity::JointlyLinear)))
    return kind;
  if (extreme && has(linearity, Linearity::Falling))
    return kind == ReduceKind::Max ? ReduceKind::Min : ReduceKind::Max;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Building rules
//===----------------------------------------------------------------------===//

ShardingRule weft::elementwiseRule(llvm::ArrayRef<int64_t> shape,
                                   llvm::ArrayRef<int64_t> operandRanks,
                                   unsigned numResults) {
  ShardingRule rule;
  TensorFactors all;
  for (auto [dim, size] : llvm::enumerate(shape)) {
    rule.factors.push_back({size, FactorKind::Pass});
    all.push_back({static_cast<unsigned>(dim)});
  }
  for (int64_t rank : operandRanks)
    rule.operands.push_back(rank == 0 ? TensorFactors() : all);
  rule.results.assign(numResults, all);
  return rule;
}

namespace {
/// One side of a reshape, read major to minor, with the undivided rest of the
/// dimension under the cursor.
struct ReshapeSide {
  llvm::ArrayRef<int64_t> shape;
  TensorFactors factors;
  unsigned dim = 0;
  int64_t left = 1;

  explicit ReshapeSide(llvm::ArrayRef<int64_t> shape)
      : shape(shape), factors(shape.size()) {
    left = shape.empty() ? 1 : shape[0];
    skipUsedUp();
  }
  bool done() const { return dim == shape.size(); }
  void skipUsedUp() {
    while (!done() && left == 1)
      if (++dim < shape.size())
        left = shape[dim];
  }
  void take(unsigned factor, int64_t size) {
    factors[dim].push_back(factor);
    left /= size;
    skipUsedUp();
  }
  /// Appends the next dimension to a block that does not align.
  int64_t swallow() {
    int64_t size = left;
    left = 1;
    skipUsedUp();
    return size;
  }
};
} // namespace

/// Adds one factor for the shortest unaligned block; it shards the block's
/// first dimension on either side.
static void takeBlock(ShardingRule &rule, ReshapeSide &a, ReshapeSide &b) {
  unsigned factor = rule.factors.size();
  a.factors[a.dim].push_back(factor);
  b.factors[b.dim].push_back(factor);
  bool alone = a.factors[a.dim].size() == 1 && b.factors[b.dim].size() == 1;
  int64_t first = a.left, second = b.left;
  int64_t left = a.swallow(), right = b.swallow();
  while (left != right && !(a.done() && b.done())) {
    if ((left < right && !a.done()) || b.done())
      left *= a.swallow();
    else
      right *= b.swallow();
  }
  rule.factors.push_back({left, FactorKind::Shift});
  if (!alone)
    return; // A minor factor of a dimension stays replicated.
  PositionMap map{0, 0, factor};
  map.operandUnit = left / first;
  map.resultUnit = left / second;
  rule.positions.push_back(map);
}

ShardingRule weft::reshapeRule(llvm::ArrayRef<int64_t> from,
                               llvm::ArrayRef<int64_t> to) {
  ShardingRule rule;
  ReshapeSide a(from), b(to);
  bool empty = llvm::is_contained(from, 0) || llvm::is_contained(to, 0);
  while (!empty && !a.done() && !b.done()) {
    int64_t common = std::gcd(a.left, b.left);
    if (common == 1) {
      takeBlock(rule, a, b);
      continue;
    }
    unsigned factor = rule.factors.size();
    rule.factors.push_back({common, FactorKind::Pass});
    a.take(factor, common);
    b.take(factor, common);
  }
  rule.operands.push_back(std::move(a.factors));
  rule.results.push_back(std::move(b.factors));
  rule.linearity.push_back(Linearity::Moving);
  return rule;
}

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

/// i, j, ..., z, i_1, j_1, ...
static std::string factorName(unsigned factor) {
  constexpr unsigned letters = 'z' - 'i' + 1;
  std::string name(1, static_cast<char>('i' + factor % letters));
  return factor < letters ? name
                          : name + "_" + std::to_string(factor / letters);
}

static void printTensors(llvm::raw_ostream &os,
                         llvm::ArrayRef<TensorFactors> tensors) {
  os << '(';
  llvm::interleaveComma(tensors, os, [&](const TensorFactors &tensor) {
    os << '[';
    llvm::interleaveComma(tensor, os, [&](const DimFactors &dim) {
      if (dim.empty())
        os << '-';
      for (unsigned factor : dim)
        os << factorName(factor);
    });
    os << ']';
  });
  os << ')';
}

/// Prints " reduce={k}" for every kind but pass, " reduce=max{k}" for other
/// combiners.
static void printKinds(llvm::raw_ostream &os, const ShardingRule &rule) {
  for (unsigned kind = 1; kind < std::size(factorKinds); ++kind)
    for (unsigned reduce = 0; reduce <= unsigned(ReduceKind::Or); ++reduce) {
      llvm::SmallVector<unsigned> chosen;
      for (auto [index, factor] : llvm::enumerate(rule.factors))
        if (unsigned(factor.kind) == kind && unsigned(factor.reduce) == reduce)
          chosen.push_back(index);
      if (chosen.empty())
        continue;
      os << ' ' << factorKinds[kind] << '=';
      if (reduce != 0)
        os << stringifyReduceKind(static_cast<ReduceKind>(reduce));
      os << '{';
      llvm::interleaveComma(chosen, os,
                            [&](unsigned f) { os << factorName(f); });
      os << '}';
    }
}

std::string weft::toString(const ShardingRule &rule) {
  std::string text;
  llvm::raw_string_ostream os(text);
  printTensors(os, rule.operands);
  os << " -> ";
  printTensors(os, rule.results);
  os << " {";
  llvm::interleaveComma(
      llvm::enumerate(rule.factors), os, [&](const auto &entry) {
        os << factorName(entry.index()) << '=' << entry.value().size;
      });
  os << '}';
  printKinds(os, rule);
  return text;
}

//===----------------------------------------------------------------------===//
// Checking
//===----------------------------------------------------------------------===//

/// Whether the factor's size may differ between operand and result: in windows,
/// shifts and selections, and for Replicated, which is not sharded.
static bool hasFreeSize(FactorKind kind) {
  return kind == FactorKind::Window || kind == FactorKind::Shift ||
         kind == FactorKind::Select || kind == FactorKind::Replicated;
}

static std::string invalidDim(const ShardingRule &rule, const DimFactors &dim,
                              int64_t size) {
  int64_t product = 1;
  bool free = dim.empty();
  for (unsigned factor : dim) {
    if (factor >= rule.factors.size())
      return "factor " + std::to_string(factor) + " does not exist, the rule " +
             "has " + std::to_string(rule.factors.size());
    free |= hasFreeSize(rule.factors[factor].kind) ||
            llvm::any_of(rule.positions, [&](const PositionMap &map) {
              return map.factor == factor;
            });
    product *= rule.factors[factor].size;
  }
  if (!free && product != size)
    return "has size " + std::to_string(size) + ", its factors " +
           std::to_string(product);
  return {};
}

static std::string
invalidTensors(const ShardingRule &rule, llvm::StringRef what,
               llvm::ArrayRef<TensorFactors> tensors,
               llvm::ArrayRef<llvm::ArrayRef<int64_t>> shapes) {
  if (tensors.size() != shapes.size())
    return ("rule has " + llvm::Twine(tensors.size()) + " " + what +
            "s, the op " + llvm::Twine(shapes.size()))
        .str();
  for (auto [index, tensor] : llvm::enumerate(tensors)) {
    std::string text = (what + " " + llvm::Twine(index)).str();
    llvm::ArrayRef<int64_t> shape = shapes[index];
    if (tensor.size() != shape.size())
      return text + " has rank " + std::to_string(shape.size()) +
             ", the rule describes " + std::to_string(tensor.size()) +
             " dimensions";
    for (auto [dim, factors] : llvm::enumerate(tensor))
      if (std::string why = invalidDim(rule, factors, shape[dim]); !why.empty())
        return text + " dimension " + std::to_string(dim) + ": " + why;
  }
  return {};
}

std::string
weft::invalidReason(const ShardingRule &rule,
                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> operands,
                    llvm::ArrayRef<llvm::ArrayRef<int64_t>> results) {
  std::string why = invalidTensors(rule, "operand", rule.operands, operands);
  if (why.empty())
    why = invalidTensors(rule, "result", rule.results, results);
  if (!why.empty())
    return why;
  for (unsigned init : rule.inits)
    if (init >= operands.size())
      return "init " + std::to_string(init) + " is no operand, the op has " +
             std::to_string(operands.size());
  if (!rule.linearity.empty() && rule.linearity.size() != operands.size())
    return "rule has " + std::to_string(rule.linearity.size()) +
           " linearities, the op " + std::to_string(operands.size()) +
           " operands";
  return {};
}

//===----------------------------------------------------------------------===//
// Projection
//===----------------------------------------------------------------------===//

/// Splits off the major part of `axes` that divides `size`: the longest prefix
/// of digits, the last one cut by the greatest common divisor. Returns that
/// part; leaves the other axes in `axes` and the undivided rest of the size in
/// `size`.
static SubAxes takeDividing(SubAxes &axes, int64_t &size) {
  SubAxes taken;
  while (!axes.empty() && size > 1) {
    SubAxis &first = axes.front();
    int64_t common = std::gcd(first.size, size);
    if (common == 1)
      break;
    taken.push_back({first.axis, first.skip, common});
    size /= common;
    if (common == first.size) {
      axes.erase(axes.begin());
      continue;
    }
    first.skip *= common;
    first.size /= common;
    break;
  }
  return taken;
}

FactorShardings weft::projectToFactors(const Mesh &mesh,
                                       const ShardingRule &rule,
                                       const TensorFactors &tensor,
                                       const Layout &layout) {
  FactorShardings result;
  result.axes.resize(rule.factors.size());
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    SubAxes rest = normalise(mesh, layout.dims[dim]);
    for (auto [index, factor] : llvm::enumerate(factors)) {
      const Factor &info = rule.factors[factor];
      bool last = index + 1 == factors.size();
      bool any =
          factors.size() == 1 || (last && info.kind == FactorKind::Shift);
      int64_t size = info.size;
      SubAxes axes = any ? rest : takeDividing(rest, size);
      if (any)
        rest.clear();
      // A factor in two dimensions can have the axes of only one of these.
      if (!result.axes[factor].empty() && !(result.axes[factor] == axes))
        result.exact = false;
      else
        result.axes[factor] = normalise(mesh, axes);
      if (rest.empty() || (!any && size > 1))
        break;
    }
    result.exact &= rest.empty();
  }
  return result;
}

Layout weft::projectToTensor(const Mesh &mesh, const ShardingRule &rule,
                             const TensorFactors &tensor,
                             llvm::ArrayRef<SubAxes> axes) {
  Layout layout = Layout::replicated(tensor.size());
  for (auto [dim, factors] : llvm::enumerate(tensor)) {
    SubAxes &out = layout.dims[dim];
    for (auto [index, factor] : llvm::enumerate(factors)) {
      const Factor &info = rule.factors[factor];
      bool last = index + 1 == factors.size();
      SubAxes rest = axes[factor];
      int64_t size = info.size;
      if (factors.size() == 1 || (last && info.kind == FactorKind::Shift)) {
        llvm::append_range(out, rest);
        break;
      }
      llvm::append_range(out, takeDividing(rest, size));
      if (!rest.empty() || size > 1)
        break;
    }
    out = normalise(mesh, out);
  }
  return layout;
}
