#include "weft/training/BackgroundThread.h"

#include <csignal>

namespace weft {

BackgroundThread::~BackgroundThread() {
  {
    std::lock_guard lock(mutex);
    isEnding = true;
  }
  changed.notify_one();
  if (thread.joinable())
    thread.join();
}

std::future<Status> BackgroundThread::start(std::function<Status()> work) {
  std::packaged_task<Status()> task(std::move(work));
  std::future<Status> end = task.get_future();
  {
    std::lock_guard lock(mutex);
    tasks.push_back(std::move(task));
  }
  if (!thread.joinable()) {
    sigset_t all, before; // the caller's threads handle signals
    sigfillset(&all);
    pthread_sigmask(SIG_BLOCK, &all, &before);
    thread = std::thread([this] { run(); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  changed.notify_one();
  return end;
}

void BackgroundThread::run() {
  for (;;) {
    std::unique_lock lock(mutex);
    changed.wait(lock, [this] { return isEnding || !tasks.empty(); });
    if (tasks.empty())
      return;
    std::packaged_task<Status()> task = std::move(tasks.front());
    tasks.pop_front();
    lock.unlock();
    task();
  }
}

} // namespace weft
