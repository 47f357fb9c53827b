// What Weft relies on in NCCL, between the GPUs of one process: run with the
// fake (FAKE_CUDA_GPUS=4), or with libnccl.so.2 on a machine that has GPUs. The
// cases that begin with a dot are mistakes, which nccl-mistakes.test runs: the
// fake reports each.
#include "weft/runtime/devices/cuda/NcclAbi.h"
#include "weft/test/cuda/CudaDriver.h"

#include <memory>
#include <numeric>

using namespace weft::cuda;
using weft::nccl::Comm;
using weft::nccl::Reduction;
using weft::nccl::Status;
using weft::nccl::Type;

namespace {

struct Nccl {
#define WEFT_NCCL_FUNCTION(name, result, parameters)                           \
  result(*name) parameters = nullptr;
  WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FUNCTION)
#undef WEFT_NCCL_FUNCTION
};

const Nccl &loadedNccl() {
  static const Nccl loaded = [] {
    Nccl nccl;
    void *library = dlopen("libnccl.so.2", RTLD_NOW);
    INFO((library ? "" : dlerror()));
    REQUIRE(library);
#define WEFT_NCCL_FUNCTION(name, result, parameters)                           \
  nccl.name = reinterpret_cast<decltype(nccl.name)>(dlsym(library, #name));    \
  REQUIRE(nccl.name);
    WEFT_NCCL_FUNCTIONS(WEFT_NCCL_FUNCTION)
#undef WEFT_NCCL_FUNCTION
    return nccl;
  }();
  return loaded;
}

#define GOOD(call) REQUIRE((call) == Status::Success)

int gpuCount() {
  int count = 0;
  OK(loadedCuda().cuInit(0));
  OK(loadedCuda().cuDeviceGetCount(&count));
  return std::min(count, 4);
}

/// A context, a stream and arrays on each GPU, with a communicator of all.
struct Ranks {
  const Cuda &cuda = loadedCuda();
  const Nccl &nccl = loadedNccl();
  int count = gpuCount();
  std::vector<Context> contexts;
  std::vector<Stream> streams;
  std::vector<Comm> comms, more;
  std::vector<std::pair<int, Address>> allocations;

  Ranks() {
    std::vector<int> devices;
    for (int i = 0; i < count; ++i) {
      OK(cuda.cuDevicePrimaryCtxRetain(&contexts.emplace_back(), i));
      OK(cuda.cuCtxSetCurrent(contexts.back()));
      OK(cuda.cuStreamCreate(&streams.emplace_back(), kStreamNonBlocking));
      devices.push_back(i);
    }
    comms.resize(devices.size());
    GOOD(nccl.ncclCommInitAll(comms.data(), count, devices.data()));
  }
  ~Ranks() {
    for (auto [rank, address] : allocations) {
      on(rank);
      cuda.cuCtxSynchronize();
      cuda.cuMemFree(address);
    }
    for (const auto *all : {&more, &comms})
      for (Comm comm : *all)
        nccl.ncclCommDestroy(comm);
    for (int i = 0; i < count; ++i) {
      on(i);
      cuda.cuStreamDestroy(streams[size_t(i)]);
      cuda.cuDevicePrimaryCtxRelease(i);
    }
  }
  void on(int rank) { OK(cuda.cuCtxSetCurrent(contexts[size_t(rank)])); }
  Stream stream(int rank) const { return streams[size_t(rank)]; }

  void *upload(int rank, const std::vector<float> &values) {
    on(rank);
    Address address = 0;
    OK(cuda.cuMemAlloc(&address, values.size() * 4));
    allocations.push_back({rank, address});
    OK(cuda.cuMemcpyHtoDAsync(address, values.data(), values.size() * 4,
                              stream(rank)));
    return reinterpret_cast<void *>(address);
  }
  std::vector<float> download(int rank, void *from, size_t count) {
    on(rank);
    std::vector<float> values(count);
    OK(cuda.cuMemcpyDtoHAsync(values.data(), Address(from), count * 4,
                              stream(rank)));
    OK(cuda.cuStreamSynchronize(stream(rank)));
    return values;
  }
  /// The n-th array of each rank: rank r's element i is 100 r + i.
  std::vector<void *> arrays(size_t length) {
    std::vector<void *> all;
    for (int r = 0; r < count; ++r) {
      std::vector<float> values(length);
      std::iota(values.begin(), values.end(), float(100 * r));
      all.push_back(upload(r, values));
    }
    return all;
  }
  Status sum(int rank, void *from, void *to, size_t length, Comm comm) {
    return nccl.ncclAllReduce(from, to, length, Type::F32, Reduction::Sum, comm,
                              stream(rank));
  }
};

} // namespace

TEST_CASE("all ranks have the same sum, in place too") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(1000), out = ranks.arrays(1000);
  for (bool isInPlace : {false, true}) {
    GOOD(ranks.nccl.ncclGroupStart());
    for (int r = 0; r < ranks.count; ++r)
      GOOD(ranks.sum(r, in[size_t(r)], (isInPlace ? in : out)[size_t(r)], 1000,
                     ranks.comms[size_t(r)]));
    GOOD(ranks.nccl.ncclGroupEnd());
    for (int r = 0; r < ranks.count; ++r) {
      auto sums = ranks.download(r, (isInPlace ? in : out)[size_t(r)], 1000);
      for (int i = 0; i < 1000; ++i)
        REQUIRE(sums[size_t(i)] ==
                float(ranks.count * i + 50 * ranks.count * (ranks.count - 1)));
    }
  }
}

