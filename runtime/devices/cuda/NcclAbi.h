//===- NcclAbi.h - the part of NCCL that Weft calls -------------*- C++ -*-===//
//
// Own declarations of NCCL, as of CUDA's driver (DriverAbi.h), so that no
// toolkit is needed to build. They are those of 2.18, which later libraries
// keep: a library knows an older Config by its size and version. If nccl.h is
// installed, test/cuda/nccl-abi-test.cpp compares all numbers, sizes and
// parameters with it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_DEVICES_CUDA_NCCLABI_H
#define WEFT_RUNTIME_DEVICES_CUDA_NCCLABI_H

#include "weft/runtime/devices/cuda/DriverAbi.h"

#include <climits>

namespace weft::nccl {

/// A rank's part of a communicator.
using Comm = struct CommObject *;

enum class Status : int {
  Success = 0,
  UnhandledCudaError = 1,
  SystemError = 2,
  InternalError = 3,
  InvalidArgument = 4,
  InvalidUsage = 5,
  RemoteError = 6,
  InProgress = 7
};

enum class Type : int {
  I8 = 0,
  U8 = 1,
  I32 = 2,
  U32 = 3,
  I64 = 4,
  U64 = 5,
  F16 = 6,
  F32 = 7,
  F64 = 8,
  BF16 = 9
};
enum class Reduction : int { Sum = 0, Prod = 1, Max = 2, Min = 3 };

/// The name by which processes find each other.
struct UniqueId {
  char internal[128];
};

constexpr int kUndefined = INT_MIN;
/// The color of a rank that is in no new communicator.
constexpr int kNoColor = -1;
constexpr int kOldestVersion = 21800; ///< 2.18.0
/// What nccl.h makes of 2.18.0: later versions are larger.
struct Config {
  size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = kOldestVersion;
  int blocking = kUndefined;
  int cgaClusterSize = kUndefined;
  int minCtas = kUndefined;
  int maxCtas = kUndefined;
  const char *netName = nullptr;
  int splitShare = kUndefined;
};

} // namespace weft::nccl

// F(name, result, parameters)
// clang-format off
#define WEFT_NCCL_FUNCTIONS(F) \
  F(ncclGetVersion, weft::nccl::Status, (int *version)) \
  F(ncclGetErrorString, const char *, (weft::nccl::Status status)) \
  F(ncclGetLastError, const char *, (weft::nccl::Comm comm)) \
  F(ncclGetUniqueId, weft::nccl::Status, (weft::nccl::UniqueId *id)) \
  F(ncclCommInitAll, weft::nccl::Status, (weft::nccl::Comm *comms, int count, const int *devices)) \
  F(ncclCommInitRankConfig, weft::nccl::Status, (weft::nccl::Comm *comm, int count, weft::nccl::UniqueId id, int rank, weft::nccl::Config *config)) \
  F(ncclCommSplit, weft::nccl::Status, (weft::nccl::Comm comm, int color, int key, weft::nccl::Comm *out, weft::nccl::Config *config)) \
  F(ncclCommDestroy, weft::nccl::Status, (weft::nccl::Comm comm)) \
  F(ncclCommAbort, weft::nccl::Status, (weft::nccl::Comm comm)) \
  F(ncclCommGetAsyncError, weft::nccl::Status, (weft::nccl::Comm comm, weft::nccl::Status *status)) \
  F(ncclGroupStart, weft::nccl::Status, (void)) \
  F(ncclGroupEnd, weft::nccl::Status, (void)) \
  F(ncclAllReduce, weft::nccl::Status, (const void *from, void *to, size_t count, weft::nccl::Type type, weft::nccl::Reduction reduction, weft::nccl::Comm comm, weft::cuda::Stream stream)) \
  F(ncclAllGather, weft::nccl::Status, (const void *from, void *to, size_t count, weft::nccl::Type type, weft::nccl::Comm comm, weft::cuda::Stream stream)) \
  F(ncclReduceScatter, weft::nccl::Status, (const void *from, void *to, size_t count, weft::nccl::Type type, weft::nccl::Reduction reduction, weft::nccl::Comm comm, weft::cuda::Stream stream)) \
  F(ncclBroadcast, weft::nccl::Status, (const void *from, void *to, size_t count, weft::nccl::Type type, int root, weft::nccl::Comm comm, weft::cuda::Stream stream)) \
  F(ncclSend, weft::nccl::Status, (const void *from, size_t count, weft::nccl::Type type, int peer, weft::nccl::Comm comm, weft::cuda::Stream stream)) \
  F(ncclRecv, weft::nccl::Status, (void *to, size_t count, weft::nccl::Type type, int peer, weft::nccl::Comm comm, weft::cuda::Stream stream))
// clang-format on

#endif // WEFT_RUNTIME_DEVICES_CUDA_NCCLABI_H
