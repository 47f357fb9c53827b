#include "weft/runtime/devices/cuda/GpuCollectives.h"

#include <algorithm>

namespace weft::runtime {

/// Divides moves into pieces of words, which are as wide as the run, offsets
/// and strides of a move allow, at most 8 bytes.
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

/// Adds the rows of one collective to the tables of a GPU; returns the calls.
struct GpuCollectives::Launches::CallMaker {
  const Collective &collective;
  GpuTables &tables;

  static Parameter number(int64_t value) {
    return {Parameter::Number, uint64_t(value)};
  }
  template <typename Row> uint64_t add(const std::vector<Row> &all) const {
    return tables.add(std::span<const Row>(all));
  }

  std::vector<Call> operator()(std::monostate) const { return {}; }
  std::vector<Call> operator()(std::span<const Move> moves) const {
    std::vector<MovePiece> pieces;
    std::vector<MoveLoop> loops;
    cut(moves, pieces, loops);
    return {{"move",
             "weft_move",
             add(pieces),
             sizeof(MovePiece),
             int64_t(pieces.size()),
             {{Parameter::Pieces},
              {Parameter::Count},
              {Parameter::Rows, add(loops)},
              {Parameter::Sources},
              {Parameter::Targets}},
             {}}};
  }
  std::vector<Call> operator()(const ReduceTable &its) const {
    std::map<DType, std::vector<ReducePiece>> byType;
    for (const ReducePiece &piece : its.pieces)
      byType[collective.sources[size_t(piece.array)].dtype()].push_back(piece);
    int64_t members = shardCount(collective.axes);
    int64_t arrays = int64_t(collective.sources.size());
    std::vector<Call> out;
    for (const auto &[dtype, pieces] : byType)
      out.push_back({std::string("reduce-") + plan::EnumNameDType(dtype),
                     "weft_reduce",
                     add(pieces),
                     sizeof(ReducePiece),
                     int64_t(pieces.size()),
                     {number(int64_t(its.kind)),
                      {Parameter::Pieces},
                      {Parameter::Count},
                      {Parameter::Sources},
                      {Parameter::Targets},
                      number(members),
                      number(arrays)},
                     {}});
    return out;
  }
  std::vector<Call> operator()(const PickTable &its) const {
    int64_t elements =
        its.block ? its.members * its.outer * its.count * its.inner : 0;
    constexpr int64_t threads = BuiltinKernels::kThreads;
    return {{"pick",
             "weft_pick",
             0,
             0,
             (elements + threads - 1) / threads,
             {{Parameter::Rows, add(std::vector{its})},
              {Parameter::Sources},
              {Parameter::Targets}},
             {}}};
  }
};

/// The share of one of several GPUs. The first GPU also makes the calls that
/// have no rows.
std::vector<GpuCollectives::Launches::Call>
GpuCollectives::Launches::slice(const std::vector<Call> &calls, int64_t number,
                                int64_t count) {
  std::vector<Call> out;
  for (Call call : calls) {
    int64_t begin = number * call.count / count;
    int64_t end = (number + 1) * call.count / count;
    if (!call.rowBytes) {
      begin = 0;
      end = number == 0 ? call.count : 0;
    }
    call.rows += uint64_t(begin) * call.rowBytes;
    call.count = end - begin;
    if (call.count)
      out.push_back(std::move(call));
  }
  return out;
}

/// The first member of a group on each of its GPUs.
static std::vector<int64_t> firstOnGpus(const std::vector<int64_t> &members,
                                        const std::vector<GpuShare> &shares) {
  std::vector<int64_t> out;
  for (int64_t member : members)
    if (std::ranges::none_of(out, [&](int64_t first) {
          return shares[size_t(first)].gpu == shares[size_t(member)].gpu;
        }))
      out.push_back(member);
  return out;
}

Status GpuCollectives::findKernels(Side &side,
                                   std::vector<Launches::Call> &calls) {
  for (Launches::Call &call : calls)
    if (Status ok =
            side.builtin->find(call.text, call.symbol.c_str(), call.kernel);
        !ok)
      return ok;
  return {};
}

Status GpuCollectives::add(const Collective &collective,
                           const PreparedCollective &work,
                           const std::vector<GpuShare> &shares) {
  // Groups with the same moves share rows.
  std::map<std::pair<const Gpu *, const void *>, std::vector<Launches::Call>>
      known;
  std::vector<std::vector<Launches>> &out = groups.emplace_back();
  for (size_t g = 0; g < collective.groups.size(); ++g) {
    const std::vector<int64_t> &members = collective.groups[g];
    std::vector<Launches> &ofGroup = out.emplace_back();
    CollectiveTable table = work.table(int64_t(g));
    const void *rows = nullptr;
    if (const auto *moves = std::get_if<std::span<const Move>>(&table))
      rows = moves->data();
    std::vector<int64_t> firsts = firstOnGpus(members, shares);
    for (size_t k = 0; k < firsts.size(); ++k) {
      const Gpu *gpu = shares[size_t(firsts[k])].gpu.get();
      Side &side = sides.at(gpu);
      auto [calls, isNew] = known.try_emplace({gpu, rows});
      if (isNew) {
        calls->second =
            std::visit(Launches::CallMaker{collective, *side.tables}, table);
        if (Status ok = findKernels(side, calls->second); !ok)
          return ok;
      }
      Launches launches;
      launches.first = firsts[k];
      launches.tables = side.tables.get();
      launches.calls =
          Launches::slice(calls->second, int64_t(k), int64_t(firsts.size()));
      if (launches.calls.empty())
        continue;
      launches.sources = side.tables->addPointers(members, collective.sources);
      launches.targets = side.tables->addPointers(members, collective.targets);
      ofGroup.push_back(std::move(launches));
    }
  }
  return {};
}

Status GpuCollectives::prepare(const Plan &plan,
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
    if (Status ok = provider->prepare(plan.mesh, Ownership(), collective,
                                      firstGroup, work);
        !ok)
      return ok;
    firstGroup += int64_t(collective.groups.size());
    sentOnce.push_back(bytesSent(plan.mesh, collective));
    if (Status ok = add(collective, *work, shares); !ok)
      return ok;
  }
  for (auto &[gpu, side] : sides)
    if (Status ok = side.tables->place(meter); !ok)
      return ok;
  return {};
}

