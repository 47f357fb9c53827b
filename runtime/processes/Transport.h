//===- Transport.h - messages between processes -----------------*- C++ -*-===//
//
// The functions of libWeftMpi.so for the runtime: point-to-point messages, no
// collectives. One thread at a time calls it; messages of one tag between two
// processes arrive in the order in which they were sent.
//
//   void *out = transport->send(1, 7, data, 4), *in = transport->receive(...);
//   while (transport->test(in) == 0) ...
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROCESSES_TRANSPORT_H
#define WEFT_RUNTIME_PROCESSES_TRANSPORT_H

#include <cstddef>

extern "C" {

struct weft_transport {
  int rank, size;
  /// Starts a send; `data` must not change until the request is done. At most 1
  /// GiB. Null: see error().
  void *(*send)(int peer, int tag, const void *data, size_t bytes);
  void *(*receive)(int peer, int tag, void *data, size_t bytes);
  /// Tests a request: 1 is done, 0 not yet, -1 failed. The request is released
  /// unless the result is 0.
  int (*test)(void *request);
  /// Cancels a request, which must still be tested until it is done. A request
  /// that a dead process had begun is never done.
  void (*cancel)(void *request);
  /// Whether a message with this tag is available, its sender and its size.
  bool (*probe)(int tag, int *peer, size_t *bytes);
  /// The reason why the last call failed.
  const char *(*error)();
  /// Closes the transport; returns once all processes have called it.
  void (*close)();
};

/// Joins the processes that mpirun has started, once in a process; null with a
/// reason. Returns when all have called it. Exported by libWeftMpi.so as
/// `weftOpenMpi`.
using WeftOpenTransport = const weft_transport *(const char **reason);
}

#endif // WEFT_RUNTIME_PROCESSES_TRANSPORT_H
