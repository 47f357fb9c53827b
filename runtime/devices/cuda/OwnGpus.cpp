#include "weft/runtime/devices/cuda/OwnGpus.h"

#include "weft/base/EnvironmentNumber.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace weft::runtime {

/// The number of tasks on a node. The text "2(x3),1" means two tasks on each of
/// three nodes, then one on the next. Other texts give 1.
static int tasksOnNode(std::string_view text, int node) {
  const char *at = text.data(), *end = at + text.size();
  while (at < end) {
    int tasks = 0, nodes = 1;
    auto [behind, error] = std::from_chars(at, end, tasks);
    if (error != std::errc())
      return 1;
    at = behind;
    if (at < end && *at == '(') {
      const char *number = std::min(at + 2, end); // after "(x"
      auto [close, wrong] = std::from_chars(number, end, nodes);
      if (wrong != std::errc() || close == end || *close != ')')
        return 1;
      at = close + 1;
    }
    if (node < nodes)
      return tasks;
    node -= nodes;
    at += at < end && *at == ',';
  }
  return 1;
}

/// Whether srun has given each task GPUs of its own.
static bool areBound() {
  const char *binding = std::getenv("SLURM_GPU_BIND");
  return std::getenv("SLURM_GPUS_PER_TASK") ||
         std::getenv("SLURM_TRES_PER_TASK") ||
         (binding &&
          std::string_view(binding).find("none") == std::string_view::npos);
}

LocalRank localRank() {
  LocalRank local;
  const char *tasks = std::getenv("SLURM_STEP_TASKS_PER_NODE");
  if (std::getenv("OMPI_COMM_WORLD_LOCAL_RANK")) {
    local = {environmentNumber("OMPI_COMM_WORLD_LOCAL_RANK", 0),
             environmentNumber("OMPI_COMM_WORLD_LOCAL_SIZE", 1)};
  } else if (std::getenv("MPI_LOCALRANKID")) {
    local = {environmentNumber("MPI_LOCALRANKID", 0),
             environmentNumber("MPI_LOCALNRANKS", 1)};
  } else if (tasks && !areBound()) {
    local = {environmentNumber("SLURM_LOCALID", 0),
             tasksOnNode(tasks, environmentNumber("SLURM_NODEID", 0))};
  }
  if (local.rank < 0 || local.rank >= local.size)
    return {};
  return local;
}

OwnGpus ownGpus(int gpus, LocalRank local) {
  auto begin = [&](int rank) { return int(int64_t(rank) * gpus / local.size); };
  int first = begin(local.rank);
  return {first, std::max(1, begin(local.rank + 1) - first)};
}

} // namespace weft::runtime
