//===- StreamCalls.cpp - streams and events -------------------------------===//

#include "weft/test/cuda/driver/Entry.h"

#include <algorithm>

using namespace weft::fake;
using Time = std::chrono::steady_clock;

Result cuStreamCreate(Stream *stream, unsigned flags) {
  return call(__func__, Needs::Context, [&] {
    if (!stream || flags > kStreamNonBlocking)
      return Result::InvalidValue;
    *stream = Driver::get().addStream(flags == kStreamDefault);
    return Result::Success;
  });
}

/// Destroys a stream and returns at once; enqueued work still takes place.
Result cuStreamDestroy_v2(Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = handle ? driver.find(handle) : nullptr;
    if (!stream)
      return Result::InvalidHandle;
    driver.runUntil([&] { return stream->queue.empty(); });
    driver.streams.erase(stream);
    delete stream;
    return Result::Success;
  });
}

Result cuStreamSynchronize(Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    return stream ? driver.waitFor(stream->last) : Result::InvalidHandle;
  });
}

/// Lets some work take place in half of the queries, so that repeated queries
/// end, and no program can rely on when.
static Result query(const OperationRef &operation) {
  Driver &driver = Driver::get();
  if (operation && !operation->isDone && nextRandom(driver.random) % 2)
    driver.runOne();
  if (operation && !operation->isDone)
    return Result::NotReady;
  driver.learn(operation);
  return Driver::current()->error;
}

Result cuStreamQuery(Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Stream stream = Driver::get().find(handle);
    return stream ? query(stream->last) : Result::InvalidHandle;
  });
}

static bool isEvent(Event event) {
  Driver &driver = Driver::get();
  if (driver.events.contains(event))
    return true;
  driver.report("an event that does not exist, or no more, is used");
  return false;
}

/// Lets the stream's next node wait for those of an event that was recorded in
/// a capture, which the stream joins.
static Result joinCapture(Stream stream, const EventObject &event,
                          const std::shared_ptr<Capture> &capture) {
  if (!stream->capture)
    stream->capture = capture;
  if (stream->capture != capture) {
    stream->capture->isValid = capture->isValid = false;
    return Result::StreamCaptureMerge;
  }
  for (GraphNode node : event.captured)
    if (std::ranges::find(stream->captured, node) == stream->captured.end())
      stream->captured.push_back(node);
  return Result::Success;
}

/// Makes a stream wait for an event; one that was never recorded has no effect.
Result cuStreamWaitEvent(Stream handle, Event event, unsigned flags) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream || !isEvent(event))
      return Result::InvalidHandle;
    if (flags)
      return Result::InvalidValue;
    if (std::shared_ptr<Capture> capture = event->capture.lock())
      return joinCapture(stream, *event, capture);
    if (stream->capture) { // an event from outside cannot be waited for
      stream->capture->isValid = false;
      return Result::StreamCaptureIsolation;
    }
    if (event->record)
      driver.enqueue(stream, "cuStreamWaitEvent", {}, nullptr, {event->record});
    return Result::Success;
  });
}

Result cuEventCreate(Event *event, unsigned flags) {
  return call(__func__, Needs::Context, [&] {
    if (!event || flags > (kEventBlockingSync | kEventDisableTiming))
      return Result::InvalidValue;
    *event = new EventObject;
    (*event)->context = Driver::current();
    (*event)->hasTime = !(flags & kEventDisableTiming);
    Driver::get().events.insert(*event);
    return Result::Success;
  });
}

Result cuEventRecord(Event event, Stream handle) {
  return call(__func__, Needs::Context, [&] {
    Driver &driver = Driver::get();
    Stream stream = driver.find(handle);
    if (!stream || !isEvent(event) || event->context != stream->context)
      return Result::InvalidHandle;
    event->capture = stream->capture;
    event->captured = stream->captured;
    if (stream->capture)
      return Result::Success;
    auto time = std::make_shared<Time::time_point>();
    event->time = time;
    event->record =
        driver.enqueue(stream, "cuEventRecord", {},
                       [time](Operation &) { *time = Time::now(); });
    return Result::Success;
  });
}

Result cuEventSynchronize(Event event) {
  return call(__func__, Needs::Context, [&] {
    return isEvent(event) ? Driver::get().waitFor(event->record)
                          : Result::InvalidHandle;
  });
}
Result cuEventQuery(Event event) {
  return call(__func__, Needs::Context, [&] {
    return isEvent(event) ? query(event->record) : Result::InvalidHandle;
  });
}

Result cuEventDestroy_v2(Event event) {
  return call(__func__, Needs::Context, [&] {
    if (!isEvent(event))
      return Result::InvalidHandle;
    Driver::get().events.erase(event);
    delete event;
    return Result::Success;
  });
}

Result cuEventElapsedTime(float *milliseconds, Event start, Event end) {
  return call(__func__, Needs::Context, [&] {
    if (!isEvent(start) || !isEvent(end) || !start->hasTime || !end->hasTime ||
        !start->record || !end->record)
      return Result::InvalidHandle;
    if (!start->record->isDone || !end->record->isDone)
      return Result::NotReady;
    std::chrono::duration<float, std::milli> time = *end->time - *start->time;
    *milliseconds = time.count();
    return Result::Success;
  });
}
