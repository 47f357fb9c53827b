// Schedules of pipelines: bubbles and live activations in closed form, files,
// and schedules that cannot run.
#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/Replay.h"
#include "weft/base/pipeline/ScheduleChecks.h"
#include "weft/base/pipeline/ScheduleJson.h"
#include "weft/base/pipeline/TimeLine.h"

#include <catch2/catch.hpp>

#include <algorithm>
#include <map>
#include <random>
#include <set>

using namespace weft;
using namespace weft::pipeline;

namespace {
struct Sizes {
  int stages, microbatches;
};
constexpr Sizes kSizes[] = {{2, 4}, {4, 8}, {8, 16}, {8, 32}};

/// The lists, with other numbers of microbatches and chunks than they name.
Schedule of(const std::vector<std::string> &lists, int microbatches,
            int chunks = 1) {
  Schedule schedule = *scheduleOf(lists);
  schedule.microbatches = microbatches;
  schedule.chunks = chunks;
  return schedule;
}

std::string listOf(const Schedule &schedule, size_t stage) {
  return textOf(schedule.stages[stage]);
}

void checkMessage(const Schedule &schedule,
                  const std::vector<std::string> &parts) {
  Status status = check(schedule);
  REQUIRE(!status);
  for (const std::string &part : parts)
    CHECK_THAT(status.message(), Catch::Contains(part));
}

/// The definition of what can run, as a graph of names: an edge for the order of
/// each list, and for each value that an item reads.
class NamedGraph {
public:
  explicit NamedGraph(const Schedule &schedule [[clang::lifetimebound]])
      : schedule(schedule), stages(int(schedule.stages.size())) {
    for (int s = 0; s < stages; ++s)
      for (const Work &w : schedule.stages[size_t(s)])
        if (w.kind == WorkKind::Backward)
          joint.insert({s, w.microbatch, w.chunk});
  }
  /// Whether there is no cycle, and channels have one order.
  bool canRun() {
    for (int s = 0; s < stages; ++s)
      addList(s);
    return (stages == 1 || sent == received) && hasNoCycle();
  }

private:
  int node(int stage, WorkKind kind, int m, int chunk) {
    if (kind == WorkKind::InputGradient && joint.count({stage, m, chunk}))
      kind = WorkKind::Backward; // one node with two names
    auto [known, isNew] =
        number.try_emplace({stage, int(kind), m, chunk}, int(after.size()));
    if (isNew)
      after.emplace_back();
    return known->second;
  }
  /// The pass of a chunk, counted over the whole model; -1 if there is none.
  int pass(WorkKind kind, int m, int layer) {
    if (layer < 0 || layer >= stages * schedule.chunks)
      return -1;
    return node(layer % stages, kind, m, layer / stages);
  }
  void edge(int from, int to) {
    if (from >= 0)
      after[size_t(from)].push_back(to);
  }
  void addList(int s) {
    int before = -1;
    for (const Work &w : schedule.stages[size_t(s)]) {
      int own = node(s, w.kind, w.microbatch, w.chunk);
      edge(before, own);
      before = own;
      if (w.kind == WorkKind::WeightGradient)
        edge(node(s, WorkKind::InputGradient, w.microbatch, w.chunk), own);
      else
        addPass(s, w, own);
    }
  }
  void addPass(int s, const Work &w, int own) {
    bool isForward = w.kind == WorkKind::Forward;
    int layer = w.chunk * stages + s, from = layer + (isForward ? -1 : 1),
        to = layer + (isForward ? 1 : -1);
    if (!isForward)
      edge(pass(WorkKind::Forward, w.microbatch, layer), own);
    edge(pass(isForward ? WorkKind::Forward : WorkKind::InputGradient,
              w.microbatch, from),
         own);
    auto isLayer = [&](int which) {
      return which >= 0 && which < stages * schedule.chunks;
    };
    if (isLayer(to))
      sent[{s, isForward}].emplace_back(w.microbatch, to);
    if (isLayer(from))
      received[{from % stages, isForward}].emplace_back(w.microbatch, layer);
  }
  bool hasNoCycle() const {
    std::vector<int> before(after.size()), ready;
    for (const auto &list : after)
      for (int to : list)
        ++before[size_t(to)];
    for (size_t i = 0; i < before.size(); ++i)
      if (!before[i])
        ready.push_back(int(i));
    size_t done = 0;
    for (; !ready.empty(); ++done) {
      int next = ready.back();
      ready.pop_back();
      for (int to : after[size_t(next)])
        if (!--before[size_t(to)])
          ready.push_back(to);
    }
    return done == after.size();
  }

