//===- Transport.h - messages between processes -----------------*- C++ -*-===//
//
// What libWeftMpi.so gives the runtime: point-to-point messages, nothing of
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
  /// Starts; `data` stays as it is until the request is done. At most 1 GiB.
  /// Null: see error().
  void *(*send)(int peer, int tag, const void *data, size_t bytes);
  void *(*receive)(int peer, int tag, void *data, size_t bytes);
  /// 1: done, 0: not yet, -1: failed. The request is gone unless it is 0.
  int (*test)(void *request);
  /// Gives a request up; it is still to be tested until it is done. One that a
  /// dead process was in the middle of never is.
  void (*cancel)(void *request);
  /// Whether a message with this tag waits, from whom, and its size.
  bool (*probe)(int tag, int *peer, size_t *bytes);
  /// The reason why the last call failed.
  const char *(*error)();
  /// Once all processes call it.
  void (*close)();
};

/// Exported by libWeftMpi.so as `weftOpenMpi`: joins the processes that mpirun
/// has started, once in a process; null with a reason. Returns when all have
/// called it.
using WeftOpenTransport = const weft_transport *(const char **reason);
}

#endif // WEFT_RUNTIME_PROCESSES_TRANSPORT_H
