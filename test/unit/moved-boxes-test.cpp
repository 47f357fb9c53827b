//===- moved-boxes-test.cpp - boxes composed, and cut by shards -----------===//
//
// Boxes are compared with the definition in MovedBoxes.h, element by element:
// chains with what each op of them takes, and the pieces of devices with what
// each device lacks, counted without boxes.
//
//===----------------------------------------------------------------------===//

#include "weft/layout/Communication.h"
#include "weft/layout/DeviceGroups.h"
#include "weft/layout/Relays.h"

#include "catch2/catch.hpp"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <set>

using namespace weft;

using Shape = std::vector<int64_t>;
/// By element of a result, row-major: the operand's element; -1: none.
using Sources = std::vector<int64_t>;

static int64_t product(const Shape &shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

static Shape indexOf(int64_t element, const Shape &shape) {
  Shape index(shape.size());
  for (size_t d = shape.size(); d-- > 0; element /= shape[d])
    index[d] = element % shape[d];
  return index;
}

static int64_t numberOf(const Shape &index, const Shape &shape) {
  int64_t number = 0;
  for (size_t d = 0; d < shape.size(); ++d)
    number = number * shape[d] + index[d];
  return number;
}

/// What the boxes of one operand say, by the definition.
static Sources sourcesOf(const MovedBoxes &boxes, const Shape &from,
                         const Shape &to) {
  Sources sources(size_t(product(to)), -1);
  for (const MovedBox &box : boxes)
    for (int64_t t = 0; t < product(box.count); ++t) {
      Shape turn = indexOf(t, box.count), at = turn, read = box.offset;
      for (size_t r = 0; r < at.size(); ++r)
        at[r] = box.start[r] + box.step[r] * turn[r];
      for (size_t d = 0; d < read.size(); ++d)
        if (box.dim[d] >= 0)
          read[d] += box.stride[d] * turn[size_t(box.dim[d])];
      int64_t &source = sources[size_t(numberOf(at, to))];
      CHECK(source == -1);
      source = numberOf(read, from);
    }
  return sources;
}

namespace {
/// A chain of random ops on an array, each as boxes.
class RandomChain {
public:
  explicit RandomChain(unsigned seed) : chance(seed) {
    for (int64_t d = 0, rank = draw(1, 3); d < rank; ++d)
      shape.push_back(draw(2, 9));
    from = shape;
    boxes = {MovedBox::all(0, shape)};
    sources = sourcesOf(boxes, from, shape);
  }
  void add();

  Shape from, shape;
  MovedBoxes boxes;
  Sources sources;

private:
  int64_t draw(int64_t least, int64_t most) {
    return std::uniform_int_distribution<int64_t>(least, most)(chance);
  }
  MovedBoxes drawOp(Shape &to);
  std::mt19937 chance;
};
} // namespace

MovedBoxes RandomChain::drawOp(Shape &to) {
  MovedBox box = MovedBox::all(0, shape);
  size_t d = size_t(draw(0, int64_t(shape.size()) - 1));
  int64_t n = shape[d];
  switch (draw(0, 4)) {
  case 0: { // a slice with a stride
    int64_t stride = draw(1, 3), start = draw(0, n - 1);
    int64_t count = draw(1, (n - 1 - start) / stride + 1);
    box.offset[d] = start;
    box.stride[d] = stride;
    box.count[d] = to[d] = count;
    return {box};
  }
  case 1: // a reverse
    box.offset[d] = n - 1;
    box.stride[d] = -1;
    return {box};
  case 2: { // a pad with elements between
    int64_t low = draw(0, 3), between = draw(0, 2);
    to[d] = low + (n - 1) * (between + 1) + 1 + draw(0, 3);
    box.start[d] = low;
    box.step[d] = n > 1 ? between + 1 : 1;
    return {box};
  }
  case 3: { // a roll
    int64_t shift = draw(0, n - 1);
    MovedBox turned = box;
    box.start[d] = shift;
    box.count[d] = n - shift;
    turned.count[d] = shift;
    turned.offset[d] = n - shift;
    return shift == 0 ? MovedBoxes{box} : MovedBoxes{box, turned};
  }
  default: { // the first position, repeated
    to[d] = box.count[d] = draw(1, 5);
    box.stride[d] = 0;
    return {box};
  }
  }
}

void RandomChain::add() {
  Shape to = shape;
  MovedBoxes op = drawOp(to), next;
  Sources read = sourcesOf(op, shape, to), chained;
  for (int64_t at : read)
    chained.push_back(at < 0 ? -1 : sources[size_t(at)]);
  for (const MovedBox &box : op)
    appendComposed(box, boxes, 0, next);
  joinBoxes(next);
  boxes = next;
  shape = to;
  sources = chained;
}

TEST_CASE("a roll is two boxes, as in the header") {
  MovedBox first = MovedBox::all(0, Shape{6}), second = first;
  first.count = {2};
  first.offset = {4};
  second.start = {2};
  second.count = {4};
  CHECK(sourcesOf({first, second}, {6}, {6}) == Sources{4, 5, 0, 1, 2, 3});
  // Twice by 3 is nothing.
  first.count = second.count = {3};
  first.offset = second.start = {3};
  MovedBoxes once = {first, second}, twice;
  for (const MovedBox &box : once)
    appendComposed(box, once, 0, twice);
  joinBoxes(twice);
  REQUIRE(twice.size() == 1);
  CHECK(twice[0].keepsPositions());
}

TEST_CASE("boxes of random chains") {
  for (unsigned seed = 0; seed < 3000; ++seed) {
    RandomChain chain(seed);
    for (int i = 0; i < 4 && product(chain.shape) < 5000; ++i)
      chain.add();
    CAPTURE(seed);
    REQUIRE(sourcesOf(chain.boxes, chain.from, chain.shape) == chain.sources);
    std::vector<Shape> operands = {chain.from};
    REQUIRE(invalidReason(chain.boxes, operands, chain.shape).empty());
    REQUIRE(boxesOf(asNumbers(chain.boxes)) == chain.boxes);
  }
}

/// A layout of the shape over the axes, drawn at random; shards may be uneven.
static Layout drawLayout(std::mt19937 &chance, const Mesh &mesh, size_t rank) {
  Layout layout = Layout::replicated(int64_t(rank));
  for (unsigned axis = 0; axis < mesh.axes.size(); ++axis)
    if (size_t d = chance() % (rank + 1); d < rank)
      layout.dims[d].push_back(fullAxis(mesh, axis));
  return layout;
}

TEST_CASE("devices receive what they lack") {
  Mesh mesh;
  mesh.axes = {{"x", 2}, {"y", 3}};
  DeviceGroups all = groupsOver(mesh.axes, allAxes(mesh));
  std::mt19937 chance(7);
  for (unsigned seed = 0; seed < 1000; ++seed) {
    RandomChain chain(seed);
    for (int i = 0; i < 3 && product(chain.shape) < 2000; ++i)
      chain.add();
    Layout from = drawLayout(chance, mesh, chain.from.size()),
           to = drawLayout(chance, mesh, chain.shape.size());
    BoxedMove move{chain.boxes, chain.from, chain.shape, from, to};
    CAPTURE(seed, toString(mesh, from), toString(mesh, to));
    // By device and element of its block: the element that arrives.
    std::vector<std::map<int64_t, int64_t>> received(size_t(mesh.size()));
    for (const MovedPiece &piece : piecesOf(move, mesh, all.groups[0])) {
      Box held = own(mesh, from, chain.from, piece.source),
          block = own(mesh, to, chain.shape, piece.target);
      for (int64_t t = 0; t < product(piece.box.count); ++t) {
        Shape turn = indexOf(t, piece.box.count), at = turn,
              read = piece.box.offset;
        for (size_t r = 0; r < at.size(); ++r)
          at[r] =
              block[r].begin + piece.box.start[r] + piece.box.step[r] * turn[r];
        for (size_t d = 0; d < read.size(); ++d) {
          if (piece.box.dim[d] >= 0)
            read[d] += piece.box.stride[d] * turn[size_t(piece.box.dim[d])];
          REQUIRE(read[d] >= 0);
          read[d] += held[d].begin;
          REQUIRE(read[d] < held[d].end);
        }
        bool isNew =
            received[size_t(piece.target)]
                .emplace(numberOf(at, chain.shape), numberOf(read, chain.from))
                .second;
        REQUIRE(isNew);
      }
    }
    for (int64_t device = 0; device < mesh.size(); ++device) {
      Box block = own(mesh, to, chain.shape, device);
      std::map<int64_t, int64_t> expected;
      for (int64_t n = 0; n < product(chain.shape); ++n) {
        Shape at = indexOf(n, chain.shape);
        bool isOwn = true;
        for (size_t r = 0; r < at.size(); ++r)
          isOwn &= at[r] >= block[r].begin && at[r] < block[r].end;
        if (isOwn && chain.sources[size_t(n)] >= 0)
          expected[n] = chain.sources[size_t(n)];
      }
      REQUIRE(received[size_t(device)] == expected);
    }
  }
}

/// Whether a device has an element of an array in a layout.
static bool hasElement(const Mesh &mesh, const Layout &layout,
                       const Shape &shape, int64_t element, int64_t device) {
  Shape at = indexOf(element, shape);
  Box block = own(mesh, layout, shape, device);
  bool isOwn = true;
  for (size_t d = 0; d < at.size(); ++d)
    isOwn &= at[d] >= block[d].begin && at[d] < block[d].end;
  return isOwn;
}

/// What a direct movement must send at least: the most elements that a device
/// lacks, or that it alone has and others lack, each once.
static int64_t leastSent(const std::vector<Sources> &sources,
                         const std::vector<MovedSource> &from, const Mesh &mesh,
                         const Shape &shape, const Layout &to) {
  int64_t least = 0;
  std::vector<int64_t> lacks(size_t(mesh.size()), 0), alone = lacks;
  for (size_t operand = 0; operand < from.size(); ++operand) {
    const auto &[its, layout] = from[operand];
    std::map<int64_t, std::set<int64_t>> readers; // by element of the operand
    for (int64_t n = 0; n < product(shape); ++n)
      for (int64_t device = 0; device < mesh.size(); ++device)
        if (int64_t source = sources[operand][size_t(n)];
            source >= 0 && hasElement(mesh, to, shape, n, device))
          readers[source].insert(device);
    for (const auto &[element, devices] : readers) {
      std::set<int64_t> holders, lacking;
      for (int64_t device = 0; device < mesh.size(); ++device)
        if (hasElement(mesh, layout, its, element, device))
          holders.insert(device);
      for (int64_t device : devices)
        if (!holders.count(device))
          ++lacks[size_t(device)], lacking.insert(device);
      if (holders.size() == 1 && !lacking.empty())
        ++alone[size_t(*holders.begin())];
    }
  }
  for (const auto &each : {lacks, alone})
    least = std::max(least, *std::ranges::max_element(each));
  return least;
}

/// Whether boxes have no two strides above one, with which an element may be
/// sent twice.
static bool haveOneStride(const MovedBoxes &boxes) {
  std::set<int64_t> strides;
  for (const MovedBox &box : boxes)
    for (int64_t stride : box.stride)
      if (int64_t by = std::abs(stride); by > 1)
        strides.insert(by);
  return strides.size() < 2;
}

TEST_CASE("no device sends more than a movement must") {
  Mesh mesh;
  mesh.axes = {{"x", 2}, {"y", 3}};
  DeviceGroups all = groupsOver(mesh.axes, allAxes(mesh));
  std::mt19937 chance(5);
  int64_t compared = 0, above = 0;
  for (unsigned seed = 0; seed < 1500; ++seed) {
    RandomChain chain(seed);
    for (int i = 0; i < 4 && product(chain.shape) < 500; ++i)
      chain.add();
    std::vector<MovedSource> from = {
        {chain.from, drawLayout(chance, mesh, chain.from.size())}};
    Layout to = drawLayout(chance, mesh, chain.shape.size());
    BoxedMove move{chain.boxes, chain.from, chain.shape, from[0].layout, to};
    int64_t sent = mostSent(move, mesh, all.groups[0]);
    int64_t least = leastSent({chain.sources}, from, mesh, chain.shape, to);
    CAPTURE(seed, toString(mesh, from[0].layout), toString(mesh, to));
    if (!haveOneStride(chain.boxes))
      continue;
    ++compared;
    above += sent > least;
  }
  CHECK(compared > 1000);
  // Where elements cannot be divided evenly among copies.
  CHECK(above * 100 < compared);
}

TEST_CASE("what several members lack is passed on, as in the header") {
  std::vector<SharedPart> parts = {{6, {0}, {1, 2, 3}}};
  HandoverPlan plan = planHandovers(parts, 4);
  CHECK(plan.mostSent == 6);
  CHECK(plan.least == 6);
  std::vector<std::pair<int64_t, int64_t>> sent;
  for (const Handover &handover : plan.handovers)
    sent.emplace_back(handover.sender, handover.receiver);
  CHECK(sent ==
        std::vector<std::pair<int64_t, int64_t>>{{0, 1}, {1, 2}, {2, 3}});
  // Where another member is busier, the holder sends to each.
  parts.push_back({18, {3}, {0}});
  HandoverPlan both = planHandovers(parts, 4);
  for (const Handover &handover : both.handovers)
    CHECK(handover.sender == (handover.part == 0 ? 0 : 3));
}

TEST_CASE("random parts reach all that lack them") {
  std::mt19937 chance(3);
  int64_t above = 0;
  for (int round = 0; round < 500; ++round) {
    int64_t members = 2 + int64_t(chance() % 7);
    std::vector<SharedPart> parts(1 + chance() % 12);
    for (SharedPart &part : parts) {
      part.elements = 1 + int64_t(chance() % 20);
      for (int64_t member = 0; member < members; ++member)
        if (unsigned kind = chance() % 3; kind < 2)
          (kind == 0 ? part.holders : part.receivers).push_back(member);
    }
    HandoverPlan plan = planHandovers(parts, members);
    std::vector<int64_t> sent(size_t(members), 0);
    std::vector<std::set<int64_t>> have(parts.size());
    for (size_t n = 0; n < parts.size(); ++n)
      have[n].insert(parts[n].holders.begin(), parts[n].holders.end());
    for (const Handover &handover : plan.handovers) {
      REQUIRE(have[handover.part].count(handover.sender));
      REQUIRE(have[handover.part].insert(handover.receiver).second);
      sent[size_t(handover.sender)] += parts[handover.part].elements;
    }
    for (size_t n = 0; n < parts.size(); ++n)
      REQUIRE(have[n].size() ==
              (parts[n].holders.empty()
                   ? 0
                   : parts[n].holders.size() + parts[n].receivers.size()));
    REQUIRE(plan.mostSent == *std::ranges::max_element(sent));
    above += plan.mostSent > plan.least;
  }
  CHECK(above < 100); // parts cannot be divided here
}

TEST_CASE("many members are planned in a moment") {
  std::mt19937 chance(9);
  std::vector<SharedPart> parts(16);
  for (SharedPart &part : parts) {
    part.elements = 50 + int64_t(chance() % 50);
    for (int64_t member = 0; member < 64; ++member)
      (chance() % 16 == 0 ? part.holders : part.receivers).push_back(member);
  }
  for (int round = 0; round < 20; ++round)
    REQUIRE(planHandovers(parts, 64).mostSent > 0);
}

TEST_CASE("a box that repeats an element sends it once") {
  Mesh mesh;
  mesh.axes = {{"x", 2}};
  Layout split = Layout::replicated(1);
  split.dims[0] = allAxes(mesh);
  // Element 0, eight times: device 1 lacks it four times.
  MovedBox box = MovedBox::all(0, Shape{8});
  box.stride = {0};
  MovedBoxes boxes = {box};
  Shape from = {4}, to = {8};
  std::vector<int64_t> members = {0, 1};
  CHECK(mostSent({boxes, from, to, split, split}, mesh, members) == 1);
}
