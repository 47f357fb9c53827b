#include "weft/runtime/devices/RunResults.h"

#include "weft/runtime/devices/BufferShards.h"

#include <algorithm>

using namespace weft::runtime;

/// Whether each process has all elements of a buffer.
static bool isEverywhere(const weft_buffer &buffer) {
  const Processes *processes = buffer.runtime->processes;
  return !processes ||
         std::ranges::all_of(shardsOf(buffer), [&](const Shard &shard) {
           return shard.ranks.size() == size_t(processes->size());
         });
}

Status weft::runtime::bindResults(const Plan &plan, weft_buffer *const *outputs,
                                  std::span<const weft_result> results,
                                  Run &run) {
  for (const weft_result &result : results) {
    if (result.output >= plan.outputs.size())
      return makeError(StatusCode::InvalidArgument, "program \"", plan.name,
                       "\" has ", plan.outputs.size(),
                       " outputs, there is no number ", result.output);
    const weft_buffer &buffer = *outputs[result.output];
    Box all = fullBox(buffer);
    if (Status ok = checkBytes(buffer, all, result.data, result.bytes); !ok)
      return ok;
    if (!isEverywhere(buffer)) {
      run.exchangesAtEnd = true;
      continue;
    }
    for (const Shard &shard : shardsOf(buffer)) {
      BoxCopy copy = shardCopy(buffer, shard.own, all, true);
      if (copy.bytes())
        run.results.push_back(
            {buffer.locals[size_t(shard.own)].get(), copy, result.data});
    }
  }
  return {};
}

std::function<Status()>
weft::runtime::resultReader(weft_buffer *const *outputs,
                            std::span<const weft_result> results) {
  std::vector<std::pair<const weft_buffer *, void *>> all;
  for (const weft_result &result : results)
    if (!isEverywhere(*outputs[result.output]))
      all.emplace_back(outputs[result.output], result.data);
  return [all = std::move(all)]() -> Status {
    for (const auto &[buffer, data] : all)
      if (Status ok = readBlock(*buffer, fullBox(*buffer), data); !ok)
        return ok;
    return {};
  };
}
