//===- Move.cpp - copies between devices, on a GPU ------------------------===//

#include "weft/runtime/devices/cuda/kernels/Sixteen.h"

namespace {

/// Copies words of type T; whether a word of 16 bytes is at a multiple of 16 was
/// checked.
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
    if constexpr (sizeof(T) == 16)
      storeSixteen(to + target, loadSixteen(from + source));
    else
      store(to + target, 0, load<T>(from + source, 0));
  }
}

/// Whether words of 8 bytes can be copied in pairs, each at a multiple of 16.
bool areSixteen(const MovePiece &piece, const MoveLoop *loops,
                const uint8_t WEFT_GLOBAL *from,
                const uint8_t WEFT_GLOBAL *to) {
  if (piece.width != 8)
    return false;
  uint64_t all = (piece.run | piece.first | piece.count) * 8;
  all |= piece.sourceOffset | piece.targetOffset;
  all |= addressOf(from) | addressOf(to);
  for (int64_t l = 0; l < piece.loopCount; ++l)
    all |= loops[piece.firstLoop + l].sourceStride |
           loops[piece.firstLoop + l].targetStride;
  return all % 16 == 0;
}
MovePiece inSixteen(MovePiece piece) {
  piece.run /= 2;
  piece.first /= 2;
  piece.count /= 2;
  return piece;
}

} // namespace

WEFT_KERNEL weft_move(const MovePiece *pieces, int64_t count,
                      const MoveLoop *loops, Sources sources, Targets targets) {
  for (int64_t i = block(); i < count; i += blocks()) {
    const MovePiece &piece = pieces[i];
    const uint8_t WEFT_GLOBAL *from = sources[piece.source];
    uint8_t WEFT_GLOBAL *to = targets[piece.target];
    if (areSixteen(piece, loops, from, to))
      copy<Sixteen>(inSixteen(piece), loops, from, to);
    else if (piece.width == 8)
      copy<uint64_t>(piece, loops, from, to);
    else if (piece.width == 4)
      copy<uint32_t>(piece, loops, from, to);
    else if (piece.width == 2)
      copy<uint16_t>(piece, loops, from, to);
    else
      copy<uint8_t>(piece, loops, from, to);
  }
}
