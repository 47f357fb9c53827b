//===- Move.cpp - mov, cvta, isspacep -------------------------------------===//

#include "weft/test/cuda/machine/Lanes.h"

namespace weft::ptx {

static constexpr auto kSame = []<class T>(T a) { return a; };

static void movePredicate(Warp &warp, const Instruction &i, Mask active) {
  Mask &target = warp.predicate(i.target());
  target = (target & ~active) | (warp.predicate(i.source(0)) & active);
}
static Compute moveOf(unsigned bytes) {
  return bytes == 2   ? each<kSame, uint16_t, uint16_t>
         : bytes == 4 ? each<kSame, uint32_t, uint32_t>
         : bytes == 8 ? each<kSame, uint64_t, uint64_t>
                      : Compute(nullptr);
}

/// Unpacks the parts of a register, the lowest first.
static void unpack(Warp &warp, const Instruction &i, Mask active) {
  const Operand &source = i.source(0);
  unsigned width = 8 * i.elementBytes;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (active >> lane & 1) {
      uint64_t bits = warp.bits(source, lane);
      for (unsigned k = 0; k < i.targets; ++k)
        if (i.target(k).bytes)
          warp.setBits(i.target(k), lane, bits >> k * width);
    }
}
static void pack(Warp &warp, const Instruction &i, Mask active) {
  unsigned width = 8 * i.elementBytes;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if (active >> lane & 1) {
      uint64_t bits = 0;
      for (unsigned k = 0; k < i.sources; ++k)
        bits |= warp.bits(i.source(k), lane) << k * width;
      warp.setBits(i.target(), lane, bits);
    }
}

static void decodeParts(Decoder &d, Type type) {
  bool isUnpack = d.argument(0).kind == Argument::Vector;
  const Argument &parts = d.argument(isUnpack ? 0 : 1);
  unsigned count = unsigned(parts.parts.size());
  if (!count || bytesOf(type) % count)
    return d.fail(d.name() + " of " + std::to_string(count) + " parts");
  unsigned bytes = bytesOf(type) / count;
  Instruction &i = d.begin(isUnpack ? unpack : pack);
  i.elementBytes = uint8_t(bytes);
  if (!isUnpack)
    d.addTarget(i, d.argument(0), bytesOf(type));
  for (const Argument &part : parts.parts)
    isUnpack ? d.addTarget(i, part, bytes) : d.addSource(i, part, bytes);
  if (isUnpack)
    d.addSource(i, d.argument(1), bytesOf(type));
}

static void decodeMove(Decoder &d) {
  Type type = d.takeType();
  if (d.arguments() == 2 && (d.argument(0).kind == Argument::Vector ||
                             d.argument(1).kind == Argument::Vector))
    return decodeParts(d, type);
  d.emit(type == Type::Pred ? movePredicate : moveOf(bytesOf(type)), {type},
         {type});
}

/// Adds the start of a window of generic space, or subtracts it.
static void shiftAddress(Warp &warp, const Instruction &i, Mask active) {
  const uint64_t *from = warp.lanes<uint64_t>(i.source(0));
  uint64_t *to = warp.lanes<uint64_t>(i.target());
  for (unsigned lane = 0; lane < kLanes; ++lane)
    to[lane] = active >> lane & 1 ? from[lane] + uint64_t(i.offset) : to[lane];
}

/// Decodes a conversion of addresses; global and constant ones are equal in
/// generic space.
static void decodeAddress(Decoder &d) {
  bool isTo = d.take("to");
  int space = d.takeOne({"global", "const", "shared", "shared::cta", "local"});
  Type type = d.takeType();
  if (space < 0 || bytesOf(type) != 8)
    return d.fail(d.name() + " is not known to this machine");
  int64_t window = space < 2   ? 0
                   : space < 4 ? int64_t(kSharedWindow)
                               : int64_t(kLocalWindow);
  d.emit(space < 2 ? moveOf(8) : shiftAddress, {type}, {type}).offset =
      isTo ? -window : window;
}

static Space spaceOf(uint64_t address) {
  if (address - kSharedWindow < kWindowBytes)
    return Space::Shared;
  return address - kLocalWindow < kWindowBytes ? Space::Local : Space::Global;
}
static void isSpace(Warp &warp, const Instruction &i, Mask active) {
  Mask result = 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    result |= Mask(spaceOf(warp.lanes<uint64_t>(i.source(0))[lane]) == i.space)
              << lane;
  Mask &target = warp.predicate(i.target());
  target = (target & ~active) | (result & active);
}
static void decodeIsSpace(Decoder &d) {
  int space = d.takeOne({"global", "shared", "local"});
  const Space spaces[] = {Space::Global, Space::Shared, Space::Local};
  Instruction &i =
      d.emit(space < 0 ? nullptr : isSpace, {Type::Pred}, {Type::U64});
  i.space = spaces[std::max(space, 0)];
}

void addMoveDecoders(DecodeTable &table) {
  table.others["mov"] = decodeMove;
  table.others["cvta"] = decodeAddress;
  table.others["isspacep"] = decodeIsSpace;
}

} // namespace weft::ptx
