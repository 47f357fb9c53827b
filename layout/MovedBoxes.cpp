//===- MovedBoxes.cpp - what an op that moves elements moves --------------===//

#include "weft/layout/MovedBoxes.h"

#include "weft/base/Text.h"
#include "weft/layout/Sizes.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

using namespace weft;

MovedBox MovedBox::all(int64_t operand, std::span<const int64_t> shape) {
  MovedBox box;
  box.operand = operand;
  box.start.assign(shape.size(), 0);
  box.count.assign(shape.begin(), shape.end());
  box.step.assign(shape.size(), 1);
  box.dim.resize(shape.size());
  std::iota(box.dim.begin(), box.dim.end(), 0);
  box.offset = box.start;
  box.stride = box.step;
  return box;
}

bool MovedBox::keepsPositions() const {
  if (dim.size() != start.size())
    return false;
  for (size_t d = 0; d < dim.size(); ++d)
    if (dim[d] != int64_t(d) || offset[d] != start[d] ||
        (count[d] > 1 && stride[d] != step[d]))
      return false;
  return true;
}

int64_t MovedBox::elements() const {
  int64_t product = 1;
  for (int64_t n : count)
    product = saturatingMultiply(product, n);
  return product;
}

int64_t MovedBox::elementsRead() const {
  int64_t product = 1;
  for (size_t d = 0; d < dim.size(); ++d)
    if (dim[d] >= 0 && stride[d] != 0)
      product = saturatingMultiply(product, count[size_t(dim[d])]);
  return elements() == 0 ? 0 : product;
}

static int64_t floorDivide(int64_t a, int64_t b) {
  return a / b - (a % b != 0 && (a < 0) != (b < 0));
}

std::optional<WalkPart> weft::partInside(int64_t offset, int64_t stride,
                                         int64_t count,
                                         const Interval &interval) {
  int64_t least = 0, most = count - 1;
  if (stride == 0) {
    if (offset < interval.begin || offset >= interval.end)
      return std::nullopt;
  } else {
    // begin <= offset + stride * t <= end - 1, by the sign of the stride.
    int64_t low = interval.begin - offset, high = interval.end - 1 - offset;
    if (stride < 0)
      std::swap(low, high);
    least = std::max(least, -floorDivide(-low, stride));
    most = std::min(most, floorDivide(high, stride));
  }
  if (least > most)
    return std::nullopt;
  return WalkPart{least, 1, most - least + 1};
}

//===----------------------------------------------------------------------===//
// Chains
//===----------------------------------------------------------------------===//

namespace {
/// Elements t = first + step * k of one walk that meet elements s = other +
/// otherStep * k of another one.
struct Meeting {
  WalkPart walk;
  int64_t other = 0, otherStep = 0;
};
} // namespace

/// Where positions offset + stride * t, of `count`, are positions start + step *
/// s, of `size`.
static std::optional<Meeting> meet(int64_t offset, int64_t stride,
                                   int64_t count, int64_t start, int64_t step,
                                   int64_t size) {
  int64_t period = step / std::gcd(stride, step);
  for (int64_t t = 0; t < std::min(period, count); ++t) {
    if ((offset + stride * t - start) % step != 0)
      continue;
    int64_t s = (offset + stride * t - start) / step;
    int64_t each = stride * period / step;
    std::optional<WalkPart> inside = partInside(
        s, each, (count - t + period - 1) / period, Interval{0, size});
    if (!inside)
      return std::nullopt;
    return Meeting{{t + period * inside->first, period, inside->count},
                   s + each * inside->first,
                   each};
  }
  return std::nullopt;
}

