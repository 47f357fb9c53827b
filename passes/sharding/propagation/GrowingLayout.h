//===- GrowingLayout.h - a layout that only grows ---------------*- C++ -*-===//
//
// The state of one value in propagation: its layout so far, and the axes that
// may be added. On a=8, b=2, with nothing annotated,
//
//   [a,-]  grows by  [(a,b),-]  to  [(a,b),-]     continued
//   [a,-]  grows by  [b,-]      to  [a,-]         b does not continue a
//   [a,-]  grows by  [-,a]      to  [a,-]         a is taken
//
// Axes that the value's part of the mesh fixes are left out: at b=1, [-,a] is all
// that [b,a] says.
//
// An axis that may not be added ends its dimension's growth: minor axes would
// split other elements without it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_GROWINGLAYOUT_H
#define WEFT_PASSES_SHARDING_PROPAGATION_GROWINGLAYOUT_H

#include "weft/layout/Layout.h"

namespace weft {

struct GrowingLayout {
  Layout layout;
  bool fixed = false;    ///< annotated: closed, but for dimensions in `open`
  uint64_t open = 0;     ///< dimensions of a fixed layout that may grow
  SubAxes forbiddenAxes; ///< axes that shard no dimension
  /// The shape of a value at the border of a region with free axes, whose
  /// blocks must be full, without padding; else empty.
  llvm::ArrayRef<int64_t> mustDivide;

  bool isOpen() const { return !fixed || open != 0; }
  /// Whether the layout is not annotated, or is annotated without axes and with
  /// every dimension open.
  bool saysNothing() const;
  /// Appends axes of `more`, a layout of the same rank, to dimensions that may
  /// grow and that `more` continues. Returns whether any was appended.
  bool extend(const Layout &more);

private:
  bool isOpen(unsigned dim) const {
    return !fixed || (dim < 64 && open >> dim & 1);
  }
  /// Whether the axis, or a part of it, is used already or in `forbiddenAxes`.
  bool isBarred(const SubAxis &axis) const;
  /// Whether the axis leaves no padding, if blocks have to be full.
  bool staysFull(unsigned dim, const SubAxis &axis) const;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_GROWINGLAYOUT_H
