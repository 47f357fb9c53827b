// Collectives whose groups have members in other processes.

#include "weft/runtime/devices/cpu/Executor.h"
#include "weft/runtime/processes/Backoff.h"

#include <algorithm>

namespace weft::runtime {

void Executor::depart(Rendezvous &rendezvous) {
  rendezvous.awaitsResults = false;
  Status ok = rendezvous.messages->start(rendezvous.sources.data());
  lock.lock();
  if (!ok) {
    exchanged = std::move(ok);
    ended = true;
  }
  travelling.push_back(&rendezvous);
  lock.unlock();
  // Threads in receive() poll for groups that travelled earlier. One of these
  // may wait for a device that waits for this group.
  workers->wakeups.raise();
}

void Executor::receive() {
  uint32_t seen = workers->wakeups.value();
  lock.lock();
  std::vector<Rendezvous *> waiting = travelling;
  lock.unlock();
  bool isIdle = false;
  struct Waiting {
    const CollectiveProvider &provider;
    ~Waiting() { provider.setWaiting(false); }
  } waits{*provider};
  for (Backoff backoff; workers->wakeups.value() == seen; backoff.pause()) {
    Rendezvous *arrived = nullptr;
    if (!isIdle && backoff.isLong()) {
      lock.lock();
      isIdle = running == 0;
      lock.unlock();
      provider->setWaiting(isIdle);
    }
    for (Rendezvous *rendezvous : waiting)
      if (!arrived && rendezvous->messages->poll())
        arrived = rendezvous;
    Status ok = arrived ? Status() : provider->failure();
    if (!arrived && ok)
      continue;
    lock.lock();
    if (arrived) {
      std::erase(travelling, arrived);
      complete(*arrived);
    } else {
      exchanged = std::move(ok);
      ended = true;
      workers->wakeups.raise();
    }
    lock.unlock();
    return;
  }
}

void Executor::progress(Device &device) {
  lock.lock();
  SharedWork *shared = openWork();
  bool polls = !shared && !travelling.empty() && !isReceiving;
  std::vector<Rendezvous *> waiting;
  if (polls) {
    isReceiving = true;
    waiting = travelling;
  }
  lock.unlock();
  if (shared) {
    runChunks(*shared);
    if (borders)
      borders->enter({&device.position, 1});
  }
  if (!polls)
    return;
  std::erase_if(waiting,
                [](Rendezvous *its) { return !its->messages->poll(); });
  lock.lock();
  for (Rendezvous *arrived : waiting) {
    std::erase(travelling, arrived);
    complete(*arrived);
  }
  isReceiving = false;
  lock.unlock();
}

bool Executor::Rendezvous::finish() {
  if (!messages || !messages->hasResults())
    return true;
  awaitsResults = true;
  messages->sendResults(targets.data());
  return false;
}

} // namespace weft::runtime
