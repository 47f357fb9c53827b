#include "weft/runtime/devices/cuda/GpuCollectives.h"

#include <algorithm>

namespace weft::runtime {

/// Cuts moves into pieces of words, as wide as all that a move does allows.
static void cut(std::span<const Move> moves, std::vector<MovePiece> &pieces,
                std::vector<MoveLoop> &loops) {
  constexpr int64_t wordsOfPiece = 4096;
  for (const Move &move : moves) {
    const BoxCopy &copy = move.copy;
    int64_t together = copy.run | copy.sourceOffset | copy.targetOffset;
    for (const BoxCopy::Loop &loop : copy.loops)
      together |= loop.sourceStride | loop.targetStride;
    int64_t width = std::min<int64_t>(together & -together, 8);
    MovePiece piece = {.source = move.source,
                       .target = move.target,
                       .sourceOffset = copy.sourceOffset,
                       .targetOffset = copy.targetOffset,
                       .width = width,
                       .run = copy.run / std::max<int64_t>(width, 1),
                       .first = 0,
                       .count = 0,
                       .firstLoop = int64_t(loops.size()),
                       .loopCount = int64_t(copy.loops.size())};
    for (const BoxCopy::Loop &loop : copy.loops)
      loops.push_back({loop.count, loop.sourceStride, loop.targetStride});
    int64_t words = copy.bytes() / std::max<int64_t>(width, 1);
    for (; piece.first < words; piece.first += piece.count) {
      piece.count = std::min(wordsOfPiece, words - piece.first);
      pieces.push_back(piece);
    }
  }
}

namespace {

/// Adds the rows of one collective to the tables of a GPU; answers the calls.
template <typename Call> struct CallMaker {
  const Collective &collective;
  GpuTables &tables;
  using Parameter = typename decltype(Call::parameters)::value_type;

  static Parameter number(int64_t value) {
    return {Parameter::Number, uint64_t(value)};
  }
  template <typename Row> Parameter rows(const std::vector<Row> &all) const {
    return {Parameter::Rows, tables.add(std::span<const Row>(all))};
  }
  static constexpr Parameter sources = {Parameter::Sources};
  static constexpr Parameter targets = {Parameter::Targets};

  std::vector<Call> operator()(std::monostate) const { return {}; }
  std::vector<Call> operator()(std::span<const Move> moves) const {
    std::vector<MovePiece> pieces;
    std::vector<MoveLoop> loops;
    cut(moves, pieces, loops);
    if (pieces.empty())
      return {};
    int64_t count = int64_t(pieces.size());
    return {{"move",
             "weft_move",
             count,
             {rows(pieces), number(count), rows(loops), sources, targets},
             {}}};
  }
  std::vector<Call> operator()(const ReduceTable &its) const {
    std::map<DType, std::vector<ReducePiece>> byType;
    for (const ReducePiece &piece : its.pieces)
      byType[collective.sources[size_t(piece.array)].dtype].push_back(piece);
    int64_t members = shardCount(collective.axes);
    int64_t arrays = int64_t(collective.sources.size());
    std::vector<Call> out;
    for (const auto &[dtype, pieces] : byType) {
      int64_t count = int64_t(pieces.size());
      out.push_back({std::string("reduce-") + plan::EnumNameDType(dtype),
                     "weft_reduce",
                     count,
                     {number(int64_t(its.kind)), rows(pieces), number(count),
                      sources, targets, number(members), number(arrays)},
                     {}});
    }
    return out;
  }
  std::vector<Call> operator()(const PickTable &its) const {
    int64_t elements = its.members * its.outer * its.count * its.inner;
    if (!elements || !its.block)
      return {};
    return {
        {"pick",
         "weft_pick",
         (elements + BuiltinKernels::kThreads - 1) / BuiltinKernels::kThreads,
         {rows(std::vector{its}), sources, targets},
         {}}};
  }
};

} // namespace

Error GpuCollectives::add(const Collective &collective,
                          const PreparedCollective &work,
                          const std::vector<GpuShare> &shares) {
  // Groups that do the same have the same rows.
  std::map<std::pair<const Gpu *, const void *>, std::vector<Call>> known;
  std::vector<Group> &out = groups.emplace_back();
  for (size_t g = 0; g < collective.groups.size(); ++g) {
    const std::vector<int64_t> &members = collective.groups[g];
    const Gpu *gpu = shares[size_t(members[0])].gpu.get();
    Side &side = sides.at(gpu);
    CollectiveTable table = work.table(int64_t(g));
    const void *rows = nullptr;
    if (const auto *moves = std::get_if<std::span<const Move>>(&table))
      rows = moves->data();
    auto [calls, isNew] = known.try_emplace({gpu, rows});
    if (isNew)
      calls->second =
          std::visit(CallMaker<Call>{collective, *side.tables}, table);
    for (Call &call : calls->second)
      if (Error e =
              side.builtin->find(call.text, call.symbol.c_str(), call.kernel))
        return e;
    auto slotsOf = [&](const std::vector<Collective::Array> &arrays) {
      std::vector<GpuTables::Slot> slots;
      for (int64_t position : members)
        for (const Collective::Array &array : arrays)
          slots.push_back({position, array.buffer});
      return side.tables->addPointers(slots);
    };
    Group group = {side.tables.get(), 0, 0, calls->second};
    if (!group.calls.empty()) {
      group.sources = slotsOf(collective.sources);
      group.targets = slotsOf(collective.targets);
    }
    out.push_back(std::move(group));
  }
  return nullptr;
}

Error GpuCollectives::prepare(const Plan &plan,
                              const std::vector<GpuShare> &shares,
                              const std::shared_ptr<MemoryMeter> &meter) {
  for (const GpuShare &share : shares)
    sides.try_emplace(share.gpu.get(),
                      Side{share.builtin, std::make_unique<GpuTables>(
                                              share.gpu, share.device)});
  std::unique_ptr<CollectiveProvider> provider = createInProcessProvider();
  int64_t firstGroup = 0;
  for (const Collective &collective : plan.collectives) {
    std::unique_ptr<PreparedCollective> work;
    if (Error e = provider->prepare(plan.mesh, Ownership(), collective,
                                    firstGroup, work))
      return e;
    firstGroup += int64_t(collective.groups.size());
    sentOnce.push_back(mostSent(*work, plan.mesh));
    if (Error e = add(collective, *work, shares))
      return e;
  }
  for (auto &[gpu, side] : sides)
    if (Error e = side.tables->place(meter))
      return e;
  return nullptr;
}

Error GpuCollectives::bind(const GpuTables::Addresses &addresses) {
  for (auto &[gpu, side] : sides)
    if (Error e = side.tables->bind(addresses))
      return e;
  return nullptr;
}

Error GpuCollectives::launch(uint32_t collective, int64_t group,
                             const GpuStream &stream) const {
  const Group &its = groups[collective][size_t(group)];
  const Driver &driver = stream.gpu().driver();
  for (const Call &call : its.calls) {
    std::vector<uint64_t> values;
    for (const Parameter &one : call.parameters)
      values.push_back(one.kind == Parameter::Number ? one.value
                       : one.kind == Parameter::Rows
                           ? its.tables->rowsAt(one.value)
                           : its.tables->pointersAt(
                                 one.kind == Parameter::Sources ? its.sources
                                                                : its.targets));
    std::vector<void *> parameters;
    for (uint64_t &value : values)
      parameters.push_back(&value);
    auto blocks = unsigned(std::min<int64_t>(call.pieces, call.kernel.blocks));
    if (Error e = driver.check(
            driver.cuLaunchKernel(call.kernel.function, blocks, 1, 1,
                                  BuiltinKernels::kThreads, 1, 1, 0,
                                  stream.handle(), parameters.data(), nullptr),
            "cuLaunchKernel of \"" + call.text + "\""))
      return e;
  }
  return nullptr;
}

} // namespace weft::runtime
