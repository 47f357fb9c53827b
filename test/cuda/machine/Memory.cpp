//===- Memory.cpp - what kernels may touch --------------------------------===//

#include "weft/test/cuda/machine/Memory.h"

#include <algorithm>

namespace weft::ptx {

Shadow::Page &Shadow::page(uint64_t offset, uint32_t first, uint64_t bytes) {
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
  if (bytes < 4 && page.unit == 4) {
    std::vector<Cell> fine(kPageBytes);
    for (uint64_t i = 0; i < kPageBytes; ++i)
      fine[i] = page.cells[i / 4];
    page.cells = std::move(fine);
    page.unit = 1;
  }
  return page;
}

/// A reader's number behind the blocks' own: several blocks, or through the cache
/// that sees no write of the launch.
Conflict Shadow::note(const Access &access, uint32_t &other) {
  const uint32_t several = access.first + access.count, cached = several + 1;
  Page &of = page(access.offset, access.first, access.bytes);
  Cell *cells = &of.cells[access.offset % kPageBytes / of.unit];
  uint64_t count = access.bytes / of.unit;
  Conflict conflict = Conflict::None;
  auto found = [&](Conflict what, uint32_t block) {
    conflict = what;
    other = block;
  };
  for (uint64_t i = 0; i < count; ++i) {
    Cell &cell = cells[i];
    bool isWritten = cell.writer >= access.first;
    bool isRead = cell.reader >= access.first;
    if (!access.isWrite) {
      if (isWritten && access.isReadOnly)
        found(Conflict::ReadOnly, cell.writer);
      else if (isWritten && cell.writer != access.block)
        found(Conflict::ReadAfterWrite, cell.writer);
      if (access.isReadOnly)
        cell.reader = cached;
      else if (!isRead)
        cell.reader = access.block;
      else if (cell.reader != access.block && cell.reader != cached)
        cell.reader = several;
      continue;
    }
    if (isRead && cell.reader == cached)
      found(Conflict::ReadOnly, cell.reader);
    else if (isRead && cell.reader != access.block)
      found(Conflict::WriteAfterRead, cell.reader);
    else if (isWritten && cell.writer != access.block && access.changes)
      found(Conflict::WriteAfterWrite, cell.writer);
    cell.writer = access.block;
  }
  return conflict;
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

Allocation *Memory::find(uint64_t address) {
  auto next = allocations.upper_bound(address);
  if (next == allocations.begin())
    return nullptr;
  Allocation &found = std::prev(next)->second;
  return address - found.address < found.bytes ? &found : nullptr;
}

const Allocation *Memory::before(uint64_t address) const {
  auto next = allocations.upper_bound(address);
  return next == allocations.begin() ? nullptr : &std::prev(next)->second;
}

uint32_t Memory::numberBlocks(uint64_t blocks) {
  if (nextBlock + blocks + 2 > UINT32_MAX) {
    for (auto &[address, allocation] : allocations)
      allocation.shadow.forget();
    nextBlock = 1;
  }
  uint64_t first = nextBlock;
  nextBlock += blocks + 2;
  return uint32_t(first);
}

Footprint Memory::collect(uint32_t first) {
  Footprint all;
  for (auto &[address, allocation] : allocations)
    allocation.shadow.collect(address, first, all);
  return all;
}

} // namespace weft::ptx
