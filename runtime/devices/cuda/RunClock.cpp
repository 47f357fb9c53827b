#include "weft/runtime/devices/cuda/RunClock.h"

namespace weft::runtime {

Error RunClock::mark(const GpuStream &stream, std::unique_ptr<GpuEvent> &out) {
  if (Error e = GpuEvent::create(stream.owned(), out, /*isTimed=*/true))
    return e;
  return out->record(stream);
}

Error RunClock::start(int64_t position, const GpuStream &stream) {
  return mark(stream, devices[position].start);
}

Error RunClock::begin(uint32_t instruction, int64_t position,
                      const GpuStream &stream) {
  Span &span = devices[position].spans.emplace_back();
  span.instruction = instruction;
  return mark(stream, span.begin);
}

Error RunClock::end(int64_t position, const GpuStream &stream) {
  return mark(stream, devices[position].spans.back().end);
}

Error RunClock::read(RunTimes &times) const {
  for (const auto &[position, device] : devices)
    for (const Span &span : device.spans) {
      InstructionTime time = {span.instruction, position, 0, 0};
      if (Error e = span.begin->since(*device.start, time.begin))
        return e;
      if (Error e = span.end->since(*device.start, time.end))
        return e;
      times.push_back(time);
    }
  return nullptr;
}

} // namespace weft::runtime
