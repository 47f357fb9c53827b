// Graphs with the edges of Hazards, on the fake driver: each order of the nodes
// that edges allow gives the results of the steps in order, and each edge that is
// removed is a race.
#include "weft/runtime/program/Hazards.h"
#include "weft/test/cuda/CudaDriver.h"

#include <random>

using namespace weft::cuda;
using weft::runtime::BytesTouched;
using weft::runtime::Hazards;

/// y = a * x + 1 on `count` floats of one array.
struct Step {
  unsigned x, y, count;
  float a;
};
constexpr unsigned kFloats = 96;

static std::vector<Step> randomSteps(std::mt19937 &random) {
  std::vector<Step> steps;
  while (steps.size() < 10) {
    unsigned count = 1 + random() % 24;
    unsigned x = random() % (kFloats - count), y = random() % (kFloats - count);
    bool overlaps = x < y + count && y < x + count;
    steps.push_back({x, overlaps ? x : y, count, float(1 + random() % 3)});
  }
  return steps;
}

static std::vector<float> inOrder(const std::vector<Step> &steps) {
  std::vector<float> values(kFloats, 1);
  for (const Step &step : steps)
    for (unsigned i = 0; i < step.count; ++i)
      values[step.y + i] = step.a * values[step.x + i] + 1;
  return values;
}

using Edges = std::vector<std::vector<uint32_t>>;
static Edges edgesOf(const std::vector<Step> &steps, Address array) {
  Hazards hazards;
  Edges edges;
  for (const Step &step : steps) {
    Address x = array + 4 * step.x, y = array + 4 * step.y;
    edges.push_back(hazards.add(std::vector<BytesTouched>{
        {x, x + 4 * step.count, false}, {y, y + 4 * step.count, true}}));
  }
  return edges;
}

static Result waitFor(Session &s, std::vector<GraphNode> nodes) {
  return s.cuda.cuStreamUpdateCaptureDependencies(
      s.stream, nodes.data(), nullptr, nodes.size(), kSetCaptureDependencies);
}

/// The graph of the steps with these edges.
static GraphExec graphOf(Session &s, const std::vector<Step> &steps,
                         const Edges &edges, Address array) {
  auto status = CaptureStatus::None;
  uint64_t id = 0;
  Graph graph = nullptr;
  GraphNode root = nullptr;
  const GraphNode *last = nullptr;
  const EdgeData *data = nullptr;
  size_t count = 0;
  auto look = [&] {
    OK(s.cuda.cuStreamGetCaptureInfo(s.stream, &status, &id, &graph, &last,
                                     &data, &count));
  };
  OK(s.cuda.cuStreamBeginCapture(s.stream, CaptureMode::ThreadLocal));
  look();
  OK(s.cuda.cuGraphAddEmptyNode(&root, graph, nullptr, 0));
  std::vector<GraphNode> nodes;
  for (size_t n = 0; n < steps.size(); ++n) {
    std::vector<GraphNode> waits = {root};
    for (uint32_t other : edges[n])
      waits.push_back(nodes[other]);
    OK(waitFor(s, waits));
    OK(s.scale(array + 4 * steps[n].x, array + 4 * steps[n].y, steps[n].a, 1,
               steps[n].count, s.stream));
    look();
    REQUIRE(count == 1);
    nodes.push_back(last[0]);
  }
  OK(waitFor(s, nodes));
  GraphExec exec = nullptr;
  OK(s.cuda.cuStreamEndCapture(s.stream, &graph));
  OK(s.cuda.cuGraphInstantiate(&exec, graph, 0));
  OK(s.cuda.cuGraphDestroy(graph));
  return exec;
}

/// Whether the fake driver reports a race of a graph that is launched once.
static bool hasRace(Session &s, GraphExec exec, uint64_t (*findings)()) {
  OK(s.cuda.cuGraphLaunch(exec, s.stream));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(s.cuda.cuGraphExecDestroy(exec));
  return findings() != 0;
}

TEST_CASE("a graph has the edges that it needs, and no others") {
  Session s;
  auto findings = reinterpret_cast<uint64_t (*)()>(
      dlsym(dlopen("libcuda.so.1", RTLD_NOW), "fakeCudaTakeFindings"));
  REQUIRE(findings);
  s.function("scale");
  std::mt19937 random(11);
  for (int round = 0; round < 6; ++round) {
    std::vector<Step> steps = randomSteps(random);
    Address array = s.upload(std::vector<float>(kFloats, 1));
    OK(s.cuda.cuStreamSynchronize(s.stream));
    Edges edges = edgesOf(steps, array);
    CHECK_FALSE(hasRace(s, graphOf(s, steps, edges, array), findings));
    CHECK(s.download(array, kFloats, s.stream) == inOrder(steps));
    for (size_t n = 0; n < edges.size(); ++n)
      for (size_t e = 0; e < edges[n].size(); ++e) {
        Edges fewer = edges;
        fewer[n].erase(fewer[n].begin() + int64_t(e));
        INFO("without the edge from " << edges[n][e] << " to " << n);
        CHECK(hasRace(s, graphOf(s, steps, fewer, array), findings));
      }
  }
}