static std::optional<MovedBox> composed(const MovedBox &outer,
                                        const MovedBox &inner, int64_t base) {
  MovedBox box = outer;
  std::vector<int64_t> first(outer.dim.size()), each(outer.dim.size());
  for (size_t d = 0; d < outer.dim.size(); ++d) {
    int64_t r = outer.dim[d];
    std::optional<Meeting> meeting =
        meet(outer.offset[d], r < 0 ? 0 : outer.stride[d],
             r < 0 ? 1 : outer.count[size_t(r)], inner.start[d], inner.step[d],
             inner.count[d]);
    if (!meeting)
      return std::nullopt;
    first[d] = meeting->other;
    each[d] = meeting->otherStep;
    if (r < 0)
      continue;
    auto at = size_t(r);
    box.start[at] += box.step[at] * meeting->walk.first;
    box.count[at] = meeting->walk.count;
    box.step[at] = box.count[at] > 1 ? box.step[at] * meeting->walk.step : 1;
  }
  box.operand = base + inner.operand;
  box.dim.clear();
  box.offset.clear();
  box.stride.clear();
  for (size_t e = 0; e < inner.dim.size(); ++e) {
    int64_t d = inner.dim[e];
    box.dim.push_back(d < 0 ? -1 : outer.dim[size_t(d)]);
    box.offset.push_back(inner.offset[e] +
                         (d < 0 ? 0 : inner.stride[e] * first[size_t(d)]));
    box.stride.push_back(
        box.dim.back() < 0 ? 0 : inner.stride[e] * each[size_t(d)]);
    // An element alone has no stride of its own.
    if (box.dim.back() >= 0 && box.count[size_t(box.dim.back())] == 1)
      box.stride.back() = 1;
  }
  return box;
}

void weft::appendComposed(const MovedBox &outer, const MovedBoxes &inner,
                          int64_t base, MovedBoxes &out) {
  for (const MovedBox &box : inner)
    if (outer.elements() != 0 && box.elements() != 0)
      if (std::optional<MovedBox> both = composed(outer, box, base))
        out.push_back(std::move(*both));
}

/// Appends `b` to `a` where it continues it along one dimension.
static bool join(MovedBox &a, const MovedBox &b) {
  if (a.operand != b.operand || a.dim != b.dim)
    return false;
  std::optional<size_t> along;
  for (size_t r = 0; r < a.start.size(); ++r) {
    if (a.start[r] == b.start[r] && a.count[r] == b.count[r] &&
        a.step[r] == b.step[r])
      continue;
    if (along)
      return false;
    along = r;
  }
  if (!along)
    return false;
  size_t r = *along;
  int64_t step = a.count[r] > 1   ? a.step[r]
                 : b.count[r] > 1 ? b.step[r]
                                  : b.start[r] - a.start[r];
  if (step < 1 || b.start[r] != a.start[r] + step * a.count[r] ||
      (b.count[r] > 1 && b.step[r] != step))
    return false;
  std::vector<int64_t> strides = a.stride;
  for (size_t d = 0; d < a.dim.size(); ++d) {
    if (a.dim[d] != int64_t(r)) {
      if (a.offset[d] != b.offset[d] || a.stride[d] != b.stride[d])
        return false;
      continue;
    }
    int64_t stride = a.count[r] > 1   ? a.stride[d]
                     : b.count[r] > 1 ? b.stride[d]
                                      : b.offset[d] - a.offset[d];
    if (b.offset[d] != a.offset[d] + stride * a.count[r] ||
        (b.count[r] > 1 && b.stride[d] != stride))
      return false;
    strides[d] = stride;
  }
  a.count[r] += b.count[r];
  a.step[r] = step;
  a.stride = strides;
  return true;
}

void weft::joinBoxes(MovedBoxes &boxes) {
  bool isChanged = true;
  while (isChanged) {
    isChanged = false;
    for (size_t i = 0; i < boxes.size(); ++i)
      for (size_t j = 0; j < boxes.size(); ++j)
        if (i != j && join(boxes[i], boxes[j])) {
          boxes.erase(boxes.begin() + std::ptrdiff_t(j));
          i -= j < i;
          j = size_t(-1);
          isChanged = true;
        }
  }
}

