#include "weft/runtime/devices/cuda/Uploads.h"

#include <algorithm>

namespace weft::runtime {

Status Uploads::await(uint64_t run, Lock &lock) {
  auto find = [&] {
    return std::ranges::find(running, run,
                             [](const auto &its) { return its.first; });
  };
  change.wait(lock,
              [&] { return run <= lastEnded || find() != running.end(); });
  if (run <= lastEnded)
    return {};
  std::shared_ptr<const GpuEvent> event = find()->second;
  lock.unlock();
  Status done = event->wait();
  event = nullptr;
  lock.lock();
  return done;
}

Status Uploads::put(Array &array, const BoxCopy &box, const void *host) {
  Lock lock(mutex);
  size_t place = array.isWaiting ? array.current : 1 - array.current;
  if (Status ok = await(array.takenBy[place], lock); !ok)
    return ok;
  if (Status ok = array.places[place].reserve(gpu, array.bytes,
                                              "arrays that wait for a run");
      !ok)
    return ok;
  if (std::exchange(array.isWaiting, false))
    std::erase(waiting, &array);
  lock.unlock(); // a run that begins now does not copy it
  box(host, array.places[place].start());
  lock.lock();
  array.current = place;
  array.isWaiting = true;
  waiting.push_back(&array);
  return {};
}

Status Uploads::read(const Array &array, const BoxCopy &box, void *host,
                     bool &isRead) {
  Lock lock(mutex);
  isRead = array.isWaiting;
  if (!isRead)
    return await(array.takenBy[array.current], lock);
  box(array.places[array.current].start(), host);
  return {};
}

Status Uploads::copyNow(const GpuStream &stream) {
  Lock lock(mutex);
  if (waiting.empty())
    return {};
  const Driver &driver = stream.gpu().driver();
  if (Status ok = stream.gpu().makeCurrent(); !ok)
    return ok;
  for (const Array *array : waiting)
    if (Status ok =
            driver.check(driver.cuMemcpyHtoDAsync(
                             array->to, array->places[array->current].start(),
                             array->bytes, stream.handle()),
                         "cuMemcpyHtoDAsync of an array that waits");
        !ok)
      return ok;
  if (Status ok = stream.wait(); !ok)
    return ok;
  for (Array *array : waiting)
    array->isWaiting = false;
  waiting.clear();
  return {};
}

Status Uploads::forget(Array &array) {
  Lock lock(mutex);
  if (std::exchange(array.isWaiting, false))
    std::erase(waiting, &array);
  Status done = await(*std::ranges::max_element(array.takenBy), lock);
  std::erase(taken, &array);
  if (!done) // a GPU that failed cannot be cleaned up
    for (PinnedMemory &place : array.places)
      place.abandon();
  return done;
}

std::vector<Upload> Uploads::take(uint64_t run) {
  Lock lock(mutex);
  taken.assign(waiting.begin(), waiting.end());
  waiting.clear();
  std::vector<Upload> out;
  for (Array *array : taken) {
    array->isWaiting = false;
    array->takenBy[array->current] = run;
    out.push_back(
        {array->to, array->places[array->current].start(), array->bytes});
  }
  return out;
}

void Uploads::enqueued(uint64_t run, std::shared_ptr<const GpuEvent> event) {
  Lock lock(mutex);
  running.emplace_back(run, std::move(event));
  change.notify_all();
}

void Uploads::failed(uint64_t run) {
  Lock lock(mutex);
  for (Array *array : taken)
    if (!array->isWaiting && array->takenBy[array->current] == run) {
      array->isWaiting = true;
      waiting.push_back(array);
    }
  taken.clear();
  lastEnded = std::max(lastEnded, run);
  change.notify_all();
}

void Uploads::ended(uint64_t run) {
  Lock lock(mutex);
  std::erase_if(running, [&](const auto &its) { return its.first <= run; });
  lastEnded = std::max(lastEnded, run);
  change.notify_all();
}

} // namespace weft::runtime