  using Messages =
      std::map<std::pair<int, bool>, std::vector<std::pair<int, int>>>;
  const Schedule &schedule;
  int stages;
  std::set<std::tuple<int, int, int>> joint;
  std::map<std::tuple<int, int, int, int>, int> number;
  std::vector<std::vector<int>> after;
  Messages sent, received; ///< by sender and direction: microbatch and reader
};

bool canRun(const Schedule &schedule) { return NamedGraph(schedule).canRun(); }
} // namespace

TEST_CASE("base/pipeline/Schedule.h: items as texts") {
  for (const char *text : {"F0", "B12", "I3", "W7.1", "F1048575.63"})
    CHECK(textOf(workOf(text).value()) == text);
  for (const char *text : {"", "F", "X1", "F-1", "F01", "F1.", "F1.01", "F1 ",
                           "f1", "F1.2.3", "F99999999999", "F+1", "1F"})
    CHECK(!workOf(text));
}

TEST_CASE("lists as texts") {
  Schedule schedule = *interleaved(2, 4, 2);
  std::vector<std::string> lists = {listOf(schedule, 0), listOf(schedule, 1)};
  CHECK(*scheduleOf(lists) == schedule);
  CHECK_THAT(scheduleOf({"F0", "F0 B"}).message(),
             Catch::Contains("stage 1, item 1: \"B\" is no item"));
}

TEST_CASE("base/pipeline/Generators.h: the lists of the headers") {
  Schedule alternating = *oneForwardOneBackward(2, 3);
  CHECK(listOf(alternating, 0) == "F0 F1 B0 F2 B1 B2");
  CHECK(listOf(alternating, 1) == "F0 B0 F1 B1 F2 B2");
  CHECK(listOf(*gpipe(2, 3), 1) == "F0 F1 F2 B0 B1 B2");
  CHECK(listOf(*zeroBubble(2, 3), 0) == "F0 F1 I0 W0 F2 I1 W1 I2 W2");
  CHECK(listOf(*zeroBubble(2, 3), 1) == "F0 I0 F1 I1 W0 F2 I2 W1 W2");
  CHECK(listOf(*interleaved(2, 2, 2), 0) == "F0 F1 F0.1 F1.1 B0.1 B1.1 B0 B1");
  Replay times = *replay(*gpipe(2, 3));
  CHECK(times.end == 12);
  CHECK(times.starts[0] == std::vector<int64_t>{0, 1, 2, 6, 8, 10});
  CHECK(times.starts[1] == std::vector<int64_t>{1, 2, 3, 4, 6, 8});
  CHECK(times.bubble() == 3);
}

TEST_CASE("bubbles with equal times") {
  for (auto [p, m] : kSizes) {
    INFO(p << " stages, " << m << " microbatches");
    CHECK(replay(*gpipe(p, m))->bubble() == 3 * (p - 1));
    CHECK(replay(*oneForwardOneBackward(p, m))->bubble() == 3 * (p - 1));
    CHECK(replay(*zeroBubble(p, m))->bubble() == p - 1);
    // Of whole stages, which take as long as their chunks together.
    for (int v : {1, 2, 4})
      CHECK(
          v * replay(*interleaved(p, m, v), {4 / v, 4 / v, 4 / v})->bubble() ==
          4 * 3 * (p - 1));
    for (const auto &idle :
         {replay(*gpipe(p, m))->idle, replay(*zeroBubble(p, m))->idle})
      CHECK(std::ranges::count(idle, idle.front()) == p);
  }
}

TEST_CASE("bubbles of GPipe and 1F1B with other times") {
  for (auto [p, m] : kSizes)
    for (WorkTimes times : {WorkTimes{2, 3, 1}, {1, 1, 2}, {5, 4, 4}}) {
      int64_t all = times.forward + times.inputGradient + times.weightGradient;
      CHECK(replay(*gpipe(p, m), times)->bubble() == all * (p - 1));
      CHECK(replay(*oneForwardOneBackward(p, m), times)->bubble() ==
            all * (p - 1));
    }
}