TEST_CASE("blocks are gathered in the order of ranks, and scattered") {
  Ranks ranks;
  auto n = size_t(ranks.count);
  std::vector<void *> in = ranks.arrays(5), all = ranks.arrays(5 * n),
                      block = ranks.arrays(5);
  GOOD(ranks.nccl.ncclGroupStart());
  for (size_t r = 0; r < n; ++r)
    GOOD(ranks.nccl.ncclAllGather(in[r], all[r], 5, Type::F32, ranks.comms[r],
                                  ranks.streams[r]));
  GOOD(ranks.nccl.ncclGroupEnd());
  GOOD(ranks.nccl.ncclGroupStart());
  for (size_t r = 0; r < n; ++r)
    GOOD(ranks.nccl.ncclReduceScatter(all[r], block[r], 5, Type::F32,
                                      Reduction::Sum, ranks.comms[r],
                                      ranks.streams[r]));
  GOOD(ranks.nccl.ncclGroupEnd());
  for (size_t r = 0; r < n; ++r) {
    auto gathered = ranks.download(int(r), all[r], 5 * n);
    for (size_t i = 0; i < 5 * n; ++i)
      REQUIRE(gathered[i] == float(100 * (i / 5) + i % 5));
    auto sums = ranks.download(int(r), block[r], 5);
    for (size_t i = 0; i < 5; ++i)
      REQUIRE(sums[i] == float(n * (100 * r + i)));
  }
}

TEST_CASE("every rank receives the root's array") {
  Ranks ranks;
  int root = ranks.count - 1;
  std::vector<void *> in = ranks.arrays(7), out = ranks.arrays(7);
  GOOD(ranks.nccl.ncclGroupStart());
  for (size_t r = 0; r < in.size(); ++r)
    GOOD(ranks.nccl.ncclBroadcast(in[r], out[r], 7, Type::F32, root,
                                  ranks.comms[r], ranks.streams[r]));
  GOOD(ranks.nccl.ncclGroupEnd());
  for (size_t r = 0; r < in.size(); ++r)
    REQUIRE(ranks.download(int(r), out[r], 7)[6] == float(100 * root + 6));
}

