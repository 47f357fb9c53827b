// The calls of NCCL that do the same as a collective between GPUs.

#include "weft/runtime/devices/cuda/ExchangeBuilder.h"

#include <algorithm>

namespace weft::runtime {

/// The type of NCCL for numbers that it reduces (see ncclCallOf).
static nccl::Type ncclTypeOf(DType dtype) {
  switch (dtype) {
  case DType::f32:
    return nccl::Type::F32;
  case DType::f64:
    return nccl::Type::F64;
  case DType::f16:
    return nccl::Type::F16;
  case DType::bf16:
    return nccl::Type::BF16;
  case DType::i8:
    return nccl::Type::I8;
  case DType::i32:
    return nccl::Type::I32;
  case DType::ui32:
    return nccl::Type::U32;
  case DType::i64:
    return nccl::Type::I64;
  case DType::ui64:
    return nccl::Type::U64;
  default:
    return nccl::Type::U8;
  }
}

static int ncclReductionOf(weft::ReduceKind kind) {
  switch (kind) {
  case weft::ReduceKind::Prod:
    return int(nccl::Reduction::Prod);
  case weft::ReduceKind::Max:
    return int(nccl::Reduction::Max);
  case weft::ReduceKind::Min:
    return int(nccl::Reduction::Min);
  default:
    return int(nccl::Reduction::Sum);
  }
}

Status ExchangeBuilder::build(CollectiveMethod method) {
  std::optional<NcclCall> call;
  if (method == CollectiveMethod::Library)
    call = ncclCall();
  if (call == NcclCall::AllReduce)
    return reduceAll();
  if (call == NcclCall::ReduceScatter && areInOrder())
    return scatterSums();
  bool isAlone = std::ranges::all_of(sides, [](const GpuExchange::Side &its) {
    return its.members.size() == 1;
  });
  if (call && isAlone && call != NcclCall::ReduceScatter) {
    addCalls(*call);
    return {};
  }
  CollectiveTable table = work.table(group);
  const auto *moves = std::get_if<std::span<const Move>>(&table);
  return moves ? sendMoves(*moves) : exchange();
}

std::optional<NcclCall> ExchangeBuilder::ncclCall() const {
  std::vector<LocalArray> sources(collective.sources.begin(),
                                  collective.sources.end()),
      targets(collective.targets.begin(), collective.targets.end());
  return ncclCallOf(collective.code, {mesh, collective.axes}, sources, targets);
}

int ExchangeBuilder::reduction() const {
  const auto *its = std::get_if<Combination>(&collective.code);
  return its ? ncclReductionOf(its->kind) : 0;
}

void ExchangeBuilder::addCalls(NcclCall call) {
  const auto *sending = std::get_if<Sending>(&collective.code);
  for (size_t s = 0; s < sides.size(); ++s) {
    int64_t member = sides[s].members[0];
    messages.push_back({Message::Collective, call, sourceSlot(member, 0),
                        targetSlot(member, 0), collective.sources[0].bytes,
                        nccl::Type::U8, sending ? int(sending->senders[0]) : 0,
                        s});
  }
}

Status ExchangeBuilder::reduceAll() {
  for (size_t s = 0; s < sides.size(); ++s) {
    Side &side = sides[s];
    bool isShared = side.members.size() > 1;
    if (isShared)
      if (Status ok = reduceOn(side); !ok)
        return ok;
    for (size_t n = 0; n < sourceCount; ++n) {
      const Collective::Array &array = collective.sources[n];
      Slot target = targetSlot(side.members[0], n);
      messages.push_back({Message::Collective, NcclCall::AllReduce,
                          isShared ? target : sourceSlot(side.members[0], n),
                          target, array.bytes / byteWidth(array.type),
                          ncclTypeOf(array.dtype()), reduction(), s});
    }
  }
  return {};
}

bool ExchangeBuilder::areInOrder() const {
  size_t each = sides[0].members.size();
  for (size_t s = 0; s < sides.size(); ++s)
    for (size_t n = 0; n < sides[s].members.size(); ++n)
      if (sides[s].members.size() != each ||
          sides[s].members[n] != int64_t(s * each + n))
        return false;
  return true;
}

Status ExchangeBuilder::scatterSums() {
  const Collective::Array &block = collective.targets[0];
  uint64_t elements = byteWidth(block.type);
  for (size_t s = 0; s < sides.size(); ++s) {
    Side &side = sides[s];
    size_t each = side.members.size();
    Slot from = sourceSlot(side.members[0], 0),
         to = targetSlot(side.members[0], 0);
    std::vector<Slot> received, own;
    std::vector<Move> moves;
    if (each > 1) {
      from =
          stagingSlot(side, uint64_t(reserve(side, block.bytes * members())));
      to = stagingSlot(side, uint64_t(reserve(side, block.bytes * each)));
      if (Status ok = sumBlocks(side, from); !ok)
        return ok;
      for (size_t n = 0; n < each; ++n) {
        received.push_back(to);
        received.back().offset += n * block.bytes;
        own.push_back(targetSlot(side.members[n], 0));
        moves.push_back({int64_t(n), int64_t(n), BoxCopy::full(block.bytes)});
      }
    }
    messages.push_back({Message::Collective, NcclCall::ReduceScatter, from, to,
                        block.bytes / elements * each,
                        ncclTypeOf(block.dtype()), reduction(), s});
    if (Status ok = addMoves(side, moves, received, own, side.after); !ok)
      return ok;
  }
  return {};
}

Status ExchangeBuilder::sumBlocks(Side &side, Slot to) {
  if (!side.isOwn)
    return {};
  CollectiveLaunches reduce;
  if (Status ok = CollectiveLaunches::make(work.table(group), collective,
                                           int64_t(side.members.size()),
                                           *side.tables, *side.builtin, reduce);
      !ok)
    return ok;
  std::vector<Slot> from, blocks;
  for (int64_t member : side.members)
    from.push_back(sourceSlot(member, 0));
  for (size_t m = 0; m < members(); ++m) {
    blocks.push_back(to);
    to.offset += collective.targets[0].bytes;
  }
  reduce.setArrays(side.tables->addPointers(from),
                   side.tables->addPointers(blocks));
  side.before.push_back(reduce.slice(0, 1));
  return {};
}

Status ExchangeBuilder::reduceOn(Side &side) {
  if (!side.isOwn)
    return {};
  CollectiveLaunches reduce;
  if (Status ok = CollectiveLaunches::make(work.table(group), collective,
                                           int64_t(side.members.size()),
                                           *side.tables, *side.builtin, reduce);
      !ok)
    return ok;
  std::vector<Slot> from, into, first, others;
  std::vector<Move> moves;
  for (int64_t member : side.members)
    for (size_t n = 0; n < sourceCount; ++n) {
      bool isFirst = member == side.members[0];
      from.push_back(sourceSlot(member, n));
      into.push_back(isFirst ? targetSlot(member, n) : nullSlot(side));
      if (isFirst) {
        first.push_back(targetSlot(member, n));
        continue;
      }
      moves.push_back({int64_t(n), int64_t(others.size()),
                       BoxCopy::full(collective.targets[n].bytes)});
      others.push_back(targetSlot(member, n));
    }
  reduce.setArrays(side.tables->addPointers(from),
                   side.tables->addPointers(into));
  side.before.push_back(reduce.slice(0, 1));
  return addMoves(side, moves, first, others, side.after);
}

Status GpuExchange::make(const Mesh &mesh, const Collective &collective,
                         int64_t group, const PreparedCollective &work,
                         CollectiveMethod method, uint32_t buffers,
                         std::vector<Side> sides,
                         std::shared_ptr<GpuLinks> links,
                         std::unique_ptr<GpuExchange> &out) {
  auto made = std::make_unique<GpuExchange>();
  GpuLinks::GpuSet set;
  for (const Side &side : sides)
    set.push_back(side.rank);
  made->sides = std::move(sides);
  for (size_t rank = 0; rank < set.size(); ++rank)
    made->sides[rank].comm = links->comm(set, rank);
  made->links = std::move(links);
  ExchangeBuilder builder(mesh, collective, group, work, buffers, *made);
  if (Status ok = builder.build(method); !ok)
    return ok;
  std::erase_if(made->messages, [&](const Message &message) {
    return !made->sides[message.side].isOwn;
  });
  out = std::move(made);
  return {};
}

} // namespace weft::runtime
