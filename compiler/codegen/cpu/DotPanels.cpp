//===- DotPanels.cpp - operands of a contraction, packed ------------------===//

#include "weft/compiler/codegen/cpu/DotPanels.h"

#include "weft/compiler/codegen/cpu/ElementVectors.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::cpu {

Value offset(ElementEmitter &emitter, const DotPath &path, Value position) {
  ArrayRef<DotPath::Step> steps = path.steps;
  if (steps.empty())
    return emitter.constant(0);
  Value sum;
  for (size_t i = steps.size(); i-- > 0;) {
    Value digit = position;
    if (i > 0) {
      Value size = emitter.constant(steps[i].size);
      digit =
          arith::RemUIOp::create(emitter.builder, emitter.loc, position, size);
      position =
          arith::DivUIOp::create(emitter.builder, emitter.loc, position, size);
    }
    Value term = emitter.mul(digit, steps[i].stride);
    sum = sum ? emitter.add(sum, term) : term;
  }
  return sum;
}

void emitIf(ElementEmitter &emitter, Value condition,
            llvm::function_ref<void()> then,
            llvm::function_ref<void()> otherwise) {
  OpBuilder::InsertionGuard guard(emitter.builder);
  auto branch = scf::IfOp::create(emitter.builder, emitter.loc, condition,
                                  /*withElseRegion=*/true);
  emitter.builder.setInsertionPoint(branch.thenYield());
  then();
  emitter.builder.setInsertionPoint(branch.elseYield());
  otherwise();
}

void eachPlain(ElementEmitter &emitter, Value begin, Value end,
               llvm::function_ref<void(Value)> body) {
  emitter.each(begin, end, [&](Value i) {
    emitter.markPlain();
    body(i);
  });
}

/// The type of a step in an element of a panel.
static Type partOf(OpBuilder &b, const DotPanels &panels, Type packed) {
  return panels.together == 1 ? packed
                              : Type(b.getIntegerType(32 / panels.together));
}

namespace {
class PanelPacking {
public:
  PanelPacking(KernelEmitter &kernel,
               const DotPanels &panels [[clang::lifetimebound]],
               DotRange across, DotRange along, Type packed, Value to)
      : e(kernel.elements), b(e.builder), packed(packed),
        source(b, e.loc, panels.type, partOf(b, panels, packed)),
        panel(b, e.loc, packed, packed), panels(panels), across(across),
        along(along), to(to), group(panels.together),
        lanes(std::max<int64_t>(kernel.target.vectorBytes / bytesOf(packed),
                                1)) {}
  void pack();

private:
  void eachPanel(Value begin, llvm::function_ref<void(Value number)> pack) {
    eachPlain(e, begin, panelCount(e, across.count, panels.width), pack);
  }
  Value firstOf(Value number) {
    return e.add(across.first, e.mul(number, panels.width));
  }
  Value divided(Value count, int64_t by) {
    return by == 1 ? count
                   : arith::DivUIOp::create(b, e.loc, count, e.constant(by))
                         .getResult();
  }
  Value offset(Value across, Value step);
  Value place(Value number, Value step);
  Value rowOffset(Value row);
  Value joined(ArrayRef<Value> parts);
  Value flipped(Value elements);
  Value loadAcross(Value row, Value step, Value lane, int64_t count);
  Value loadAlong(Value row, Value step);
  Value loadElement(Value row, Value step);
  void packRows();
  void packPanel(Value number);
  void copyWidth(Value row, Value step, Value place);
  void copyLast(Value number);
  void copyTransposed(Value number);
  void copySquares(Value number, Value group, int64_t used, Value squares);
  void copyElements(Value number, Value begin);

  ElementEmitter &e;
  OpBuilder &b;
  Type packed;
  ElementVectors source, panel;
  const DotPanels &panels;
  DotRange across, along;
  Value to;
  int64_t group; ///< steps of the contraction in an element of a panel
  int64_t lanes;
  Value full;  ///< elements of a panel with all their steps
  Value steps; ///< and with the last one
};
} // namespace

/// The offset of a step of the contraction at the offset `across`.
Value PanelPacking::offset(Value across, Value step) {
  return e.add(across, cpu::offset(e, panels.along, e.add(along.first, step)));
}

/// The position of a panel's step in the packed memory.
Value PanelPacking::place(Value number, Value step) {
  Value before = arith::MulIOp::create(b, e.loc, number, steps);
  return e.mul(e.add(before, step), panels.width);
}

