//===- LoadStore.cpp - ld, st ---------------------------------------------===//

#include "weft/test/cuda/machine/Lanes.h"
#include "weft/test/cuda/machine/MemoryAccess.h"

#include <bit>

namespace weft::ptx {

static constexpr unsigned kMostBytes = 32;

static uint64_t elementAt(const uint8_t *at, const Instruction &i) {
  uint64_t value = readBits(at, i.elementBytes);
  unsigned unused = 64 - 8 * i.elementBytes;
  return i.isSigned ? uint64_t(int64_t(value << unused) >> unused) : value;
}

/// Whether all lanes touch adjacent elements of global memory.
static bool isRow(Warp &warp, const Instruction &i, Mask active) {
  if (active != kAllLanes || i.space != Space::Global || i.source(0).bytes != 8)
    return false;
  const uint64_t *addresses = warp.lanes<uint64_t>(i.source(0));
  uint64_t bytes = uint64_t(i.elementBytes) * i.elements;
  bool isRow = true;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    isRow &= addresses[lane] == addresses[0] + lane * bytes;
  return isRow;
}

/// Copies an element of each active lane to a register of the same size.
template <class T>
static void copyElements(Warp &warp, const Operand &to, unsigned offset,
                         const uint8_t *const *from, Mask active) {
  T *target = warp.lanes<T>(to);
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    std::memcpy(target + lane, from[lane] + offset, sizeof(T));
  }
}

/// Loads element `k` of the vector that each active lane's pointer points to.
static void loadElements(Warp &warp, const Instruction &i, unsigned k,
                         const uint8_t *const *from, Mask active) {
  const Operand &target = i.target(k);
  unsigned offset = k * i.elementBytes;
  if (target.bytes == 4 && i.elementBytes == 4)
    return copyElements<uint32_t>(warp, target, offset, from, active);
  if (target.bytes == 8 && i.elementBytes == 8)
    return copyElements<uint64_t>(warp, target, offset, from, active);
  for (Mask left = target.bytes ? active : 0; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    warp.setBits(target, lane, elementAt(from[lane] + offset, i));
  }
}

/// The bytes of a load whose lanes read adjacent elements, in one access; null
/// without a report if the load is none or must be checked lane by lane.
static const uint8_t *reachLoadedRow(Warp &warp, const Instruction &i,
                                     Mask active, unsigned bytes) {
  if (!isRow(warp, i, active))
    return nullptr;
  uint64_t address = warp.lanes<uint64_t>(i.source(0))[0] + uint64_t(i.offset);
  return reachRow(warp, {i, 0, i.space, address, bytes}, kLanes);
}

static void load(Warp &warp, const Instruction &i, Mask active) {
  unsigned bytes = unsigned(i.elementBytes) * i.elements;
  const uint8_t *from[kLanes];
  if (const uint8_t *row = reachLoadedRow(warp, i, active, bytes)) {
    if (i.elements == 1 && i.target().bytes == i.elementBytes) {
      std::memcpy(warp.lanes<uint8_t>(i.target()), row, kLanes * bytes);
      return;
    }
    for (unsigned lane = 0; lane < kLanes; ++lane)
      from[lane] = row + lane * bytes;
  } else if (!reachLanes(warp, i, bytes, active, from)) {
    return;
  }
  for (unsigned k = 0; k < i.elements; ++k)
    loadElements(warp, i, k, from, active);
}

static void gatherStored(Warp &warp, const Instruction &i, unsigned lane,
                         uint8_t *stored) {
  for (unsigned k = 0; k < i.elements; ++k)
    writeBits(stored + k * i.elementBytes, i.elementBytes,
              warp.bits(i.source(1 + k), lane));
}

static bool storeRow(Warp &warp, const Instruction &i) {
  unsigned bytes = unsigned(i.elementBytes) * i.elements;
  uint64_t address = warp.lanes<uint64_t>(i.source(0))[0] + uint64_t(i.offset);
  uint8_t stored[kLanes * kMostBytes];
  if (i.elements == 1 && i.source(1).bytes == i.elementBytes)
    std::memcpy(stored, warp.lanes<uint8_t>(i.source(1)), kLanes * bytes);
  else
    for (unsigned lane = 0; lane < kLanes; ++lane)
      gatherStored(warp, i, lane, stored + lane * bytes);
  uint8_t *to = reachRow(warp, {i, 0, i.space, address, bytes, stored}, kLanes);
  if (to)
    std::memcpy(to, stored, kLanes * bytes);
  return to != nullptr;
}

static void store(Warp &warp, const Instruction &i, Mask active) {
  if (isRow(warp, i, active) && storeRow(warp, i))
    return;
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    uint64_t address = warp.bits(i.source(0), lane) + uint64_t(i.offset);
    uint8_t stored[kMostBytes];
    gatherStored(warp, i, lane, stored);
    unsigned bytes = unsigned(i.elementBytes) * i.elements;
    uint8_t *to = reach(warp, {i, lane, i.space, address, bytes, stored});
    if (!to)
      return;
    std::memcpy(to, stored, bytes);
  }
}

