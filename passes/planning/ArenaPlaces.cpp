//===- ArenaPlaces.cpp - the arena with shared memory and without ---------===//
//
// %s = coll.all_reduce sum %g over ["batch"] {plan.shared}
//
//                      %g           %s
//   each on its own    arena, 0     arena, 0, as the sum is made in place
//   shared             arena, 0     shared memory, 0
//
// The instructions are the same: where two buffers have one offset, a copy from
// one to the other does nothing.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/weft/ElementTypes.h"
#include "weft/passes/planning/BufferAssignment.h"

#include "llvm/ADT/MapVector.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;

using ArenaBuffer = BufferAssignment::ArenaBuffer;

/// The arena buffer of the assignment without sharing in which all values of a
/// buffer are; nothing if there is none.
static std::optional<unsigned> placeApart(const ArenaBuffer &buffer,
                                          const BufferAssignment &apart) {
  if (buffer.launch)
    return apart.scratch(buffer.launch);
  std::optional<unsigned> found;
  for (Value value : buffer.values) {
    Place place = apart.place(value);
    if (place.kind != PlaceKind::Arena || (found && found != place.index))
      return std::nullopt;
    found = place.index;
  }
  // Exchanged buffers are in use throughout their loop.
  if (found && apart.arenaBuffers()[*found].exchanging != buffer.exchanging)
    return std::nullopt;
  return found;
}

/// Packs what is shared over the same axes.
static void packShared(const BufferAssignment &assignment, ArenaPlaces &out) {
  llvm::MapVector<LayoutAttr, SmallVector<unsigned>> parts;
  for (auto [number, buffer] : llvm::enumerate(assignment.arenaBuffers()))
    if (buffer.shared)
      parts[buffer.shared].push_back(number);
  if (parts.empty())
    return;
  SmallVector<Lifetime> all = assignment.lifetimes();
  for (auto &[shared, numbers] : parts) {
    ArenaPacking part = packArena(llvm::map_to_vector(
        numbers, [&](unsigned number) { return all[number]; }));
    for (auto [number, offset] : llvm::zip_equal(numbers, part.offsets))
      out.sharedOffsets[number] = offset;
  }
}

ArenaPlaces weft::placeArena(func::FuncOp function,
                             const BufferAssignment &assignment) {
  ArrayRef<ArenaBuffer> buffers = assignment.arenaBuffers();
  ArenaPlaces out;
  out.offsets.resize(buffers.size());
  out.sharedOffsets.resize(buffers.size());
  packShared(assignment, out);
  BufferAssignment apart(function, /*shares=*/false);
  ArenaPacking packing = packArena(apart.lifetimes());
  out.bytes = packing.bytes;
  for (auto [number, buffer] : llvm::enumerate(buffers)) {
    std::optional<unsigned> place = placeApart(buffer, apart);
    if (place) {
      out.offsets[number] = packing.offsets[*place];
      continue;
    }
    out.offsets[number] = llvm::alignTo(out.bytes, 64);
    out.bytes = out.offsets[number] + bufferBytes(buffer.type);
  }
  return out;
}

int64_t weft::bytesNeeded(func::FuncOp function) {
  BufferAssignment assignment(function);
  int64_t bytes = llvm::alignTo(placeArena(function, assignment).bytes, 64);
  for (Type type : function.getArgumentTypes())
    bytes += bufferBytes(bufferType(type));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    if (!assignment.donatedArgument(index))
      bytes += bufferBytes(bufferType(type));
  return bytes;
}
