#include "weft/runtime/devices/cuda/StepGraph.h"

namespace weft::runtime {

StepGraph::~StepGraph() {
  CallerContext caller(gpu->driver());
  // A GPU that failed cannot be cleaned up.
  if (!gpu->driver().hasFailed() && gpu->makeCurrent())
    gpu->driver().cuGraphExecDestroy(exec);
}

Status StepGraph::launch(const GpuStream &stream) const {
  if (Status ok = gpu->makeCurrent(); !ok)
    return ok;
  const Driver &driver = gpu->driver();
  return driver.check(driver.cuGraphLaunch(exec, stream.handle()),
                      "cuGraphLaunch");
}

Status GraphCapture::begin(const GpuStream &stream,
                           std::unique_ptr<GraphCapture> &out) {
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  const Driver &driver = stream.gpu().driver();
  // Other threads may allocate and copy meanwhile.
  if (Status ok =
          driver.check(driver.cuStreamBeginCapture(
                           stream.handle(), cuda::CaptureMode::ThreadLocal),
                       "cuStreamBeginCapture");
      !ok)
    return ok;
  std::unique_ptr<GraphCapture> made(new GraphCapture(stream));
  made->isOpen = true;
  std::vector<cuda::GraphNode> none;
  cuda::Graph graph = nullptr;
  if (Status ok = made->find(none, graph); !ok)
    return ok;
  if (Status ok = driver.check(
          driver.cuGraphAddEmptyNode(&made->root, graph, nullptr, 0),
          "cuGraphAddEmptyNode");
      !ok)
    return ok;
  out = std::move(made);
  return {};
}

GraphCapture::~GraphCapture() {
  cuda::Graph graph = nullptr;
  const Driver &driver = origin.gpu().driver();
  if (!isOpen || !origin.gpu().makeCurrent())
    return;
  driver.cuStreamEndCapture(origin.handle(), &graph);
  if (graph)
    driver.cuGraphDestroy(graph);
}

Status GraphCapture::find(std::vector<cuda::GraphNode> &out,
                          cuda::Graph &graph) const {
  const Driver &driver = origin.gpu().driver();
  auto status = cuda::CaptureStatus::None;
  uint64_t id = 0;
  const cuda::GraphNode *nodes = nullptr;
  const cuda::EdgeData *edges = nullptr;
  size_t count = 0;
  if (Status ok = driver.check(
          driver.cuStreamGetCaptureInfo(origin.handle(), &status, &id, &graph,
                                        &nodes, &edges, &count),
          "cuStreamGetCaptureInfo");
      !ok)
    return ok;
  if (status != cuda::CaptureStatus::Active)
    return makeError(StatusCode::Internal,
                     "a call ended the recording of a graph; use ",
                     Option{"graphs", "off"});
  out.assign(nodes, nodes + count);
  return {};
}

Status GraphCapture::set(std::vector<cuda::GraphNode> nodes) const {
  const Driver &driver = origin.gpu().driver();
  return driver.check(driver.cuStreamUpdateCaptureDependencies(
                          origin.handle(), nodes.data(), nullptr, nodes.size(),
                          cuda::kSetCaptureDependencies),
                      "cuStreamUpdateCaptureDependencies");
}

std::vector<cuda::GraphNode>
GraphCapture::nodesOf(std::span<const uint32_t> all) const {
  std::vector<cuda::GraphNode> nodes;
  for (uint32_t step : all)
    nodes.insert(nodes.end(), steps[step].begin(), steps[step].end());
  if (nodes.empty())
    nodes.push_back(root);
  return nodes;
}

Status GraphCapture::before(std::span<const BytesTouched> touched) {
  return set(nodesOf(hazards.add(touched)));
}

Status GraphCapture::after() {
  cuda::Graph graph = nullptr;
  return find(steps.emplace_back(), graph);
}

Status GraphCapture::end(std::unique_ptr<StepGraph> &out) {
  // The end waits for operations that no other operation waits for.
  if (Status ok = set(nodesOf(hazards.last())); !ok)
    return ok;
  const Driver &driver = origin.gpu().driver();
  cuda::Graph graph = nullptr;
  isOpen = false;
  if (Status ok =
          driver.check(driver.cuStreamEndCapture(origin.handle(), &graph),
                       "cuStreamEndCapture");
      !ok)
    return ok;
  cuda::GraphExec exec = nullptr;
  Status made = driver.check(driver.cuGraphInstantiate(&exec, graph, 0),
                             "cuGraphInstantiate");
  driver.cuGraphDestroy(graph);
  if (made)
    out.reset(new StepGraph(origin.owned(), exec));
  return made;
}

} // namespace weft::runtime
