// The behaviour of captures and graphs that the runtime relies on; see
// cuda-driver-test.cpp.
#include "weft/test/cuda/CudaDriver.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

using namespace weft::cuda;

static std::vector<float> upTo(size_t count) {
  std::vector<float> values(count);
  std::iota(values.begin(), values.end(), 1.0f);
  return values;
}

/// The values after y = a * y + b for each pair.
static std::vector<float>
scaled(std::vector<float> values,
       const std::vector<std::pair<float, float>> &all) {
  for (auto [a, b] : all)
    for (float &value : values)
      value = a * value + b;
  return values;
}

static Result begin(Session &s) {
  return s.cuda.cuStreamBeginCapture(s.stream, CaptureMode::ThreadLocal);
}

/// Ends the capture and makes its graph launchable.
static GraphExec instantiated(Session &s) {
  Graph graph = nullptr;
  GraphExec exec = nullptr;
  OK(s.cuda.cuStreamEndCapture(s.stream, &graph));
  OK(s.cuda.cuGraphInstantiate(&exec, graph, 0));
  OK(s.cuda.cuGraphDestroy(graph));
  return exec;
}

struct Captured {
  Graph graph = nullptr;
  std::vector<GraphNode> nodes;
  CaptureStatus status = CaptureStatus::None;
};
static Captured captured(Session &s) {
  Captured its;
  uint64_t id = 0;
  const GraphNode *nodes = nullptr;
  const EdgeData *edges = nullptr;
  size_t count = 0;
  OK(s.cuda.cuStreamGetCaptureInfo(s.stream, &its.status, &id, &its.graph,
                                   &nodes, &edges, &count));
  if (its.status == CaptureStatus::Active)
    its.nodes.assign(nodes, nodes + count);
  return its;
}
static Result waitFor(Session &s, std::vector<GraphNode> nodes) {
  return s.cuda.cuStreamUpdateCaptureDependencies(
      s.stream, nodes.data(), nullptr, nodes.size(), kSetCaptureDependencies);
}

TEST_CASE("a graph runs what a stream recorded, at each launch") {
  Session s;
  s.function("scale");
  Address x = s.upload(upTo(64));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(begin(s));
  CHECK(captured(s).status == CaptureStatus::Active);
  OK(s.scale(x, x, 2, 1, 64, s.stream));
  OK(s.scale(x, x, 3, 0, 64, s.stream));
  GraphExec exec = instantiated(s);
  CHECK(captured(s).status == CaptureStatus::None);
  CHECK(s.download(x, 64, s.stream) == upTo(64)); // nothing has run
  for (int i = 0; i < 2; ++i)
    OK(s.cuda.cuGraphLaunch(exec, s.stream));
  OK(s.scale(x, x, 1, 5, 64, s.stream)); // after the graph
  CHECK(s.download(x, 64, s.stream) ==
        scaled(upTo(64), {{2, 1}, {3, 0}, {2, 1}, {3, 0}, {1, 5}}));
  OK(s.cuda.cuGraphExecDestroy(exec));
}

TEST_CASE("a graph copies from pinned memory what is there at each launch") {
  Session s;
  s.function("scale");
  Address x = s.upload(upTo(64));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  void *pinned = nullptr;
  OK(s.cuda.cuMemAllocHost(&pinned, 256));
  OK(begin(s));
  OK(s.cuda.cuMemcpyHtoDAsync(x, pinned, 256, s.stream));
  OK(s.scale(x, x, 2, 1, 64, s.stream));
  GraphExec exec = instantiated(s);
  for (float first : {1.0f, 100.0f}) {
    std::vector<float> values = scaled(upTo(64), {{1, first}});
    std::memcpy(pinned, values.data(), 256);
    OK(s.cuda.cuGraphLaunch(exec, s.stream));
    CHECK(s.download(x, 64, s.stream) == scaled(values, {{2, 1}}));
  }
  OK(s.cuda.cuGraphExecDestroy(exec));
  OK(s.cuda.cuMemFreeHost(pinned));
}

TEST_CASE("a caller says for which nodes the next one waits") {
  Session s;
  s.function("scale");
  Address x = s.upload(upTo(64)), y = s.allocate(256), z = s.allocate(256);
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(begin(s));
  GraphNode root = nullptr;
  OK(s.cuda.cuGraphAddEmptyNode(&root, captured(s).graph, nullptr, 0));
  OK(waitFor(s, {root}));
  OK(s.scale(x, y, 2, 0, 64, s.stream));
  std::vector<GraphNode> first = captured(s).nodes;
  REQUIRE(first.size() == 1);
  OK(waitFor(s, {root}));
  OK(s.scale(x, z, 3, 0, 64, s.stream)); // beside the first
  std::vector<GraphNode> second = captured(s).nodes;
  REQUIRE(second.size() == 1);
  OK(waitFor(s, {first[0], second[0]}));
  OK(s.cuda.cuMemcpyDtoDAsync(x, y, 128, s.stream));
  OK(s.cuda.cuMemcpyDtoDAsync(x + 128, z, 128, s.stream));
  GraphExec exec = instantiated(s);
  OK(s.cuda.cuGraphLaunch(exec, s.stream));
  std::vector<float> wanted = scaled(upTo(32), {{2, 0}});
  for (float value : scaled(upTo(32), {{3, 0}}))
    wanted.push_back(value);
  CHECK(s.download(x, 64, s.stream) == wanted);
  OK(s.cuda.cuGraphExecDestroy(exec));
}

