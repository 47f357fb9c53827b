//===- GraphCalls.cpp - captures and graphs -------------------------------===//

#include "weft/test/cuda/driver/Entry.h"

#include <algorithm>

using namespace weft::fake;

Result cuStreamBeginCapture_v2(Stream handle, CaptureMode mode) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream)
      return Result::InvalidHandle;
    if (stream == stream->context->legacy.get())
      return Result::StreamCaptureUnsupported;
    if (stream->capture)
      return Result::IllegalState;
    if (mode != CaptureMode::ThreadLocal) {
      driver.report("cuStreamBeginCapture with a mode that this driver lacks");
      return Result::NotSupported;
    }
    auto capture = std::make_shared<Capture>();
    capture->origin = stream;
    capture->thread = std::this_thread::get_id();
    capture->id = driver.nextGraph();
    capture->graph = std::make_unique<GraphObject>();
    capture->graph->context = stream->context;
    capture->graph->number = capture->id;
    stream->capture = Driver::capture() = capture;
    stream->captured.clear();
    return Result::Success;
  });
}

/// Whether all nodes are among `from` and those before them.
static bool areBefore(const std::vector<GraphNode> &nodes,
                      const std::vector<GraphNode> &from) {
  std::set<GraphNode> reached;
  std::vector<GraphNode> open = from;
  while (!open.empty()) {
    GraphNode node = open.back();
    open.pop_back();
    if (reached.insert(node).second)
      open.insert(open.end(), node->waits.begin(), node->waits.end());
  }
  return std::ranges::all_of(
      nodes, [&](GraphNode node) { return reached.contains(node); });
}

/// Ends the capture in all its streams; returns whether all had joined the
/// first one.
static bool endStreams(const Capture &capture) {
  bool areJoined = true;
  Driver &driver = Driver::get();
  for (Stream stream : driver.streams) {
    if (stream->capture.get() != &capture || stream == capture.origin)
      continue;
    areJoined &= areBefore(stream->captured, capture.origin->captured);
    stream->capture = nullptr;
  }
  capture.origin->capture = nullptr;
  return areJoined;
}

Result cuStreamEndCapture(Stream handle, Graph *graph) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream || !graph)
      return stream ? Result::InvalidValue : Result::InvalidHandle;
    *graph = nullptr;
    std::shared_ptr<Capture> capture = stream->capture;
    if (!capture)
      return Result::IllegalState;
    if (capture->thread != std::this_thread::get_id())
      return Result::StreamCaptureWrongThread;
    if (capture->origin != stream) {
      capture->isValid = false;
      return Result::StreamCaptureUnmatched;
    }
    bool areJoined = endStreams(*capture);
    Driver::capture() = nullptr;
    if (!capture->isValid)
      return Result::StreamCaptureInvalidated;
    if (!areJoined)
      return Result::StreamCaptureUnjoined;
    *graph = capture->graph.release();
    driver.graphs.insert(*graph);
    return Result::Success;
  });
}

Result cuStreamGetCaptureInfo_v3(Stream handle, CaptureStatus *status,
                                 uint64_t *id, Graph *graph,
                                 const GraphNode **dependencies,
                                 const EdgeData **edges, size_t *count) {
  return call(__func__, Needs::Context, [&] {
    Stream stream = Driver::get().find(handle);
    if (!stream || !status)
      return stream ? Result::InvalidValue : Result::InvalidHandle;
    const Capture *capture = stream->capture.get();
    *status = !capture           ? CaptureStatus::None
              : capture->isValid ? CaptureStatus::Active
                                 : CaptureStatus::Invalidated;
    if (*status != CaptureStatus::Active)
      return Result::Success;
    if (id)
      *id = capture->id;
    if (graph)
      *graph = capture->graph.get();
    if (dependencies)
      *dependencies = stream->captured.data();
    if (edges)
      *edges = nullptr;
    if (count)
      *count = stream->captured.size();
    return Result::Success;
  });
}

static bool isNodeOf(const GraphObject &graph, GraphNode node) {
  return std::ranges::any_of(
      graph.nodes, [&](const auto &known) { return known.get() == node; });
}

Result cuStreamUpdateCaptureDependencies_v2(Stream handle,
                                            GraphNode *dependencies,
                                            const EdgeData *edges, size_t count,
                                            unsigned flags) {
  return call(__func__, Needs::Context, [&] {
    Stream stream = Driver::get().find(handle);
    if (!stream)
      return Result::InvalidHandle;
    if (!stream->capture || !stream->capture->isValid)
      return Result::IllegalState;
    if ((count && !dependencies) || edges || flags > kSetCaptureDependencies)
      return Result::InvalidValue;
    std::vector<GraphNode> given(dependencies, dependencies + count);
    for (GraphNode node : given)
      if (!isNodeOf(*stream->capture->graph, node))
        return Result::InvalidValue;
    if (flags == kSetCaptureDependencies)
      stream->captured.clear();
    stream->captured.insert(stream->captured.end(), given.begin(), given.end());
    return Result::Success;
  });
}

