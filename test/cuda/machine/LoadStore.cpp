//===- LoadStore.cpp - ld, st ---------------------------------------------===//

#include "weft/test/cuda/machine/Lanes.h"
#include "weft/test/cuda/machine/MemoryAccess.h"

#include <bit>

namespace weft::ptx {

static constexpr unsigned kMostBytes = 32;

static uint64_t elementAt(const uint8_t *at, const Instruction &i) {
  uint64_t value = 0;
  std::memcpy(&value, at, i.elementBytes);
  unsigned unused = 64 - 8 * i.elementBytes;
  return i.isSigned ? uint64_t(int64_t(value << unused) >> unused) : value;
}

static void load(Warp &warp, const Instruction &i, Mask active) {
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    uint64_t address = warp.bits(i.source(0), lane) + uint64_t(i.offset);
    const uint8_t *from = reach(warp, {i, lane, i.space, address,
                                       unsigned(i.elementBytes) * i.elements});
    if (!from)
      return;
    for (unsigned k = 0; k < i.elements; ++k)
      if (i.target(k).bytes)
        warp.setBits(i.target(k), lane,
                     elementAt(from + k * i.elementBytes, i));
  }
}

static void store(Warp &warp, const Instruction &i, Mask active) {
  for (Mask left = active; left; left &= left - 1) {
    unsigned lane = std::countr_zero(left);
    uint64_t address = warp.bits(i.source(0), lane) + uint64_t(i.offset);
    uint8_t stored[kMostBytes];
    for (unsigned k = 0; k < i.elements; ++k) {
      uint64_t value = warp.bits(i.source(1 + k), lane);
      std::memcpy(stored + k * i.elementBytes, &value, i.elementBytes);
    }
    unsigned bytes = unsigned(i.elementBytes) * i.elements;
    uint8_t *to = reach(warp, {i, lane, i.space, address, bytes, stored});
    if (!to)
      return;
    std::memcpy(to, stored, bytes);
  }
}

/// Parameters are the same for all threads; an address of theirs is an offset.
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

/// Words that say how long a cache keeps what is read change no value.
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

/// Fills what loads and stores share; the elements are the other operand.
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

/// The address: a register and a number, or a variable.
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
