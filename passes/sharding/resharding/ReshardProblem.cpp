//===- ReshardProblem.cpp - two layouts on their common refinement --------===//

#include "weft/passes/sharding/resharding/ReshardSteps.h"

#include "llvm/ADT/STLExtras.h"

using namespace weft;
using namespace weft::reshard;

using Cuts = llvm::SmallVector<int64_t, 6>;

/// The factors of an axis at which sub-axes of the lists begin and end.
static Cuts cutsOf(unsigned axis, llvm::ArrayRef<const Layout *> layouts) {
  Cuts cuts;
  auto add = [&](llvm::ArrayRef<SubAxis> axes) {
    for (const SubAxis &sub : axes)
      if (sub.axis == axis) {
        cuts.push_back(sub.skip);
        cuts.push_back(sub.skip * sub.size);
      }
  };
  for (const Layout *layout : layouts) {
    llvm::for_each(layout->dims, add);
    add(layout->partial);
  }
  llvm::sort(cuts);
  cuts.erase(llvm::unique(cuts), cuts.end());
  return cuts;
}

static bool isChain(llvm::ArrayRef<int64_t> cuts) {
  for (size_t i = 1; i < cuts.size(); ++i)
    if (cuts[i] % cuts[i - 1] != 0)
      return false;
  return true;
}

/// Cuts of an interval into equal primes, with its end: 2 and 4 for 1 to 4, and
/// 2, 4 and 8 for 1 to 8; none for 1 to 6, which has two ways.
static Cuts primePowerCuts(int64_t begin, int64_t end) {
  int64_t size = end / begin, prime = 2;
  while (size % prime != 0)
    ++prime;
  Cuts cuts;
  for (int64_t power = prime; size % power == 0; power *= prime)
    cuts.push_back(begin * power);
  return cuts.empty() || cuts.back() != end ? Cuts() : cuts;
}

/// Cuts all axes into primes, where there is one way, if that makes at most 4
/// digits.
static void cutThoroughly(const Mesh &mesh, llvm::SmallVectorImpl<Cuts> &cuts) {
  llvm::SmallVector<Cuts, 4> finer;
  size_t digits = 0;
  for (auto [axis, list] : llvm::zip_equal(mesh.axes, cuts)) {
    Cuts all = list;
    all.push_back(1);
    all.push_back(axis.size);
    llvm::sort(all);
    all.erase(llvm::unique(all), all.end());
    Cuts more = all;
    for (size_t i = 1; i < all.size(); ++i)
      more.append(primePowerCuts(all[i - 1], all[i]));
    llvm::sort(more);
    more.erase(llvm::unique(more), more.end());
    digits += more.size() - 1;
    finer.push_back(more);
  }
  if (digits <= 4)
    cuts.assign(finer.begin(), finer.end());
}

/// A list of sub-axes cut into digits. An axis that the two layouts cut in
/// incompatible ways keeps its sub-axes.
static SubAxes refine(llvm::ArrayRef<SubAxis> axes, llvm::ArrayRef<Cuts> cuts) {
  SubAxes digits;
  for (const SubAxis &sub : axes) {
    if (cuts[sub.axis].empty()) {
      digits.push_back(sub);
      continue;
    }
    int64_t begin = sub.skip, end = sub.skip * sub.size;
    for (int64_t cut : cuts[sub.axis])
      if (cut > begin && cut <= end) {
        digits.push_back({sub.axis, begin, cut / begin});
        begin = cut;
      }
    if (begin < end)
      digits.push_back({sub.axis, begin, end / begin});
  }
  return digits;
}

static uint8_t digitIndex(Problem &problem, const SubAxis &digit) {
  auto *found = llvm::find(problem.digits, digit);
  if (found == problem.digits.end()) {
    problem.digits.push_back(digit);
    return problem.digits.size() - 1;
  }
  return found - problem.digits.begin();
}

/// Enters the digits of one list into a state at `place`, until there are too
/// many.
static void enter(Problem &problem, State &state, uint8_t place,
                  llvm::ArrayRef<SubAxis> list) {
  for (auto [position, digit] : llvm::enumerate(list)) {
    uint8_t index = digitIndex(problem, digit);
    if (index >= maxDigits) {
      problem.tooManyDigits = true;
      return;
    }
    state.place[index] = place;
    state.order[index] = place < partialTo ? position : 0;
  }
}

/// The length of the common prefix of both lists, as long as its shards are
/// nested.
static unsigned frozenPrefix(int64_t n, llvm::ArrayRef<SubAxis> a,
                             llvm::ArrayRef<SubAxis> b) {
  if (a == b)
    return a.size();
  if (n % shardCount(a) != 0 || n % shardCount(b) != 0)
    return 0;
  unsigned length = 0;
  while (length < a.size() && length < b.size() && a[length] == b[length])
    ++length;
  return length;
}

