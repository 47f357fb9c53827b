// Messages by MPI, of which only point-to-point calls are used, as sums must be
// in device order, which MPI's own reductions do not guarantee.

#include "weft/runtime/processes/Transport.h"

#include <mpi.h>
#include <string>

namespace {

std::string &lastError() {
  static std::string text;
  return text;
}

bool failed(int code) {
  if (code == MPI_SUCCESS)
    return false;
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  MPI_Error_string(code, text, &length);
  lastError().assign(text, size_t(length));
  return true;
}

void *started(int code, MPI_Request request) {
  return failed(code) ? nullptr : static_cast<void *>(new MPI_Request(request));
}

void *send(int peer, int tag, const void *data, size_t bytes) {
  MPI_Request request;
  int code = MPI_Isend(data, int(bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                       &request);
  return started(code, request);
}

void *receive(int peer, int tag, void *data, size_t bytes) {
  MPI_Request request;
  int code = MPI_Irecv(data, int(bytes), MPI_BYTE, peer, tag, MPI_COMM_WORLD,
                       &request);
  return started(code, request);
}

int test(void *handle) {
  auto *request = static_cast<MPI_Request *>(handle);
  int isDone = 0;
  bool bad = failed(MPI_Test(request, &isDone, MPI_STATUS_IGNORE));
  if (!bad && !isDone)
    return 0;
  delete request;
  return bad ? -1 : 1;
}

void cancel(void *handle) { MPI_Cancel(static_cast<MPI_Request *>(handle)); }

bool probe(int tag, int *peer, size_t *bytes) {
  int isThere = 0, count = 0;
  MPI_Status status;
  if (failed(
          MPI_Iprobe(MPI_ANY_SOURCE, tag, MPI_COMM_WORLD, &isThere, &status)) ||
      !isThere || failed(MPI_Get_count(&status, MPI_BYTE, &count)))
    return false;
  *peer = status.MPI_SOURCE;
  *bytes = size_t(count);
  return true;
}

const char *error() { return lastError().c_str(); }

void close() { MPI_Finalize(); }

} // namespace

extern "C" __attribute__((visibility("default"))) const weft_transport *
weftOpenMpi(const char **reason) {
  static weft_transport transport = {0,      0,     send,  receive, test,
                                     cancel, probe, error, close};
  int level = 0;
  if (failed(
          MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level))) {
    *reason = error();
    return nullptr;
  }
  if (level < MPI_THREAD_SERIALIZED) {
    *reason = "this MPI does not let more than one thread call it";
    return nullptr;
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_rank(MPI_COMM_WORLD, &transport.rank);
  MPI_Comm_size(MPI_COMM_WORLD, &transport.size);
  return &transport;
}
