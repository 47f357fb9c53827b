//===- HostCalls.cpp - programs call Python back --------------------------===//

#include "weft/tools/pjrt/HostCalls.h"

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

static void answer(void *, int64_t function, void *const *operands,
                   size_t operandCount, void *const *results,
                   size_t resultCount) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (!failure.empty())
      return;
  }
  const char *why = "no function has been registered";
  answering = true;
  if (HostFunction call = registered.load())
    why = call(function, operands, operandCount, results, resultCount);
  answering = false;
  if (!why)
    return;
  std::lock_guard<std::mutex> guard(mutex);
  failure = std::string("a host callback failed: ") + why;
}

void weft::pjrt::answerHostCalls(weft_runtime *runtime) {
  weft_runtime_set_host(runtime, answer, nullptr);
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
