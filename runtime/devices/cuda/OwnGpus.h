//===- OwnGpus.h - the GPUs of one process of several -----------*- C++ -*-===//
//
// A launcher that starts several processes on a machine numbers them there.
// They divide its GPUs contiguously:
//
//   4 GPUs, 2 processes     0 1 | 2 3
//   4 GPUs, 3 processes     0 | 1 | 2 3
//   2 GPUs, 4 processes     0 | 0 | 1 | 1
//
// CUDA_VISIBLE_DEVICES is applied first: the remaining GPUs are divided, unless
// srun has bound each task to GPUs of its own.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_OWNGPUS_H
#define WEFT_RUNTIME_DEVICES_CUDA_OWNGPUS_H

namespace weft::runtime {

/// The rank of this process among those that the same launcher has started on
/// this machine.
struct LocalRank {
  int rank = 0, size = 1;
};

/// The rank from the variables of Open MPI (OMPI_COMM_WORLD_LOCAL_RANK, _SIZE),
/// MPICH (MPI_LOCALRANKID, MPI_LOCALNRANKS) or srun (SLURM_LOCALID,
/// SLURM_STEP_TASKS_PER_NODE); that of a single process if none is set, or if
/// its GPUs are its own already.
LocalRank localRank();

/// Numbers first, first + 1, ... of `count` GPUs.
struct OwnGpus {
  int first = 0, count = 1;
};
/// The GPUs of this process, at least one of `gpus`, which are one or more.
OwnGpus ownGpus(int gpus, LocalRank local);

} // namespace weft::runtime

#endif // WEFT_RUNTIME_DEVICES_CUDA_OWNGPUS_H
