//===- Blocks.cpp - memory of arrays --------------------------------------===//

#include "weft/tools/pjrt/Blocks.h"

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <mutex>

namespace weft::pjrt {

namespace {
constexpr size_t kLeastKept = size_t(32) << 20, kMostKept = size_t(256) << 20;

struct Block {
  void *memory;
  size_t bytes;
};

class KeptBlocks {
public:
  void *take(size_t bytes) {
    std::lock_guard lock(mutex);
    auto found =
        std::find_if(blocks.rbegin(), blocks.rend(),
                     [&](const Block &block) { return block.bytes == bytes; });
    if (found == blocks.rend())
      return nullptr;
    void *memory = found->memory;
    total -= bytes;
    blocks.erase(std::next(found).base());
    return memory;
  }
  void keep(void *memory, size_t bytes) {
    std::lock_guard lock(mutex);
    blocks.push_back({memory, bytes});
    total += bytes;
    while (total > kMostKept)
      freeOldest();
  }
  void freeAll() {
    std::lock_guard lock(mutex);
    while (!blocks.empty())
      freeOldest();
  }

private:
  void freeOldest() {
    total -= blocks.front().bytes;
    std::free(blocks.front().memory);
    blocks.pop_front();
  }
  std::mutex mutex;
  std::deque<Block> blocks; ///< the last freed at the end
  size_t total = 0;
};
} // namespace

/// Never destroyed: arrays may be freed while the process ends.
static KeptBlocks &kept() {
  static auto *blocks = new KeptBlocks;
  return *blocks;
}

static size_t roundedUp(size_t bytes) {
  return (std::max<size_t>(bytes, 1) + 63) / 64 * 64;
}

void *takeBlock(size_t bytes) {
  size_t size = roundedUp(bytes);
  if (size < bytes) // no such size
    return nullptr;
  if (size >= kLeastKept)
    if (void *memory = kept().take(size))
      return memory;
  if (void *memory = std::aligned_alloc(64, size))
    return memory;
  kept().freeAll();
  return std::aligned_alloc(64, size);
}

void giveBlock(void *block, size_t bytes) {
  size_t size = roundedUp(bytes);
  if (block && size >= kLeastKept)
    kept().keep(block, size);
  else
    std::free(block);
}

} // namespace weft::pjrt
