// Schedules as loops: an iteration repeats the lists, whatever the number of
// microbatches.
#include "weft/base/pipeline/Generators.h"
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
    for (const StagePass &pass : state.passes) {
      int64_t m = iteration - state.delayOf(pass);
      if (m >= 0 && m < like.microbatches)
        lists.stages[size_t(pass.stage)].push_back(
            {pass.kind, int(m), pass.chunk});
    }
  return lists;
}
} // namespace

TEST_CASE("base/pipeline/SteadyState.h: the loop of the header") {
  SteadyState state = *steadyState(*oneForwardOneBackward(2, 3));
  CHECK(state.period == 2);
  CHECK(state.iterations() == 4);
  std::vector<int64_t> ticks;
  for (const StagePass &pass : state.passes)
    ticks.push_back(pass.tick);
  CHECK(ticks == std::vector<int64_t>{0, 2, 3, 1});
}

TEST_CASE("loops compute the lists of schedules in their order") {
  for (const char *name : {"gpipe", "1f1b", "zb-h1"})
    for (int p : {1, 2, 3, 4, 8})
      for (int m : {1, 2, 3, 8, 33}) {
        INFO(name << ", " << p << " stages, " << m << " microbatches");
        Schedule schedule = *generate(name, p, m);
        SteadyState state = *steadyState(schedule);
        CHECK(listsOf(state, schedule) == schedule);
        Schedule forward = forwardPasses(schedule);
        SteadyState ahead = *steadyState(forward);
        CHECK(ahead.period == 1);
        CHECK(ahead.iterations() == m + p - 1);
        CHECK(listsOf(ahead, forward) == forward);
      }
}

TEST_CASE("1F1B has a loop of two ticks, and of m + p - 1 iterations") {
  for (auto [p, m] : {std::pair(2, 4), {4, 8}, {8, 32}, {8, 64}}) {
    SteadyState state = *steadyState(*oneForwardOneBackward(p, m));
    CHECK(state.period == 2);
    CHECK(state.iterations() == m + p - 1);
    CHECK(state.passes.size() == size_t(2 * p));
  }
}

TEST_CASE("schedules that are no loops") {
  CHECK_THAT(steadyState(*interleaved(2, 4, 2)).message(),
             Catch::Contains("is no loop") &&
                 Catch::Contains("use gpipe, 1f1b or zb-h1"));
  Schedule reversed = *gpipe(1, 2);
  std::swap(reversed.stages[0][2], reversed.stages[0][3]);
  CHECK_THAT(steadyState(reversed).message(),
             Catch::Contains("stage 0, item 2 (B1): is of microbatch 1"));
}
