//===- CommunicationChecks.cpp - arrays that fit a communication ----------===//

#include "weft/base/Text.h"
#include "weft/layout/Communication.h"

#include <algorithm>

using namespace weft;

static std::string text(int64_t number) { return std::to_string(number); }

static std::string text(std::span<const int64_t> shape) {
  return "[" + joined(shape, ", ") + "]";
}

static std::string text(ElementType type) {
  return std::string(factsOf(type).name);
}

/// "f32[4]".
static std::string text(const LocalArray &array) {
  return text(array.type) + text(array.shape);
}

namespace {
using Arrays = std::span<const LocalArray>;

/// The reason for each kind, or empty.
struct Checker {
  const GroupOver &group;
  Arrays sources, targets;

  std::string operator()(const Combination &its) const;
  std::string operator()(const Movement &its) const;
  std::string operator()(const Fetching &its) const;
  std::string operator()(const Sending &its) const;
  std::string operator()(const HostCall &its) const;

private:
  int64_t members() const { return shardCount(group.digits); }
  /// A reason, after the shapes of the first source and target.
  std::string mismatch(const std::string &reason) const {
    return "from " + text(sources[0].shape) + " to " + text(targets[0].shape) +
           " over " + text(members()) + " devices: " + reason;
  }
  std::string checkMoved(size_t count) const;
  std::string checkLaidOut(std::span<const int64_t> shape,
                           const Layout &layout) const;
  std::string checkBoxes(const Movement &its) const;
  /// Checks that source and target have the same rank, with `dim` in it, and the
  /// same sizes along other dimensions.
  std::string checkSizes(std::optional<int64_t> dim = std::nullopt) const;
  std::string notBlocks(int64_t dim) const {
    return mismatch("dimension " + text(dim) + " does not fit");
  }
};
} // namespace

static std::string checkReduction(ReduceKind kind, ElementType type) {
  if (kind > ReduceKind::Or)
    return "has the unknown reduction " + text(static_cast<int64_t>(kind));
  bool bitwise = kind == ReduceKind::And || kind == ReduceKind::Or;
  if (bitwise && isFloat(type))
    return "takes the bitwise reduction of " + text(type);
  if (factsOf(type).kind == ElementKind::Complex && !accumulates(kind))
    return "reduces " + text(type) + " by " +
           std::string(stringifyReduceKind(kind)) +
           ", which complex numbers do not have";
  return "";
}

/// Checks that there are `count` sources and one target, which is filled from
/// the first source and has its type.
std::string Checker::checkMoved(size_t count) const {
  if (sources.size() != count || targets.size() != 1)
    return "has " + text(static_cast<int64_t>(sources.size())) +
           " sources and " + text(static_cast<int64_t>(targets.size())) +
           " targets, not " + text(static_cast<int64_t>(count)) + " and 1";
  if (sources[0].type != targets[0].type)
    return "moves " + text(sources[0].type) + " to " + text(targets[0].type);
  return "";
}

std::string Checker::checkSizes(std::optional<int64_t> dim) const {
  const auto &source = sources[0].shape, &target = targets[0].shape;
  if (source.size() != target.size())
    return mismatch("ranks differ");
  auto rank = static_cast<int64_t>(source.size());
  if (dim && (*dim < 0 || *dim >= rank))
    return mismatch("dimension " + text(*dim) + " is out of the rank " +
                    text(rank));
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim &&
        source[static_cast<size_t>(d)] != target[static_cast<size_t>(d)])
      return notBlocks(d);
  return "";
}

std::string Checker::operator()(const Combination &its) const {
  if (its.dim) {
    if (std::string reason = checkMoved(1); !reason.empty())
      return reason;
    if (std::string reason = checkReduction(its.kind, sources[0].type);
        !reason.empty())
      return reason;
    if (std::string reason = checkSizes(*its.dim); !reason.empty())
      return reason;
    auto dim = static_cast<size_t>(*its.dim);
    bool fits =
        targets[0].shape[dim] == shardSize(sources[0].shape[dim], members());
    return fits ? "" : notBlocks(*its.dim);
  }
  if (sources.empty() || sources.size() != targets.size())
    return "has " + text(static_cast<int64_t>(sources.size())) +
           " sources and " + text(static_cast<int64_t>(targets.size())) +
           " targets";
  for (size_t n = 0; n < sources.size(); ++n) {
    if (sources[n].type != targets[n].type ||
        sources[n].shape != targets[n].shape)
      return "reduces " + text(sources[n]) + " to " + text(targets[n]);
    if (std::string reason = checkReduction(its.kind, sources[n].type);
        !reason.empty())
      return reason;
  }
  return "";
}

/// Whether every digit of the layout is one of the group's.
static bool isOfGroup(const Layout &layout, const GroupOver &group) {
  return std::ranges::all_of(layout.dims, [&](const SubAxes &dim) {
    return std::ranges::all_of(dim, [&](const SubAxis &digit) {
      return std::ranges::find(group.digits, digit) != group.digits.end();
    });
  });
}