/// Loads a parameter, which is the same for all threads; its address is an
/// offset.
static void loadParameter(Warp &warp, const Instruction &i, Mask active) {
  const std::vector<uint8_t> &parameters = warp.launch().parameters;
  unsigned bytes = unsigned(i.elementBytes) * i.elements;
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    uint64_t offset = warp.bits(i.source(0), lane) + uint64_t(i.offset);
    if (offset > parameters.size() || bytes > parameters.size() - offset)
      return warp.stop(i, lane, Fault::Address,
                       "reads " + std::to_string(bytes) +
                           " bytes of parameters at " + std::to_string(offset) +
                           ", but there are " +
                           std::to_string(parameters.size()));
    for (unsigned k = 0; k < i.elements; ++k)
      warp.setBits(
          i.target(k), lane,
          elementAt(parameters.data() + offset + k * i.elementBytes, i));
  }
}

/// Takes words on caching, which do not affect values.
static void takeCacheHints(Decoder &d) {
  d.take("weak") || d.take("volatile");
  d.takeOne({"ca", "cg", "cs", "lu", "cv", "wb", "wt"});
  d.takeOne({"L1::evict_normal", "L1::evict_unchanged", "L1::evict_first",
             "L1::evict_last", "L1::no_allocate"});
  d.takeOne({"L2::64B", "L2::128B", "L2::256B"});
}

static Space takeSpace(Decoder &d) {
  const Space spaces[] = {Space::Global,   Space::Global, Space::Shared,
                          Space::Shared,   Space::Local,  Space::Parameter,
                          Space::Parameter};
  int found = d.takeOne({"global", "const", "shared", "shared::cta", "local",
                         "param", "param::entry"});
  return found < 0 ? Space::Generic : spaces[found];
}

/// Fills the common part of loads and stores; the elements are the other
/// operand.
static std::vector<Argument> decodeAccess(Decoder &d, Instruction &i,
                                          const Argument &elements, Space space,
                                          int vector, Type type) {
  i.space = space;
  i.elements = uint8_t(1 << (vector + 1));
  i.elementBytes = uint8_t(bytesOf(type));
  i.isSigned = type >= Type::S8 && type <= Type::S64;
  std::vector<Argument> all = elements.kind == Argument::Vector
                                  ? elements.parts
                                  : std::vector{elements};
  if (all.size() != i.elements || i.elementBytes * i.elements > int(kMostBytes))
    d.fail(d.name() + " of " + std::to_string(all.size()) + " elements");
  return all;
}

/// Adds an address: a register and a number, or a variable.
static void addAddress(Decoder &d, Instruction &i, const Argument &address) {
  if (!address.isAddress)
    return d.fail(d.name() + " has no address in [ ]");
  bool isRegister = d.registers.contains(address.name);
  i.offset = isRegister ? address.offset : 0;
  d.addSource(i, address, 0);
}

static void decodeLoad(Decoder &d) {
  takeCacheHints(d);
  Space space = takeSpace(d);
  bool isReadOnly = d.take("nc");
  int vector = d.takeOne({"v2", "v4", "v8"});
  Type type = d.takeType();
  if (d.arguments() != 2)
    return d.fail(d.name() + " takes a target and an address");
  Instruction &i = d.begin(space == Space::Parameter ? loadParameter : load);
  i.isReadOnly = isReadOnly;
  for (const Argument &target :
       decodeAccess(d, i, d.argument(0), space, vector, type)) {
    d.addTarget(i, target, 0);
    if (i.targets && i.target(i.targets - 1).bytes &&
        i.target(i.targets - 1).bytes < i.elementBytes)
      d.fail(d.name() + " has a register that is too narrow");
  }
  addAddress(d, i, d.argument(1));
}

static void decodeStore(Decoder &d) {
  takeCacheHints(d);
  Space space = takeSpace(d);
  int vector = d.takeOne({"v2", "v4", "v8"});
  Type type = d.takeType();
  if (space == Space::Parameter)
    return d.fail(d.name() + ": calls of functions are not known to this "
                             "machine; have them inlined");
  if (d.arguments() != 2)
    return d.fail(d.name() + " takes an address and a source");
  Instruction &i = d.begin(store);
  addAddress(d, i, d.argument(0));
  for (const Argument &source :
       decodeAccess(d, i, d.argument(1), space, vector, type)) {
    unsigned bytes = source.kind == Argument::Number
                         ? std::max<unsigned>(2, i.elementBytes)
                         : 0;
    d.addSource(i, source, bytes);
    if (i.source(i.sources - 1).bytes < i.elementBytes)
      d.fail(d.name() + " has a register that is too narrow");
  }
}

void addMemoryDecoders(DecodeTable &table) {
  table.others["ld"] = decodeLoad;
  table.others["ldu"] = decodeLoad;
  table.others["st"] = decodeStore;
}

} // namespace weft::ptx
