// A network for benches: libWeftMpi.so whose messages of collectives
// take as long as on links of a stated speed.
//
//   WEFT_SLOW_LATENCY=1e-4 WEFT_SLOW_BANDWIDTH=1e8 mpirun -n 2 weft run ...
//
// A process has one link: messages leave it one after the other, each after its
// latency and its bytes over the bandwidth. A thread sleeps meanwhile, and sends
// and receives as a network card does: no core computes for it.

#include "weft/runtime/processes/Transport.h"

#include <chrono>
#include <cstdlib>
#include <deque>
#include <dlfcn.h>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

/// The tags of collectives (Processes.h); others are not slowed down.
constexpr int firstSlowTag = 16;

struct Request {
  Request(int peer, int tag, const void *data, size_t bytes)
      : peer(peer), tag(tag), data(data), bytes(bytes) {}
  int peer, tag;
  const void *data;
  size_t bytes;
  Clock::time_point leaves; ///< when it has crossed the link
  void *inner = nullptr;    ///< the request of MPI, once it has begun
  int state = 0;            ///< that of test()
};

struct Network {
  const weft_transport *mpi = nullptr;
  double latency = 0, bandwidth = 1e12;
  std::mutex calls; ///< held for calls of MPI and for what follows
  std::deque<Request *> waiting;
  std::vector<Request *> begun;
  Clock::time_point freeAt;
  bool ends = false;
  std::thread card;
};

Network &network() {
  static Network *its = new Network;
  return *its;
}

double number(const char *name, double usual) {
  const char *text = std::getenv(name);
  return text ? std::strtod(text, nullptr) : usual;
}

/// Sends what has crossed the link, and tests what MPI has begun.
void work(Network &its) {
  while (!its.waiting.empty() && its.waiting.front()->leaves <= Clock::now()) {
    Request *first = its.waiting.front();
    its.waiting.pop_front();
    first->inner =
        its.mpi->send(first->peer, first->tag, first->data, first->bytes);
    if (first->inner)
      its.begun.push_back(first);
    else
      first->state = -1;
  }
  std::erase_if(its.begun, [&](Request *request) {
    request->state = its.mpi->test(request->inner);
    return request->state != 0;
  });
}

void runCard() {
  Network &its = network();
  for (;;) {
    {
      std::lock_guard<std::mutex> guard(its.calls);
      if (its.ends)
        return;
      work(its);
    }
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

void *slowSend(int peer, int tag, const void *data, size_t bytes) {
  Network &its = network();
  std::lock_guard<std::mutex> guard(its.calls);
  auto *made = new Request(peer, tag, data, bytes);
  if (tag < firstSlowTag) {
    made->leaves = Clock::now();
    made->inner = its.mpi->send(peer, tag, data, bytes);
    if (made->inner)
      its.begun.push_back(made);
    else
      made->state = -1;
    return made;
  }
  std::chrono::duration<double> takes(its.latency +
                                      double(bytes) / its.bandwidth);
  its.freeAt = std::max(its.freeAt, Clock::now()) +
               std::chrono::duration_cast<Clock::duration>(takes);
  made->leaves = its.freeAt;
  its.waiting.push_back(made);
  return made;
}

void *slowReceive(int peer, int tag, void *data, size_t bytes) {
  Network &its = network();
  std::lock_guard<std::mutex> guard(its.calls);
  void *inner = its.mpi->receive(peer, tag, data, bytes);
  if (!inner)
    return nullptr;
  auto *made = new Request(peer, tag, data, bytes);
  made->inner = inner;
  its.begun.push_back(made);
  return made;
}

int slowTest(void *handle) {
  Network &its = network();
  std::lock_guard<std::mutex> guard(its.calls);
  auto *request = static_cast<Request *>(handle);
  if (request->state == 0)
    work(its);
  int state = request->state;
  if (state != 0)
    delete request;
  return state;
}

void slowCancel(void *handle) {
  Network &its = network();
  std::lock_guard<std::mutex> guard(its.calls);
  auto *request = static_cast<Request *>(handle);
  if (request->inner && request->state == 0)
    its.mpi->cancel(request->inner);
  else if (std::erase(its.waiting, request))
    request->state = 1;
}

bool slowProbe(int tag, int *peer, size_t *bytes) {
  Network &its = network();
  std::lock_guard<std::mutex> guard(its.calls);
  return its.mpi->probe(tag, peer, bytes);
}

const char *slowError() { return network().mpi->error(); }

void slowClose() {
  Network &its = network();
  {
    std::lock_guard<std::mutex> guard(its.calls);
    its.ends = true;
  }
  its.card.join();
  its.mpi->close();
}

} // namespace

extern "C" __attribute__((visibility("default"))) const weft_transport *
weftOpenMpi(const char **reason) {
  Network &its = network();
  Dl_info self;
  std::string path;
  if (dladdr(reinterpret_cast<void *>(&weftOpenMpi), &self) && self.dli_fname)
    path = self.dli_fname;
  path = path.substr(0, path.rfind('/')) + "/../libWeftMpi.so";
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  auto *open =
      library
          ? reinterpret_cast<WeftOpenTransport *>(dlsym(library, "weftOpenMpi"))
          : nullptr;
  if (!open) {
    *reason = dlerror();
    return nullptr;
  }
  its.mpi = open(reason);
  if (!its.mpi)
    return nullptr;
  its.latency = number("WEFT_SLOW_LATENCY", 0);
  its.bandwidth = number("WEFT_SLOW_BANDWIDTH", 1e12);
  its.card = std::thread(runCard);
  static weft_transport made = {its.mpi->rank, its.mpi->size, slowSend,
                                slowReceive,   slowTest,      slowCancel,
                                slowProbe,     slowError,     slowClose};
  return &made;
}
