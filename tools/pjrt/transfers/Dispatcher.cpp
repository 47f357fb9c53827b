//===- Dispatcher.cpp - work in the order it was asked for, and promises --===//

#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/transfers/Tickets.h"

using namespace weft::pjrt;

Dispatcher::~Dispatcher() {
  std::unique_lock<std::mutex> guard(mutex);
  change.wait(guard, [this] { return !isTaken; });
}

void Dispatcher::add(Promises needed, std::function<void()> begin) {
  std::unique_lock<std::mutex> guard(mutex);
  items.push_back({std::move(needed), std::move(begin)});
  if (isTaken)
    return;
  isTaken = true;
  goOn(guard);
}

void Dispatcher::goOn(std::unique_lock<std::mutex> &guard) {
  while (!items.empty()) {
    Promises &needed = items.front().needed;
    if (!needed.empty()) {
      PromisePtr promise = std::move(needed.back());
      needed.pop_back();
      if (promise->isSettled())
        continue;
      // The thread that settles the promise continues; this one if it is
      // settled.
      guard.unlock();
      promise->whenSettled([this](const PJRT_Error *) {
        std::unique_lock<std::mutex> guard(mutex);
        goOn(guard);
      });
      return;
    }
    std::function<void()> begin = std::move(items.front().begin);
    items.pop_front();
    guard.unlock();
    begin();
    begin = nullptr;
    guard.lock();
  }
  isTaken = false;
  change.notify_all();
}

void Dispatcher::runAdded() {
  std::lock_guard<std::mutex> guard(mutex);
  ++runs;
}

void Dispatcher::runEnded() {
  std::lock_guard<std::mutex> guard(mutex);
  --runs;
  change.notify_all();
}

bool Dispatcher::hasOneRun() {
  std::lock_guard<std::mutex> guard(mutex);
  return runs <= 1;
}

void Dispatcher::awaitRoom() {
  if (isRunEnding()) // runs wait for this thread
    return;
  std::unique_lock<std::mutex> guard(mutex);
  change.wait(guard, [this] { return runs < kMostRuns; });
}

PromisePtr Promise::kept() {
  auto promise = std::make_shared<Promise>();
  promise->settled = true;
  return promise;
}

bool Promise::settle(const PJRT_Error *why) {
  std::vector<Callback> all;
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (isSettled())
      return false;
    if (why)
      reason = std::make_unique<PJRT_Error>(*why);
    settled.store(true, std::memory_order_release);
    all.swap(waiting);
  }
  change.notify_all();
  for (Callback &callback : all)
    callback(reason.get());
  return true;
}

void Promise::whenSettled(Callback callback) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    if (!isSettled()) {
      waiting.push_back(std::move(callback));
      return;
    }
  }
  callback(reason.get());
}

void Promise::wait() {
  std::unique_lock<std::mutex> guard(mutex);
  change.wait(guard, [this] { return isSettled(); });
}
