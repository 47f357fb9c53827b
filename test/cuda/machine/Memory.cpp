//===- Memory.cpp - memory that kernels may access ------------------------===//

#include "weft/test/cuda/machine/Memory.h"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace weft::ptx {

Shadow::Page &Shadow::page(uint64_t offset, uint32_t first, unsigned width) {
  uint64_t index = offset / kPageBytes;
  if (index >= pages.size())
    pages.resize(index + 1);
  if (!pages[index]) {
    pages[index] = std::make_unique<Page>();
    pages[index]->cells.resize(kPageBytes / 4);
  }
  Page &page = *pages[index];
  if (page.launch != first) {
    page.launch = first;
    touched.push_back(index);
  }
  if (width < 4 && page.unit == 4) {
    std::vector<Cell> fine(kPageBytes);
    for (uint64_t i = 0; i < kPageBytes; ++i)
      fine[i] = page.cells[i / 4];
    page.cells = std::move(fine);
    page.unit = 1;
  }
  return page;
}

/// The number that stands for several readers (several blocks, or the read-only
/// cache); it comes after the numbers of blocks.
static uint32_t several(const Shadow::Access &access) {
  return access.first + access.count;
}
static uint32_t cached(const Shadow::Access &access) {
  return several(access) + 1;
}

/// Whether only this block has touched the bytes in the launch.
bool Shadow::isCalm(const Access &access, const Cell *cells, uint64_t count) {
  bool isCalm = true;
  for (uint64_t i = 0; i < count; ++i) {
    bool isOthers =
        cells[i].writer >= access.first && cells[i].writer != access.block;
    bool isRead =
        cells[i].reader >= access.first && cells[i].reader != access.block;
    isCalm &= !isOthers & !isRead;
  }
  return isCalm;
}

Shadow::Found Shadow::check(const Access &access, const Cell &cell) {
  bool isWritten = cell.writer >= access.first;
  bool isRead = cell.reader >= access.first;
  bool isOthers = isWritten && cell.writer != access.block;
  if (!access.stored) {
    if (isWritten && access.isReadOnly)
      return {Conflict::ReadOnly, cell.writer};
    return {isOthers ? Conflict::ReadAfterWrite : Conflict::None, cell.writer};
  }
  if (isRead && cell.reader == cached(access))
    return {Conflict::ReadOnly, cell.reader};
  if (isRead && cell.reader != access.block)
    return {Conflict::WriteAfterRead, cell.reader};
  return {isOthers ? Conflict::WriteAfterWrite : Conflict::None, cell.writer};
}

Shadow::Found Shadow::note(const Access &access) {
  Page &of = page(access.offset, access.first, access.width);
  Cell *cells = &of.cells[access.offset % kPageBytes / of.unit];
  uint64_t count = access.bytes / of.unit;
  Found first;
  bool calm = !access.isReadOnly && isCalm(access, cells, count);
  if (calm && access.stored)
    for (uint64_t i = 0; i < count; ++i)
      cells[i].writer = access.block;
  else if (calm)
    for (uint64_t i = 0; i < count; ++i)
      cells[i].reader = access.block;
  for (uint64_t i = 0; i < count && !calm; ++i) {
    Cell &cell = cells[i];
    Found found = check(access, cell);
    found.offset = i * of.unit;
    // Writing the same value twice is no race.
    bool isSame = found.conflict == Conflict::WriteAfterWrite &&
                  !std::memcmp(access.present + found.offset,
                               access.stored + found.offset, of.unit);
    if (first.conflict == Conflict::None && !isSame)
      first = found;
    if (access.stored)
      cell.writer = access.block;
    else if (access.isReadOnly)
      cell.reader = cached(access);
    else if (cell.reader < access.first)
      cell.reader = access.block;
    else if (cell.reader != access.block && cell.reader != cached(access))
      cell.reader = several(access);
  }
  return first;
}

static void append(std::vector<Range> &to, uint64_t address, uint64_t bytes) {
  if (!to.empty() && to.back().address + to.back().bytes == address)
    to.back().bytes += bytes;
  else
    to.push_back({address, bytes});
}

void Shadow::collect(uint64_t address, uint32_t first, Footprint &to) {
  std::sort(touched.begin(), touched.end());
  for (uint64_t index : touched) {
    const Page &page = *pages[index];
    uint64_t at = address + index * kPageBytes;
    for (const Cell &cell : page.cells) {
      if (cell.reader >= first)
        append(to.reads, at, page.unit);
      if (cell.writer >= first)
        append(to.writes, at, page.unit);
      at += page.unit;
    }
  }
  touched.clear();
}

Allocation &Memory::add(Allocation allocation) {
  uint64_t address = allocation.address;
  return allocations.insert_or_assign(address, std::move(allocation))
      .first->second;
}

void Memory::remove(uint64_t address) { allocations.erase(address); }

bool Memory::hasPeer(const Memory &peer) const {
  return std::find(peers.begin(), peers.end(), &peer) != peers.end();
}

Allocation *Memory::find(uint64_t address) {
  auto next = allocations.upper_bound(address);
  Allocation *found =
      next == allocations.begin() ? nullptr : &std::prev(next)->second;
  if (found && address - found->address < found->bytes)
    return found;
  for (Memory *peer : peers) {
    auto its = peer->allocations.upper_bound(address);
    if (its == peer->allocations.begin())
      continue;
    Allocation &other = std::prev(its)->second;
    if (address - other.address < other.bytes)
      return &other;
  }
  return nullptr;
}

const Allocation *Memory::before(uint64_t address) const {
  auto next = allocations.upper_bound(address);
  return next == allocations.begin() ? nullptr : &std::prev(next)->second;
}

uint32_t Memory::numberBlocks(uint64_t blocks) {
  static std::atomic<uint64_t> next{1}; // launches may share allocations
  uint64_t first = next.fetch_add(blocks + 2);
  if (first + blocks + 2 <= UINT32_MAX)
    return uint32_t(first);
  for (Memory *memory : all())
    for (auto &[address, allocation] : memory->allocations)
      allocation.shadow.forget();
  next = 1;
  return numberBlocks(blocks);
}

/// This memory and those of its peers.
std::vector<Memory *> Memory::all() {
  std::vector<Memory *> out = peers;
  out.push_back(this);
  return out;
}

Footprint Memory::collect(uint32_t first) {
  Footprint found;
  for (Memory *memory : all())
    for (auto &[address, allocation] : memory->allocations)
      allocation.shadow.collect(address, first, found);
  return found;
}

} // namespace weft::ptx
