// Starts of collectives and the waits for them: which plans are refused, and
// which devices a deadlock names. runtime-collectives-test runs both apart.
#include "weft/test/unit/runtime-plan.h"

using namespace weft::test;

namespace {
enum : uint32_t { In, Out, Four, Positions, Eight, Matrix };

/// Returns a plan of two devices, with buffers of 4, 4, 4, 4 and 8 elements,
/// and 2x4.
PlanBuilder two() {
  PlanBuilder p({{"x", 2}});
  p.input("in", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.output("out", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.arena(DType::f32, {4});
  p.arena(DType::i64, {4});
  p.arena(DType::f32, {8});
  p.arena(DType::f32, {2, 4});
  return p;
}
/// Returns the group of both devices.
Axes both() { return {fullAxis(0, 2)}; }

/// Returns the error in a plan; empty if it is accepted.
template <typename Change> std::string refusal(Change change) {
  PlanBuilder p = two();
  change(p);
  std::vector<uint8_t> image = p.image();
  weft_program *program = nullptr;
  std::string text =
      take(weft_program_load_memory(image.data(), image.size(), &program));
  weft_program_free(program);
  return text;
}
} // namespace

TEST_CASE("a collective has a name, and nothing that is not done yet") {
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In}, {Out}, both()).name.clear();
        }) == "bad plan: instruction 0 is a collective without a name");
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In}, {Out}, both()).stream = 1;
        }) == "bad plan: instruction 0 (all_reduce) is for stream 1, this "
              "runtime chooses streams itself");
  std::string outside = refusal([](PlanBuilder &p) {
    auto part = std::make_unique<MeshPartT>();
    part->digits = both();
    part->values = {9};
    p.exchange(In, Eight, {8}, {both()}, {{}}).kind.Asmovement()->to_part =
        std::move(part);
  });
  CHECK(outside.find("the part has coordinate 9") != outside.npos);
}

TEST_CASE("a wait ends one start") {
  auto start = [](PlanBuilder &p, uint32_t source, uint32_t target) {
    p.start("all_reduce", CombinationT(), {source}, {target}, both());
  };
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, In, Four);
          p.copy(In, Out);
          p.wait(0);
        }) == "");
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, In, Four);
          start(p, Eight, Eight);
          p.wait(1);
          p.wait(0);
        }) == "");
  CHECK(refusal([&](PlanBuilder &p) { start(p, In, Four); }) ==
        "bad plan: no instruction waits for the collective of instruction 0 "
        "before instruction 1, which ends the program");
  CHECK(refusal([&](PlanBuilder &p) { p.wait(0); }) ==
        "bad plan: instruction 0 waits for instruction 0, which starts no "
        "collective before it");
  CHECK(refusal([&](PlanBuilder &p) {
          p.copy(In, Four);
          p.wait(0);
        }) == "bad plan: instruction 1 waits for instruction 0, which starts "
              "no collective before it");
  CHECK(refusal([&](PlanBuilder &p) {
          p.allReduce({In}, {Four}, both());
          p.wait(0);
        }) == "bad plan: instruction 2 waits for instruction 0 again");
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, In, Four);
          p.copy(Four, Out);
          p.wait(0);
        }) == "bad plan: instruction 1 takes buffer 2 before the collective of "
              "instruction 0 has ended; wait for it first");
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, Four, Out);
          p.copy(In, Four);
          p.wait(0);
        }).find("instruction 1 takes buffer 2") != std::string::npos);
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, In, Four);
          p.launch("increment", {Four});
          p.wait(0);
        }).find("instruction 1 takes buffer 2") != std::string::npos);
  auto launchThatWrites = [](PlanBuilder &p, std::vector<uint32_t> buffers) {
    p.kernel(HostKernelT{.symbol = "increment"}).results = 1;
    p.launchLast(std::move(buffers));
  };
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, Four, Out);
          launchThatWrites(p, {Four, Eight});
          p.wait(0);
        }) == "");
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, Four, Out);
          launchThatWrites(p, {In, Four});
          p.wait(0);
        }) == "bad plan: instruction 1 takes buffer 2 before the collective of "
              "instruction 0 has ended; wait for it first");
  CHECK(refusal([&](PlanBuilder &p) {
          start(p, In, Four);
          start(p, Four, Out);
          p.wait(0);
          p.wait(1);
        }).find("instruction 1 takes buffer 2") != std::string::npos);
}

