//===- MemoryAccess.cpp - the one way to a byte of memory -----------------===//

#include "weft/test/cuda/machine/MemoryAccess.h"

#include <algorithm>
#include <bit>
#include <cstdio>

namespace weft::ptx {

static std::string hex(uint64_t value) {
  char text[24];
  std::snprintf(text, sizeof text, "0x%llx",
                static_cast<unsigned long long>(value));
  return text;
}

/// The text "writes 4 bytes at shared 0x10".
static std::string describe(const Access &access, const char *space) {
  return std::string(access.stored ? "writes " : "reads ") +
         std::to_string(access.bytes) + " bytes at " + space +
         hex(access.address);
}

static uint8_t *refuse(Warp &warp, const Access &access, Fault fault,
                       const std::string &what) {
  warp.stop(access.instruction, access.lane, fault, what);
  return nullptr;
}

/// Whether an access to memory of `size` bytes ends inside.
static bool endsInside(uint64_t address, unsigned bytes, uint64_t size) {
  return address <= size && bytes <= size - address;
}
/// Whether the address is a multiple of the bytes, or of the next power of two.
static bool isMultiple(uint64_t address, unsigned bytes) {
  return (address & (std::bit_ceil(bytes) - 1)) == 0;
}

static bool refuseAlignment(Warp &warp, const Access &access,
                            const char *space) {
  refuse(warp, access, Fault::Misaligned,
         describe(access, space) + ", no multiple of " +
             std::to_string(access.bytes));
  return false;
}
static bool isAligned(Warp &warp, const Access &access, const char *space) {
  return isMultiple(access.address, access.bytes) ||
         refuseAlignment(warp, access, space);
}

static bool refuseBounds(Warp &warp, const Access &access, const char *space,
                         uint64_t size) {
  refuse(warp, access, Fault::Address,
         describe(access, space) + ", but there are " + std::to_string(size) +
             " bytes");
  return false;
}
static bool isInside(Warp &warp, const Access &access, const char *space,
                     uint64_t size) {
  return endsInside(access.address, access.bytes, size) ||
         refuseBounds(warp, access, space, size);
}

static std::string raceWith(const char *what, uint16_t thread) {
  std::string who = thread == SharedCell::kManyWarps
                        ? "several warps"
                        : "thread " + std::to_string(thread) + " of the block";
  return std::string(", which ") + who + " " + what +
         " with no barrier in between: a race";
}

namespace {
/// Checks accesses of lanes of a warp to shared memory by one instruction.
class SharedCheck {
public:
  SharedCheck(Warp &warp [[clang::lifetimebound]],
              const Instruction &instruction [[clang::lifetimebound]],
              unsigned bytes)
      : warp(warp), block(warp.block()), instruction(instruction), bytes(bytes),
        firstThread(uint16_t(warp.index() * kLanes)), barriers(block.barriers),
        syncs(warp.syncs()) {}

  /// Checks an access and returns its bytes; `stored` is null for a load.
  [[gnu::noinline]] uint8_t *reach(unsigned lane, uint64_t address,
                                   const uint8_t *stored) {
    const Access access{instruction, lane,  Space::Shared,
                        address,     bytes, stored};
    if (!isInside(warp, access, "shared ", block.shared.size()) ||
        !isAligned(warp, access, "shared "))
      return nullptr;
    uint8_t *at = block.shared.data() + address;
    bool changes = stored && std::memcmp(at, stored, bytes) != 0;
    for (SharedCell &cell : block.cellsOf(address, bytes)) {
      if (cell.isPending)
        report(access, ", which cp.async writes before somebody waits for it");
      if (stored)
        noteWrite(access, cell, changes);
      else
        noteRead(access, cell);
    }
    return at;
  }

  /// The bytes of a load whose cells were all written before the last barrier
  /// of the block, so that there is nothing to report. Null for other loads,
  /// which need reach().
  const uint8_t *reachCalm(unsigned lane, uint64_t address) {
    if (!endsInside(address, bytes, block.shared.size()) ||
        !isMultiple(address, bytes))
      return nullptr;
    for (SharedCell &cell : block.cellsOf(address, bytes)) {
      if (cell.isPending || cell.writer == SharedCell::kNobody ||
          cell.writeBarrier == barriers)
        return nullptr;
      noteReader(uint16_t(firstThread + lane), cell);
    }
    return block.shared.data() + address;
  }

private:
  uint16_t threadOf(const Access &access) const {
    return uint16_t(firstThread + access.lane);
  }
  bool isOwnWarp(uint16_t other) const {
    return other / kLanes == firstThread / kLanes;
  }
  /// Whether an earlier access by `other` is unordered with this one by
  /// `thread`.
  bool isUnordered(uint16_t thread, uint16_t other, uint32_t barrier,
                   uint32_t sync) const {
    return barrier == barriers &&
           (other == SharedCell::kManyWarps || !isOwnWarp(other) ||
            (other != thread && sync == syncs));
  }
  bool isWriterUnordered(uint16_t thread, const SharedCell &cell) const {
    return cell.writer != SharedCell::kNobody &&
           isUnordered(thread, cell.writer, cell.writeBarrier, cell.writeSync);
  }
  void report(const Access &access, const std::string &what) {
    warp.report(instruction, access.lane, describe(access, "shared ") + what);
  }

