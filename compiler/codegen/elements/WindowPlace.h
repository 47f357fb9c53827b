//===- WindowPlace.h - the position of an element of a window ---*- C++ -*-===//
//
//   WindowPlace place{e, {}};
//   x = place.at(window, p, k, 32)   p * stride + k * dilation - low, divided
//                                    by the base dilation, in [0, 32)
//   place.orElse(value, neutral)     the neutral element in padding
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_WINDOWPLACE_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_WINDOWPLACE_H

#include "weft/compiler/codegen/elements/ElementEmitter.h"
#include "weft/dialects/weft/ops/WindowOps.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace weft::elements {

/// Emits comparisons and positions.
struct WindowPlace {
  ElementEmitter &e;
  mlir::Value inside; ///< condition; null if every element exists

  mlir::Value constant(int64_t value) { return e.constant(value); }
  void require(mlir::arith::CmpIPredicate predicate, mlir::Value a,
               mlir::Value b) {
    mlir::Value holds =
        mlir::arith::CmpIOp::create(e.builder, e.loc, predicate, a, b);
    inside = inside
                 ? mlir::arith::AndIOp::create(e.builder, e.loc, inside, holds)
                       .getResult()
                 : holds;
  }
  /// The position of element k of window p in n elements, clamped to an
  /// existing one; adds to `inside` that it is no padding, at an end or by base
  /// dilation.
  mlir::Value at(const Window &w, mlir::Value p, mlir::Value k, int64_t n) {
    mlir::Value place = e.add(e.mul(p, w.stride), e.mul(k, w.dilation));
    if (w.low != 0)
      place = e.add(place, constant(-w.low));
    int64_t end =
        (w.count(n) - 1) * w.stride + (w.size - 1) * w.dilation - w.low;
    if (w.low <= 0 && w.baseDilation == 1 && end < n)
      return place; // Windows have no padding.
    if (w.baseDilation != 1) {
      // Unsigned division makes negative positions larger than all others.
      mlir::Value by = constant(w.baseDilation);
      require(mlir::arith::CmpIPredicate::eq,
              mlir::arith::RemUIOp::create(e.builder, e.loc, place, by),
              constant(0));
      require(mlir::arith::CmpIPredicate::sge, place, constant(0));
      place = mlir::arith::DivUIOp::create(e.builder, e.loc, place, by);
    }
    require(mlir::arith::CmpIPredicate::ult, place, constant(n));
    place = mlir::arith::MaxSIOp::create(e.builder, e.loc, place, constant(0));
    return mlir::arith::MinSIOp::create(e.builder, e.loc, place,
                                        constant(n - 1));
  }
  mlir::Value orElse(mlir::Value value, mlir::Value other) {
    return inside ? mlir::arith::SelectOp::create(e.builder, e.loc, inside,
                                                  value, other)
                        .getResult()
                  : value;
  }
};

/// The row-major position of the element that the window at `window` selects,
/// -1 if it has none. Opens and closes loops.
mlir::FailureOr<mlir::Value>
selectedPosition(ElementEmitter &emitter, SelectAndScatterOp op,
                 llvm::ArrayRef<mlir::Value> window);

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_WINDOWPLACE_H
