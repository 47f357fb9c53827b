//===- Driver.cpp - the state behind the functions ------------------------===//

#include "weft/test/cuda/driver/Driver.h"

#include <algorithm>
#include <cstdio>

#include <unistd.h>

namespace weft::fake {

using cuda::Result;

uint64_t nextRandom(uint64_t &state) {
  uint64_t z = state += 0x9E3779B97F4A7C15;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9;
  z = (z ^ z >> 27) * 0x94D049BB133111EB;
  return z ^ z >> 31;
}

static Driver *made = nullptr;

/// The driver exists to the end of the process, as programs call it from their
/// destructors.
Driver &Driver::get() {
  static Driver *driver = made = new Driver;
  return *driver;
}

Driver::Driver() : settings(Settings::fromEnvironment()) {
  random = settings.seed;
  for (int i = 0; i < settings.gpus; ++i) {
    contexts.push_back(std::make_unique<cuda::ContextObject>());
    contexts.back()->device = i;
  }
}

cuda::Context &Driver::current() {
  static thread_local cuda::Context context = nullptr;
  return context;
}

/// Further repetitions are only counted: a step that is repeated repeats its
/// mistakes.
void Driver::report(const std::string &what) {
  constexpr uint64_t most = 50;
  if (++findings <= most)
    std::fprintf(stderr, "fake-cuda: %s\n", what.c_str());
}

/// A name of the API, or its symbol: cuMemAlloc or cuMemAlloc_v2.
static std::string withoutVersion(const std::string &symbol) {
  size_t at = symbol.rfind("_v");
  return at == std::string::npos ? symbol : symbol.substr(0, at);
}

static Result usualFailure(const std::string &symbol) {
  return symbol.find("Alloc") != std::string::npos ? Result::OutOfMemory
                                                   : Result::Unknown;
}

std::shared_ptr<Capture> &Driver::capture() {
  static thread_local std::shared_ptr<Capture> capture;
  return capture;
}

/// Whether a thread that captures may not make the call: it allocates, loads,
/// or waits.
static bool isUnsafe(const std::string &name) {
  static const std::set<std::string> unsafe = {
      "cuMemAlloc",         "cuMemFree",
      "cuMemAllocAsync",    "cuMemFreeAsync",
      "cuMemAllocHost",     "cuMemFreeHost",
      "cuModuleLoadDataEx", "cuModuleUnload",
      "cuCtxSynchronize",   "cuStreamSynchronize",
      "cuStreamQuery",      "cuEventSynchronize",
      "cuEventQuery",       "cublasLtMatmulAlgoGetHeuristic"};
  return unsafe.contains(name);
}

Result Driver::begin(const std::string &symbol, Needs needs) {
  std::string name = withoutVersion(symbol);
  uint64_t call = ++calls[name];
  for (const std::string &key : {symbol, name})
    if (auto found = settings.failures.find(key);
        found != settings.failures.end() && found->second.call == call)
      return found->second.result ? Result(found->second.result)
                                  : usualFailure(name);
  if (capture() && isUnsafe(name)) {
    capture()->isValid = false;
    return Result::StreamCaptureUnsupported;
  }
  if (needs == Needs::Nothing)
    return Result::Success;
  if (!isInitialized)
    return Result::NotInitialized;
  if (needs == Needs::Init)
    return Result::Success;
  if (!current() || !current()->retained)
    return Result::InvalidContext;
  return current()->error;
}

Result Driver::beginKernel() {
  auto found = settings.failures.find("kernel");
  ++kernels;
  if (found == settings.failures.end() || found->second.call != kernels)
    return Result::Success;
  return found->second.result ? Result(found->second.result)
                              : Result::IllegalAddress;
}

/// The handles null and 1 are the stream that keeps order with all blocking
/// ones.
cuda::Stream Driver::find(cuda::Stream handle) {
  cuda::Context context = current();
  if (!handle || handle == reinterpret_cast<cuda::Stream>(1)) {
    if (!context->legacy) {
      context->legacy = std::make_unique<cuda::StreamObject>();
      context->legacy->context = context;
      context->legacy->number = nextStream++;
    }
    return context->legacy.get();
  }
  if (!streams.contains(handle)) {
    report("a stream that does not exist, or no more, is used");
    return nullptr;
  }
  return handle->context == context ? handle : nullptr;
}

cuda::Stream Driver::addStream(bool isBlocking) {
  auto *stream = new cuda::StreamObject;
  stream->context = current();
  stream->number = nextStream++;
  stream->isBlocking = isBlocking;
  streams.insert(stream);
  return stream;
}

OperationRef Driver::enqueue(cuda::Stream stream, const std::string &name,
                             std::vector<Touch> touches,
                             std::function<void(Operation &)> run,
                             std::vector<OperationRef> waits) {
  auto operation = std::make_shared<Operation>();
  operation->stream = stream->number;
  operation->count = ++stream->count;
  operation->name = name + ", operation " + std::to_string(stream->count) +
                    " of stream " + std::to_string(stream->number);
  operation->context = stream->context;
  operation->touches = std::move(touches);
  operation->run = std::move(run);
  if (stream->capture)
    return record(stream, name, operation);
  cuda::StreamObject *legacy = stream->context->legacy.get();
  if (stream == legacy) {
    for (cuda::Stream other : streams)
      if (other->isBlocking && other->context == stream->context && other->last)
        waits.push_back(other->last);
  } else if (stream->isBlocking && legacy && legacy->last) {
    waits.push_back(legacy->last);
  }
  operation->clock = host;
  if (stream->last)
    operation->clock.join(stream->last->clock);
  for (const OperationRef &other : waits)
    operation->clock.join(other->clock);
  operation->clock.set(operation->stream, operation->count);
  operation->waits = std::move(waits);
  stream->queue.push_back(operation);
  return stream->last = operation;
}

/// Makes the operation a node of the graph that the stream records.
OperationRef Driver::record(cuda::Stream stream, const std::string &name,
                            OperationRef operation) {
  cuda::GraphObject &graph = *stream->capture->graph;
  auto node = std::make_unique<cuda::GraphNodeObject>();
  node->work = operation;
  node->waits = stream->captured;
  operation->name = name;
  --stream->count;
  stream->captured = {node.get()};
  graph.nodes.push_back(std::move(node));
  return operation;
}

static bool isReady(const cuda::StreamObject &stream) {
  if (stream.queue.empty())
    return false;
  for (const OperationRef &other : stream.queue.front()->waits)
    if (!other->isDone)
      return false;
  const Operation &front = *stream.queue.front();
  return !front.isBlocked || front.context->error != Result::Success ||
         !front.isBlocked();
}

std::vector<cuda::Stream> Driver::allStreams() const {
  std::vector<cuda::Stream> all(streams.begin(), streams.end());
  for (const auto &context : contexts)
    if (context->legacy)
      all.push_back(context->legacy.get());
  for (cuda::GraphExec exec : execs)
    for (const cuda::GraphExecObject::Node &node : exec->nodes)
      if (!node.stream->queue.empty())
        all.push_back(node.stream.get());
  // Not by addresses, which differ in each run.
  std::sort(all.begin(), all.end(),
            [](auto a, auto b) { return a->number < b->number; });
  return all;
}

bool Driver::runOne() {
  std::vector<cuda::Stream> ready = allStreams();
  std::erase_if(ready, [](cuda::Stream stream) { return !isReady(*stream); });
  if (ready.empty())
    return false;
  cuda::Stream chosen = ready[nextRandom(random) % ready.size()];
  OperationRef operation = chosen->queue.front();
  if (operation->run && operation->context->error == Result::Success)
    operation->run(*operation);
  operation->isDone = true;
  operation->waits.clear();
  operation->run = nullptr;
  operation->isBlocked = nullptr;
  chosen->queue.pop_front();
  return true;
}

void Driver::runUntil(const std::function<bool()> &isEnough) {
  while (!isEnough() && runOne()) {
  }
}

bool Driver::waitsForProcess() const {
  return std::ranges::any_of(allStreams(), [](cuda::Stream stream) {
    return !stream->queue.empty() && stream->queue.front()->isBlocked &&
           stream->queue.front()->waitsForProcess;
  });
}

Result Driver::waitFor(const OperationRef &operation) {
  if (!operation)
    return current()->error;
  auto isOver = [&] { return operation->isDone; };
  runUntil(isOver);
  auto end = std::chrono::steady_clock::now() + settings.patience;
  while (!isOver() && waitsForProcess() &&
         std::chrono::steady_clock::now() < end) {
    std::this_thread::yield();
    runUntil(isOver);
  }
  for (cuda::Stream stream :
       operation->isDone ? std::vector<cuda::Stream>() : allStreams())
    if (!stream->queue.empty() && stream->queue.front()->isBlocked) {
      const Operation &blocked = *stream->queue.front();
      report("a call of the host waits for ever for " + blocked.name +
             (blocked.waitsForProcess
                  ? ", which waits for a rank in another process"
                  : ", which waits for a GPU that failed; abort its "
                    "communicator"));
      blocked.context->error = Result::LaunchTimeout;
    }
  runUntil([&] { return operation->isDone; });
  learn(operation);
  return operation->context->error;
}

Result Driver::waitForContext(cuda::Context context) {
  std::vector<OperationRef> all;
  if (context->legacy && context->legacy->last)
    all.push_back(context->legacy->last);
  for (cuda::Stream stream : streams)
    if (stream->context == context && stream->last)
      all.push_back(stream->last);
  for (const OperationRef &operation : all)
    waitFor(operation);
  return context->error;
}

void Driver::learn(const OperationRef &operation) {
  if (!operation)
    return;
  host.join(operation->clock);
  if (pending([](const Operation &) { return true; }).empty())
    accesses.dropBefore(host);
}

std::vector<OperationRef>
Driver::pending(const std::function<bool(const Operation &)> &condition) const {
  std::vector<OperationRef> all;
  auto collect = [&](const cuda::StreamObject &stream) {
    for (const OperationRef &operation : stream.queue)
      if (condition(*operation))
        all.push_back(operation);
  };
  for (cuda::Stream stream : allStreams())
    collect(*stream);
  return all;
}

void Driver::noteAccess(const Operation &operation, const Touch &touch) {
  uint64_t base = 0;
  if (!memory.find(touch.address, touch.bytes, base))
    base =
        memory.findPinned(reinterpret_cast<void *>(touch.address), touch.bytes);
  if (!base || !touch.bytes)
    return;
  std::string found =
      accesses.note(operation, base, touch.address, touch.bytes, touch.isWrite);
  if (!found.empty())
    report(found);
}

static std::string count(size_t number, const char *what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

/// Reports leaks, except of a context that failed, which cannot be cleaned up.
void Driver::reportLeaks() {
  for (const auto &context : contexts)
    if (context->error != Result::Success)
      return;
  for (const auto &[address, block] : memory.blocks)
    if (block.freedBy.empty() && !block.isData)
      report("at the end " + std::to_string(block.bytes) + " bytes of device " +
             std::to_string(block.context->device) + " are not freed");
  if (!memory.pinned.empty())
    report("at the end " + count(memory.pinned.size(), "block") +
           " of pinned host memory is not freed");
  if (!streams.empty())
    report("at the end " + count(streams.size(), "stream") +
           " is not destroyed");
  if (!events.empty())
    report("at the end " + count(events.size(), "event") + " is not destroyed");
  if (!modules.empty())
    report("at the end " + count(modules.size(), "module") +
           " is not unloaded");
  if (!graphs.empty() || !execs.empty())
    report("at the end " + count(graphs.size() + execs.size(), "graph") +
           " is not destroyed");
  for (const auto &context : contexts)
    if (context->retained)
      report("at the end the primary context of device " +
             std::to_string(context->device) + " is retained " +
             std::to_string(context->retained) + " times");
}

/// Writes how often each function was called: "cuGraphLaunch 12".
void Driver::writeCalls() const {
  if (settings.calls.empty())
    return;
  if (FILE *file = std::fopen(settings.calls.c_str(), "w")) {
    for (const auto &[name, count] : calls)
      std::fprintf(file, "%s %llu\n", name.c_str(),
                   static_cast<unsigned long long>(count));
    std::fclose(file);
  }
}

void Driver::atExit() {
  if (!made)
    return;
  made->writeCalls();
  made->reportLeaks();
  if (!made->findings)
    return;
  std::fprintf(stderr, "fake-cuda: %llu findings\n",
               static_cast<unsigned long long>(made->findings));
  std::fflush(nullptr);
  _exit(97);
}

/// Runs when the process ends, after the destructors of the program's objects;
/// the library is never unloaded before.
__attribute__((destructor)) static void endProcess() { Driver::atExit(); }

} // namespace weft::fake
