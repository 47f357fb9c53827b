//===- DotPanels.cpp - operands of a contraction, packed -------------------===//

#include "weft/compiler/codegen/cpu/DotPanels.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;

namespace weft::cpu {

DotPath::DotPath(ArrayRef<DotDimension> dims, int64_t DotDimension::*stride) {
  for (const DotDimension &dim : dims) {
    if (dim.size == 1)
      continue;
    if (!steps.empty() && steps.back().stride == dim.*stride * dim.size)
      steps.back() = {steps.back().size * dim.size, dim.*stride};
    else
      steps.push_back({dim.size, dim.*stride});
  }
}

int64_t DotPath::size() const {
  int64_t n = 1;
  for (const Step &step : steps)
    n *= step.size;
  return n;
}

Value DotPath::offset(KernelEmitter &emitter, Value position) const {
  if (steps.empty())
    return emitter.constant(0);
  Value sum;
  for (size_t i = steps.size(); i-- > 0;) {
    Value digit = position;
    if (i > 0) {
      Value size = emitter.constant(steps[i].size);
      digit = arith::RemUIOp::create(emitter.builder, emitter.loc, position, size);
      position = arith::DivUIOp::create(emitter.builder, emitter.loc, position, size);
    }
    Value term = emitter.mul(digit, steps[i].stride);
    sum = sum ? emitter.add(sum, term) : term;
  }
  return sum;
}

Value FloatVectors::address(Value pointer, Value offset) {
  auto type = LLVM::LLVMPointerType::get(builder.getContext());
  return LLVM::GEPOp::create(builder, loc, type, builder.getF32Type(), pointer, ArrayRef<LLVM::GEPArg>{offset}, LLVM::GEPNoWrapFlags::inbounds);
}

Value FloatVectors::load(Value pointer, Value offset, int64_t lanes) {
  return LLVM::LoadOp::create(builder, loc, type(lanes), address(pointer, offset), 4);
}

Value FloatVectors::loadScalar(Value pointer, Value offset) {
  return LLVM::LoadOp::create(builder, loc, builder.getF32Type(), address(pointer, offset), 4);
}

void FloatVectors::store(Value value, Value pointer, Value offset) {
  LLVM::StoreOp::create(builder, loc, value, address(pointer, offset), 4);
}

/// Blocks of 1, 2, 4... elements change places across the diagonal:
/// [a b] [c d] -> [a c] [b d].
void FloatVectors::transpose(MutableArrayRef<Value> rows) {
  int64_t lanes = rows.size();
  for (int64_t block = 1; block < lanes; block *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i) {
      bool isUpper = i & block;
      low.push_back(isUpper ? lanes + i - block : i);
      high.push_back(isUpper ? lanes + i : i + block);
    }
    for (int64_t i = 0; i < lanes; ++i) {
      if (i & block)
        continue;
      Value a = rows[i], b = rows[i + block];
      rows[i] = vector::ShuffleOp::create(builder, loc, a, b, low);
      rows[i + block] = vector::ShuffleOp::create(builder, loc, a, b, high);
    }
  }
}

void emitIf(KernelEmitter &emitter, Value condition, llvm::function_ref<void()> then, llvm::function_ref<void()> otherwise) {
  OpBuilder::InsertionGuard guard(emitter.builder);
  auto branch = scf::IfOp::create(emitter.builder, emitter.loc, condition, /*withElseRegion=*/true);
  emitter.builder.setInsertionPoint(branch.thenYield());
  then();
  emitter.builder.setInsertionPoint(branch.elseYield());
  otherwise();
}

Value openPlainLoop(KernelEmitter &emitter, Value begin, Value end, ValueRange carried) {
  Value position = emitter.openLoop(begin, end, carried);
  emitter.markPlain();
  return position;
}

namespace {
/// Of one panel, from the position `first` across on.
class PanelPacking {
public:
  PanelPacking(KernelEmitter &emitter, const DotPanels &panels, DotRange along, Value to)
      : e(emitter), b(emitter.builder), vectors(emitter), panels(panels), along(along), to(to), lanes(emitter.target.floatLanes()) {}
  void pack(Value first);

private:
  Value source(Value across, Value step);
  Value rowOffset(Value first, Value row);
  void copyVectors(Value first);
  void copyTransposed(Value first);
  void copyElements(Value first, Value begin);

  KernelEmitter &e;
  OpBuilder &b;
  FloatVectors vectors;
  const DotPanels &panels;
  DotRange along;
  Value to;
  int64_t lanes;
};
} // namespace

