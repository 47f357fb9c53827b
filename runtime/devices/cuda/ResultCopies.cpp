#include "weft/runtime/devices/cuda/ResultCopies.h"

#include <algorithm>

namespace weft::runtime {

/// The bytes of a result that are copied: its run of bytes, or all memory, of
/// which the host takes a box.
static uint64_t copiedBytes(const Run::ResultCopy &result) {
  return result.box.loops.empty() ? uint64_t(result.box.run)
                                  : result.from->bytes();
}

ResultCopies::ResultCopies(std::span<const Run::ResultCopy> results) {
  const GpuMemory *last = nullptr;
  for (const Run::ResultCopy &result : results) {
    const auto *memory = static_cast<const GpuMemory *>(result.from);
    uint64_t bytes = copiedBytes(result);
    cuda::Address from = memory->place();
    if (result.box.loops.empty())
      from += uint64_t(result.box.sourceOffset);
    bool isNext = last && last->isNeighbour(*memory) &&
                  from >= copies.back().from + copies.back().bytes;
    if (!isNext)
      copies.push_back({memory->gpu().get(), from, 0, size});
    Copy &copy = copies.back();
    offsets.push_back(copy.offset + (from - copy.from));
    copy.bytes = from - copy.from + bytes;
    size = (copy.offset + copy.bytes + 15) / 16 * 16;
    last = memory;
  }
}

Status ResultCopies::enqueue(std::span<const GpuStream *const> streams,
                             uint8_t *pinned) const {
  for (const Copy &copy : copies) {
    const GpuStream &stream = **std::ranges::find(
        streams, copy.gpu, [](const GpuStream *its) { return &its->gpu(); });
    const Driver &driver = stream.gpu().driver();
    if (Status ok = stream.gpu().makeCurrent(); !ok)
      return ok;
    if (Status ok = driver.check(driver.cuMemcpyDtoHAsync(pinned + copy.offset,
                                                          copy.from, copy.bytes,
                                                          stream.handle()),
                                 "cuMemcpyDtoHAsync of results");
        !ok)
      return ok;
  }
  return {};
}

void ResultCopies::take(std::span<const Run::ResultCopy> results,
                        const uint8_t *pinned) const {
  for (size_t r = 0; r < results.size(); ++r) {
    const Run::ResultCopy &result = results[r];
    BoxCopy box = result.box;
    if (box.loops.empty()) // only those bytes were copied
      box.sourceOffset = 0;
    box(pinned + offsets[r], result.to);
  }
}

} // namespace weft::runtime
