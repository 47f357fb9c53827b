//===- WarpProducts.cpp - a warp's share of a tile of sums ----------------===//

#include "weft/compiler/codegen/gpu/WarpProducts.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;

namespace weft::gpu {

using nest::Multiplier;

/// The number of adjacent rows or columns that a lane reads at once.
static int64_t runOf(int64_t size, int64_t lanes) {
  return std::min<int64_t>(size / lanes, 4);
}

/// A register axis is a list of digits, as dimensions of an array are: its size
/// and each digit.
static std::pair<int64_t, SubAxes> registersOf(ArrayRef<int64_t> sizes) {
  int64_t all = 1;
  SubAxes digits;
  for (int64_t size : sizes) {
    digits.push_back({kRegister, all, size});
    all *= size;
  }
  return {all, digits};
}

/// The patch, the slot (a row of the patch) and the column of a sum.
static Placement placeOfSums(nest::TilesAttr walk) {
  int64_t rows = walk.getWarp()[0], columns = walk.getWarp()[1];
  SubAxis lanes[] = {{kLane, 1, 8}, {kLane, 8, 4}};
  int64_t patches = rows / nest::kPatchRows;
  if (walk.getUnit() != Multiplier::Fma) {
    // A lane has four sums of each 16 x 8 fragment: two in a row, and two 8
    // rows below.
    auto [all, digits] = registersOf({patches, columns / 8, 2, 2});
    return Placement(
        {{kLane, 32}, {kRegister, all}},
        {{digits[0]}, {digits[2], lanes[0]}, {digits[1], lanes[1], digits[3]}});
  }
  int64_t run = runOf(columns, 4);
  auto [all, digits] = registersOf({patches, 2, columns / 4 / run, run});
  return Placement(
      {{kLane, 32}, {kRegister, all}},
      {{digits[0]}, {lanes[0], digits[1]}, {digits[2], lanes[1], digits[3]}});
}

/// The row of the warp's tile for a patch (a round) and a slot (a register).
static Placement placeOfRows(nest::TilesAttr walk) {
  int64_t rows = walk.getWarp()[0], patches = rows / nest::kPatchRows;
  if (walk.getUnit() != Multiplier::Fma)
    return Placement(
        {{kRound, patches}, {kRegister, nest::kPatchRows}},
        {{{kRound, 1, patches}, {kRegister, 1, nest::kPatchRows}}});
  int64_t pairs = runOf(rows, 8) / 2;
  return Placement({{kRound, patches}, {kRegister, nest::kPatchRows}},
                   {{{kRound, 1, patches / pairs},
                     {kRegister, 1, 8},
                     {kRound, patches / pairs, pairs},
                     {kRegister, 8, 2}}});
}

/// The row (of rhs: column) and the depth that a lane reads of an operand, in
/// the warp's tile.
static Placement placeOfReads(nest::TilesAttr walk, unsigned operand) {
  int64_t rows = walk.getWarp()[operand];
  auto place = [](int64_t registers, std::vector<SubAxes> dims) {
    return Placement({{kLane, 32}, {kRegister, registers}}, std::move(dims));
  };
  if (walk.getUnit() == Multiplier::Fma) {
    SubAxis lanes = operand == 0 ? SubAxis{kLane, 1, 8} : SubAxis{kLane, 8, 4};
    int64_t run = runOf(rows, lanes.size);
    auto [all, digits] = registersOf({rows / lanes.size / run, run});
    return place(all, {{digits[0], lanes, digits[1]}, {}});
  }
  if (walk.getUnit() == Multiplier::Tf32) {
    auto [all, digits] = registersOf({rows / 8, 2});
    return place(all, {{digits[0], {kLane, 1, 8}}, {digits[1], {kLane, 8, 4}}});
  }
  // Lane 8 * m + r has the address of run r, of 8 elements, of matrix m.
  // Matrices 1 and 3 of lhs are 8 rows below 0 and 2, and 2 and 3 are 8 depths
  // after 0 and 1; for rhs, rows and depths are exchanged.
  SubAxis high{kLane, 1, 2}, low{kLane, 2, 2}, run{kLane, 4, 8};
  auto [all, digits] = registersOf({(rows + 15) / 16, 8});
  SubAxis row = operand == 0 ? low : high, depth = operand == 0 ? high : low;
  bool isDepthInner = tileOperand(walk, operand).isDepthInner;
  return place(all, {{digits[0], row, isDepthInner ? run : digits[1]},
                     {depth, isDepthInner ? digits[1] : run}});
}

WarpProducts::WarpProducts(elements::LoopNest &nest, SharedMemory &shared,
                           nest::TilesAttr walk, Type halves, Value warp,
                           Value lane)
    : nest(nest), shared(shared), walk(walk),
      operands{tileOperand(walk, 0), tileOperand(walk, 1)},
      warpTile{walk.getWarp()[0], walk.getWarp()[1]}, halves(halves),
      f32(nest.builder.getF32Type()), sumsPlace(placeOfSums(walk)),
      rowsPlace(placeOfRows(walk)),
      readPlace{placeOfReads(walk, 0), placeOfReads(walk, 1)}, lane(lane) {
  std::array<int64_t, 2> warps = warpsOf(walk);
  Placement ofWarps({{kWarp, warps[0] * warps[1]}},
                    {{{kWarp, 1, warps[0]}}, {{kWarp, warps[0], warps[1]}}});
  for (unsigned i : {0, 1})
    first[i] = nest.mul(ofWarps.at(nest, i, {{kWarp, warp}}), warpTile[i]);
  for (unsigned i : {0, 1}) {
    Value row = readPlace[i].at(nest, 0, {{kLane, lane}}),
          depth = readPlace[i].at(nest, 1, {{kLane, lane}});
    laneOffset[i] = at(i, nest.add(first[i], row), depth);
  }
}

int64_t WarpProducts::at(unsigned operand, int64_t row, int64_t depth) const {
  const nest::TileOperand &tile = operands[operand];
  return tile.isDepthInner ? row * tile.stride + depth
                           : depth * tile.stride + row;
}
Value WarpProducts::at(unsigned operand, Value row, Value depth) {
  const nest::TileOperand &tile = operands[operand];
  return tile.isDepthInner ? nest.add(nest.mul(row, tile.stride), depth)
                           : nest.add(nest.mul(depth, tile.stride), row);
}

Value WarpProducts::constantOffset(Value pointer, Type element,
                                   int64_t offset) {
  return offset == 0 ? pointer
                     : shared.at(pointer, element, nest.constant(offset));
}

SmallVector<Value> WarpProducts::multiply(Value lhs, Value rhs,
                                          ValueRange sums) {
  Values added(sums);
  Type element = walk.getUnit() == Multiplier::Half ? halves : f32;
  Value from[] = {shared.at(lhs, element, laneOffset[0]),
                  shared.at(rhs, element, laneOffset[1])};
  if (walk.getUnit() == Multiplier::Fma)
    multiplyScalars(from[0], from[1], added);
  else
    multiplyMatrices(from[0], from[1], added);
  return added;
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

/// The lane's rows (of rhs: columns) at a depth.
SmallVector<Value> WarpProducts::run(Value pointer, unsigned operand,
                                     int64_t depth) {
  int64_t lanes = 8 >> operand, count = warpTile[operand] / lanes,
          side = runOf(warpTile[operand], lanes);
  Values values;
  for (int64_t i = 0; i < count; i += side) {
    int64_t row = readPlace[operand].at(0, kRegister, i);
    Value loaded = shared.load(
        constantOffset(pointer, f32, at(operand, row, depth)), f32, side);
    for (int64_t j = 0; j < side; ++j)
      values.push_back(
          side == 1 ? loaded
                    : LLVM::ExtractElementOp::create(nest.builder, nest.loc,
                                                     loaded, nest.constant(j))
                          .getResult());
  }
  return values;
}

void WarpProducts::multiplyScalars(Value lhs, Value rhs, Values &sums) {
  for (int64_t depth = 0; depth < operands[0].depth; ++depth) {
    Values a = run(lhs, 0, depth), b = run(rhs, 1, depth);
    for (size_t i = 0; i < a.size(); ++i)
      for (size_t j = 0; j < b.size(); ++j) {
        Value &sum = sums[i * b.size() + j];
        sum = math::FmaOp::create(nest.builder, nest.loc, a[i], b[j], sum);
      }
  }
}

//===----------------------------------------------------------------------===//
// Tensor cores
//===----------------------------------------------------------------------===//

/// Loads matrices of 8 x 8 elements of 16 bits; transposed if rows are
/// contiguous.
SmallVector<Value> WarpProducts::matrices(Value pointer, unsigned operand,
                                          int64_t row, int64_t depth,
                                          unsigned count) {
  MLIRContext *context = nest.builder.getContext();
  Type i32 = nest.builder.getI32Type();
  auto type =
      LLVM::LLVMStructType::getLiteral(context, SmallVector<Type>(count, i32));
  Value loaded = NVVM::LdMatrixOp::create(
      nest.builder, nest.loc, type,
      constantOffset(pointer, halves, at(operand, row, depth)), count,
      operands[operand].isDepthInner ? NVVM::MMALayout::row
                                     : NVVM::MMALayout::col,
      NVVM::LdStMatrixShapeAttr::get(context, 8, 8),
      NVVM::LdStMatrixEltType::B16);
  Values values;
  for (unsigned i = 0; i < count; ++i)
    values.push_back(LLVM::ExtractValueOp::create(nest.builder, nest.loc,
                                                  loaded, int64_t(i)));
  return values;
}

/// Loads lane l's elements of 16 rows of lhs, or 8 columns of rhs, at depths
/// l % 4 and l % 4 + 4.
SmallVector<Value> WarpProducts::tf32(Value pointer, unsigned operand,
                                      int64_t row, int64_t depth) {
  Values values;
  for (int64_t further : {0, 4})
    for (int64_t below = 0; below < (operand == 0 ? 16 : 8); below += 8) {
      Value loaded =
          shared.load(constantOffset(pointer, f32,
                                     at(operand, row + below, depth + further)),
                      f32, 1);
      values.push_back(NVVM::ConvertFloatToTF32Op::create(
          nest.builder, nest.loc, nest.builder.getI32Type(), loaded,
          NVVM::FPRoundingMode::RNA, NVVM::SaturationMode::NONE, false));
    }
  return values;
}

SmallVector<SmallVector<Value>>
WarpProducts::fragments(Value pointer, unsigned operand, int64_t depth) {
  SmallVector<Values> all;
  int64_t rows = warpTile[operand], each = operand == 0 ? 16 : 8;
  if (walk.getUnit() == Multiplier::Tf32) {
    for (int64_t row = 0; row < rows; row += each)
      all.push_back(tf32(pointer, operand, row, depth));
    return all;
  }
  // One instruction loads 16 rows: one fragment of lhs, two of rhs.
  for (int64_t row = 0; row < rows; row += 16) {
    bool isLast = row + 16 > rows;
    Values loaded = matrices(pointer, operand, row, depth, isLast ? 2 : 4);
    for (size_t i = 0; i < loaded.size(); i += each / 4)
      all.emplace_back(loaded.begin() + i, loaded.begin() + i + each / 4);
  }
  return all;
}

/// Emits sums += a * b, one instruction.
void WarpProducts::addProduct(ValueRange a, ValueRange b,
                              MutableArrayRef<Value> sums) {
  OpBuilder &builder = nest.builder;
  bool isTf32 = walk.getUnit() == Multiplier::Tf32, isF16 = halves.isF16();
  NVVM::MMATypes type = isTf32  ? NVVM::MMATypes::tf32
                        : isF16 ? NVVM::MMATypes::f16
                                : NVVM::MMATypes::bf16;
  auto operand = [&](ValueRange values) {
    Values all(values);
    if (!isTf32 && isF16)
      for (Value &value : all)
        value = LLVM::BitcastOp::create(
            builder, nest.loc, VectorType::get(2, builder.getF16Type()), value);
    return all;
  };
  auto result = LLVM::LLVMStructType::getLiteral(builder.getContext(),
                                                 SmallVector<Type>(4, f32));
  int64_t shape[] = {16, 8, isTf32 ? 8 : 16};
  Value product =
      NVVM::MmaOp::create(builder, nest.loc, result, operand(a), operand(b),
                          ValueRange(sums), shape, std::nullopt, std::nullopt,
                          std::array<NVVM::MMATypes, 2>{type, type},
                          std::array<NVVM::MMALayout, 2>{NVVM::MMALayout::row,
                                                         NVVM::MMALayout::col});
  for (auto [i, sum] : llvm::enumerate(sums))
    sum = LLVM::ExtractValueOp::create(builder, nest.loc, product, int64_t(i));
}

void WarpProducts::multiplyMatrices(Value lhs, Value rhs, Values &sums) {
  int64_t step = walk.getUnit() == Multiplier::Half ? 16 : 8;
  for (int64_t depth = 0; depth < operands[0].depth; depth += step) {
    SmallVector<Values> a = fragments(lhs, 0, depth),
                        b = fragments(rhs, 1, depth);
    for (size_t i = 0; i < a.size(); ++i)
      for (size_t j = 0; j < b.size(); ++j)
        addProduct(a[i], b[j],
                   MutableArrayRef(sums).slice((i * b.size() + j) * 4, 4));
  }
}

//===----------------------------------------------------------------------===//
// Positions of sums
//===----------------------------------------------------------------------===//

SmallVector<LaneSums> WarpProducts::lanes() {
  SmallVector<LaneSums> all;
  Value ofLane[] = {sumsPlace.at(nest, 1, {{kLane, lane}}),
                    sumsPlace.at(nest, 2, {{kLane, lane}})};
  unsigned run = walk.getUnit() == Multiplier::Fma ? runOf(warpTile[1], 4) : 2;
  for (unsigned i = 0; i < sums(); i += run) {
    auto position = [&](unsigned dim) {
      return nest.add(ofLane[dim - 1],
                      nest.constant(sumsPlace.at(dim, kRegister, i)));
    };
    unsigned patch = sumsPlace.at(0, kRegister, i);
    all.push_back({patch, position(1), position(2), i, run});
  }
  return all;
}

Value WarpProducts::rowOf(unsigned patch, Value slot) {
  return nest.add(rowsPlace.at(nest, 0, {{kRegister, slot}}),
                  nest.constant(rowsPlace.at(0, kRound, patch)));
}

} // namespace weft::gpu