TEST_CASE("messages of a group reach each other in their order") {
  Ranks ranks;
  int n = ranks.count;
  std::vector<void *> in = ranks.arrays(6), out = ranks.arrays(6);
  // Each rank sends two halves to the next one.
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < n; ++r)
    for (size_t half = 0; half < 2; ++half) {
      auto *from = static_cast<float *>(in[size_t(r)]) + 3 * half;
      auto *to = static_cast<float *>(out[size_t(r)]) + 3 * half;
      GOOD(ranks.nccl.ncclSend(from, 12, Type::U8, (r + 1) % n,
                               ranks.comms[size_t(r)], ranks.stream(r)));
      GOOD(ranks.nccl.ncclRecv(to, 12, Type::U8, (r + n - 1) % n,
                               ranks.comms[size_t(r)], ranks.stream(r)));
    }
  GOOD(ranks.nccl.ncclGroupEnd());
  for (int r = 0; r < n; ++r)
    for (size_t i = 0; i < 6; ++i)
      REQUIRE(ranks.download(r, out[size_t(r)], 6)[i] ==
              float(size_t(100 * ((r + n - 1) % n)) + i));
}

TEST_CASE("a split orders the ranks of each color by their keys") {
  Ranks ranks;
  int n = ranks.count;
  // Even and odd ranks, in reverse order.
  ranks.more.resize(size_t(n));
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < n; ++r)
    GOOD(ranks.nccl.ncclCommSplit(ranks.comms[size_t(r)], r % 2, -r,
                                  &ranks.more[size_t(r)], nullptr));
  GOOD(ranks.nccl.ncclGroupEnd());
  std::vector<void *> in = ranks.arrays(1), out = ranks.arrays(size_t(n));
  GOOD(ranks.nccl.ncclGroupStart());
  for (size_t r = 0; r < size_t(n); ++r)
    GOOD(ranks.nccl.ncclAllGather(in[r], out[r], 1, Type::F32, ranks.more[r],
                                  ranks.streams[r]));
  GOOD(ranks.nccl.ncclGroupEnd());
  for (int r = 0; r < n; ++r) {
    int last = (n - 1 - r % 2) / 2 * 2 + r % 2;
    REQUIRE(ranks.download(r, out[size_t(r)], 1)[0] == float(100 * last));
  }
}

TEST_CASE("a communicator is made of ranks that share an id") {
  Ranks ranks;
  weft::nccl::UniqueId id;
  GOOD(ranks.nccl.ncclGetUniqueId(&id));
  ranks.more.resize(size_t(ranks.count));
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r) {
    ranks.on(r);
    weft::nccl::Config config;
    GOOD(ranks.nccl.ncclCommInitRankConfig(&ranks.more[size_t(r)], ranks.count,
                                           id, r, &config));
  }
  GOOD(ranks.nccl.ncclGroupEnd());
  std::vector<void *> in = ranks.arrays(3);
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r)
    GOOD(ranks.sum(r, in[size_t(r)], in[size_t(r)], 3, ranks.more[size_t(r)]));
  GOOD(ranks.nccl.ncclGroupEnd());
  REQUIRE(ranks.download(0, in[0], 3)[0] ==
          float(50 * ranks.count * (ranks.count - 1)));
}

// Mistakes.

TEST_CASE("ranks sum different counts", "[.counts]") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(8);
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r)
    GOOD(ranks.sum(r, in[size_t(r)], in[size_t(r)], r == 1 ? 7 : 8,
                   ranks.comms[size_t(r)]));
  REQUIRE(ranks.nccl.ncclGroupEnd() == Status::InvalidUsage);
}

TEST_CASE("ranks make different calls", "[.kinds]") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(8), out = ranks.arrays(64);
  GOOD(ranks.nccl.ncclGroupStart());
  GOOD(ranks.sum(0, in[0], in[0], 8, ranks.comms[0]));
  for (size_t r = 1; r < in.size(); ++r)
    GOOD(ranks.nccl.ncclAllGather(in[r], out[r], 8, Type::F32, ranks.comms[r],
                                  ranks.streams[r]));
  REQUIRE(ranks.nccl.ncclGroupEnd() == Status::InvalidUsage);
}