TEST_CASE("nodes for which no other waits are part of the graph") {
  Session s;
  s.function("scale");
  Address x = s.upload(upTo(64)), y = s.allocate(256), z = s.allocate(256);
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(begin(s));
  GraphNode root = nullptr;
  OK(s.cuda.cuGraphAddEmptyNode(&root, captured(s).graph, nullptr, 0));
  OK(waitFor(s, {root}));
  OK(s.scale(x, y, 2, 0, 64, s.stream));
  std::vector<GraphNode> last = captured(s).nodes;
  OK(waitFor(s, {root}));
  OK(s.scale(x, z, 1, 0, 64, s.stream));
  last.push_back(captured(s).nodes.at(0));
  OK(waitFor(s, last));
  GraphExec exec = instantiated(s);
  OK(s.cuda.cuGraphLaunch(exec, s.stream));
  CHECK(s.download(y, 64, s.stream) == scaled(upTo(64), {{2, 0}}));
  OK(s.cuda.cuGraphExecDestroy(exec));
}

TEST_CASE("events fork and join a capture") {
  Session s;
  s.function("scale");
  Stream other = nullptr;
  Event forked = nullptr, joined = nullptr;
  OK(s.cuda.cuStreamCreate(&other, kStreamNonBlocking));
  OK(s.cuda.cuEventCreate(&forked, kEventDisableTiming));
  OK(s.cuda.cuEventCreate(&joined, kEventDisableTiming));
  Address x = s.upload(upTo(64)), y = s.allocate(256);
  OK(s.cuda.cuStreamSynchronize(s.stream));
  for (bool joins : {true, false}) {
    OK(begin(s));
    OK(s.cuda.cuEventRecord(forked, s.stream));
    OK(s.cuda.cuStreamWaitEvent(other, forked, 0));
    OK(s.scale(x, y, 2, 0, 64, other));
    if (joins) {
      OK(s.cuda.cuEventRecord(joined, other));
      OK(s.cuda.cuStreamWaitEvent(s.stream, joined, 0));
      OK(s.scale(y, y, 1, 3, 64, s.stream));
      GraphExec exec = instantiated(s);
      OK(s.cuda.cuGraphLaunch(exec, s.stream));
      CHECK(s.download(y, 64, s.stream) == scaled(upTo(64), {{2, 0}, {1, 3}}));
      OK(s.cuda.cuGraphExecDestroy(exec));
    } else {
      Graph graph = nullptr;
      CHECK(s.cuda.cuStreamEndCapture(s.stream, &graph) ==
            Result::StreamCaptureUnjoined);
      CHECK(graph == nullptr);
    }
  }
  for (Event event : {forked, joined})
    OK(s.cuda.cuEventDestroy(event));
  OK(s.cuda.cuStreamDestroy(other));
}

TEST_CASE("a wait ends a capture, and the stream works again") {
  Session s;
  s.function("scale");
  Address x = s.upload(upTo(64));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(begin(s));
  OK(s.scale(x, x, 2, 0, 64, s.stream));
  CHECK(s.cuda.cuStreamSynchronize(s.stream) ==
        Result::StreamCaptureUnsupported);
  Graph graph = nullptr;
  CHECK(s.cuda.cuStreamEndCapture(s.stream, &graph) ==
        Result::StreamCaptureInvalidated);
  CHECK(graph == nullptr);
  OK(s.scale(x, x, 3, 0, 64, s.stream));
  CHECK(s.download(x, 64, s.stream) == scaled(upTo(64), {{3, 0}}));
}

TEST_CASE("a thread that captures does not keep others from allocating") {
  Session s;
  s.function("scale");
  Address x = s.upload(upTo(64));
  OK(s.cuda.cuStreamSynchronize(s.stream));
  OK(begin(s));
  Result allocated = Result::Unknown, freed = Result::Unknown;
  std::thread([&] {
    Address address = 0;
    s.cuda.cuCtxSetCurrent(s.context);
    allocated = s.cuda.cuMemAlloc(&address, 4096);
    freed = s.cuda.cuMemFree(address);
  }).join();
  CHECK(allocated == Result::Success);
  CHECK(freed == Result::Success);
  OK(s.scale(x, x, 2, 0, 64, s.stream));
  GraphExec exec = instantiated(s);
  OK(s.cuda.cuGraphLaunch(exec, s.stream));
  CHECK(s.download(x, 64, s.stream) == scaled(upTo(64), {{2, 0}}));
  OK(s.cuda.cuGraphExecDestroy(exec));
}