Status GpuCollectives::bind(const GpuTables::Addresses &addresses) {
  for (auto &[gpu, side] : sides)
    if (Status ok = side.tables->bind(addresses); !ok)
      return ok;
  return {};
}

std::vector<std::shared_ptr<const GpuMemory>> GpuCollectives::pointers() const {
  std::vector<std::shared_ptr<const GpuMemory>> out;
  for (const auto &[gpu, side] : sides)
    if (auto memory = side.tables->pointers())
      out.push_back(std::move(memory));
  return out;
}

Status GpuCollectives::Launches::launch(const GpuStream &stream) const {
  const Driver &driver = stream.gpu().driver();
  for (const Call &call : calls) {
    auto valueOf = [&](const Parameter &one) -> uint64_t {
      switch (one.kind) {
      case Parameter::Number:
        return one.value;
      case Parameter::Rows:
        return tables->rowsAt(one.value);
      case Parameter::Pieces:
        return tables->rowsAt(call.rows);
      case Parameter::Count:
        return uint64_t(call.count);
      case Parameter::Sources:
        return tables->pointersAt(sources);
      case Parameter::Targets:
        return tables->pointersAt(targets);
      }
      return 0;
    };
    std::vector<uint64_t> values;
    for (const Parameter &one : call.parameters)
      values.push_back(valueOf(one));
    std::vector<void *> parameters;
    for (uint64_t &value : values)
      parameters.push_back(&value);
    auto blocks = unsigned(std::min<int64_t>(call.count, call.kernel.blocks));
    if (Status ok = driver.check(
            driver.cuLaunchKernel(call.kernel.function, blocks, 1, 1,
                                  BuiltinKernels::kThreads, 1, 1, 0,
                                  stream.handle(), parameters.data(), nullptr),
            "cuLaunchKernel of \"" + call.text + "\"");
        !ok)
      return ok;
  }
  return {};
}

} // namespace weft::runtime
