// Schedules as loops: an iteration repeats the lists, whatever the number of
// microbatches.
#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/LoopReplay.h"
#include "weft/base/pipeline/SteadyState.h"

#include <catch2/catch.hpp>

using namespace weft;
using namespace weft::pipeline;

namespace {
/// The lists that a loop computes.
Schedule listsOf(const SteadyState &state, const Schedule &like) {
  Schedule lists{like.microbatches, like.chunks, {}};
  lists.stages.resize(like.stages.size());
  for (int64_t iteration = 0; iteration < state.iterations(); ++iteration)
    for (const StagePass &pass : state.passes)
      if (state.hasMicrobatch(pass, iteration))
        lists.stages[size_t(pass.stage)].push_back(
            {pass.kind, int(state.microbatchOf(pass, iteration)), pass.chunk});
  return lists;
}

/// Checks that each pass is behind what it reads.
void checkSources(const SteadyState &state) {
  for (size_t n = 0; n < state.passes.size(); ++n)
    if (auto source = state.sourceOf(n)) {
      int64_t behind = state.passes[n].delay - state.passes[*source].delay;
      CHECK((behind > 0 || (behind == 0 && *source < n)));
    }
}
} // namespace

TEST_CASE("base/pipeline/SteadyState.h: the loop of the header") {
  SteadyState state = *steadyState(*oneForwardOneBackward(2, 3));
  CHECK(state.round == 1);
  CHECK(state.iterations() == 4);
  CHECK(state.passes ==
        std::vector<StagePass>{{0, WorkKind::Forward, 0, 0, 0},
                               {1, WorkKind::Forward, 0, 0, 1},
                               {1, WorkKind::Backward, 0, 0, 1},
                               {0, WorkKind::Backward, 0, 0, 1}});
}

TEST_CASE("loops compute the lists of schedules in their order") {
  for (const char *name : {"gpipe", "1f1b", "zb-h1"})
    for (int p : {1, 2, 3, 4, 8})
      for (int m : {1, 2, 3, 8, 33}) {
        INFO(name << ", " << p << " stages, " << m << " microbatches");
        Schedule schedule = *generate(name, p, m);
        SteadyState state = *steadyState(schedule);
        CHECK(listsOf(state, schedule) == schedule);
        checkSources(state);
        Schedule forward = forwardPasses(schedule);
        SteadyState ahead = *steadyState(forward);
        CHECK(ahead.iterations() == m);
        CHECK(listsOf(ahead, forward) == forward);
        CHECK(replay(ahead).end == m + p - 1);
      }
}

TEST_CASE("loops of interleaved schedules have rounds of microbatches") {
  for (int p : {2, 3, 4})
    for (int chunks : {2, 3, 4})
      for (int rounds : {1, 2, 5}) {
        INFO(p << " stages, " << chunks << " chunks, " << rounds << " rounds");
        Schedule schedule = *interleaved(p, rounds * p, chunks);
        SteadyState state = *steadyState(schedule);
        CHECK(state.round == (rounds > 1 ? p : 1));
        CHECK(listsOf(state, schedule) == schedule);
        checkSources(state);
      }
}

TEST_CASE(
    "1F1B has a loop of two passes of a stage, and m + p - 1 iterations") {
  for (auto [p, m] : {std::pair(2, 4), {4, 8}, {8, 32}, {8, 64}}) {
    SteadyState state = *steadyState(*oneForwardOneBackward(p, m));
    CHECK(state.iterations() == m + p - 1);
    CHECK(state.passes.size() == size_t(2 * p));
  }
}

TEST_CASE("stages that meet at moves wait as long as the closed formulas say") {
  constexpr int64_t f = 1, b = 1, w = 1;
  for (auto [p, m] : {std::pair(2, 4), {4, 8}, {8, 32}}) {
    INFO(p << " stages, " << m << " microbatches");
    auto bubble = [&](const char *name) {
      return replay(*steadyState(*generate(name, p, m)), {f, b, w}).bubble();
    };
    CHECK(bubble("gpipe") == (p - 1) * (f + b + w));
    CHECK(bubble("1f1b") == (p - 1) * (f + b + w));
    CHECK(bubble("zb-h1") == (p - 1) * (f + b - w));
    // The sender of a round's last passes may wait until they are taken.
    for (int chunks : {2, 4})
      CHECK(5 * replay(*interleaved(p, m, chunks))->bubble() >=
            4 * replay(*steadyState(*interleaved(p, m, chunks))).bubble());
  }
}

TEST_CASE("schedules that are no loops") {
  Schedule reversed = *gpipe(1, 2);
  std::swap(reversed.stages[0][2], reversed.stages[0][3]);
  CHECK_THAT(steadyState(reversed).message(),
             Catch::Contains("stage 0, item 2 (B1): is of microbatch 1"));
}