/// The offset of a step of the contraction, from where `across` begins.
Value PanelPacking::source(Value across, Value step) {
  return e.add(across, panels.along.offset(e, e.add(along.first, step)));
}

Value PanelPacking::rowOffset(Value first, Value row) {
  Value last = e.constant(panels.across.size() - 1);
  Value position = arith::MinUIOp::create(b, e.loc, e.add(first, row), last);
  return e.add(panels.base, panels.across.offset(e, position));
}

void PanelPacking::copyVectors(Value first) {
  unsigned outside = e.depth();
  Value across = e.add(panels.base, panels.across.offset(e, first));
  Value step = openPlainLoop(e, e.constant(0), along.count);
  Value from = source(across, step), at = e.mul(step, panels.width);
  for (int64_t i = 0; i < panels.width; i += lanes) {
    Value part = e.constant(i);
    vectors.store(vectors.load(panels.pointer, e.add(from, part), std::min(lanes, panels.width - i)), to, e.add(at, part));
  }
  e.closeLoops(outside);
}

/// Squares of lanes x lanes, the last of the width first: where it is stored
/// whole it reaches into the next step, which is packed later.
void PanelPacking::copyTransposed(Value first) {
  unsigned outside = e.depth();
  Value squares = arith::DivUIOp::create(b, e.loc, along.count, e.constant(lanes));
  for (int64_t group = (panels.width - 1) / lanes * lanes; group >= 0; group -= lanes) {
    SmallVector<Value> rows(lanes), across;
    int64_t used = std::min(lanes, panels.width - group);
    for (int64_t i = 0; i < used; ++i)
      across.push_back(rowOffset(first, e.constant(group + i)));
    Value step = e.mul(openPlainLoop(e, e.constant(0), squares), lanes);
    for (int64_t i = 0; i < lanes; ++i)
      rows[i] = i < used ? vectors.load(panels.pointer, source(across[i], step), lanes) : rows[0];
    vectors.transpose(rows);
    Value at = e.add(e.mul(step, panels.width), e.constant(group));
    for (int64_t i = 0; i < lanes; ++i)
      vectors.store(rows[i], to, e.add(at, e.constant(i * panels.width)));
    e.closeLoops(outside);
  }
  copyElements(first, e.mul(squares, lanes));
}

/// From the step `begin` on.
void PanelPacking::copyElements(Value first, Value begin) {
  unsigned outside = e.depth();
  Value row = openPlainLoop(e, e.constant(0), e.constant(panels.width)), across = rowOffset(first, row);
  Value step = openPlainLoop(e, begin, along.count);
  Value value = vectors.loadScalar(panels.pointer, source(across, step));
  vectors.store(value, to, e.add(e.mul(step, panels.width), row));
  e.closeLoops(outside);
}

void PanelPacking::pack(Value first) {
  if (panels.along.hasRunsOf(lanes) && panels.along.innerSize() >= lanes)
    return copyTransposed(first);
  if (panels.across.innerStride() != 1)
    return copyElements(first, e.constant(0));
  // Vectors, unless the panel reaches beyond the end or into another row.
  Value inner = e.constant(panels.across.innerSize());
  Value within = panels.across.isOneDimension() ? first : arith::RemUIOp::create(b, e.loc, first, inner).getResult();
  Value end = e.add(within, e.constant(panels.width));
  Value isWhole = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ule, end, inner);
  emitIf(e, isWhole, [&] { copyVectors(first); }, [&] { copyElements(first, e.constant(0)); });
}

Value panelCount(KernelEmitter &emitter, Value positions, int64_t width) {
  return arith::DivUIOp::create(emitter.builder, emitter.loc, emitter.add(positions, emitter.constant(width - 1)), emitter.constant(width));
}

void packPanels(KernelEmitter &emitter, const DotPanels &panels, DotRange across, DotRange along, Value to) {
  unsigned outside = emitter.depth();
  Value panel = openPlainLoop(emitter, emitter.constant(0), panelCount(emitter, across.count, panels.width));
  Value each = emitter.mul(along.count, panels.width);
  Value at = arith::MulIOp::create(emitter.builder, emitter.loc, panel, each);
  Value place = FloatVectors(emitter).address(to, at);
  PanelPacking(emitter, panels, along, place).pack(emitter.add(across.first, emitter.mul(panel, panels.width)));
  emitter.closeLoops(outside);
}

} // namespace weft::cpu