Value PanelPacking::rowOffset(Value row) {
  Value last = e.constant(panels.across.size() - 1);
  return e.add(panels.base,
               cpu::offset(e, panels.across,
                           arith::MinUIOp::create(b, e.loc, row, last)));
}

/// Joins steps, or vectors of them, to elements of a panel: the first step has
/// the lowest bits.
Value PanelPacking::joined(ArrayRef<Value> parts) {
  if (group == 1)
    return parts[0];
  Type wide = packed;
  auto number = [&](int64_t value) -> Value {
    Value scalar = e.constant(value, packed);
    return isa<VectorType>(wide)
               ? vector::BroadcastOp::create(b, e.loc, wide, scalar).getResult()
               : scalar;
  };
  if (auto vector = dyn_cast<VectorType>(parts[0].getType()))
    wide = vector.clone(packed);
  Value all;
  for (auto [i, part] : llvm::enumerate(parts)) {
    Value bits = arith::ExtUIOp::create(b, e.loc, wide, part);
    if (i > 0)
      bits = arith::ShLIOp::create(b, e.loc, bits, number(i * 32 / group));
    all = all ? arith::OrIOp::create(b, e.loc, all, bits).getResult() : bits;
  }
  return flipped(all);
}

Value PanelPacking::flipped(Value elements) {
  if (!panels.flips)
    return elements;
  Value bits = e.constant(int32_t(0x80808080), packed);
  if (isa<VectorType>(elements.getType()))
    bits = vector::BroadcastOp::create(b, e.loc, elements.getType(), bits);
  return arith::XOrIOp::create(b, e.loc, elements, bits);
}

/// Loads elements of a panel that are adjacent across, from `lane` on.
Value PanelPacking::loadAcross(Value row, Value step, Value lane,
                               int64_t count) {
  SmallVector<Value> parts;
  for (int64_t next = 0; next < group; ++next) {
    Value at = e.add(e.mul(step, group), e.constant(next));
    parts.push_back(
        source.load(panels.pointer, e.add(offset(row, at), lane), count));
  }
  return joined(parts);
}

/// Loads as many elements of a panel as lanes that are adjacent along.
Value PanelPacking::loadAlong(Value row, Value step) {
  Value loaded = source.load(panels.pointer, offset(row, e.mul(step, group)),
                             lanes * group);
  return group == 1 ? loaded
                    : flipped(LLVM::BitcastOp::create(
                          b, e.loc, panel.type(lanes), loaded));
}

/// Loads an element of a panel of any type; steps past the last are 0.
Value PanelPacking::loadElement(Value row, Value step) {
  Type part = partOf(b, panels, packed);
  SmallVector<Value> parts;
  for (int64_t next = 0; next < group; ++next) {
    Value at = e.add(e.mul(step, group), e.constant(next)), exists;
    if (next > 0 && panels.along.size() % group != 0) {
      exists = arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ult, at,
                                     along.count);
      at = arith::SelectOp::create(b, e.loc, exists, at, e.mul(step, group));
    }
    Value loaded =
        extendScalar(b, e.loc, panels.type, part,
                     e.load(panels.pointer, panels.type, offset(row, at)));
    if (exists)
      loaded = arith::SelectOp::create(b, e.loc, exists, loaded,
                                       e.constant(0, part));
    parts.push_back(loaded);
  }
  return joined(parts);
}

void PanelPacking::copyWidth(Value row, Value step, Value place) {
  for (int64_t i = 0; i < panels.width; i += lanes) {
    int64_t count = std::min(lanes, panels.width - i);
    Value lane = e.constant(i), at = e.add(place, lane);
    if (group > 1) {
      panel.store(loadAcross(row, step, lane, count), to, at);
      continue;
    }
    Value from = e.add(offset(row, step), lane);
    panel.storeFirst(source.loadFirst(panels.pointer, from, lanes, count), to,
                     at, count);
  }
}

/// Copies an element at the end that holds fewer steps.
void PanelPacking::copyLast(Value number) {
  if (panels.along.size() % group != 0)
    copyElements(number, full);
}

/// Transposes squares of lanes x lanes, the last of the width first: the store
/// of a full vector also writes to the next step, which is packed later.
void PanelPacking::copyTransposed(Value number) {
  Value squares = divided(along.count, lanes * group);
  int64_t whole = panels.width / lanes, rest = panels.width % lanes;
  if (rest > 0)
    copySquares(number, e.constant(whole * lanes), rest, squares);
  // This is a loop, because a square's code is long.
  eachPlain(e, e.constant(0), e.constant(whole), [&](Value group) {
    copySquares(number, e.mul(group, lanes), lanes, squares);
  });
  copyElements(number, e.mul(squares, lanes));
}

