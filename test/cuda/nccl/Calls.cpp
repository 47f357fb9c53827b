//===- Calls.cpp - the functions that communicate -------------------------===//

#include "weft/test/cuda/nccl/Objects.h"

#include <utility>

using namespace weft;
using namespace weft::fake;
using nccl::Reduction;
using nccl::Type;

extern "C" {
#define WEFT_NCCL_FUNCTION(name, result, parameters)                           \
  __attribute__((visibility("default"))) result name parameters;
WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FUNCTION)
#undef WEFT_NCCL_FUNCTION
}

/// Collects a call; one outside of groups is a group of its own.
static Status collect(const char *function, Call call) {
  if (Status status = begin(function); status != Status::Success)
    return status;
  if (!exists(call.comm))
    return Status::InvalidArgument;
  bool isPeer = call.isBetweenTwo() || call.kind == CallKind::Broadcast;
  if (isPeer && (call.argument < 0 ||
                 call.argument >= int(call.comm->clique->ranks.size()))) {
    fakeCudaReport(nameOf(call.comm) + " calls " + call.text() +
                   ": there is no such rank");
    return Status::InvalidArgument;
  }
  Library &library = Library::get();
  library.calls.push_back(call);
  return library.depth ? Status::Success : endGroup();
}

static cuda::Address address(const void *pointer) {
  return cuda::Address(pointer);
}

Status ncclAllReduce(const void *from, void *to, size_t count, Type type,
                     Reduction reduction, Comm comm, cuda::Stream stream) {
  return collect(__func__, {CallKind::AllReduce, address(from), address(to),
                            count, type, int(reduction), comm, stream});
}
Status ncclAllGather(const void *from, void *to, size_t count, Type type,
                     Comm comm, cuda::Stream stream) {
  return collect(__func__, {CallKind::AllGather, address(from), address(to),
                            count, type, 0, comm, stream});
}
Status ncclReduceScatter(const void *from, void *to, size_t count, Type type,
                         Reduction reduction, Comm comm, cuda::Stream stream) {
  return collect(__func__, {CallKind::ReduceScatter, address(from), address(to),
                            count, type, int(reduction), comm, stream});
}
Status ncclBroadcast(const void *from, void *to, size_t count, Type type,
                     int root, Comm comm, cuda::Stream stream) {
  return collect(__func__, {CallKind::Broadcast, address(from), address(to),
                            count, type, root, comm, stream});
}
Status ncclSend(const void *from, size_t count, Type type, int peer, Comm comm,
                cuda::Stream stream) {
  return collect(__func__, {CallKind::Send, address(from), 0, count, type, peer,
                            comm, stream});
}
Status ncclRecv(void *to, size_t count, Type type, int peer, Comm comm,
                cuda::Stream stream) {
  return collect(__func__, {CallKind::Recv, 0, address(to), count, type, peer,
                            comm, stream});
}

Status ncclGroupStart() {
  if (Status status = begin(__func__); status != Status::Success)
    return status;
  ++Library::get().depth;
  return Status::Success;
}
Status ncclGroupEnd() {
  Status status = begin(__func__);
  Library &library = Library::get();
  if (library.depth == 0) {
    fakeCudaReport("ncclGroupEnd without ncclGroupStart");
    return Status::InvalidUsage;
  }
  if (--library.depth)
    return status;
  if (library.failed == Status::Success)
    return endGroup();
  library.calls.clear();
  library.splits.clear();
  library.joins.clear();
  return std::exchange(library.failed, Status::Success);
}
