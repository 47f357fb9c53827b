//===- StepGraph.h - enqueued work as a CUDA graph --------------*- C++ -*-===//
//
//   std::unique_ptr<GraphCapture> capture;
//   GraphCapture::begin(stream, capture);
//   capture->before({{x, x + 64, false}, {y, y + 64, true}});
//   ... a launch on capture->stream() ...      // becomes a node
//   capture->after();
//   std::unique_ptr<StepGraph> graph;
//   capture->end(graph);
//   graph->launch(stream);                     // any number of times
//
// A node waits for those earlier ones with which it shares bytes that one of
// them writes (Hazards.h); others may run side by side. Addresses and other
// parameters are those of the capture. While a thread captures, it may neither
// allocate nor wait.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_STEPGRAPH_H
#define WEFT_RUNTIME_DEVICES_CUDA_STEPGRAPH_H

#include "weft/runtime/devices/cuda/Gpu.h"
#include "weft/runtime/program/Hazards.h"

namespace weft::runtime {

class StepGraph {
public:
  ~StepGraph();
  StepGraph(const StepGraph &) = delete;
  StepGraph &operator=(const StepGraph &) = delete;
  /// Enqueues all nodes after the earlier operations of the stream; later ones
  /// wait for them.
  Status launch(const GpuStream &stream) const;

private:
  friend class GraphCapture;
  StepGraph(std::shared_ptr<const Gpu> gpu, cuda::GraphExec exec)
      : gpu(std::move(gpu)), exec(exec) {}
  std::shared_ptr<const Gpu> gpu;
  cuda::GraphExec exec;
};

class GraphCapture {
public:
  /// Begins: operations on the stream are recorded and not run.
  static Status begin(const GpuStream &stream [[clang::lifetimebound]],
                      std::unique_ptr<GraphCapture> &out);
  /// Ends a capture that failed; what was recorded is dropped.
  ~GraphCapture();
  GraphCapture(const GraphCapture &) = delete;
  GraphCapture &operator=(const GraphCapture &) = delete;

  const GpuStream &stream() const { return origin; }
  /// Lets the next operations, up to after(), wait for those that they must
  /// wait for.
  Status before(std::span<const BytesTouched> touched);
  Status after();
  Status end(std::unique_ptr<StepGraph> &out);

private:
  explicit GraphCapture(const GpuStream &stream [[clang::lifetimebound]])
      : origin(stream) {}
  /// The nodes that the stream's next operation would wait for.
  Status find(std::vector<cuda::GraphNode> &out, cuda::Graph &graph) const;
  /// Sets those nodes.
  Status set(std::vector<cuda::GraphNode> nodes) const;
  std::vector<cuda::GraphNode> nodesOf(std::span<const uint32_t> steps) const;

  const GpuStream &origin;
  bool isOpen = false;
  cuda::GraphNode root = nullptr; ///< an empty node, for which all others wait
  Hazards hazards;
  /// The last nodes of each step: one, or several of a library's call.
  std::vector<std::vector<cuda::GraphNode>> steps;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_STEPGRAPH_H
