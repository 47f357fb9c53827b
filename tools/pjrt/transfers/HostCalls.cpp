//===- HostCalls.cpp - programs call Python back --------------------------===//

#include "weft/tools/pjrt/transfers/HostCalls.h"

#include "weft/tools/pjrt/Objects.h"

#include <atomic>
#include <mutex>
#include <utility>

using HostFunction = const char *(*)(int64_t function, void *const *operands,
                                     size_t operandCount, void *const *results,
                                     size_t resultCount);

static std::atomic<HostFunction> registered{nullptr};
static std::mutex mutex;
static std::string failure;
static thread_local bool answering = false;

static std::string callPython(int64_t function, void *const *operands,
                              size_t operandCount, void *const *results,
                              size_t resultCount) {
  const char *why = "no function has been registered";
  if (HostFunction call = registered.load())
    why = call(function, operands, operandCount, results, resultCount);
  return why ? std::string("a host callback failed: ") + why : "";
}

static void answer(void *client, int64_t function, void *const *operands,
                   size_t operandCount, void *const *results,
                   size_t resultCount) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (!failure.empty())
      return;
  }
  const weft::pjrt::HostTransfers &transfers =
      static_cast<PJRT_Client *>(client)->transfers.first();
  answering = true;
  std::string why;
  if (!transfers.isWanted()) // poisoned after it was enqueued, before its turn
    why = "the run is no longer wanted";
  else if (transfers.knows(function))
    why = transfers.transfer(function, operands, results);
  else
    why = callPython(function, operands, operandCount, results, resultCount);
  answering = false;
  if (why.empty())
    return;
  std::lock_guard<std::mutex> guard(mutex);
  failure = why;
}

void weft::pjrt::answerHostCalls(PJRT_Client &client, weft_runtime *runtime) {
  weft_runtime_set_host(runtime, answer, &client);
}

std::string weft::pjrt::takeHostFailure() {
  std::lock_guard<std::mutex> guard(mutex);
  return std::exchange(failure, std::string());
}

bool weft::pjrt::isAnsweringHostCall() { return answering; }

extern "C" __attribute__((visibility("default"))) void
weft_pjrt_set_host(HostFunction function) {
  registered.store(function);
}