/// Transposes the squares of `used` positions of a panel, from `group` on.
void PanelPacking::copySquares(Value number, Value group, int64_t used,
                               Value squares) {
  SmallVector<Value> rows(lanes), offsets;
  Value first = e.add(firstOf(number), group);
  for (int64_t i = 0; i < used; ++i)
    offsets.push_back(rowOffset(e.add(first, e.constant(i))));
  eachPlain(e, e.constant(0), squares, [&](Value square) {
    Value step = e.mul(square, lanes);
    for (int64_t i = 0; i < lanes; ++i)
      rows[i] = i < used ? loadAlong(offsets[i], step) : rows[0];
    panel.transpose(rows);
    Value at = e.add(place(number, step), group);
    for (int64_t i = 0; i < lanes; ++i)
      panel.store(rows[i], to, e.add(at, e.constant(i * panels.width)));
  });
}

/// Copies elements of any type, from the step `begin` on.
void PanelPacking::copyElements(Value number, Value begin) {
  eachPlain(e, e.constant(0), e.constant(panels.width), [&](Value row) {
    Value from = rowOffset(e.add(firstOf(number), row));
    eachPlain(e, begin, steps, [&](Value step) {
      panel.store(loadElement(from, step), to, e.add(place(number, step), row));
    });
  });
}

/// Packs full panels step by step, so that memory is read in order: panel by
/// panel, at strides of pages, a square of 1024 takes 25.4 ms instead of 24.2.
/// Then packs the last panel.
void PanelPacking::packRows() {
  Value wide = divided(across.count, panels.width);
  Value first = e.add(panels.base, across.first), zero = e.constant(0);
  eachPlain(e, zero, full, [&](Value step) {
    eachPlain(e, zero, wide, [&](Value number) {
      copyWidth(e.add(first, e.mul(number, panels.width)), step,
                place(number, step));
    });
  });
  if (panels.along.size() % group != 0)
    eachPlain(e, zero, wide, [&](Value number) { copyLast(number); });
  eachPanel(wide, [&](Value number) { copyElements(number, zero); });
}

/// Packs with vectors, unless the panel exceeds the end or crosses into another
/// row.
void PanelPacking::packPanel(Value number) {
  Value inner = e.constant(panels.across.innerSize()), first = firstOf(number);
  Value end = e.add(arith::RemUIOp::create(b, e.loc, first, inner),
                    e.constant(panels.width));
  Value isFull =
      arith::CmpIOp::create(b, e.loc, arith::CmpIPredicate::ule, end, inner);
  auto copy = [&] {
    Value row = rowOffset(first);
    eachPlain(e, e.constant(0), full,
              [&](Value step) { copyWidth(row, step, place(number, step)); });
    copyLast(number);
  };
  emitIf(e, isFull, copy, [&] { copyElements(number, e.constant(0)); });
}

void PanelPacking::pack() {
  full = divided(along.count, group);
  steps = packedSteps(e, along.count, panels);
  int64_t run = lanes * group;
  bool isLoaded = nest::hasVectorLoads(panels.type),
       hasRuns = panels.along.hasRunsOf(run) && panels.along.innerSize() >= run;
  bool isAcross = isLoaded && panels.across.innerStride() == 1;
  if (isAcross && !hasRuns && panels.across.isOneDimension())
    return packRows();
  eachPanel(e.constant(0), [&](Value number) {
    if (isLoaded && hasRuns)
      copyTransposed(number);
    else if (isAcross)
      packPanel(number);
    else
      copyElements(number, e.constant(0));
  });
}

Value packedSteps(ElementEmitter &emitter, Value steps,
                  const DotPanels &panels) {
  return panels.together == 1 ? steps
                              : panelCount(emitter, steps, panels.together);
}

Value panelCount(ElementEmitter &emitter, Value positions, int64_t width) {
  return arith::DivUIOp::create(
      emitter.builder, emitter.loc,
      emitter.add(positions, emitter.constant(width - 1)),
      emitter.constant(width));
}

void packPanels(KernelEmitter &kernel, const DotPanels &panels, DotRange across,
                DotRange along, Type packed, Value to) {
  PanelPacking(kernel, panels, across, along, packed, to).pack();
}

} // namespace weft::cpu
