//===- Objects.h - contexts, streams, events, modules -----------*- C++ -*-===//

#ifndef WEFT_TEST_CUDA_DRIVER_OBJECTS_H
#define WEFT_TEST_CUDA_DRIVER_OBJECTS_H

#include "weft/runtime/devices/cuda/DriverAbi.h"
#include "weft/test/cuda/driver/Order.h"
#include "weft/test/cuda/machine/Launch.h"

#include <chrono>
#include <deque>
#include <functional>
#include <memory>
#include <thread>

namespace weft::fake {

/// Bytes that an operation is known to touch when it is enqueued.
struct Touch {
  uint64_t address, bytes;
  bool isWrite;
};

/// An operation of a stream, which runs after earlier ones and those that it
/// waits for.
struct Operation : Actor {
  cuda::Context context = nullptr;
  std::vector<std::shared_ptr<Operation>> waits;
  std::vector<Touch> touches;
  const void *object = nullptr; ///< the module that it needs
  std::function<void(Operation &)> run;
  /// Whether it waits for something else than operations, null: it does not.
  std::function<bool()> isBlocked;
  bool waitsForProcess = false; ///< whether that may be another process
  bool isDone = false;
};
using OperationRef = std::shared_ptr<Operation>;

/// What streams record between cuStreamBeginCapture and cuStreamEndCapture.
struct Capture {
  cuda::Stream origin = nullptr;
  std::thread::id thread;
  uint64_t id = 0;
  bool isValid = true;
  std::unique_ptr<cuda::GraphObject> graph;
};

} // namespace weft::fake

namespace weft::cuda {

/// The primary context of a GPU.
struct ContextObject {
  Device device = 0;
  unsigned retained = 0;
  uint64_t peers = 0; ///< other contexts whose memory it may address
  Result error = Result::Success; ///< stays once a kernel failed
  ptx::Memory memory;
  uint64_t used = 0;
  std::unique_ptr<StreamObject> legacy; ///< the null stream
};

/// An operation of a graph, which is enqueued at each launch; null: an empty
/// node.
struct GraphNodeObject {
  fake::OperationRef work;
  std::vector<GraphNode> waits; ///< earlier nodes of the graph
};

struct GraphObject {
  Context context = nullptr;
  uint64_t number = 0;
  std::vector<std::unique_ptr<GraphNodeObject>> nodes;
};

/// A graph that can be launched: each node is in a stream of its own, so that
/// nodes take place in any order that their edges allow.
struct GraphExecObject {
  Context context = nullptr;
  struct Node {
    fake::OperationRef work;
    std::vector<size_t> waits;
    std::unique_ptr<StreamObject> stream;
  };
  std::vector<Node> nodes;
  fake::OperationRef last; ///< the end of the last launch
};

struct StreamObject {
  Context context = nullptr;
  std::shared_ptr<fake::Capture> capture; ///< while it records
  std::vector<GraphNode> captured;        ///< nodes that its next one waits for
  uint32_t number = 0, count = 0;
  bool isBlocking = false; ///< keeps order with the null stream
  std::deque<fake::OperationRef> queue;
  fake::OperationRef last; ///< also after it ran
};

struct EventObject {
  Context context = nullptr;
  bool hasTime = true;
  fake::OperationRef record;            ///< the last one
  std::weak_ptr<fake::Capture> capture; ///< last record's capture, and nodes
  std::vector<GraphNode> captured;
  std::shared_ptr<std::chrono::steady_clock::time_point> time;
};

struct ModuleObject {
  Context context = nullptr;
  ptx::Module code;
  std::vector<uint64_t> dataAddresses;
  std::map<std::string, std::unique_ptr<FunctionObject>> functions;
};

struct FunctionObject {
  Module module = nullptr;
  const ptx::Kernel *kernel = nullptr;
  int dynamicShared = 48 * 1024; ///< at most, until an attribute says more
};

} // namespace weft::cuda

#endif // WEFT_TEST_CUDA_DRIVER_OBJECTS_H
