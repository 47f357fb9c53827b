//===- HostCalls.cpp - programs call Python back --------------------------===//

#include "weft/tools/pjrt/transfers/HostCalls.h"

#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/ScriptFailure.h"

#include <condition_variable>
#include <mutex>
#include <utility>

using HostFunction = void (*)(int64_t function, void *const *operands,
                              size_t operandCount, void *const *results,
                              size_t resultCount);

namespace {
/// The registered function, which no call enters once it is removed.
class Registered {
public:
  void set(HostFunction value) {
    std::lock_guard<std::mutex> guard(mutex);
    function = value;
  }
  /// Removes the function and waits for the calls that have entered it.
  void remove() {
    std::unique_lock<std::mutex> guard(mutex);
    function = nullptr;
    change.wait(guard, [this] { return calls == 0; });
  }
  /// The function, or null. Each call that got one ends with leave().
  HostFunction enter() {
    std::lock_guard<std::mutex> guard(mutex);
    calls += function != nullptr;
    return function;
  }
  void leave() {
    std::lock_guard<std::mutex> guard(mutex);
    --calls;
    change.notify_all();
  }

private:
  std::mutex mutex;
  std::condition_variable change;
  HostFunction function = nullptr;
  int calls = 0;
};
} // namespace

static Registered &registered() {
  static auto *one = new Registered; // threads of runtimes outlive statics
  return *one;
}

static thread_local bool answering = false;

static std::string callPython(int64_t function, void *const *operands,
                              size_t operandCount, void *const *results,
                              size_t resultCount) {
  HostFunction call = registered().enter();
  if (!call)
    return "a host callback was not called: the process ends, or has not "
           "registered its functions";
  call(function, operands, operandCount, results, resultCount);
  registered().leave();
  std::string why = weft::pjrt::takeScriptFailure();
  return why.empty() ? why : "a host callback failed: " + why;
}

static void answer(void *client, int64_t function, void *const *operands,
                   size_t operandCount, void *const *results,
                   size_t resultCount) {
  const weft::pjrt::HostTransfers &transfers =
      static_cast<PJRT_Client *>(client)->transfers.first();
  if (transfers.hasFailed())
    return;
  answering = true;
  std::string why;
  if (!transfers.isWanted()) // poisoned after it was enqueued, before its turn
    why = "the run is no longer wanted";
  else if (transfers.knows(function))
    why = transfers.transfer(function, operands, results);
  else
    why = callPython(function, operands, operandCount, results, resultCount);
  answering = false;
  if (!why.empty())
    transfers.fail(why);
}

void weft::pjrt::answerHostCalls(PJRT_Client &client, weft_runtime *runtime) {
  weft_runtime_set_host(runtime, answer, &client);
}

bool weft::pjrt::isAnsweringHostCall() { return answering; }

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_set_host(HostFunction function) {
  registered().set(function);
}

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_end_host_calls() {
  registered().remove();
}