static void enterPartial(Problem &problem, const SubAxes &from,
                         const SubAxes &to) {
  auto split = [&](const SubAxes &own, const SubAxes &other, State &state,
                   uint8_t place) {
    for (const SubAxis &digit : own)
      if (problem.kindsDiffer || !llvm::is_contained(other, digit))
        enter(problem, state, place, digit);
  };
  split(from, to, problem.source, partialFrom);
  split(to, from, problem.target, partialTo);
  for (const SubAxis &digit : from)
    if (!problem.kindsDiffer && llvm::is_contained(to, digit))
      problem.frozenPartial.push_back(digit);
}

/// Enters digits that neither layout uses: their devices hold copies and can
/// share the work. [(x,y),-] -> [y,x] on 2x2x2 takes one permute of everything,
/// or slices over z and moves half.
static void enterCopies(Problem &problem, llvm::ArrayRef<Cuts> cuts) {
  SubAxes taken(problem.frozenPartial);
  for (const SubAxes &list : problem.frozen)
    llvm::append_range(taken, list);
  for (unsigned axis = 0; axis < cuts.size(); ++axis) {
    SubAxes full{fullAxis(problem.mesh, axis)};
    if (full.front().size > 1)
      for (const SubAxis &digit : refine(full, cuts))
        if (llvm::none_of(
                llvm::concat<SubAxis>(taken, problem.digits),
                [&](const SubAxis &x) { return overlaps(x, digit); }) &&
            problem.digits.size() < maxDigits)
          problem.digits.push_back(digit);
  }
}

Problem::Problem(const Mesh &mesh, llvm::ArrayRef<int64_t> shape,
                 int64_t elementBytes, const Layout &source,
                 const Layout &target, bool thorough)
    : mesh(mesh), shape(shape), elementBytes(elementBytes),
      from(normalise(mesh, source)), to(normalise(mesh, target)) {
  llvm::SmallVector<Cuts, 4> cuts;
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis) {
    cuts.push_back(cutsOf(axis, {&from, &to}));
    if (!isChain(cuts.back())) {
      independent = false;
      cuts.back().clear();
    }
  }
  if (thorough && independent)
    cutThoroughly(mesh, cuts);
  kindsDiffer = from.isPartial() && to.isPartial() && from.reduce != to.reduce;
  for (unsigned dim = 0; dim < shape.size(); ++dim) {
    SubAxes a = refine(from.dims[dim], cuts), b = refine(to.dims[dim], cuts);
    unsigned common = frozenPrefix(shape[dim], a, b);
    frozen.push_back(SubAxes(a.begin(), a.begin() + common));
    frozenCount.push_back(shardCount(frozen.back()));
    enter(*this, this->source, dim, llvm::ArrayRef(a).drop_front(common));
    enter(*this, this->target, dim, llvm::ArrayRef(b).drop_front(common));
  }
  enterPartial(*this, refine(from.partial, cuts), refine(to.partial, cuts));
  if (tooManyDigits)
    return;
  if (thorough)
    enterCopies(*this, cuts);
  for (const SubAxis &digit : digits) {
    uint64_t mask = 0;
    for (auto [index, other] : llvm::enumerate(digits))
      if (digit != other && overlaps(digit, other))
        mask |= uint64_t(1) << index;
    conflicts.push_back(mask);
  }
}

Layout Problem::layout(const State &state) const {
  Layout result;
  result.dims = frozen;
  result.partial = frozenPartial;
  View view(*this, state);
  for (auto [dim, list] : llvm::enumerate(view.lists))
    for (uint8_t digit : list)
      result.dims[dim].push_back(digits[digit]);
  for (auto [index, digit] : llvm::enumerate(digits))
    if (state.place[index] == partialFrom || state.place[index] == partialTo)
      result.partial.push_back(digit);
  result.reduce = !kindsDiffer && from.isPartial() ? from.reduce
                  : kindsDiffer && !view.reduced   ? from.reduce
                                                   : to.reduce;
  return normalise(mesh, std::move(result));
}

View::View(const Problem &problem, const State &state)
    : lists(problem.rank()), counts(problem.frozenCount) {
  for (unsigned i = 0, e = problem.digits.size(); i < e; ++i) {
    uint8_t place = state.place[i];
    reduced &= place != partialFrom;
    if (place >= partialTo)
      continue;
    Digits &list = lists[place];
    if (list.size() <= state.order[i])
      list.resize(state.order[i] + 1);
    list[state.order[i]] = i;
    counts[place] *= problem.digits[i].size;
  }
  for (auto [n, count] : llvm::zip_equal(problem.shape, counts)) {
    local.push_back(shardSize(n, count));
    localElements *= local.back();
  }
}