TEST_CASE("a wait ends a start by any jumps") {
  auto start = [](PlanBuilder &p, uint32_t source, uint32_t target) {
    p.start("all_reduce", CombinationT(), {source}, {target}, both());
  };
  auto input = [](PlanBuilder &p) {
    return p.input("go", DType::i1, {2}, {both()});
  };
  // A device that jumps over the start waits for nothing.
  CHECK(refusal([&](PlanBuilder &p) {
          uint32_t go = input(p);
          JumpUnlessT &skip = p.jumpUnless(go, 0);
          start(p, In, Four);
          skip.target = p.next();
          p.copy(Eight, Eight);
          p.wait(1);
        }) == "");
  CHECK(refusal([&](PlanBuilder &p) {
          uint32_t go = input(p);
          start(p, In, Four);
          JumpUnlessT &skip = p.jumpUnless(go, 0);
          p.wait(0);
          skip.target = p.next();
        }) == "bad plan: no instruction waits for the collective of "
              "instruction 0 before instruction 3, which ends the program");
  CHECK(refusal([&](PlanBuilder &p) {
          uint32_t go = input(p);
          start(p, In, Four);
          p.jumpUnless(go, 0);
          p.wait(0);
        }) == "bad plan: instruction 0 is started again before an instruction "
              "waits for it");
  CHECK(refusal([&](PlanBuilder &p) {
          uint32_t go = input(p);
          JumpUnlessT &skip = p.jumpUnless(go, 0);
          start(p, In, Four);
          skip.target = p.next();
          p.copy(Four, Out);
          p.wait(1);
        }) == "bad plan: instruction 2 takes buffer 2 before the collective of "
              "instruction 1 has ended; wait for it first");
}

TEST_CASE("devices that jump over a start go on at once") {
  // Both start the first collective; then none the second.
  for (uint8_t goes : {0, 1}) {
    PlanBuilder p({{"x", 2}});
    uint32_t v = p.state("v", DType::f32, {2}, {both()}),
             go = p.input("go", DType::i1, {2}, {both()}),
             w = p.arena(DType::f32, {1});
    JumpUnlessT &skip = p.jumpUnless(go, 0);
    p.start("all_reduce", CombinationT(), {v}, {v}, both());
    skip.target = p.next();
    p.copy(w, w);
    p.wait(1);
    Loaded program(p.image(), "cpu:2", 2);
    program.write(0, std::vector<float>{1, 2});
    program.write(1, std::vector<uint8_t>{goes, goes});
    CHECK(program.run() == "");
    CHECK(program.read<float>(0, 2) ==
          (goes ? std::vector<float>{3, 3} : std::vector<float>{1, 2}));
  }
}

TEST_CASE("a deadlock leaves out devices that have started the collective") {
  // Device 2 returns at once. Device 0 has started both collectives and waits
  // for the one with 2; 1 and 3 have ended that one and wait for all.
  PlanBuilder p({{"x", 2}, {"y", 2}});
  const Axes x = {fullAxis(0, 2)}, all = {fullAxis(0, 2), fullAxis(1, 2)};
  uint32_t v = p.state("v", DType::f32, {4}, {all}),
           w = p.state("w", DType::f32, {4}, {all}),
           go = p.input("go", DType::i1, {4}, {all});
  JumpUnlessT &skip = p.jumpUnless(go, 0);
  p.start("all_reduce", CombinationT(), {v}, {v}, all);
  p.start("all_reduce", CombinationT(), {w}, {w}, x);
  p.wait(2);
  p.wait(1);
  skip.target = p.next();
  Loaded program(p.image(), "cpu:4", 2);
  program.write(2, std::vector<uint8_t>{1, 1, 0, 1});
  CHECK(
      program.run() ==
      "deadlock in \"test\": no group is complete; device 0 waits at "
      "instruction 2 (all_reduce of the test) for device 2 (returned); device "
      "1 waits at instruction 1 (all_reduce of the test) for device 2 "
      "(returned); device 3 waits at instruction 1 (all_reduce of the test) "
      "for device 2 (returned)");
}

TEST_CASE("a device that waits for a collective that others never start") {
  PlanBuilder p({{"x", 2}});
  uint32_t v = p.state("v", DType::f32, {2}, {{fullAxis(0, 2)}});
  uint32_t first = p.arena(DType::i1, {}), other = p.arena(DType::i1, {});
  p.launch("is_first", {first});
  JumpUnlessT &skip = p.jumpUnless(first, 0);
  p.start("all_reduce", CombinationT(), {v}, {v}, {fullAxis(0, 2)});
  p.copy(first, other);
  p.wait(2);
  skip.target = p.next();
  Loaded program(p.image(), "cpu:2", 2);
  CHECK(program.run() ==
        "deadlock in \"test\": no group is complete; device 0 waits at "
        "instruction 2 (all_reduce of the test) for device 1 (returned)");
}
