// Plans that break a rule of plan.fbs are refused, table by table.
#include "weft/test/unit/refused-plans.h"

using namespace weft::test;

//===----------------------------------------------------------------------===//
// Collectives
//===----------------------------------------------------------------------===//

TEST_CASE("collectives that fit are accepted") {
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In, Eight}, {Four, Eight}, both());
          p.allGather(In, Eight, both(), 0);
          p.reduceScatter(Eight, Four, both(), 0);
          p.fetch(In, Eight, both(), 0, {8, 4, 1, -2, 1, 0});
          p.pick(In, Positions, Four, both(), 0);
          p.collectivePermute(In, Four, both(), {1, -1});
          p.exchange(In, Eight, {8}, {both()}, {{}});
          p.hostCall(7, {In, Positions}, {Four, Eight}, both());
        }) == "");
}

TEST_CASE("an all-reduce has equal sources and targets, which lie apart") {
  CHECK(refusal([](PlanBuilder &p) { p.allReduce({}, {}, both()); }) ==
        "bad plan: instruction 0 (all_reduce) has 0 sources and 0 targets");
  CHECK(
      refusal([](PlanBuilder &p) { p.allReduce({In, Four}, {Out}, both()); }) ==
      "bad plan: instruction 0 (all_reduce) has 2 sources and 1 targets");
  CHECK(refusal([](PlanBuilder &p) { p.allReduce({In}, {Eight}, both()); }) ==
        "bad plan: instruction 0 (all_reduce) reduces f32[4] to f32[8]");
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In}, {Positions}, both());
        }) == "bad plan: instruction 0 (all_reduce) reduces f32[4] to i64[4]");
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In, Four}, {Four, Out}, both());
        }) == "bad plan: instruction 0 (all_reduce) has buffers 2 and 2 in "
              "shared memory");
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In, In}, {Four, Four}, both());
        }) == "bad plan: instruction 0 (all_reduce) has buffers 2 and 2 in "
              "shared memory");
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In}, {Out}, both(), ReduceKind(99));
        }) == "bad plan: instruction 0 (all_reduce) has the unknown reduction "
              "99");
  CHECK(refusal([](PlanBuilder &p) {
          uint32_t complex = p.arena(DType::c64, {4});
          p.allReduce({complex}, {complex}, both(), ReduceKind::max);
        }) == "bad plan: instruction 0 (all_reduce) reduces c64 by max, which "
              "complex numbers do not have");
  CHECK(refusal([](PlanBuilder &p) { p.allReduce({99}, {Out}, both()); }) ==
        "bad plan: instruction 0 (all_reduce) takes buffer 99 of 6");
  CHECK(refusal([](PlanBuilder &p) { p.allReduce({Four}, {In}, both()); }) ==
        "bad plan: instruction 0 (all_reduce) writes buffer 0, an input that "
        "is not donated");
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In}, {Out}, {fullAxis(0, 3)});
        }) == "bad plan: instruction 0 (all_reduce): sub-axis \"x\":(1)3 does "
              "not divide the axis of 2");
}

TEST_CASE("movements and reductions along a dimension have sizes that fit") {
  CHECK(refusal([](PlanBuilder &p) { p.allGather(In, Matrix, both(), 0); }) ==
        "bad plan: instruction 0 (all_gather) moves [4] to [2, 4], its layouts "
        "[1, 4] to [2, 4]");
  CHECK(refusal([](PlanBuilder &p) {
          p.reduceScatter(Eight, In, both(), 1);
        }).find("dimension 1 is out of the rank 1") != std::string::npos);
  CHECK(refusal([](PlanBuilder &p) {
          p.allGather(In, p.arena(DType::f32, {9}), both(), 0);
        }) == "bad plan: instruction 0 (all_gather) moves [4] to [9], its "
              "layouts [5] to [9]");
  CHECK(refusal([](PlanBuilder &p) {
          p.reduceScatter(p.arena(DType::f32, {9}), Four, both(), 0);
        }) == "bad plan: instruction 0 (reduce_scatter) from [9] to [4] over 2 "
              "devices: dimension 0 does not fit");
  CHECK(refusal([](PlanBuilder &p) {
          p.allToAll(Matrix, p.arena(DType::f32, {4, 2}), both(), 1, 0);
        }) == "");
  CHECK(refusal([](PlanBuilder &p) {
          p.allToAll(Matrix, p.arena(DType::f32, {5, 2}), both(), 1, 0);
        }) == "bad plan: instruction 0 (all_to_all) moves [2, 4] to [5, 2], "
              "its layouts [3, 4] to [5, 2]");
  CHECK(refusal([](PlanBuilder &p) {
          p.allGather(In, Eight, both(), 0).group.clear();
        }) == "bad plan: instruction 0 (all_gather) is a ring, but a layout "
              "has an axis that is none of the group's");
  CHECK(refusal([](PlanBuilder &p) {
          p.exchange(In, Eight, {-8}, {both()}, {{}});
        }) == "bad plan: instruction 0 (exchange) has the negative dimension "
              "-8");
  CHECK(refusal([](PlanBuilder &p) {
          p.exchange(In, Eight, {8}, {both()}, {{}, {}});
        }) == "bad plan: instruction 0 (exchange) moves [8]: layout has 2 "
              "dimensions, the tensor 1");
  CHECK(refusal([](PlanBuilder &p) {
          p.allGather(Positions, Four, both(), 0);
        }) == "bad plan: instruction 0 (all_gather) moves i64 to f32");
}

TEST_CASE("errors of fetches, picks, permutes and exchanges name the sizes") {
  CHECK(refusal([](PlanBuilder &p) {
          p.fetch(In, Eight, both(), 0, {9, 4, 1, 0, 1, 0});
        }).find("dimension 0 does not fit") != std::string::npos);
  CHECK(refusal([](PlanBuilder &p) {
          p.fetch(In, Eight, both(), 0, {8, 4, 1ll << 41, 0, 1, 0});
        }).find("none is beyond 2^40") != std::string::npos);
  CHECK(refusal([](PlanBuilder &p) { p.pick(In, Eight, Four, both(), 0); }) ==
        "bad plan: instruction 0 (pick) has the positions f32[8], not an "
        "i64 for each of [4]");
  CHECK(refusal([](PlanBuilder &p) {
          p.pick(Four, Positions, Four, both(), 0);
        }) == "bad plan: instruction 0 (pick) has buffers 2 and 2 in shared "
              "memory");
  CHECK(refusal([](PlanBuilder &p) {
          p.collectivePermute(In, Four, both(), {0});
        }) == "bad plan: instruction 0 (collective_permute) has senders [0], "
              "not one of 2 members for each");
  CHECK(refusal([](PlanBuilder &p) {
          p.collectivePermute(In, Eight, both(), {0, 1});
        }).find("dimension 0 does not fit") != std::string::npos);
  CHECK(refusal([](PlanBuilder &p) {
          p.exchange(In, Four, {8}, {both()}, {{}});
        }) == "bad plan: instruction 0 (exchange) moves [4] to [4], its "
              "layouts [4] to [8]");
  CHECK(refusal([](PlanBuilder &p) { p.hostCall(-1, {In}, {}, both()); }) ==
        "bad plan: instruction 0 (host_call) calls function -1 with 1 "
        "operands and 0 results");
  CHECK(refusal([](PlanBuilder &p) {
          p.hostCall(1, {In}, {Four, Four}, both());
        }).find("in shared memory") != std::string::npos);
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({In}, {Out}, both()).kind.Reset();
        }) == "bad plan: instruction 0 is the unknown collective 0");
}
