#include "weft/runtime/devices/cuda/GpuExchange.h"

namespace weft::runtime {

static void *placeOf(const GpuExchange::Slot &slot,
                     const GpuTables::Addresses &addresses) {
  return reinterpret_cast<void *>(
      addresses[size_t(slot.position)][slot.buffer] + slot.offset);
}

Status GpuExchange::call(const Message &message,
                         const GpuTables::Addresses &addresses,
                         cuda::Stream stream) const {
  const Nccl &nccl = links->library();
  nccl::Comm comm = sides[message.side].comm;
  void *from = nullptr, *to = nullptr;
  if (message.kind != Message::Recv)
    from = placeOf(message.from, addresses);
  if (message.kind != Message::Send)
    to = placeOf(message.to, addresses);
  auto reduction = nccl::Reduction(message.argument);
  if (message.kind == Message::Send)
    return nccl.check(nccl.ncclSend(from, message.count, message.type,
                                    message.argument, comm, stream),
                      "ncclSend");
  if (message.kind == Message::Recv)
    return nccl.check(nccl.ncclRecv(to, message.count, message.type,
                                    message.argument, comm, stream),
                      "ncclRecv");
  auto answer = nccl::Status::Success;
  switch (message.call) {
  case NcclCall::AllReduce:
    answer = nccl.ncclAllReduce(from, to, message.count, message.type,
                                reduction, comm, stream);
    break;
  case NcclCall::ReduceScatter:
    answer = nccl.ncclReduceScatter(from, to, message.count, message.type,
                                    reduction, comm, stream);
    break;
  case NcclCall::AllGather:
    answer =
        nccl.ncclAllGather(from, to, message.count, message.type, comm, stream);
    break;
  case NcclCall::Broadcast:
    answer = nccl.ncclBroadcast(from, to, message.count, message.type,
                                message.argument, comm, stream);
    break;
  }
  return nccl.check(answer, std::string(functionName(message.call)));
}

Status
GpuExchange::communicate(const GpuTables::Addresses &addresses,
                         const std::vector<cuda::Stream> &streams) const {
  if (messages.empty())
    return {};
  Status result = enqueue(addresses, streams);
  if (!result)
    links->abort();
  return result;
}

Status GpuExchange::enqueue(const GpuTables::Addresses &addresses,
                            const std::vector<cuda::Stream> &streams) const {
  const Nccl &nccl = links->library();
  GpuLinks::Call first(*links); // which connects GPUs
  if (Status ok = links->check(); !ok)
    return ok;
  if (Status ok = nccl.check(nccl.ncclGroupStart(), "ncclGroupStart"); !ok)
    return ok;
  Status result;
  for (const Message &message : messages)
    if (result)
      result = call(message, addresses, streams[message.side]);
  // The group ends in any case.
  Status ended = nccl.check(nccl.ncclGroupEnd(), "ncclGroupEnd");
  return result ? ended : result;
}

} // namespace weft::runtime