/// Whether the group varies along every digit of the layout, perhaps as a part
/// of a larger digit.
static bool isWithinGroup(const Layout &layout, const GroupOver &group) {
  return std::ranges::all_of(layout.dims, [&](const SubAxes &dim) {
    return std::ranges::all_of(dim, [&](const SubAxis &digit) {
      return std::ranges::any_of(group.digits, [&](const SubAxis &of) {
        return of.axis == digit.axis && digit.skip % of.skip == 0 &&
               of.skip * of.size % (digit.skip * digit.size) == 0;
      });
    });
  });
}

std::string Checker::checkLaidOut(std::span<const int64_t> shape,
                                  const Layout &layout) const {
  for (int64_t n : shape)
    if (n < 0)
      return "has the negative dimension " + text(n);
  std::string reason = weft::invalidReason(group.mesh, layout,
                                           static_cast<int64_t>(shape.size()));
  if (!reason.empty())
    return "moves " + text(shape) + ": " + reason;
  return layout.isPartial() ? "moves a partial value; reduce it first" : "";
}

std::string Checker::checkBoxes(const Movement &its) const {
  if (its.isRing)
    return "is a ring of boxes";
  std::vector<std::vector<int64_t>> operands = {its.shape};
  bool areWithin =
      isWithinGroup(its.from, group) && isWithinGroup(its.to, group);
  for (const MovedSource &source : its.others) {
    operands.push_back(source.shape);
    areWithin &= isWithinGroup(source.layout, group);
  }
  if (!areWithin)
    return "moves boxes, but a layout has an axis that is none of the "
           "group's";
  std::string reason = weft::invalidReason(its.boxes, operands, its.toShape);
  return reason.empty() ? ""
                        : "moves " + text(its.shape) + " to " +
                              text(its.toShape) + ": " + reason;
}

std::string Checker::operator()(const Movement &its) const {
  if (std::string reason = checkMoved(1 + its.others.size()); !reason.empty())
    return reason;
  if (!its.others.empty() && its.boxes.empty())
    return "has " + text(static_cast<int64_t>(1 + its.others.size())) +
           " sources, but no boxes that they fill";
  std::vector<MovedSource> sides = {{its.shape, its.from}};
  sides.insert(sides.end(), its.others.begin(), its.others.end());
  std::span<const int64_t> to = its.targetShape();
  sides.push_back({{to.begin(), to.end()}, its.to});
  for (const MovedSource &side : sides) {
    if (std::string reason = checkLaidOut(side.shape, side.layout);
        !reason.empty())
      return reason;
    if (its.isRing && !isOfGroup(side.layout, group))
      return "is a ring, but a layout has an axis that is none of the group's";
  }
  if (!its.boxes.empty())
    if (std::string reason = checkBoxes(its); !reason.empty())
      return reason;
  std::string given, laidOut;
  bool fits = true;
  for (size_t n = 0; n < sides.size(); ++n) {
    const LocalArray &array = n < sources.size() ? sources[n] : targets[0];
    if (array.type != sources[0].type)
      return "moves " + text(sources[0].type) + " beside " + text(array.type);
    std::vector<int64_t> local = localShape(sides[n].layout, sides[n].shape);
    fits &= local == array.shape;
    const char *between = n == 0 ? "" : n < sources.size() ? ", " : " to ";
    given += between + text(array.shape);
    laidOut += between + text(local);
  }
  return fits ? "" : "moves " + given + ", its layouts " + laidOut;
}

std::string Checker::operator()(const Fetching &its) const {
  if (std::string reason = checkMoved(its.positions ? 1 : 2); !reason.empty())
    return reason;
  if (!its.positions) {
    const LocalArray &positions = sources[1];
    if (positions.type != ElementType::Int64 ||
        positions.shape != targets[0].shape)
      return "has the positions " + text(positions) +
             ", not an i64 for each of " + text(targets[0].shape);
    return checkSizes(its.dim);
  }
  const FetchedPositions &at = *its.positions;
  if (at.size < 0 || at.divisor < 1 || at.modulus < 0)
    return "fetches of " + text(at.size) + " with divisor " + text(at.divisor) +
           " modulus " + text(at.modulus) +
           "; size and modulus are not negative, the divisor is 1 at least";
  if (std::string reason = checkSizes(its.dim); !reason.empty())
    return reason;
  bool areBlocks = sources[0].shape[static_cast<size_t>(its.dim)] ==
                   shardSize(at.size, members());
  return areBlocks ? "" : notBlocks(its.dim);
}

std::string Checker::operator()(const Sending &its) const {
  if (std::string reason = checkMoved(1); !reason.empty())
    return reason;
  int64_t count = members();
  bool fits = static_cast<int64_t>(its.senders.size()) == count;
  for (int64_t sender : its.senders)
    fits &= sender >= -1 && sender < count;
  if (!fits)
    return "has senders " + text(its.senders) + ", not one of " + text(count) +
           " members for each";
  return checkSizes();
}

std::string Checker::operator()(const HostCall &its) const {
  if (its.function >= 0 && sources.size() + targets.size() > 0)
    return "";
  return "calls function " + text(its.function) + " with " +
         text(static_cast<int64_t>(sources.size())) + " operands and " +
         text(static_cast<int64_t>(targets.size())) + " results";
}

std::string weft::invalidReason(const Communication &communication,
                                const GroupOver &group,
                                std::span<const LocalArray> sources,
                                std::span<const LocalArray> targets) {
  return std::visit(Checker{group, sources, targets}, communication);
}