TEST_CASE("live activations") {
  for (auto [p, m] : kSizes) {
    INFO(p << " stages, " << m << " microbatches");
    std::vector<int> alternating =
        liveActivations(*oneForwardOneBackward(p, m));
    std::vector<int> all = liveActivations(*gpipe(p, m));
    std::vector<int> late = liveActivations(*zeroBubble(p, m));
    for (int s = 0; s < p; ++s) {
      CHECK(alternating[size_t(s)] == p - s);
      CHECK(all[size_t(s)] == m);
      CHECK(late[size_t(s)] == p); // as many as 1F1B on its first stage
    }
    for (int v : {2, 4}) // of chunks: p (1 + (p - 1) / (p v)) of whole stages
      CHECK(liveActivations(*interleaved(p, m, v))[0] ==
            std::min(p * v + p - 1, m * v));
  }
}

TEST_CASE("every generated schedule can run, of any size") {
  for (int p : {1, 2, 3, 5, 8})
    for (int m : {1, 2, 3, 4, 7, 16}) {
      INFO(p << " stages, " << m << " microbatches");
      for (const std::string &name : scheduleNames()) {
        int chunks = name == "interleaved" ? 3 : 1;
        if (name == "interleaved" && m % p)
          continue;
        Schedule schedule = *generate(name, p, m, chunks);
        CHECK(check(schedule));
        CHECK(canRun(schedule));
        CHECK(*readSchedule(writeSchedule(schedule)) == schedule);
      }
    }
}

TEST_CASE("sizes and names that are refused") {
  CHECK_THAT(gpipe(0, 4).message(), Catch::Contains("0 stages"));
  CHECK_THAT(zeroBubble(2, 0).message(), Catch::Contains("0 microbatches"));
  CHECK_THAT(oneForwardOneBackward(2, 2000000000).message(),
             Catch::Contains("use fewer microbatches"));
  CHECK_THAT(interleaved(65536, 65536, 2000000000).message(),
             Catch::Contains("use fewer microbatches"));
  CHECK_THAT(interleaved(4, 6, 2).message(),
             Catch::Contains("6 microbatches are no multiple of 4 stages; use "
                             "8 microbatches"));
  CHECK_THAT(generate("1f1", 2, 4).message(),
             Catch::Contains("did you mean 1f1b?"));
  CHECK_THAT(generate("gpipe", 2, 4, 2).message(),
             Catch::Contains("one chunk for each stage, not 2"));
}

TEST_CASE("schedules that cannot run") {
  checkMessage(of({"B0 F0"}, 1),
               {"stage 0, item 0 (B0): needs the result of item 1 (F0) of "
                "microbatch 0",
                "; move that in front of it"});
  // Stage 0 waits for a gradient before it sends what that is computed from.
  checkMessage(of({"F0 B0 F1 B1", "F0 F1 B0 B1"}, 2),
               {"the schedule deadlocks: stage 0, item 1 (B0) of microbatch 0 "
                "waits for stage 1, item 2 (B0), which is behind item 1 (F1), "
                "and that waits for stage 0, item 2 (F1)",
                "; move item 2 of stage 1 forward"});
  checkMessage(of({"F0 F1 B0 B1", "F1 F0 B0 B1"}, 2),
               {"stage 1, item 1 (F0): receives the activations of microbatch "
                "0 after those of F1, and stage 0 sends F0 first, as item 0 "
                "before item 1; give both stages the same order"});
  checkMessage(of({"F0 F1 B1 B0", "F0 F1 B0 B1"}, 2),
               {"stage 0, item 3 (B0): receives the gradient of microbatch 0 "
                "after those of B1"});
  checkMessage(of({"F0 F1 B0", "F0 F1 B0 B1"}, 2),
               {"stage 0: has no item B1 for microbatch 1", "2 microbatches"});
  checkMessage(of({"F0 I0"}, 1), {"stage 0: has no item W0"});
  checkMessage(of({"F0 W0 I0"}, 1),
               {"stage 0, item 1 (W0): needs the result of item 2 (I0)"});
  checkMessage(of({"F0 B0 W0"}, 1),
               {"stage 0, item 2 (W0): computes what item 1 (B0) has computed "
                "for microbatch 0; remove one of them"});
  checkMessage(of({"F0 F0 B0"}, 1), {"stage 0, item 1 (F0)"});
  checkMessage(of({"F0 B0 F1"}, 1),
               {"stage 0, item 2 (F1): is of microbatch 1 and chunk 0, and the "
                "schedule has 1 microbatches and 1 chunks"});
  checkMessage(of({"F0 B0 F0.1"}, 1), {"stage 0, item 2 (F0.1)"});
  checkMessage({4, 1, {}}, {"the schedule has 0 stages"});
  checkMessage(of({"F0 B0"}, 2000000000), {"stage 0: has no item F1"});
  CHECK_THAT(replay(of({"F0 B0"}, 1), {-1, 0, 0}).message(),
             Catch::Contains("takes -1 units"));
}

