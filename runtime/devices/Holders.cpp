//===- Holders.cpp - arrays that devices of this process share ------------===//

#include "weft/runtime/devices/Runtime.h"

using namespace weft::runtime;

static std::vector<int64_t> firstsOf(const Sharing &sharing,
                                     const Ownership &owners) {
  return sharing.firsts(
      [&](int64_t position) { return owners.isOwn(position); });
}

std::vector<int64_t> weft_runtime::holders(const Plan &plan,
                                           const weft::Port &port) const {
  int32_t its = plan.buffers[port.buffer].shared;
  if (its < 0 || !isSharing())
    return {};
  return firstsOf(plan.sharings[size_t(its)], ownership(plan.mesh));
}

std::vector<std::vector<int64_t>> weft_runtime::firsts(const Plan &plan) const {
  Ownership owners = ownership(plan.mesh);
  std::vector<std::vector<int64_t>> out;
  for (const Sharing &sharing : plan.sharings)
    out.push_back(firstsOf(sharing, owners));
  return out;
}

Status weft_buffer::hold(std::vector<int64_t> wanted) {
  if (wanted == holders)
    return {};
  if (Status ok = awaitUse(); !ok)
    return ok;
  BoxCopy all = BoxCopy::full(port->localBytes);
  for (size_t p = 0; p < locals.size(); ++p) {
    const DeviceMemory *from = memoryOf(p);
    size_t holder = wanted.empty() ? p : size_t(wanted[p]);
    if (!from || locals[holder])
      continue; // another process holds it, or it has a copy
    if (Status ok = allocate(holder); !ok)
      return ok;
    if (Status ok = write(holder, all, from->address()); !ok)
      return ok;
  }
  for (size_t p = 0; p < locals.size(); ++p) {
    const DeviceMemory *from = memoryOf(p);
    size_t holder = wanted.empty() ? p : size_t(wanted[p]);
    if (from)
      addresses[p] = locals[holder]->address();
  }
  holders = std::move(wanted);
  for (size_t p = 0; p < locals.size() && !holders.empty(); ++p)
    if (holders[p] != int64_t(p))
      locals[p].reset();
  return {};
}

/// Gives a buffer the holders of an output. Other threads may enqueue, too: what
/// is written here is guarded by the runtime's mutex, which is free during a wait.
static Status adapt(weft_buffer &buffer, const Plan &plan,
                    const weft::Port &port,
                    std::unique_lock<std::mutex> &guard) {
  weft_runtime &runtime = *buffer.runtime;
  std::pair<const weft::Port *, bool> now{&port, runtime.isSharing()};
  while (buffer.adaptedTo != now) {
    std::vector<int64_t> wanted = runtime.holders(plan, port);
    if (wanted == buffer.holders || buffer.lastUser().isDone()) {
      if (Status ok = buffer.hold(std::move(wanted)); !ok)
        return ok;
      buffer.adaptedTo = now;
      continue;
    }
    guard.unlock();
    if (Status ok = buffer.awaitUse(); !ok)
      return ok;
    guard.lock();
  }
  return {};
}

Status weft::runtime::adaptSharing(weft_runtime *runtime,
                                   const weft_program *program,
                                   weft_buffer *const *outputs) {
  if (!runtime || !program || !outputs)
    return {};
  const Plan &plan = program->program->plan();
  std::unique_lock<std::mutex> guard(runtime->mutex);
  for (size_t i = 0; i < plan.outputs.size(); ++i) {
    const weft::Port &port = plan.outputs[i];
    weft_buffer *buffer = outputs[i];
    if (!buffer || buffer->runtime != runtime || buffer->isOnHost ||
        buffer->port->signature != port.signature)
      continue;
    if (Status ok = adapt(*buffer, plan, port, guard); !ok)
      return ok;
  }
  return {};
}
