//===- Dispatcher.cpp - work in the order it was asked for, and promises --===//

#include "weft/tools/pjrt/Objects.h"

using namespace weft::pjrt;

Dispatcher::~Dispatcher() {
  {
    std::lock_guard<std::mutex> guard(mutex);
    ended = true;
  }
  news.notify_all();
  thread.join();
}

void Dispatcher::run(std::function<void()> task) {
  {
    std::lock_guard<std::mutex> guard(mutex);
    tasks.push_back(std::move(task));
  }
  news.notify_one();
}

void Dispatcher::awaitRoom() {
  if (std::this_thread::get_id() == thread.get_id())
    return;
  std::unique_lock<std::mutex> guard(mutex);
  room.wait(guard, [this] { return ended || tasks.size() < kMostWaiting; });
}

void Dispatcher::loop() {
  for (;;) {
    std::function<void()> task;
    {
      std::unique_lock<std::mutex> guard(mutex);
      news.wait(guard, [this] { return ended || !tasks.empty(); });
      if (tasks.empty())
        return;
      task = std::move(tasks.front());
      tasks.pop_front();
    }
    room.notify_all();
    task();
  }
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
