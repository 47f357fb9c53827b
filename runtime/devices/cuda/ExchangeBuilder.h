//===- ExchangeBuilder.h - plans a GpuExchange ------------------*- C++ -*-===//
//
//   ExchangeBuilder builder(mesh, collective, group, work, buffers, exchange);
//   if (Status ok = builder.build(CollectiveMethod::Library); !ok) return ok;
//
// The calls of NCCL that do the same are in ExchangeBuilder.cpp, messages of
// slices in ExchangedSlices.cpp.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_EXCHANGEBUILDER_H
#define WEFT_RUNTIME_DEVICES_CUDA_EXCHANGEBUILDER_H

#include "weft/runtime/devices/cuda/GpuExchange.h"

namespace weft::runtime {

class ExchangeBuilder {
public:
  ExchangeBuilder(const Mesh &mesh [[clang::lifetimebound]],
                  const Collective &collective [[clang::lifetimebound]],
                  int64_t group,
                  const PreparedCollective &work [[clang::lifetimebound]],
                  uint32_t buffers, GpuExchange &out)
      : mesh(mesh), collective(collective), group(group), work(work),
        staging(buffers), sides(out.sides), messages(out.messages),
        sourceCount(collective.sources.size()),
        targetCount(collective.targets.size()) {}

  Status build(CollectiveMethod method);

private:
  using Slot = GpuExchange::Slot;
  using Message = GpuExchange::Message;
  using Side = GpuExchange::Side;
  /// The moves of each side.
  using Moves = std::vector<std::vector<Move>>;
  struct PartOfTable;

  std::optional<NcclCall> ncclCall() const;
  int reduction() const;

  size_t members() const { return collective.groups[size_t(group)].size(); }
  int64_t positionOf(int64_t member) const {
    return collective.groups[size_t(group)][size_t(member)];
  }
  size_t sideOf(int64_t member) const;
  Slot sourceSlot(int64_t member, size_t array) const {
    return {positionOf(member), collective.sources[array].buffer};
  }
  Slot targetSlot(int64_t member, size_t array) const {
    return {positionOf(member), collective.targets[array].buffer};
  }
  Slot stagingSlot(const Side &side, uint64_t offset) const {
    return {side.first(), staging, offset};
  }
  Slot nullSlot(const Side &side) const { return {side.first(), staging + 1}; }
  /// Reserves staging memory of a side; returns its offset.
  static int64_t reserve(Side &side, uint64_t bytes);

  /// One call on each GPU, whose only member is its rank.
  void addCalls(NcclCall call);
  /// Devices of a GPU reduce among themselves first; then one of them takes
  /// part, and the others copy its result.
  Status reduceAll();
  /// Whether each GPU has as many members as the others, one after the other,
  /// so that their blocks are adjacent.
  bool areInOrder() const;
  /// Devices of a GPU reduce whole arrays among themselves; then each GPU
  /// receives the blocks of its devices.
  Status scatterSums();
  /// Reduces the sources of a side's members, all blocks, into memory at `to`.
  Status sumBlocks(Side &side, Slot to);
  /// Reduces the arrays of a side's members into the first member's targets;
  /// then copies them to the others.
  Status reduceOn(Side &side);

  /// The number of a move's source among pointers of kernels, in which staging
  /// memory comes before the sources of all members.
  int64_t pointerOf(const Move &move) const {
    return 1 + move.source * int64_t(sourceCount) + move.array;
  }
  /// Every GPU receives the slices that move to its members, and copies them
  /// to the targets.
  Status sendMoves(std::span<const Move> all);
  /// Adds the messages of the moves from one GPU to another.
  void addMoveMessages(size_t from, size_t to, const std::vector<Move> &moves,
                       Moves &packs, Moves &unpacks);
  /// Every GPU receives the slices of others' sources that its members need,
  /// into images of the sources, and runs the kernel of one GPU.
  Status exchange();
  /// Adds the messages from one GPU to another. A few dense slices are messages
  /// of their own; others are packed into one.
  void addMessages(size_t from, size_t to, std::vector<MemberSlice> slices,
                   std::vector<Move> &packs, std::vector<Move> &unpacks);
  /// Adds the kernels of a side: before and after the messages.
  Status addKernels(size_t number, const std::vector<Move> &packs,
                    const std::vector<Move> &unpacks);

  void addMessage(size_t from, size_t to, Slot here, Slot there,
                  uint64_t bytes);
  Status addMoves(Side &side, const std::vector<Move> &moves,
                  const std::vector<Slot> &from, const std::vector<Slot> &to,
                  std::vector<CollectiveLaunches> &out);

  const Mesh &mesh;
  const Collective &collective;
  int64_t group;
  const PreparedCollective &work;
  uint32_t staging; ///< the number of the buffer
  std::vector<Side> &sides;
  std::vector<Message> &messages;
  size_t sourceCount, targetCount;
  /// The offset of the image of each member's array in a side's staging memory:
  /// images[side][member * sourceCount + array], -1 for none.
  std::vector<std::vector<int64_t>> images;
};

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_EXCHANGEBUILDER_H
