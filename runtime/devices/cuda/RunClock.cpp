#include "weft/runtime/devices/cuda/RunClock.h"

namespace weft::runtime {

Status RunClock::mark(const GpuStream &stream, std::unique_ptr<GpuEvent> &out) {
  if (Status ok = GpuEvent::create(stream.owned(), out, /*isTimed=*/true); !ok)
    return ok;
  return out->record(stream);
}

Status RunClock::start(int64_t position, const GpuStream &stream) {
  return mark(stream, devices[position].start);
}

Status RunClock::begin(uint32_t instruction, int64_t position,
                       const GpuStream &stream) {
  Span &span = devices[position].spans.emplace_back();
  span.instruction = instruction;
  return mark(stream, span.begin);
}

Status RunClock::end(int64_t position, const GpuStream &stream) {
  return mark(stream, devices[position].spans.back().end);
}

Status RunClock::read(RunTimes &times) const {
  for (const auto &[position, device] : devices)
    for (const Span &span : device.spans) {
      InstructionTime time = {span.instruction, position, 0, 0};
      if (Status ok = span.begin->since(*device.start, time.begin); !ok)
        return ok;
      if (Status ok = span.end->since(*device.start, time.end); !ok)
        return ok;
      times.push_back(time);
    }
  return {};
}

} // namespace weft::runtime