/// The graph, also one that a stream still records; null, with a report, if
/// there is none.
static Graph findGraph(Graph graph) {
  Driver &driver = Driver::get();
  bool isRecorded =
      Driver::capture() && Driver::capture()->graph.get() == graph;
  if (isRecorded || driver.graphs.contains(graph))
    return graph;
  driver.report("a graph that does not exist, or no more, is used");
  return nullptr;
}

Result cuGraphAddEmptyNode(GraphNode *node, Graph graph,
                           const GraphNode *dependencies, size_t count) {
  return call(__func__, Needs::Init, [&] {
    if (!node || !findGraph(graph) || (count && !dependencies))
      return Result::InvalidValue;
    auto made = std::make_unique<GraphNodeObject>();
    made->waits.assign(dependencies, dependencies + count);
    *node = made.get();
    graph->nodes.push_back(std::move(made));
    return Result::Success;
  });
}

Result cuGraphInstantiateWithFlags(GraphExec *exec, Graph graph,
                                   unsigned long long flags) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    if (!exec || flags || !findGraph(graph))
      return Result::InvalidValue;
    auto made = std::make_unique<GraphExecObject>();
    made->context = graph->context;
    std::map<GraphNode, size_t> numbers;
    for (const auto &node : graph->nodes) {
      numbers[node.get()] = made->nodes.size();
      GraphExecObject::Node &copy = made->nodes.emplace_back();
      copy.work = node->work;
      for (GraphNode other : node->waits)
        copy.waits.push_back(numbers.at(other));
      copy.stream = std::make_unique<StreamObject>();
      copy.stream->context = graph->context;
      copy.stream->number = driver.nextStreamNumber();
    }
    *exec = made.release();
    driver.execs.insert(*exec);
    return Result::Success;
  });
}

static bool isExec(GraphExec exec) {
  if (Driver::get().execs.contains(exec))
    return true;
  Driver::get().report("an instantiated graph that does not exist, or no more, "
                       "is used");
  return false;
}

/// Whether the modules of all kernels are still loaded.
static bool hasModules(const GraphExecObject &exec) {
  for (const GraphExecObject::Node &node : exec.nodes) {
    const void *module = node.work ? node.work->object : nullptr;
    if (!module || std::ranges::any_of(Driver::get().modules, [&](Module one) {
          return one == module;
        }))
      continue;
    Driver::get().report("cuGraphLaunch of " + node.work->name +
                         ", whose module is no longer loaded");
    return false;
  }
  return true;
}

/// Enqueues all nodes, between a begin and an end in the stream. Launches of one
/// graph take place one after the other.
Result cuGraphLaunch(GraphExec exec, Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream || !isExec(exec) || stream->context != exec->context)
      return Result::InvalidHandle;
    if (stream->capture) {
      driver.report("cuGraphLaunch on a stream that captures, which this "
                    "driver lacks");
      return Result::NotSupported;
    }
    if (!hasModules(*exec))
      return Result::InvalidValue;
    std::vector<OperationRef> waits;
    if (exec->last)
      waits.push_back(exec->last);
    OperationRef begin =
        driver.enqueue(stream, "cuGraphLaunch", {}, nullptr, waits);
    std::vector<OperationRef> all;
    for (const GraphExecObject::Node &node : exec->nodes) {
      waits = {begin};
      for (size_t other : node.waits)
        waits.push_back(all[other]);
      const OperationRef &work = node.work;
      all.push_back(driver.enqueue(node.stream.get(),
                                   work ? work->name : "an empty node",
                                   work ? work->touches : std::vector<Touch>(),
                                   work ? work->run : nullptr, waits));
      all.back()->object = work ? work->object : nullptr;
    }
    exec->last = driver.enqueue(stream, "the end of cuGraphLaunch", {}, nullptr,
                                std::move(all));
    return Result::Success;
  });
}

Result cuGraphExecDestroy(GraphExec exec) {
  return call(__func__, Needs::Init, [&] {
    Driver &driver = Driver::get();
    if (!isExec(exec))
      return Result::InvalidValue;
    if (exec->last && !exec->last->isDone) {
      driver.report("cuGraphExecDestroy of a graph whose launch is not over; "
                    "wait for it first");
      driver.runUntil([&] { return exec->last->isDone; });
    }
    driver.execs.erase(exec);
    delete exec;
    return Result::Success;
  });
}

Result cuGraphDestroy(Graph graph) {
  return call(__func__, Needs::Init, [&] {
    if (!Driver::get().graphs.contains(graph))
      return Result::InvalidValue;
    Driver::get().graphs.erase(graph);
    delete graph;
    return Result::Success;
  });
}
