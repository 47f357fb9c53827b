//===- DeviceMemory.cpp - addresses that only devices can follow ----------===//

#include "weft/test/cuda/driver/DeviceMemory.h"

#include <algorithm>
#include <cstring>

#include <sys/mman.h>

namespace weft::fake {

constexpr uint64_t kReserved = uint64_t(1) << 40, kAlignment = 512;

static void *map(uint64_t bytes, int protection) {
  void *memory = mmap(nullptr, bytes, protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
}

/// Allocates memory with a gap after it, so that accesses beyond its end are
/// found.
uint64_t DeviceMemory::allocate(cuda::Context context, uint64_t bytes,
                                bool isData, bool checksWritten) {
  if (!end) {
    next = reinterpret_cast<uint64_t>(map(kReserved, PROT_NONE));
    end = next ? next + kReserved : 0;
  }
  uint64_t size = (bytes + 2 * kAlignment - 1) / kAlignment * kAlignment;
  if (size > end - next)
    return 0;
  auto host = static_cast<uint8_t *>(map(size, PROT_READ | PROT_WRITE));
  if (!host)
    return 0;
  std::memset(host, 0xCD, bytes); // so that no program relies on zeros
  uint64_t address = next;
  next += size;
  blocks[address] = {context, bytes, host, isData, ""};
  ptx::Allocation &allocation =
      context->memory.add({"memory", address, bytes, host, false, {}, {}});
  if (checksWritten)
    allocation.written.assign(bytes, false);
  context->used += bytes;
  return address;
}

void DeviceMemory::free(uint64_t address, const std::string &by) {
  Block &block = blocks[address];
  block.context->memory.remove(address);
  block.context->used -= block.bytes;
  munmap(block.host,
         (block.bytes + 2 * kAlignment - 1) / kAlignment * kAlignment);
  block.host = nullptr;
  block.freedBy = by;
}

DeviceMemory::Block *DeviceMemory::find(uint64_t address, uint64_t bytes,
                                        uint64_t &first) {
  auto found = blocks.upper_bound(address);
  if (found == blocks.begin())
    return nullptr;
  --found;
  first = found->first;
  uint64_t offset = address - first;
  bool isInside =
      offset <= found->second.bytes && bytes <= found->second.bytes - offset;
  return isInside ? &found->second : nullptr;
}

uint8_t *DeviceMemory::bytes(uint64_t address) {
  uint64_t first = 0;
  Block *block = find(address, 0, first);
  return block->host + (address - first);
}

ptx::Allocation *DeviceMemory::allocation(uint64_t address) {
  uint64_t first = 0;
  Block *block = find(address, 0, first);
  return block->context->memory.find(first);
}

void DeviceMemory::markWritten(uint64_t address, uint64_t bytes) {
  ptx::Allocation *of = allocation(address);
  if (!of || of->written.empty())
    return;
  auto start = of->written.begin() + int64_t(address - of->address);
  std::fill(start, start + int64_t(bytes), true);
}

void *DeviceMemory::pin(uint64_t bytes) {
  void *memory = map(bytes, PROT_READ | PROT_WRITE);
  if (memory) {
    std::memset(memory, 0xCD, bytes);
    pinned[reinterpret_cast<uint64_t>(memory)] = bytes;
  }
  return memory;
}

bool DeviceMemory::unpin(void *memory) {
  auto found = pinned.find(reinterpret_cast<uint64_t>(memory));
  if (found == pinned.end())
    return false;
  munmap(memory, found->second);
  pinned.erase(found);
  return true;
}

uint64_t DeviceMemory::findPinned(const void *memory, uint64_t bytes) const {
  auto address = reinterpret_cast<uint64_t>(memory);
  auto found = pinned.upper_bound(address);
  if (found == pinned.begin())
    return 0;
  --found;
  uint64_t offset = address - found->first;
  return offset < found->second && bytes <= found->second - offset
             ? found->first
             : 0;
}

} // namespace weft::fake
