//===- Reduce.cpp - reductions over devices, on a GPU ---------------------===//
//
// Compiled once for each element type, WEFT_TYPE. It reduces in device order,
// with the functions of the CPU's loops, so the bits are equal.
//
//===----------------------------------------------------------------------===//

#include "weft/runtime/collectives/ReduceElements.h"
#include "weft/runtime/devices/cuda/kernels/Threads.h"

namespace {

struct Reducing {
  const ReducePiece *pieces;
  int64_t count;
  Sources sources;
  Targets targets;
  int64_t members, arrays;

  template <typename E, typename Op> void visit() const {
    for (int64_t i = block(); i < count; i += blocks())
      reduce<E, Op>(pieces[i]);
  }
  void none() const { __builtin_trap(); } // readPlan allows no such plan

  template <typename E, typename Op>
  void reduce(const ReducePiece &piece) const {
    using Stored = typename E::Stored;
    for (int64_t i = thread(); i < piece.rows * piece.run; i += threads()) {
      int64_t row = piece.rows > 1 ? i / piece.run : 0;
      int64_t column = i - row * piece.run;
      int64_t from = piece.source + row * piece.sourceStride + column;
      int64_t to = piece.target + row * piece.targetStride + column;
      typename E::Value value =
          E::load(load<Stored>(sources[piece.array], from));
      for (int64_t m = 1; m < members; ++m)
        value = Op::apply(value, E::load(load<Stored>(
                                     sources[m * arrays + piece.array], from)));
      Stored result = E::store(value);
      bool isForAll = piece.member < 0;
      int64_t last = isForAll ? members : piece.member + 1;
      for (int64_t m = isForAll ? 0 : piece.member; m < last; ++m)
        if (uint8_t WEFT_GLOBAL *target = targets[m * arrays + piece.array])
          store<Stored>(target, to, result);
    }
  }
};

} // namespace

WEFT_KERNEL weft_reduce(uint64_t kind, const ReducePiece *pieces, int64_t count,
                        Sources sources, Targets targets, int64_t members,
                        int64_t arrays) {
  reduced::WEFT_TYPE::visit(
      Reduction(kind),
      Reducing{pieces, count, sources, targets, members, arrays});
}