bool weft::coverAll(const MovedBoxes &boxes, std::span<const int64_t> shape) {
  int64_t filled = 0;
  for (const MovedBox &box : boxes)
    filled = saturatingAdd(filled, box.elements());
  int64_t all = 1;
  for (int64_t n : shape)
    all = saturatingMultiply(all, n);
  return filled == all;
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static std::string text(int64_t number) { return std::to_string(number); }

/// The positions that `count` steps from `first` on reach, from the least to
/// after the greatest.
static Interval reach(int64_t first, int64_t step, int64_t count) {
  int64_t last = saturatingAdd(first, saturatingMultiply(step, count - 1));
  return {std::min(first, last), saturatingAdd(std::max(first, last), 1)};
}

static std::string checkBox(const MovedBox &box,
                            std::span<const std::vector<int64_t>> operands,
                            std::span<const int64_t> result) {
  if (box.operand < 0 || box.operand >= int64_t(operands.size()))
    return "is of operand " + text(box.operand) + " of " +
           text(int64_t(operands.size()));
  const std::vector<int64_t> &shape = operands[size_t(box.operand)];
  for (const auto *list : {&box.start, &box.count, &box.step})
    if (list->size() != result.size())
      return "has " + text(int64_t(list->size())) +
             " ranges, the result the rank " + text(int64_t(result.size()));
  for (const auto *list : {&box.dim, &box.offset, &box.stride})
    if (list->size() != shape.size())
      return "has " + text(int64_t(list->size())) +
             " places, its operand the rank " + text(int64_t(shape.size()));
  for (size_t r = 0; r < result.size(); ++r) {
    Interval range = reach(box.start[r], box.step[r], box.count[r]);
    if (box.count[r] < 1 || box.step[r] < 1 || range.begin < 0 ||
        range.end > result[r])
      return "fills " + text(box.count[r]) + " positions from " +
             text(box.start[r]) + " by " + text(box.step[r]) + " of dim " +
             text(int64_t(r)) + " of size " + text(result[r]);
  }
  for (size_t d = 0; d < shape.size(); ++d) {
    int64_t r = box.dim[d];
    if (r < -1 || r >= int64_t(result.size()) ||
        (r >= 0 && std::ranges::count(box.dim, r) > 1))
      return "has dim " + text(r) + " for dim " + text(int64_t(d)) +
             " of its operand, which is none of the result's " +
             text(int64_t(result.size())) + " or used twice";
    Interval range =
        reach(box.offset[d], box.stride[d], r < 0 ? 1 : box.count[size_t(r)]);
    if (range.begin < 0 || range.end > shape[d])
      return "reads [" + text(range.begin) + ", " + text(range.end) +
             ") of dim " + text(int64_t(d)) + " of size " + text(shape[d]);
  }
  return "";
}

/// Whether both boxes fill an element of the result.
static bool areOverlapping(const MovedBox &a, const MovedBox &b) {
  for (size_t r = 0; r < a.start.size(); ++r)
    if (!meet(a.start[r], a.step[r], a.count[r], b.start[r], b.step[r],
              b.count[r]))
      return false;
  return true;
}

std::string weft::invalidReason(const MovedBoxes &boxes,
                                std::span<const std::vector<int64_t>> operands,
                                std::span<const int64_t> result) {
  for (size_t i = 0; i < boxes.size(); ++i) {
    if (std::string reason = checkBox(boxes[i], operands, result);
        !reason.empty())
      return "box " + text(int64_t(i)) + " " + reason;
    for (size_t j = 0; j < i; ++j)
      if (areOverlapping(boxes[j], boxes[i]))
        return "box " + text(int64_t(i)) + " fills elements of box " +
               text(int64_t(j));
  }
  return "";
}

std::vector<int64_t> weft::asNumbers(const MovedBoxes &boxes) {
  std::vector<int64_t> numbers;
  for (const MovedBox &box : boxes) {
    numbers.insert(numbers.end(), {box.operand, int64_t(box.start.size()),
                                   int64_t(box.dim.size())});
    for (const auto *list : {&box.start, &box.count, &box.step, &box.dim,
                             &box.offset, &box.stride})
      numbers.insert(numbers.end(), list->begin(), list->end());
  }
  return numbers;
}

std::optional<MovedBoxes> weft::boxesOf(std::span<const int64_t> numbers) {
  constexpr int64_t kMostRank = 1 << 16;
  MovedBoxes boxes;
  while (!numbers.empty()) {
    if (numbers.size() < 3)
      return std::nullopt;
    int64_t resultRank = numbers[1], operandRank = numbers[2];
    MovedBox &box = boxes.emplace_back();
    box.operand = numbers[0];
    numbers = numbers.subspan(3);
    if (resultRank < 0 || resultRank > kMostRank || operandRank < 0 ||
        operandRank > kMostRank ||
        int64_t(numbers.size()) < 3 * (resultRank + operandRank))
      return std::nullopt;
    auto read = [&](std::vector<int64_t> &list, int64_t count) {
      list.assign(numbers.begin(), numbers.begin() + count);
      numbers = numbers.subspan(size_t(count));
    };
    for (auto *list : {&box.start, &box.count, &box.step})
      read(*list, resultRank);
    for (auto *list : {&box.dim, &box.offset, &box.stride})
      read(*list, operandRank);
  }
  return boxes;
}