TEST_CASE("a rank makes no call", "[.absent]") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(8);
  REQUIRE(ranks.sum(0, in[0], in[0], 8, ranks.comms[0]) ==
          Status::InvalidUsage);
}

TEST_CASE("a message is not received", "[.message]") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(8);
  REQUIRE(ranks.nccl.ncclSend(in[0], 8, Type::F32, 1, ranks.comms[0],
                              ranks.stream(0)) == Status::InvalidUsage);
}

TEST_CASE("a group stays open", "[.open]") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(8);
  GOOD(ranks.nccl.ncclGroupStart());
  GOOD(ranks.sum(0, in[0], in[0], 8, ranks.comms[0]));
}

TEST_CASE("two communicators are used in opposite orders", "[.orders]") {
  Ranks ranks;
  ranks.more.resize(size_t(ranks.count));
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r)
    GOOD(ranks.nccl.ncclCommSplit(ranks.comms[size_t(r)], 0, r,
                                  &ranks.more[size_t(r)], nullptr));
  GOOD(ranks.nccl.ncclGroupEnd());
  std::vector<void *> in = ranks.arrays(8), other = ranks.arrays(8);
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r) {
    auto n = size_t(r);
    GOOD(ranks.sum(r, in[n], in[n], 8, (r ? ranks.comms : ranks.more)[n]));
    GOOD(
        ranks.sum(r, other[n], other[n], 8, (r ? ranks.more : ranks.comms)[n]));
  }
  REQUIRE(ranks.nccl.ncclGroupEnd() == Status::InvalidUsage);
}

TEST_CASE("an array is written while a call reads it", "[.reused]") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(8), out = ranks.arrays(8);
  Stream second = nullptr;
  ranks.on(0);
  OK(ranks.cuda.cuStreamSynchronize(ranks.stream(0)));
  OK(ranks.cuda.cuStreamCreate(&second, kStreamNonBlocking));
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r)
    GOOD(
        ranks.sum(r, in[size_t(r)], out[size_t(r)], 8, ranks.comms[size_t(r)]));
  GOOD(ranks.nccl.ncclGroupEnd());
  ranks.on(0);
  OK(ranks.cuda.cuMemsetD32Async(Address(in[0]), 0, 8, second));
  OK(ranks.cuda.cuStreamSynchronize(second));
  ranks.download(0, out[0], 8);
  ranks.on(0);
  OK(ranks.cuda.cuStreamDestroy(second));
}

TEST_CASE("an array is freed while a call needs it", "[.freed]") {
  Ranks ranks;
  std::vector<void *> in = ranks.arrays(8), out = ranks.arrays(8);
  ranks.on(0);
  OK(ranks.cuda.cuStreamSynchronize(ranks.stream(0)));
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r)
    GOOD(
        ranks.sum(r, in[size_t(r)], out[size_t(r)], 8, ranks.comms[size_t(r)]));
  GOOD(ranks.nccl.ncclGroupEnd());
  ranks.on(0);
  ranks.cuda.cuMemFree(Address(in[0]));
  ranks.allocations.erase(ranks.allocations.begin());
}

TEST_CASE("an array was never written", "[.unwritten]") {
  Ranks ranks;
  std::vector<void *> out = ranks.arrays(8);
  ranks.on(0);
  Address unwritten = 0;
  OK(ranks.cuda.cuMemAlloc(&unwritten, 32));
  ranks.allocations.push_back({0, unwritten});
  GOOD(ranks.nccl.ncclGroupStart());
  for (int r = 0; r < ranks.count; ++r)
    GOOD(ranks.sum(r, r ? out[size_t(r)] : reinterpret_cast<void *>(unwritten),
                   out[size_t(r)], 8, ranks.comms[size_t(r)]));
  GOOD(ranks.nccl.ncclGroupEnd());
  ranks.download(0, out[0], 8);
}

TEST_CASE("communicators are not destroyed", "[.leak]") {
  Ranks ranks;
  ranks.comms.clear();
}