  void noteRead(const Access &access, SharedCell &cell) {
    uint16_t thread = threadOf(access);
    if (cell.writer == SharedCell::kNobody)
      report(access, ", which no thread of the block wrote");
    else if (isWriterUnordered(thread, cell))
      report(access, raceWith("wrote", cell.writer));
    noteReader(thread, cell);
  }
  [[gnu::always_inline]] void noteReader(uint16_t thread, SharedCell &cell) {
    if (cell.reader == SharedCell::kNobody || cell.readBarrier != barriers) {
      cell.reader = thread;
      cell.isReadByLanes = false;
    } else if (cell.reader == SharedCell::kManyWarps ||
               !isOwnWarp(cell.reader)) {
      cell.reader = SharedCell::kManyWarps;
    } else if (cell.readSync != syncs) {
      cell.reader = thread;
      cell.isReadByLanes = false;
    } else if (cell.reader != thread) {
      cell.isReadByLanes = true;
    }
    cell.readBarrier = barriers;
    cell.readSync = syncs;
  }

  void noteWrite(const Access &access, SharedCell &cell, bool changes) {
    uint16_t thread = threadOf(access);
    bool isRead = cell.reader != SharedCell::kNobody;
    bool byOthers = isRead && cell.isReadByLanes &&
                    cell.readBarrier == barriers && cell.readSync == syncs;
    if (changes && isWriterUnordered(thread, cell))
      report(access, raceWith("wrote", cell.writer));
    else if (isRead &&
             (byOthers || isUnordered(thread, cell.reader, cell.readBarrier,
                                      cell.readSync)))
      report(access, raceWith("read", cell.reader));
    cell.writer = thread;
    cell.writeBarrier = barriers;
    cell.writeSync = syncs;
  }

