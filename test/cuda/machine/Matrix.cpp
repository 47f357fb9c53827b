//===- Matrix.cpp - ldmatrix, mma: matrices spread over a warp ------------===//
//
// Lane l has the elements of a 16x8 result in rows l / 4 and l / 4 + 8, columns
// 2 * (l % 4) and the next. Products are exact and their sum is rounded once to
// f32: a GPU's tensor cores round in an order of their own, so results are
// equal only where every sum is exact.
//
//===----------------------------------------------------------------------===//

#include "weft/test/cuda/machine/Lanes.h"
#include "weft/test/cuda/machine/MemoryAccess.h"
#include "weft/test/cuda/machine/ShortFloats.h"

#include <bit>

namespace weft::ptx {

constexpr unsigned kRows = 8, kRowBytes = 16;

/// Loads matrices: lanes 8k to 8k + 7 have the addresses of the rows of matrix
/// k, eight elements of 16 bits each; mode: transposed.
static void loadMatrices(Warp &warp, const Instruction &i, Mask active) {
  for (unsigned k = 0; k < i.targets; ++k) {
    uint16_t elements[kRows][kRowBytes / 2];
    for (unsigned row = 0; row < kRows; ++row) {
      unsigned lane = k * kRows + row;
      uint64_t address = warp.bits(i.source(0), lane) + uint64_t(i.offset);
      const uint8_t *from =
          reach(warp, {i, lane, Space::Shared, address, kRowBytes});
      if (!from)
        return;
      std::memcpy(elements[row], from, kRowBytes);
    }
    uint32_t *target = warp.lanes<uint32_t>(i.target(k));
    for (unsigned lane = 0; lane < kLanes; ++lane) {
      unsigned row = lane / 4, column = 2 * (lane % 4);
      target[lane] = i.mode ? uint32_t(elements[column + 1][row]) << 16 |
                                  elements[column][row]
                            : uint32_t(elements[row][column + 1]) << 16 |
                                  elements[row][column];
    }
  }
}

/// Marks an instruction with `.aligned`: all lanes of the warp take part.
static void addAllLanes(Decoder &d, Instruction &i) {
  Argument all;
  all.kind = Argument::Number;
  all.bits = kAllLanes;
  d.addSource(i, all, 4);
  i.flow = Flow::WarpSync;
}

static void decodeLoadMatrix(Decoder &d) {
  bool isKnown = d.take("sync") && d.take("aligned") && d.take("m8n8");
  int count = d.takeOne({"x1", "x2", "x4"});
  bool isTransposed = d.take("trans");
  bool isShared = d.take("shared") || d.take("shared::cta");
  Type type = d.takeType();
  if (!isKnown || !isShared || count < 0 || type != Type::B16 ||
      d.arguments() != 2)
    return d.fail(d.name() + " is not known to this machine");
  Instruction &i = d.begin(loadMatrices);
  i.mode = isTransposed;
  const Argument &targets = d.argument(0), &address = d.argument(1);
  std::vector<Argument> all =
      targets.kind == Argument::Vector ? targets.parts : std::vector{targets};
  if (all.size() != size_t(1) << count)
    return d.fail(d.name() + " of " + std::to_string(all.size()) +
                  " registers");
  for (const Argument &target : all)
    d.addTarget(i, target, 4);
  i.offset = d.registers.contains(address.name) ? address.offset : 0;
  d.addSource(i, address, 0);
  addAllLanes(d, i);
}

namespace {
/// Numbers of one type in registers of 32 bits.
struct Elements {
  unsigned perRegister;
  double (*decode)(uint32_t bits, unsigned part);
};
} // namespace
static double halfOf(uint32_t bits, unsigned part) {
  return Half{uint16_t(bits >> 16 * part)};
}
static double brainOf(uint32_t bits, unsigned part) {
  return Brain{uint16_t(bits >> 16 * part)};
}
/// The value of a TF32, whose lower 13 bits are ignored.
static double tf32Of(uint32_t bits, unsigned) {
  return std::bit_cast<float>(bits & ~uint32_t(0x1FFF));
}
static const Elements kElements[] = {{2, halfOf}, {2, brainOf}, {1, tf32Of}};

/// Computes D = A B + C: A has 16 rows and `depth` columns, B eight columns.
/// The parts of a register are adjacent columns of A, or rows of B. The
/// registers of lane l hold row l / 4 of A, then the row eight below, then the
/// next columns of both; and column l / 4 of B.
static void multiply(Warp &warp, const Instruction &i, Mask active) {
  const Elements &of = kElements[i.mode];
  auto depth = unsigned(i.offset);
  unsigned width = 4 * of.perRegister, registersA = 2 * depth / width;
  double a[16][16] = {}, b[16][8] = {};
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned part = 0; part < of.perRegister; ++part) {
      unsigned place = lane % 4 * of.perRegister + part, group = lane / 4;
      for (unsigned k = 0; k < registersA; ++k)
        a[group + k % 2 * 8][place + k / 2 * width] =
            of.decode(warp.lanes<uint32_t>(i.source(k))[lane], part);
      for (unsigned k = 0; k < registersA / 2; ++k)
        b[place + k * width][group] = of.decode(
            warp.lanes<uint32_t>(i.source(registersA + k))[lane], part);
    }
  for (unsigned lane = 0; lane < kLanes; ++lane)
    for (unsigned k = 0; k < 4; ++k) {
      unsigned row = lane / 4 + k / 2 * 8, column = lane % 4 * 2 + k % 2;
      double sum = warp.lanes<float>(i.source(registersA / 2 * 3 + k))[lane];
      for (unsigned n = 0; n < depth; ++n)
        sum += a[row][n] * b[n][column];
      warp.lanes<float>(i.target(k))[lane] = float(sum);
    }
}

static void decodeMultiply(Decoder &d) {
  bool isKnown =
      d.take("sync") && d.take("aligned") && d.take("row") && d.take("col");
  int shape = d.takeOne({"m16n8k8", "m16n8k16"});
  Type c = d.takeType(), b = d.takeType(), a = d.takeType(),
       result = d.takeType();
  int elements = a == Type::F16    ? 0
                 : a == Type::BF16 ? 1
                 : a == Type::TF32 ? 2
                                   : -1;
  if (!isKnown || shape < 0 || elements < 0 || a != b || c != Type::F32 ||
      result != Type::F32 || (elements == 2 && shape == 1) ||
      d.arguments() != 4)
    return d.fail(d.name() + " is not known to this machine");
  unsigned depth = shape ? 16 : 8;
  size_t registers = 2 * depth / (4 * kElements[elements].perRegister);
  const size_t wanted[] = {4, registers, registers / 2, 4};
  Instruction &i = d.begin(multiply);
  i.mode = uint8_t(elements);
  i.offset = depth;
  for (size_t k = 0; k < 4; ++k) {
    const Argument &list = d.argument(k);
    std::vector<Argument> all =
        list.kind == Argument::Vector ? list.parts : std::vector{list};
    if (all.size() != wanted[k])
      return d.fail(d.name() + ": operand " + std::to_string(k) + " has " +
                    std::to_string(all.size()) +
                    " registers != " + std::to_string(wanted[k]));
    for (const Argument &part : all)
      k ? d.addSource(i, part, 4) : d.addTarget(i, part, 4);
  }
  addAllLanes(d, i);
}

void addMatrixDecoders(DecodeTable &table) {
  table.others["ldmatrix"] = decodeLoadMatrix;
  table.others["mma"] = decodeMultiply;
}

} // namespace weft::ptx
