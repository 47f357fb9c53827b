#include "weft/runtime/collectives/CrossProcessGroup.h"

#include <algorithm>

namespace weft::runtime {

namespace {

/// A collective that runs as in one process, with the messages of its groups.
class CrossProcessCollective final : public PreparedCollective {
public:
  explicit CrossProcessCollective(std::unique_ptr<PreparedCollective> local)
      : local(std::move(local)) {}

  int64_t chunkCount(int64_t group) const override {
    return local->chunkCount(group);
  }
  void run(int64_t group, void *const *sources, void *const *targets,
           int64_t chunk) const override {
    local->run(group, sources, targets, chunk);
  }
  std::vector<MemberSlice>
  needs(int64_t group,
        const std::function<bool(int64_t)> &isTarget) const override {
    return local->needs(group, isTarget);
  }
  std::vector<MemberSlice>
  results(int64_t group,
          const std::function<bool(int64_t)> &isReducer) const override {
    return local->results(group, isReducer);
  }
  GroupMessages *messages(int64_t group) const override {
    return groups[size_t(group)].get();
  }
  CollectiveTable table(int64_t group) const override {
    return local->table(group);
  }

  std::vector<std::unique_ptr<CrossProcessGroup>>
      groups; ///< indexed by group; null: none

private:
  std::unique_ptr<PreparedCollective> local;
};

class CrossProcessProvider final : public CollectiveProvider {
public:
  CrossProcessProvider(std::unique_ptr<CollectiveProvider> local,
                       Processes &processes [[clang::lifetimebound]])
      : local(std::move(local)), processes(processes) {}

  Status prepare(const Mesh &mesh, const Ownership &ownership,
                 const Collective &collective, int64_t firstGroup,
                 std::unique_ptr<PreparedCollective> &out) const override;
  Status failure() const override { return processes.failure(); }
  bool isDeadlock() const override { return processes.isDeadlock(); }
  void setWaiting(bool isWaiting) const override {
    processes.setWaiting(isWaiting);
  }

private:
  std::unique_ptr<CollectiveProvider> local;
  Processes &processes;
  mutable ReceiveMemory staging; ///< shared by all its collectives
};

Status
CrossProcessProvider::prepare(const Mesh &mesh, const Ownership &ownership,
                              const Collective &collective, int64_t firstGroup,
                              std::unique_ptr<PreparedCollective> &out) const {
  std::unique_ptr<PreparedCollective> inner;
  if (Status ok =
          local->prepare(mesh, ownership, collective, firstGroup, inner);
      !ok)
    return ok;
  const PreparedCollective &work = *inner;
  auto made = std::make_unique<CrossProcessCollective>(std::move(inner));
  for (size_t g = 0; g < collective.groups.size(); ++g) {
    const std::vector<int64_t> &group = collective.groups[g];
    auto own = std::ranges::count_if(
        group, [&](int64_t position) { return ownership.isOwn(position); });
    made->groups.emplace_back();
    if (own == 0 || size_t(own) == group.size())
      continue;
    if (const auto *call = std::get_if<HostCall>(&collective.code))
      return makeError(StatusCode::InvalidArgument,
                       "the program calls function ", call->function,
                       " of its host for devices of several "
                       "processes; run it in one process");
    made->groups.back() = std::make_unique<CrossProcessGroup>(
        processes, staging, ownership, collective, int64_t(g), work,
        tags::rendezvous + int(firstGroup + int64_t(g)));
  }
  out = std::move(made);
  return {};
}

} // namespace

std::unique_ptr<CollectiveProvider>
createCrossProcessProvider(std::unique_ptr<CollectiveProvider> local,
                           Processes &processes) {
  return std::make_unique<CrossProcessProvider>(std::move(local), processes);
}

} // namespace weft::runtime
