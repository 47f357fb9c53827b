#include "weft/runtime/devices/RunCounts.h"

#include "weft/runtime/processes/Processes.h"

#include <algorithm>
#include <set>

using namespace weft::runtime;

bool weft::runtime::countsApart(const weft_runtime &runtime, const Plan &plan) {
  if (!runtime.processes)
    return false;
  Ownership owners = runtime.ownership(plan.mesh);
  std::set<int> ranks;
  for (int64_t p = 0; p < plan.mesh.size(); ++p)
    ranks.insert(owners.of(p));
  return ranks.size() < size_t(runtime.processes->size()) ||
         std::any_of(
             plan.instructions.begin(), plan.instructions.end(),
             [](const Instruction &i) {
               return i.kind == weft::plan::Operation::JumpUnless ||
                      i.kind == weft::plan::Operation::JumpOutside;
             });
}

Status weft::runtime::countElsewhere(weft_runtime &runtime,
                                     CollectiveCounts &counts) {
  Processes *processes = runtime.processes;
  std::vector<CollectiveCounts> all(size_t(processes->size()), counts);
  std::vector<PeerMessage> messages;
  for (int peer = 0; peer < processes->size(); ++peer)
    if (peer != processes->rank()) {
      messages.push_back({.peer = peer,
                          .tag = tags::counts,
                          .in = all[size_t(peer)].data(),
                          .bytes = counts.size() * sizeof counts[0]});
      messages.push_back({.peer = peer,
                          .tag = tags::counts,
                          .out = counts.data(),
                          .bytes = counts.size() * sizeof counts[0]});
    }
  if (Status ok = processes->exchange(messages); !ok)
    return ok;
  for (size_t name = 0; name < counts.size(); ++name)
    for (const CollectiveCounts &some : all) {
      counts[name].occurrences =
          std::max(counts[name].occurrences, some[name].occurrences);
      counts[name].bytes = std::max(counts[name].bytes, some[name].bytes);
    }
  return {};
}

void weft::runtime::count(weft_runtime &runtime, const Plan &plan,
                          const CollectiveCounts &counts) {
  if (std::exchange(runtime.sharedOf, &plan) != &plan)
    runtime.shared = runtime.isSharing()
                         ? countShared(plan, runtime.firsts(plan))
                         : SharedCounts();
  runtime.counters.clear();
  for (size_t name = 0; name < counts.size(); ++name)
    if (counts[name].occurrences || counts[name].bytes)
      runtime.counters.push_back({plan.counterNames[name].c_str(),
                                  counts[name].occurrences,
                                  counts[name].bytes});
}