TEST_CASE("items that change places run or are refused, by the definition") {
  std::mt19937_64 random(1);
  int refused = 0, accepted = 0;
  for (int i = 0; i < 4000; ++i) {
    const std::string &name = scheduleNames()[random() % 4];
    int p = 1 + int(random() % 4), m = p * (1 + int(random() % 3));
    Schedule schedule = *generate(name, p, m, name == "interleaved" ? 2 : 1);
    for (int swaps = int(random() % 4); swaps >= 0; --swaps) {
      auto &list = schedule.stages[random() % size_t(p)];
      size_t at = random() % (list.size() - 1);
      std::swap(list[at], list[at + 1]);
    }
    INFO(writeSchedule(schedule));
    Status status = check(schedule);
    CHECK(bool(status) == canRun(schedule));
    CHECK(bool(replay(schedule)) == bool(status));
    ++(status ? accepted : refused);
  }
  CHECK(accepted > 400);
  CHECK(refused > 400);
}

TEST_CASE("base/pipeline/ScheduleJson.h: files that are refused") {
  auto message = [](const char *text) { return readSchedule(text).message(); };
  CHECK(readSchedule(R"({"microbatches": 1, "stages": [["F0", "B0"]]})"));
  CHECK_THAT(message("{"), Catch::Contains("is no JSON"));
  CHECK_THAT(message("[]"), Catch::Contains("expected an object, found []"));
  CHECK_THAT(message(R"({"microbatches": 1})"),
             Catch::Contains("\"stages\" must be a list of lists of items, not "
                             "absent; write it as"));
  CHECK_THAT(message(R"({"microbatches": 0, "stages": []})"),
             Catch::Contains("\"microbatches\" is 0; write a number from 1"));
  CHECK_THAT(message(R"({"microbatches": 1, "stages": [3]})"),
             Catch::Contains("stage 0: expected a list of items, found 3"));
  CHECK_THAT(
      message(R"({"microbatches": 1, "stages": [["F0", "B0"], ["F0", "b0"]]})"),
      Catch::Contains("stage 1, item 1: \"b0\" is no item of a schedule; write "
                      "F, B, I or W"));
  CHECK_THAT(message(R"({"microbatch": 1, "stages": []})"),
             Catch::Contains("did you mean \"microbatches\"?"));
}

TEST_CASE("time lines") {
  auto lines = [](const Schedule &schedule, size_t width) {
    return timeLine(schedule, *replay(schedule), width);
  };
  CHECK(lines(*generate("gpipe", 2, 3), 100) ==
        std::vector<std::string>{"F0 F1 F2 .  .  .  B0--- B1--- B2---",
                                 ".  F0 F1 F2 B0--- B1--- B2--- .  ."});
  // The gradient of weights of the last stage is computed where it would wait.
  CHECK(lines(of({"F0 F1 B0 B1", "F0 I0 W0 F1 I1 W1"}, 2), 100) ==
        std::vector<std::string>{"F0 F1 .  B0--- .  B1---",
                                 ".  F0 I0 W0 F1 I1 W1 ."});
  // A long line has its begin and its end, and as many idle units as the stage.
  Schedule deep = *generate("1f1b", 4, 16);
  CHECK(lines(deep, 60)[0] ==
        "F0  F1  F2  F3  .   .   .   ... --- .   B14---- .   B15----");
  std::vector<int64_t> idle = replay(deep)->idle;
  std::vector<std::string> whole = lines(deep, 1000);
  for (size_t stage = 0; stage < whole.size(); ++stage)
    CHECK(std::ranges::count(whole[stage], '.') == idle[stage]);
}
