// The bytes of Communication.h are those of the copies that the runtime makes.
#include "weft/test/unit/runtime-plan.h" // first: its SubAxis is the plan's

#include "weft/runtime/collectives/Provider.h"
#include "weft/runtime/program/Program.h"

#include <algorithm>
#include <random>

using namespace weft::test;
namespace runtime = weft::runtime;

namespace {

/// The bytes that the busiest member of the busiest group sends to others,
/// copy by copy.
uint64_t copied(const runtime::Plan &plan, const runtime::Collective &its) {
  std::unique_ptr<runtime::PreparedCollective> work;
  REQUIRE(runtime::createInProcessProvider()->prepare(
      plan.mesh, runtime::Ownership(), its, 0, work));
  uint64_t most = 0;
  for (size_t group = 0; group < its.groups.size(); ++group) {
    runtime::CollectiveTable table = work->table(int64_t(group));
    std::vector<uint64_t> sent(its.groups[group].size());
    for (const runtime::Move &move :
         std::get<std::span<const runtime::Move>>(table))
      if (move.source != move.target)
        sent[size_t(move.source)] += uint64_t(move.copy.bytes());
    most = std::max(most, *std::ranges::max_element(sent));
  }
  return most;
}

/// Checks each collective of a plan.
void check(PlanBuilder &p, std::vector<uint64_t> *bytes = nullptr) {
  std::vector<uint8_t> image = p.image();
  std::shared_ptr<const runtime::Program> program;
  REQUIRE(runtime::Program::load(image, program));
  const runtime::Plan &plan = program->plan();
  for (const runtime::Collective &its : plan.collectives) {
    INFO(its.name);
    uint64_t sent = runtime::bytesSent(plan.mesh, its);
    REQUIRE(sent == copied(plan, its));
    if (bytes)
      bytes->push_back(sent);
  }
}

} // namespace

TEST_CASE("exchanges send the bytes of their copies") {
  std::mt19937 random(1);
  auto upTo = [&](int64_t n) { return int64_t(random() % uint64_t(n)); };
  std::vector<uint64_t> bytes;
  for (int round = 0; round < 300; ++round) {
    PlanBuilder p({{"x", 2}, {"y", 3}, {"z", 2}});
    Shape shape = {1 + upTo(13), 1 + upTo(9)};
    auto layout = [&] {
      std::vector<Axes> dims(2);
      for (uint32_t axis = 0; axis < 3; ++axis)
        if (int64_t dim = upTo(3); dim < 2)
          dims[size_t(dim)].push_back(fullAxis(axis, axis == 1 ? 3 : 2));
      return dims;
    };
    std::vector<Axes> from = layout(), to = layout();
    uint32_t in = p.arena(DType::f32, PlanBuilder::local(shape, from));
    uint32_t out = p.arena(DType::f32, PlanBuilder::local(shape, to));
    p.exchange(in, out, shape, from, to);
    check(p, &bytes);
  }
  CHECK(std::ranges::count_if(bytes, [](uint64_t n) { return n > 0; }) > 150);
}

TEST_CASE("gathers, fetches and permutes send the bytes of their copies") {
  Axes x = {fullAxis(0, 4)};
  PlanBuilder p({{"x", 4}, {"y", 2}});
  uint32_t a = p.arena(DType::f64, {3, 2}), all = p.arena(DType::f64, {10, 2}),
           halo = p.arena(DType::f64, {5, 2}), b = p.arena(DType::f64, {3, 2});
  p.allGather(a, all, x, 0);
  p.fetch(a, halo, x, 0, {10, 3, 1, -1, 1, 0});
  p.fetch(a, halo, x, 0, {10, 3, 2, -4, 3, 12});
  p.collectivePermute(a, b, x, {2, 2, 2, -1});
  std::vector<uint64_t> bytes;
  check(p, &bytes);
  CHECK(bytes[0] == 3 * 3 * 2 * 8);
  CHECK(bytes[1] == 2 * 2 * 8);
  CHECK(bytes[3] == 2 * 3 * 2 * 8);
}

TEST_CASE("an all-to-all of full blocks sends the bytes of its copies") {
  PlanBuilder p({{"x", 4}});
  uint32_t wide = p.arena(DType::f32, {2, 8}),
           tall = p.arena(DType::f32, {8, 2});
  p.allToAll(wide, tall, {fullAxis(0, 4)}, 1, 0);
  std::vector<uint64_t> bytes;
  check(p, &bytes);
  CHECK(bytes[0] == 3 * 2 * 2 * 4);
}
