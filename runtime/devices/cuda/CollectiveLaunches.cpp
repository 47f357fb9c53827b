#include "weft/runtime/devices/cuda/CollectiveLaunches.h"

#include <algorithm>
#include <map>

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
struct CollectiveLaunches::CallMaker {
  const Collective &collective;
  int64_t members;
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

Status CollectiveLaunches::make(const CollectiveTable &table,
                                const Collective &collective, int64_t members,
                                GpuTables &tables, BuiltinKernels &builtin,
                                CollectiveLaunches &out) {
  out.tables = &tables;
  out.calls = std::visit(CallMaker{collective, members, tables}, table);
  for (Call &call : out.calls)
    if (Status ok = builtin.find(call.text, call.symbol.c_str(), call.kernel);
        !ok)
      return ok;
  return {};
}

CollectiveLaunches CollectiveLaunches::slice(int64_t number,
                                             int64_t count) const {
  CollectiveLaunches out = *this;
  out.calls.clear();
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
      out.calls.push_back(std::move(call));
  }
  return out;
}

Status CollectiveLaunches::launch(const GpuStream &stream) const {
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
