//===- Driver.h - the state behind the functions ----------------*- C++ -*-===//
//
// Streams are queues: operations run when a call waits, and the seed picks
// among all that can run. So programs cannot rely on unspecified behaviour:
// enqueued work is not over, and work of two streams takes place in any order.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_DRIVER_DRIVER_H
#define WEFT_TEST_CUDA_DRIVER_DRIVER_H

#include "weft/test/cuda/driver/DeviceMemory.h"
#include "weft/test/cuda/driver/Settings.h"

#include <mutex>
#include <set>
#include <utility>

namespace weft::fake {

/// The state that a call requires.
enum class Needs : uint8_t { Nothing, Init, Context };

class Driver {
public:
  static Driver &get();

  /// Runs the body of a function of the API with the current context, unless
  /// the environment makes it fail or its state does not allow it.
  template <class Body>
  cuda::Result call(const char *symbol, Needs needs, Body body) {
    std::lock_guard<std::recursive_mutex> lock(mutex);
    cuda::Result result = begin(symbol, needs);
    return result == cuda::Result::Success ? body() : result;
  }

  /// Reports a mistake of the program, which ends with exit status 97.
  void report(const std::string &what);
  uint64_t takeFindings() { return std::exchange(findings, 0); }
  /// The current context of this thread.
  static cuda::Context &current();

  // Streams.
  /// The object of a handle in the current context, or null.
  cuda::Stream find(cuda::Stream handle);
  cuda::Stream addStream(bool isBlocking);
  OperationRef enqueue(cuda::Stream stream, const std::string &name,
                       std::vector<Touch> touches,
                       std::function<void(Operation &)> run,
                       std::vector<OperationRef> waits = {});
  /// The capture of this thread, or null.
  static std::shared_ptr<Capture> &capture();
  uint64_t nextGraph() { return ++graphNumber; }
  uint32_t nextStreamNumber() { return nextStream++; }
  /// Runs operations until the condition holds.
  void runUntil(const std::function<bool()> &isEnough);
  /// Runs one operation if any can run.
  bool runOne();
  /// Runs the operation that the host waits for, and orders the host after it.
  cuda::Result waitFor(const OperationRef &operation);
  cuda::Result waitForContext(cuda::Context context);
  /// Records that the host knows from a query that an operation is over.
  void learn(const OperationRef &operation);
  /// Operations that are not over and satisfy the condition.
  std::vector<OperationRef>
  pending(const std::function<bool(const Operation &)> &condition) const;
  /// Records an access of a running operation.
  void noteAccess(const Operation &operation, const Touch &touch);
  /// Counts a kernel that begins; returns the error that the environment makes
  /// it leave.
  cuda::Result beginKernel();
  /// Reports leaks, and ends the process with an error if anything was
  /// reported.
  static void atExit();

  std::recursive_mutex mutex;
  Settings settings;
  DeviceMemory memory;
  AccessLog accesses;
  bool isInitialized = false;
  std::vector<std::unique_ptr<cuda::ContextObject>> contexts; ///< by GPU
  std::set<cuda::Stream> streams;
  std::set<cuda::Event> events;
  std::set<cuda::Module> modules;
  std::set<cuda::Graph> graphs;
  std::set<cuda::GraphExec> execs;
  uint64_t random = 0;

private:
  Driver();
  ~Driver() = default;
  cuda::Result begin(const std::string &symbol, Needs needs);
  bool isFailure(const std::string &symbol);
  OperationRef record(cuda::Stream stream, const std::string &name,
                      OperationRef operation);
  /// All streams that may have operations, by their numbers.
  std::vector<cuda::Stream> allStreams() const;
  /// Whether a stream waits for another process.
  bool waitsForProcess() const;
  void writeCalls() const;
  void reportLeaks();

  std::map<std::string, uint64_t> calls;
  uint64_t kernels = 0, findings = 0, graphNumber = 0;
  uint32_t nextStream = 0;
  Clock host;
};

/// Returns the next number of splitmix64 (Steele, Lea and Flood).
uint64_t nextRandom(uint64_t &state);

} // namespace weft::fake

#endif // WEFT_TEST_CUDA_DRIVER_DRIVER_H