  Warp &warp;
  Block &block;
  const Instruction &instruction;
  unsigned bytes;
  uint16_t firstThread;
  uint32_t barriers, syncs;
};
} // namespace

static uint8_t *reachShared(Warp &warp, const Access &access) {
  return SharedCheck(warp, access.instruction, access.bytes)
      .reach(access.lane, access.address, access.stored);
}

static uint8_t *reachLocal(Warp &warp, const Access &access) {
  uint64_t size = warp.launch().kernel->localBytes;
  if (!isInside(warp, access, "local ", size) ||
      !isAligned(warp, access, "local "))
    return nullptr;
  std::vector<bool> &written = warp.localWritten();
  auto first = written.begin() + int64_t(size * access.lane + access.address);
  if (access.stored)
    std::fill(first, first + access.bytes, true);
  else if (std::find(first, first + access.bytes, false) !=
           first + access.bytes)
    warp.report(access.instruction, access.lane,
                describe(access, "local ") + ", which were never written");
  return warp.localMemory(access.lane) + access.address;
}

static std::string blockName(Warp &warp, uint32_t number) {
  const Dim3 &grid = warp.launch().grid;
  uint64_t index = number - warp.block().firstNumber;
  if (index >= grid.count())
    return index == grid.count() ? "several blocks" : "the read-only cache";
  return "block (" + std::to_string(index % grid.x) + ", " +
         std::to_string(index / grid.x % grid.y) + ", " +
         std::to_string(index / grid.x / grid.y) + ")";
}

static std::string conflictText(Conflict conflict, const std::string &who,
                                bool isWrite) {
  switch (conflict) {
  case Conflict::None:
    return "";
  case Conflict::ReadAfterWrite:
    return ", which " + who + " of this launch wrote: a race";
  case Conflict::WriteAfterRead:
    return ", which " + who + " of this launch read: a race";
  case Conflict::WriteAfterWrite:
    return ", where " + who + " of this launch wrote another value: a race";
  case Conflict::ReadOnly:
    return isWrite ? ", which this launch reads by ld.global.nc"
                   : " by ld.global.nc, which " + who + " of this launch wrote";
  }
  return "";
}

static std::string nearest(Warp &warp, uint64_t address) {
  const Allocation *before = warp.block().memory.before(address);
  if (!before)
    return "; all allocations lie above";
  return "; '" + before->name + "' before it has " +
         std::to_string(before->bytes) + " bytes from " + hex(before->address);
}

static Allocation *findAllocation(Warp &warp, const Access &access) {
  Allocation *found = warp.recent;
  if (!found || access.address - found->address >= found->bytes)
    found = warp.block().memory.find(access.address);
  if (!found ||
      access.bytes > found->bytes - (access.address - found->address)) {
    refuse(warp, access, Fault::Address,
           describe(access, "") + ", which no allocation has" +
               nearest(warp, access.address));
    return nullptr;
  }
  return warp.recent = found;
}

static void checkWritten(Warp &warp, const Access &access,
                         Allocation &allocation, uint64_t bytes) {
  if (allocation.written.empty())
    return;
  auto first =
      allocation.written.begin() + int64_t(access.address - allocation.address);
  auto last = first + int64_t(bytes);
  if (access.stored)
    return std::fill(first, last, true);
  auto unknown = std::find(first, last, false);
  if (unknown == last)
    return;
  unsigned lanes = unsigned(unknown - first) / access.bytes;
  Access at = access;
  at.address += uint64_t(lanes) * access.bytes;
  warp.report(access.instruction, access.lane + lanes,
              describe(at, "") + " of '" + allocation.name +
                  "', which were never written");
}

static uint8_t *touch(Warp &warp, const Access &access, Allocation &allocation,
                      unsigned lanes) {
  uint64_t bytes = uint64_t(access.bytes) * lanes;
  checkWritten(warp, access, allocation, bytes);
  uint64_t offset = access.address - allocation.address;
  uint8_t *at = allocation.host + offset;
  Block &block = warp.block();
  Shadow::Found found = allocation.shadow.note(
      {offset, bytes, access.bytes, block.firstNumber,
       uint32_t(warp.launch().grid.count()), block.number,
       access.instruction.isReadOnly, at, access.stored});
  if (found.conflict == Conflict::None)
    return at;
  unsigned lane = unsigned(found.offset) / access.bytes;
  Access one = access;
  one.address += uint64_t(lane) * access.bytes;
  warp.report(access.instruction, access.lane + lane,
              describe(one, "") + " of '" + allocation.name + "'" +
                  conflictText(found.conflict, blockName(warp, found.other),
                               access.stored != nullptr));
  return at;
}

static uint8_t *reachGlobal(Warp &warp, const Access &access) {
  Allocation *allocation = findAllocation(warp, access);
  if (!allocation || !isAligned(warp, access, ""))
    return nullptr;
  if (access.stored && allocation->isConstant)
    return refuse(warp, access, Fault::Address,
                  describe(access, "") + " of constant '" + allocation->name +
                      "'");
  return touch(warp, access, *allocation, 1);
}

uint8_t *reachRow(Warp &warp, const Access &access, unsigned lanes) {
  Allocation *allocation = warp.recent;
  if (!allocation || access.address - allocation->address >= allocation->bytes)
    allocation = warp.block().memory.find(access.address);
  if (!allocation || access.address % access.bytes ||
      (access.stored && allocation->isConstant))
    return nullptr;
  uint64_t offset = access.address - allocation->address;
  uint64_t bytes = uint64_t(access.bytes) * lanes;
  if (bytes > allocation->bytes - offset ||
      offset % Shadow::kPageBytes + bytes > Shadow::kPageBytes)
    return nullptr;
  warp.recent = allocation;
  return touch(warp, access, *allocation, lanes);
}

uint8_t *reach(Warp &warp, const Access &access) {
  switch (access.space) {
  case Space::Shared:
    return reachShared(warp, access);
  case Space::Local:
    return reachLocal(warp, access);
  default:
    break;
  }
  Access moved = access;
  if (access.space == Space::Generic) {
    if (access.address - kSharedWindow < kWindowBytes) {
      moved.address -= kSharedWindow;
      return reachShared(warp, moved);
    }
    if (access.address - kLocalWindow < kWindowBytes) {
      moved.address -= kLocalWindow;
      return reachLocal(warp, moved);
    }
  }
  return reachGlobal(warp, access);
}

bool reachLanes(Warp &warp, const Instruction &instruction, unsigned bytes,
                Mask active, const uint8_t **at) {
  SharedCheck shared(warp, instruction, bytes);
  bool isShared = instruction.space == Space::Shared;
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    uint64_t address =
        warp.bits(instruction.source(0), lane) + uint64_t(instruction.offset);
    at[lane] = isShared ? shared.reachCalm(lane, address) : nullptr;
    if (!at[lane])
      at[lane] =
          reach(warp, {instruction, lane, instruction.space, address, bytes});
    if (!at[lane])
      return false;
  }
  return true;
}

} // namespace weft::ptx
