//===- Move.cpp - copies between devices, on a GPU ------------------------===//

#include "weft/runtime/devices/cuda/kernels/Threads.h"

namespace {

template <typename T>
void copy(const MovePiece &piece, const MoveLoop *loops,
          const uint8_t WEFT_GLOBAL *from, uint8_t WEFT_GLOBAL *to) {
  for (int64_t i = thread(); i < piece.count; i += threads()) {
    int64_t word = piece.first + i;
    int64_t row = piece.loopCount ? word / piece.run : 0;
    int64_t column = (word - row * piece.run) * int64_t(sizeof(T));
    int64_t source = piece.sourceOffset + column;
    int64_t target = piece.targetOffset + column;
    for (int64_t l = piece.firstLoop + piece.loopCount;
         l-- > piece.firstLoop;) {
      int64_t next = row / loops[l].count, turn = row - next * loops[l].count;
      source += turn * loops[l].sourceStride;
      target += turn * loops[l].targetStride;
      row = next;
    }
    store(to + target, 0, load<T>(from + source, 0));
  }
}

} // namespace

WEFT_KERNEL weft_move(const MovePiece *pieces, int64_t count,
                      const MoveLoop *loops, Sources sources, Targets targets) {
  for (int64_t i = block(); i < count; i += blocks()) {
    const MovePiece &piece = pieces[i];
    const uint8_t WEFT_GLOBAL *from = sources[piece.source];
    uint8_t WEFT_GLOBAL *to = targets[piece.target];
    if (piece.width == 8)
      copy<uint64_t>(piece, loops, from, to);
    else if (piece.width == 4)
      copy<uint32_t>(piece, loops, from, to);
    else if (piece.width == 2)
      copy<uint16_t>(piece, loops, from, to);
    else
      copy<uint8_t>(piece, loops, from, to);
  }
}
