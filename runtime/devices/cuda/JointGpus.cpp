#include "weft/runtime/devices/cuda/JointGpus.h"

#include "weft/runtime/devices/cuda/LibraryFolders.h"
#include "weft/runtime/devices/cuda/Nccl.h"
#include "weft/runtime/processes/Ownership.h"
#include "weft/runtime/processes/Processes.h"

#include <algorithm>
#include <cstring>
#include <unistd.h>

namespace weft::runtime {

namespace {
/// What a process tells the others about its GPUs.
struct Announcement {
  static constexpr int kMostGpus = 64;
  int gpus = 0;    ///< that its devices use
  int version = 0; ///< the version of NCCL
  /// The machine by which NCCL tells GPUs apart: NCCL_HOSTID, or the host.
  char machine[64] = {};
  GpuAddress addresses[kMostGpus] = {};
};
} // namespace

/// The text by which NCCL recognises a machine. Two processes may share a GPU
/// if it differs.
static void nameMachine(char (&out)[64]) {
  const char *given = std::getenv("NCCL_HOSTID");
  if (given && *given)
    std::snprintf(out, sizeof out, "id %s", given);
  else
    ::gethostname(out, sizeof out - 1);
}

static Status announce(const JointGpus &own, Announcement &out) {
  Result<const Nccl *> nccl = Nccl::find();
  if (!nccl)
    return makeError(StatusCode::Incompatible,
                     "GPUs of several processes exchange data by NCCL, which "
                     "is not used: ",
                     nccl.error().message,
                     "; install NCCL 2.18 or later on every machine, or run "
                     "one process");
  if (own.own.size() > Announcement::kMostGpus)
    return makeError(StatusCode::Incompatible, "a process has at most ",
                     Announcement::kMostGpus, " GPUs, not ", own.own.size(),
                     "; start more processes");
  out.gpus = int(own.own.size());
  out.version = (*nccl)->number();
  nameMachine(out.machine);
  for (size_t i = 0; i < own.own.size(); ++i)
    if (Status ok = own.own[i]->address(out.addresses[i]); !ok)
      return ok;
  return {};
}

static Status tellOthers(Processes &processes, std::vector<Announcement> &all) {
  std::vector<PeerMessage> messages;
  auto self = size_t(processes.rank());
  for (int peer = 0; peer < processes.size(); ++peer) {
    if (peer == processes.rank())
      continue;
    messages.push_back({.peer = peer,
                        .tag = tags::gpus,
                        .in = &all[size_t(peer)],
                        .bytes = sizeof(Announcement)});
    messages.push_back({.peer = peer,
                        .tag = tags::gpus,
                        .out = &all[self],
                        .bytes = sizeof(Announcement)});
  }
  return processes.exchange(messages);
}

/// Refuses what NCCL cannot join. All processes find the same error.
static Status compare(const std::vector<Announcement> &all) {
  for (size_t rank = 1; rank < all.size(); ++rank)
    if (all[rank].version != all[0].version)
      return makeError(StatusCode::Incompatible, "rank ", rank, " has NCCL ",
                       libraryVersion(size_t(all[rank].version)),
                       ", rank 0 has ", libraryVersion(size_t(all[0].version)),
                       "; install one version everywhere");
  for (size_t rank = 0; rank < all.size(); ++rank)
    for (size_t earlier = 0; earlier < rank; ++earlier) {
      const Announcement &one = all[earlier], &other = all[rank];
      if (std::strcmp(one.machine, other.machine) != 0)
        continue;
      for (int i = 0; i < one.gpus; ++i)
        for (int j = 0; j < other.gpus; ++j)
          if (one.addresses[i] == other.addresses[j])
            return makeError(
                StatusCode::Incompatible, "ranks ", earlier, " and ", rank,
                " share a GPU (bus ", one.addresses[i].bus, ", device ",
                one.addresses[i].device,
                "), and NCCL wants one for each process; start a process a "
                "GPU, or give each another NCCL_HOSTID: mpirun -n ",
                all.size(),
                " sh -c 'NCCL_HOSTID=$OMPI_COMM_WORLD_RANK exec weft ...'");
    }
  return {};
}

Status JointGpus::open(const Driver &driver, int64_t devices,
                       Processes *processes, JointGpus &out) {
  int rank = processes ? processes->rank() : 0,
      size = processes ? processes->size() : 1;
  std::vector<int64_t> of(size_t(size), 0); // numbers of devices
  for (int64_t device = 0; device < devices; ++device)
    ++of[size_t(rankOfDevice(device, devices, size))];
  OwnGpus visible;
  if (Status ok = Gpu::own(driver, visible); !ok)
    return ok;
  out.own.resize(size_t(std::min<int64_t>(visible.count, of[size_t(rank)])));
  for (size_t i = 0; i < out.own.size(); ++i)
    if (Status ok = Gpu::open(driver, visible.first + int(i), out.own[i]); !ok)
      return ok;
  std::vector<Announcement> all(size_t(size), Announcement{});
  all[size_t(rank)].gpus = int(out.own.size());
  if (processes) {
    if (Status ok = announce(out, all[size_t(rank)]); !ok)
      return ok;
    if (Status ok = tellOthers(*processes, all); !ok)
      return ok;
    if (Status ok = compare(all); !ok)
      return ok;
  }
  for (int process = 0; process < size; ++process) {
    int64_t its = of[size_t(process)], gpus = all[size_t(process)].gpus;
    if (process == rank) {
      out.firstOwn = out.count;
      out.firstDevice = int64_t(out.ofDevice.size());
    }
    for (int64_t i = 0; i < its; ++i)
      out.ofDevice.push_back(out.count + int(i * gpus / its));
    out.count += int(gpus);
  }
  return {};
}

} // namespace weft::runtime
