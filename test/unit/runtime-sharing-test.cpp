// Launches that several workers share give the same bits for any number of
// workers.
#include "weft/test/unit/runtime-plan.h"

using namespace weft::test;

/// Returns a program that loops "limit" times: shared kernels compute b
/// from a and a from b; several devices then all-reduce a.
static std::vector<uint8_t> mixing(int64_t devices) {
  PlanBuilder p({{"x", devices}});
  std::vector<Axes> split = {{fullAxis(0, devices)}};
  uint32_t a = p.state("a", DType::f32, {1000 * devices}, split);
  uint32_t counter = p.state("counter", DType::i32, {1}, {{}});
  uint32_t limit = p.state("limit", DType::i32, {1}, {{}});
  uint32_t b = p.arena(DType::f32, {1000}), goOn = p.arena(DType::i1, {});
  uint32_t head = p.next();
  p.launch("less", {counter, limit, goOn});
  JumpUnlessT &leave = p.jumpUnless(goOn, 0);
  p.launch("increment", {counter});
  p.launch("mixed", {a, b});
  // This kernel has fewer shares: a late worker must not take one of the next.
  p.launch("mixed2", {b, a});
  if (devices > 1)
    p.allReduce({a}, {a}, {fullAxis(0, devices)});
  p.launch("mixed", {a, b});
  p.copy(b, a);
  p.jump(head);
  leave.target = p.next();
  return p.image();
}

static std::vector<float> mix(const std::vector<uint8_t> &image,
                              int64_t devices, int workers, int times) {
  Loaded program(image, "cpu:" + std::to_string(devices), workers);
  size_t count = size_t(1000 * devices);
  std::vector<float> start(count);
  for (size_t i = 0; i < count; ++i)
    start[i] = 1.0f / float(i + 3);
  program.write(0, start);
  program.write(2, std::vector<int32_t>{times});
  for (int run = 0; run < 3; ++run) { // the executor is used again
    program.write(1, std::vector<int32_t>{0});
    REQUIRE(program.run() == "");
  }
  return program.read<float>(0, count);
}

TEST_CASE("any number of workers gives the bits of one") {
  for (int64_t devices : {1, 2, 3, 8}) {
    std::vector<uint8_t> image = mixing(devices);
    std::vector<float> alone = mix(image, devices, 1, 40);
    CHECK(alone[1] == alone[1]);
    for (int workers : {2, 3, 4, 8, 19}) {
      INFO(devices << " devices, " << workers << " workers");
      CHECK(mix(image, devices, workers, 40) == alone);
    }
  }
}

// This case is not part of the test run: `runtime-sharing-test "[soak]"`, best
// under TSan.
TEST_CASE("workers come and go for a long time", "[.soak]") {
  for (int64_t devices = 1; devices <= 8; ++devices) {
    std::vector<uint8_t> image = mixing(devices);
    std::vector<float> alone = mix(image, devices, 1, 500);
    for (int workers : {1, 2, 3, 4, 8, 16})
      CHECK(mix(image, devices, workers, 500) == alone);
  }
}
