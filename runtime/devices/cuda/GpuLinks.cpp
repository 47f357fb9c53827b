#include "weft/runtime/devices/cuda/GpuLinks.h"

#include <algorithm>
#include <chrono>
#include <thread>

namespace weft::runtime {

GpuLinks::~GpuLinks() {
  if (!nccl || isAborted)
    return;
  for (const auto &[set, parts] : comms)
    for (nccl::Comm comm : parts)
      nccl->ncclCommDestroy(comm);
  for (nccl::Comm comm : all)
    nccl->ncclCommDestroy(comm);
}

void GpuLinks::abort() {
  if (isAborted)
    return;
  isAborted = true;
  for (const auto &[set, parts] : comms)
    for (nccl::Comm comm : parts)
      nccl->ncclCommAbort(comm);
  for (nccl::Comm comm : all)
    nccl->ncclCommAbort(comm);
}

void GpuLinks::await(const GpuStream &stream,
                     const std::vector<const GpuStream *> &others) {
  constexpr int turns = 1000; // without a pause, as short runs end soon
  if (all.empty())
    return;
  for (int turn = 0; !isAborted && stream.query() == cuda::Result::NotReady;
       ++turn) {
    for (const GpuStream *other : others) {
      cuda::Result state = other->query();
      if (state != cuda::Result::Success && state != cuda::Result::NotReady)
        abort();
    }
    if (turn > turns)
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

/// Lets all GPUs of a set address each other's memory, or fails.
Status GpuLinks::reach(const GpuSet &set) const {
  for (Gpu *one : set)
    for (const Gpu *other : set) {
      if (Status ok = one->connect(*other); !ok)
        return ok;
      if (!one->reaches(*other))
        return makeError(StatusCode::Incompatible, "GPUs ", one->ordinal(),
                         " and ", other->ordinal(),
                         " cannot address each other's memory (nvidia-smi topo "
                         "-p2p r)");
    }
  return {};
}

/// Loads NCCL, or says why it is not used.
static Status findLibrary() {
  Result<const Nccl *> found = Nccl::find();
  return found ? Status() : Status(found.error());
}

Status GpuLinks::choose(const Mesh &mesh, const Collective &collective,
                        const GpuSet &set, CollectiveMethod &out) const {
  std::vector<LocalArray> sources(collective.sources.begin(),
                                  collective.sources.end()),
      targets(collective.targets.begin(), collective.targets.end());
  auto methodIn = [&](CollectiveMode asked) {
    return methodOf(asked, collective.code, {mesh, collective.axes}, sources,
                    targets);
  };
  out = methodIn(mode);
  bool isUsual = mode == CollectiveMode::Usual;
  if (out != CollectiveMethod::Peer) {
    Status library = findLibrary();
    if (library)
      return {};
    if (!isUsual)
      return makeError(StatusCode::Incompatible,
                       "NCCL is not used: ", library.error().message,
                       "; install NCCL 2.18 or later, or write ",
                       Option{"collectives", "peer"});
  }
  out = CollectiveMethod::Peer;
  Status reached = reach(set);
  if (reached)
    return {};
  Message why = reached.error().message;
  if (!isUsual)
    return makeError(StatusCode::Incompatible, why, "; write ",
                     Option{"collectives", "nccl"},
                     ", or run it on one GPU (CUDA_VISIBLE_DEVICES=0) or on "
                     "cpu:N");
  if (Status library = findLibrary(); !library)
    return makeError(StatusCode::Incompatible, why,
                     ", and NCCL is not used: ", library.error().message,
                     "; install NCCL 2.18 or later, or run it on one GPU "
                     "(CUDA_VISIBLE_DEVICES=0) or on cpu:N");
  out = methodIn(CollectiveMode::Nccl);
  return {};
}

Status GpuLinks::check() const {
  if (!isAborted)
    return {};
  return makeError(StatusCode::Internal,
                   "NCCL's communicators were ended by an earlier error; "
                   "create the runtime again");
}

Status GpuLinks::open() {
  if (Status ok = check(); !ok)
    return ok;
  if (!all.empty())
    return {};
  Result<const Nccl *> found = Nccl::find();
  if (!found)
    return found.error();
  nccl = *found;
  std::vector<int> ordinals;
  for (const auto &gpu : gpus)
    ordinals.push_back(gpu->ordinal());
  std::vector<nccl::Comm> made(gpus.size());
  if (Status ok =
          nccl->check(nccl->ncclCommInitAll(made.data(), int(ordinals.size()),
                                            ordinals.data()),
                      "ncclCommInitAll");
      !ok)
    return ok;
  all = std::move(made);
  return {};
}

/// Splits the communicator of all GPUs into those of disjoint sets.
Status GpuLinks::split(const std::vector<GpuSet> &apart) {
  std::vector<nccl::Comm> made(gpus.size());
  if (Status ok = nccl->check(nccl->ncclGroupStart(), "ncclGroupStart"); !ok)
    return ok;
  Status failed;
  for (size_t i = 0; i < gpus.size(); ++i) {
    int color = nccl::kNoColor, key = 0;
    for (size_t s = 0; s < apart.size(); ++s)
      if (auto found = std::ranges::find(apart[s], gpus[i].get());
          found != apart[s].end()) {
        color = int(s);
        key = int(found - apart[s].begin());
      }
    Status ok =
        nccl->check(nccl->ncclCommSplit(all[i], color, key, &made[i], nullptr),
                    "ncclCommSplit");
    if (failed)
      failed = std::move(ok);
  }
  // The group ends in any case.
  Status ended = nccl->check(nccl->ncclGroupEnd(), "ncclGroupEnd");
  if (!failed || !ended)
    return failed ? ended : failed;
  for (const GpuSet &set : apart)
    for (Gpu *gpu : set)
      for (size_t i = 0; i < gpus.size(); ++i)
        if (gpus[i].get() == gpu)
          comms[set].push_back(made[i]);
  return {};
}

Status GpuLinks::connect(const std::vector<GpuSet> &sets) {
  if (sets.empty())
    return {};
  if (Status ok = open(); !ok)
    return ok;
  std::vector<GpuSet> rest;
  for (const GpuSet &set : sets)
    if (!comms.contains(set) && std::ranges::find(rest, set) == rest.end())
      rest.push_back(set);
  while (!rest.empty()) {
    std::vector<GpuSet> apart, later;
    std::set<Gpu *> taken;
    for (const GpuSet &set : rest) {
      bool isApart = std::ranges::none_of(
          set, [&](Gpu *gpu) { return taken.contains(gpu); });
      (isApart ? apart : later).push_back(set);
      if (isApart)
        taken.insert(set.begin(), set.end());
    }
    if (Status ok = split(apart); !ok)
      return ok;
    rest = std::move(later);
  }
  return {};
}

} // namespace weft::runtime
