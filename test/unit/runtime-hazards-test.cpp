// Hazards against brute force: all pairs of steps that share a byte which one of
// them writes are ordered, and no edge is superfluous.
#include "catch2/catch.hpp"
#include "weft/runtime/program/Hazards.h"

#include <random>
#include <set>

using namespace weft::runtime;
using Steps = std::vector<std::vector<BytesTouched>>;
using Edges = std::vector<std::vector<uint32_t>>;

static Edges edgesOf(const Steps &steps, Hazards &hazards) {
  Edges out;
  for (const std::vector<BytesTouched> &step : steps)
    out.push_back(hazards.add(step));
  return out;
}

static bool conflict(const std::vector<BytesTouched> &a,
                     const std::vector<BytesTouched> &b) {
  for (const BytesTouched &x : a)
    for (const BytesTouched &y : b)
      if ((x.isWritten || y.isWritten) && x.begin < y.end && y.begin < x.end)
        return true;
  return false;
}

/// reach[b][a]: whether step b is after step a.
static std::vector<std::vector<bool>> reachOf(const Edges &edges) {
  std::vector<std::vector<bool>> reach(edges.size(),
                                       std::vector<bool>(edges.size()));
  for (size_t b = 0; b < edges.size(); ++b)
    for (uint32_t a : edges[b]) {
      reach[b][a] = true;
      for (size_t c = 0; c < a; ++c)
        if (reach[a][c])
          reach[b][c] = true;
    }
  return reach;
}

/// The order that all conflicts, one by one, demand.
static std::vector<std::vector<bool>> wantedOf(const Steps &steps) {
  Edges all(steps.size());
  for (uint32_t b = 0; b < steps.size(); ++b)
    for (uint32_t a = 0; a < b; ++a)
      if (conflict(steps[a], steps[b]))
        all[b].push_back(a);
  return reachOf(all);
}

static void check(const Steps &steps) {
  Hazards hazards;
  Edges edges = edgesOf(steps, hazards);
  CHECK(reachOf(edges) == wantedOf(steps));
  std::set<uint32_t> last;
  for (uint32_t step = 0; step < steps.size(); ++step)
    last.insert(step);
  for (size_t b = 0; b < edges.size(); ++b)
    for (size_t n = 0; n < edges[b].size(); ++n) {
      last.erase(edges[b][n]);
      Edges fewer = edges;
      fewer[b].erase(fewer[b].begin() + int64_t(n));
      CHECK(reachOf(fewer) != reachOf(edges)); // no edge is superfluous
    }
  std::vector<uint32_t> found = hazards.last();
  CHECK(std::set<uint32_t>(found.begin(), found.end()) == last);
}

TEST_CASE("steps that share no written byte are not ordered") {
  Hazards hazards;
  CHECK(hazards.add(std::vector<BytesTouched>{{0, 64, true}}).empty());
  CHECK(hazards.add(std::vector<BytesTouched>{{64, 128, true}}).empty());
  CHECK(hazards.add(std::vector<BytesTouched>{
            {0, 64, false}, {128, 192, true}}) == std::vector<uint32_t>{0});
  CHECK(hazards.add(std::vector<BytesTouched>{{0, 192, true}}) ==
        std::vector<uint32_t>{2, 1});
  CHECK(hazards.last() == std::vector<uint32_t>{3});
}

TEST_CASE("the order of random steps is that of brute force") {
  std::mt19937 random(7);
  for (int round = 0; round < 60; ++round) {
    Steps steps(1 + random() % 24);
    uint64_t room = 4 + random() % 60;
    for (std::vector<BytesTouched> &step : steps)
      for (uint64_t n = random() % 5; n > 0; --n) {
        uint64_t begin = random() % room;
        step.push_back(
            {begin, begin + 1 + random() % (1 + room / 4), random() % 3 == 0});
      }
    check(steps);
  }
}

TEST_CASE("a plan's buffers are read or written as its kernels say") {
  Plan plan;
  auto add = [&](BufferKind kind, uint64_t offset, uint64_t bytes) {
    BufferInfo buffer = {};
    buffer.kind = kind;
    buffer.offset = offset;
    buffer.bytes = bytes;
    buffer.writable = kind == BufferKind::arena;
    plan.buffers.push_back(buffer);
  };
  for (uint64_t n = 0; n < 3; ++n)
    add(BufferKind::arena, 64 * n, 64);
  add(BufferKind::constant, 0, 64);
  plan.kernels.resize(2);
  plan.kernels[0].results = 1;
  plan.arguments = {0, 3, 1};
  auto uses = [&](uint32_t kernel) {
    std::vector<std::pair<uint32_t, bool>> out;
    for (BufferUse use : buffersOf(plan, {.kind = weft::plan::Operation::Launch,
                                          .index = kernel,
                                          .argumentCount = 3}))
      out.emplace_back(use.buffer, use.isWritten);
    return out;
  };
  using Uses = std::vector<std::pair<uint32_t, bool>>;
  CHECK(uses(0) == Uses{{0, false}, {3, false}, {1, true}});
  CHECK(uses(1) == Uses{{0, true}, {3, false}, {1, true}}); // not known
  Uses copied;
  for (BufferUse use : buffersOf(
           plan,
           {.kind = weft::plan::Operation::Copy, .index = 3, .target = 2}))
    copied.emplace_back(use.buffer, use.isWritten);
  CHECK(copied == Uses{{3, false}, {2, true}});
}

TEST_CASE("pieces end at jumps, at their targets and at the return") {
  using O = weft::plan::Operation;
  Plan plan;
  auto add = [&](O kind, uint32_t target = 0) {
    plan.instructions.push_back({.kind = kind, .target = target});
  };
  add(O::Launch);        // 0
  add(O::Launch);        // 1
  add(O::Launch);        // 2: the target of the jump
  add(O::JumpUnless, 6); // 3
  add(O::Copy);          // 4
  add(O::Jump, 2);       // 5
  add(O::Launch);        // 6
  add(O::Return);        // 7
  std::vector<std::pair<uint32_t, uint32_t>> found;
  for (StraightPiece piece : straightPieces(plan))
    found.emplace_back(piece.first, piece.end);
  CHECK(found == std::vector<std::pair<uint32_t, uint32_t>>{
                     {0, 2}, {2, 3}, {4, 5}, {6, 7}});
}
