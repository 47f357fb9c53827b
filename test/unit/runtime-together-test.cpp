// Runs the same programs twice in each process that mpirun starts, alone with
// all devices and together with the others, and compares bits and counts. Cases
// with "[host]" launch kernels of the host; GPUs run the others.
#include "weft/runtime/abi/processes.h"
#include "weft/test/unit/runtime-plan.h"

#include <cstring>
#include <numeric>
#include <random>
#include <unistd.h>

using namespace weft::test;

#ifndef WEFT_TEST_DEVICES
#define WEFT_TEST_DEVICES "cpu:"
#endif

namespace {

std::string devicesOf(int64_t count) {
  return WEFT_TEST_DEVICES + std::to_string(count);
}

/// The processes, joined for the life of the program.
struct Together {
  Together() {
    REQUIRE(take(weft_processes_join(1, STDERR_FILENO, &all)) == "");
  }
  ~Together() {
    int reports, orderly;
    char *other;
    weft_processes_leave(all, 0, nullptr, &reports, &other, &orderly);
    if (!orderly)
      _exit(1);
    weft_processes_free(all);
  }
  weft_processes *all = nullptr;
};

weft_processes *together() {
  static Together joined;
  return joined.all;
}

/// Returns a random number below n, the same in every process.
int64_t roll(int64_t n) {
  static std::mt19937 dice(3);
  return int64_t(dice() % uint64_t(n));
}

/// The rounds of a case; fewer where WEFT_TEST_ROUNDS asks for a part of them.
int64_t rounds(int64_t all) {
  const char *part = std::getenv("WEFT_TEST_ROUNDS");
  return part ? std::max<int64_t>(all / std::atoi(part), 1) : all;
}

/// Returns small random numbers of the port's type, as bytes.
std::vector<uint8_t> numbers(const PortT &port) {
  size_t count = 1, size = size_t(bytesOf(port.dtype));
  for (int64_t n : port.shape)
    count *= size_t(n);
  std::vector<uint8_t> out(count * size);
  for (size_t i = 0; i < count; ++i) {
    float real = float(roll(2000)) / 64 - 15;
    int64_t whole = roll(30);
    if (port.dtype == DType::f32)
      std::memcpy(&out[i * 4], &real, 4);
    else if (port.dtype == DType::bf16)
      std::memcpy(&out[i * 2], reinterpret_cast<char *>(&real) + 2, 2);
    else
      std::memcpy(&out[i * size], &whole, size);
  }
  return out;
}

/// Runs a program three times: one run after the other, or enqueued, and
/// waited for from the last to the first.
void runThrice(Loaded &program, bool isEnqueued) {
  weft_ticket *tickets[3] = {};
  for (weft_ticket *&ticket : tickets)
    if (isEnqueued)
      REQUIRE(take(weft_execute_async(program.runtime, program.program,
                                      program.inputs.data(),
                                      program.outputs.data(), &ticket)) == "");
    else
      REQUIRE(program.run() == "");
  for (int run = 2; run >= 0; --run) {
    REQUIRE(take(weft_ticket_wait(tickets[run])) == "");
    weft_ticket_free(tickets[run]);
  }
}

int64_t sizeOf(const MeshT &mesh) {
  int64_t count = 1;
  for (int64_t n : mesh.axis_sizes)
    count *= n;
  return count;
}

/// The devices of a runtime for a program's mesh.
std::string devicesFor(const PlanBuilder &p) {
  const MeshT &mesh = *p.program.mesh;
  int64_t count = sizeOf(mesh);
  for (int64_t device : mesh.devices)
    count = std::max(count, device + 1);
  return devicesOf(count);
}

/// Returns the outputs and counts of three runs.
std::vector<std::vector<uint8_t>>
results(weft_processes *all, PlanBuilder &p, const std::vector<uint8_t> &image,
        const std::vector<std::vector<uint8_t>> &inputs) {
  Loaded program(image, devicesFor(p), 0, true, all);
  for (size_t i = 0; i < inputs.size(); ++i)
    program.write(i, inputs[i]);
  runThrice(program, all != nullptr);
  std::vector<std::vector<uint8_t>> out;
  for (size_t o = 0; o < p.program.outputs.size(); ++o) {
    const PortT &port = *p.program.outputs[o];
    size_t bytes = size_t(bytesOf(port.dtype));
    for (int64_t n : port.shape)
      bytes *= size_t(n);
    out.push_back(program.read<uint8_t>(o, bytes));
  }
  for (const char *name :
       {"all_reduce", "all_gather", "reduce_scatter", "all_to_all", "exchange",
        "move", "fetch", "pick", "collective_permute", "host_call"}) {
    uint64_t count = 0, bytes = program.counted(name, &count);
    out.push_back({uint8_t(count), uint8_t(bytes), uint8_t(bytes >> 8),
                   uint8_t(bytes >> 16)});
  }
  return out;
}

/// Gives every second mesh devices in a random order, some of more than it needs.
void orderDevices(PlanBuilder &p) {
  MeshT &mesh = *p.program.mesh;
  if (!mesh.devices.empty() || roll(2))
    return;
  std::vector<int64_t> &devices = mesh.devices;
  auto count = size_t(sizeOf(mesh));
  devices.resize(count + size_t(roll(3)));
  std::iota(devices.begin(), devices.end(), 0);
  for (size_t left = devices.size(); left > 1; --left)
    std::swap(devices[left - 1], devices[size_t(roll(int64_t(left)))]);
  devices.resize(count);
}

void compare(PlanBuilder &p) {
  orderDevices(p);
  std::vector<uint8_t> image = p.image();
  std::vector<std::vector<uint8_t>> inputs;
  for (const std::unique_ptr<PortT> &port : p.program.inputs)
    inputs.push_back(numbers(*port));
  auto alone = results(nullptr, p, image, inputs);
  REQUIRE((results(together(), p, image, inputs) == alone));
}

/// Returns a mesh with at least as many devices as there are processes.
std::pair<int64_t, int64_t> randomMesh() {
  for (;;) {
    int64_t x = 1 + roll(5), y = 1 + roll(4);
    if (x * y >= weft_processes_size(together()))
      return {x, y};
  }
}

DType randomType() {
  DType types[] = {DType::f32, DType::bf16, DType::i32, DType::i64, DType::i8};
  return types[roll(5)];
}

/// Returns a random size, which now and then is large enough to be cut among
/// processes.
int64_t randomSize() { return roll(3) ? 1 + roll(9) : 1 + roll(60000); }

} // namespace

TEST_CASE("blocks of global arrays") {
  for (int round = 0; round < rounds(40); ++round) {
    auto [x, y] = randomMesh();
    PlanBuilder p({{"x", x}, {"y", y}});
    std::vector<Axes> layout(2);
    layout[size_t(roll(2))].push_back(fullAxis(0, x));
    if (roll(2))
      layout[size_t(roll(2))].push_back(fullAxis(1, y));
    int64_t rows = 1 + roll(9), columns = 1 + roll(9), step = 1 + roll(4);
    p.state("v", DType::i32, {rows, columns}, layout);
    orderDevices(p);
    Loaded program(p.image(), devicesFor(p), 0, true, together());
    std::vector<int32_t> values = iota<int32_t>(size_t(rows * columns));
    for (int64_t row = 0; row < rows; row += step) {
      int64_t count = std::min(step, rows - row);
      std::vector<int32_t> block(values.begin() + row * columns,
                                 values.begin() + (row + count) * columns);
      REQUIRE(program.writeBlock(0, {row, 0}, {count, columns}, block) == "");
      REQUIRE(program.readBlock<int32_t>(0, {row, 0}, {count, columns}) ==
              block);
    }
    REQUIRE(program.read<int32_t>(0, values.size()) == values);
    // Each process keeps its own shards on the host, which are read together.
    weft_buffer *host = nullptr;
    REQUIRE(take(weft_buffer_create_on_host(program.inputs[0], &host)) == "");
    REQUIRE(take(weft_buffer_assign(host, program.inputs[0])) == "");
    std::vector<int32_t> others(values.size(), -1), found(values.size());
    program.write(0, others);
    REQUIRE(take(weft_buffer_read(host, found.data(), 4 * found.size())) == "");
    REQUIRE(found == values);
    REQUIRE(take(weft_buffer_assign(program.inputs[0], host)) == "");
    weft_buffer_free(host);
    REQUIRE(program.read<int32_t>(0, values.size()) == values);
  }
}

TEST_CASE("reductions") {
  for (int round = 0; round < rounds(40); ++round) {
    auto [x, y] = randomMesh();
    PlanBuilder p({{"x", x}, {"y", y}});
    Axes group = round % 3 == 0   ? Axes{fullAxis(0, x), fullAxis(1, y)}
                 : round % 3 == 1 ? Axes{fullAxis(0, x)}
                                  : Axes{fullAxis(1, y)};
    Axes all = {fullAxis(0, x), fullAxis(1, y)};
    std::vector<uint32_t> values;
    for (int64_t i = 0; i <= roll(3); ++i) {
      values.push_back(p.state("v" + std::to_string(i), randomType(),
                               {x * y * randomSize()}, {all}));
    }
    p.allReduce(values, values, group,
                roll(2) ? ReduceKind::sum : ReduceKind::max);
    compare(p);
  }
}

TEST_CASE("reduce-scatters and all-gathers, uneven too") {
  for (int round = 0; round < rounds(40); ++round) {
    auto [x, y] = randomMesh();
    PlanBuilder p({{"x", x}, {"y", y}});
    DType dtype = randomType();
    Shape shape = {1 + roll(9), 1 + roll(9), roll(3) ? 2 : 5000};
    auto to = uint32_t(roll(2));
    std::vector<Axes> split(3);
    split[to] = {fullAxis(0, x)};
    bool gathers = roll(2);
    uint32_t in =
        p.input("in", dtype, shape, gathers ? split : std::vector<Axes>(3));
    uint32_t out =
        p.output("out", dtype, shape, gathers ? std::vector<Axes>(3) : split);
    if (gathers)
      p.allGather(in, out, {fullAxis(0, x)}, to);
    else
      p.reduceScatter(in, out, {fullAxis(0, x)}, to);
    compare(p);
  }
}

TEST_CASE("exchanges and all-to-alls") {
  for (int round = 0; round < rounds(60); ++round) {
    auto [x, y] = randomMesh();
    PlanBuilder p({{"x", x}, {"y", y}});
    Shape shape = {1 + roll(9), 1 + roll(9)};
    auto layout = [&, x = x, y = y] {
      std::vector<Axes> dims(2);
      if (roll(3))
        dims[size_t(roll(2))].push_back(fullAxis(0, x));
      if (roll(3)) {
        Axes &axes = dims[size_t(roll(2))];
        axes.insert(roll(2) ? axes.begin() : axes.end(), fullAxis(1, y));
      }
      return dims;
    };
    std::vector<Axes> from = layout(), to = layout();
    bool exchanges = roll(2);
    if (!exchanges) {
      from = {{fullAxis(0, x)}, {}};
      to = {{}, {fullAxis(0, x)}};
    }
    DType dtype = randomType();
    uint32_t in = p.input("in", dtype, shape, from);
    uint32_t out = p.output("out", dtype, shape, to);
    if (exchanges)
      p.exchange(in, out, shape, from, to);
    else
      p.allToAll(in, out, {fullAxis(0, x)}, 1, 0);
    compare(p);
  }
}

TEST_CASE("boxes of two arrays, passed on from process to process") {
  for (int round = 0; round < rounds(60); ++round) {
    auto [x, y] = randomMesh();
    PlanBuilder p({{"x", x}, {"y", y}});
    auto layout = [&, x = x, y = y] {
      std::vector<Axes> dims(1);
      if (roll(3))
        dims[0].push_back(fullAxis(0, x));
      if (roll(3))
        dims[0].insert(roll(2) ? dims[0].begin() : dims[0].end(),
                       fullAxis(1, y));
      return dims;
    };
    int64_t n = randomSize(), m = randomSize(), part = 1 + roll(n);
    std::vector<Axes> first = layout(), second = layout(), to = layout();
    DType dtype = randomType();
    uint32_t a = p.input("a", dtype, {n}, first);
    uint32_t b = p.input("b", dtype, {m}, second);
    uint32_t out = p.output("out", dtype, {part + m}, to);
    // The last elements of a in opposite order, and b.
    StartT &start = p.move(a, out, {fullAxis(0, x), fullAxis(1, y)}, {n}, first,
                           {part + m}, to,
                           {0, 1, 1, 0, part, 1, 0, n - 1, -1, //
                            1, 1, 1, part, m, 1, 0, 0, 1});
    PlanBuilder::addSource(start, b, {m}, second);
    compare(p);
  }
}

TEST_CASE("fetches, permutes and picks") {
  for (int round = 0; round < rounds(40); ++round) {
    int64_t x = weft_processes_size(together()) + roll(4), n = 1 + roll(30);
    int64_t block = (n + x - 1) / x;
    PlanBuilder p({{"x", x}});
    uint32_t in = p.input("in", DType::i32, {n}, {{fullAxis(0, x)}});
    if (round % 3 == 0) {
      // The fetch is of a halo or of more, up to all elements, with or without
      // wrap-around. The output keeps its values where nothing is fetched.
      int64_t count = block + roll(2 * block + 1);
      uint32_t out =
          p.state("out", DType::i32, {x * count}, {{fullAxis(0, x)}});
      p.fetch(in, out, {fullAxis(0, x)}, 0,
              {n, block, 1, -roll(3), 1, roll(2) ? n : 0});
    } else if (round % 3 == 1) {
      uint32_t out = p.state("out", DType::i32, {n}, {{fullAxis(0, x)}});
      Shape senders;
      for (int64_t k = 0; k < x; ++k)
        senders.push_back(roll(x + 1) - 1);
      p.collectivePermute(in, out, {fullAxis(0, x)}, senders);
    } else {
      uint32_t at = p.input("at", DType::i64, {x * 7}, {{fullAxis(0, x)}});
      uint32_t out = p.output("out", DType::i32, {x * 7}, {{fullAxis(0, x)}});
      p.pick(in, at, out, {fullAxis(0, x)}, 0);
    }
    compare(p);
  }
}

/// Rows loop 2 and 5 times over an all-reduce of their own.
TEST_CASE("memory of the caller, without addresses of other processes") {
  auto [x, y] = randomMesh();
  PlanBuilder p({{"x", x}, {"y", y}});
  Axes all = {fullAxis(0, x), fullAxis(1, y)};
  int64_t positions = x * y;
  std::vector<uint32_t> values = {
      p.state("v", DType::i32, {positions * 16}, {all})};
  p.allReduce(values, values, all, ReduceKind::sum);
  orderDevices(p);
  std::vector<uint8_t> image = p.image();
  std::vector<int32_t> data = iota<int32_t>(size_t(positions * 16));
  std::string devices = devicesFor(p);
  Loaded alone(image, devices), program(image, devices, 0, true, together());
  alone.write(0, data);
  program.write(0, data);
  std::vector<void *> ports;
  size_t own = 0;
  for (int64_t position = 0; position < positions; ++position) {
    size_t bytes = 0;
    ports.push_back(weft_buffer_local(program.inputs[0], position, &bytes));
    own += ports.back() != nullptr;
  }
  size_t processes = weft_processes_size(together());
  CHECK((own < size_t(positions)) == (processes > 1));
  REQUIRE(alone.run() == "");
  REQUIRE(take(weft_execute_local(program.runtime, program.program,
                                  ports.data(), ports.data())) == "");
  CHECK(program.read<int32_t>(0, data.size()) ==
        alone.read<int32_t>(0, data.size()));
  *std::find_if(ports.begin(), ports.end(), [](void *p) { return p; }) =
      nullptr;
  CHECK_THAT(take(weft_execute_local(program.runtime, program.program,
                                     ports.data(), ports.data())),
             Catch::Contains("is null; allocate it"));
}

/// Process r has a device of group r and one of the next group, in this order, so
/// that a process that made the call of its first device first would begin with
/// another group than the others.
TEST_CASE("processes whose first devices are in other groups", "[order]") {
  auto ranks = int64_t(weft_processes_size(together()));
  PlanBuilder p({{"x", 2}, {"y", ranks}});
  p.program.mesh->devices.assign(size_t(2 * ranks), 0);
  for (int64_t rank = 0; rank < ranks; ++rank) {
    p.program.mesh->devices[size_t(rank)] = 2 * rank;
    p.program.mesh->devices[size_t(ranks + (rank + 1) % ranks)] = 2 * rank + 1;
  }
  Axes along = {fullAxis(0, 2)};
  std::vector<uint32_t> values = {
      p.state("v", DType::i32, {ranks * 6}, {{fullAxis(1, ranks)}})};
  for (int round = 0; round < 3; ++round)
    p.allReduce(values, values, along, ReduceKind::sum);
  compare(p);
}

TEST_CASE("groups in loops of their own", "[host]") {
  PlanBuilder p({{"row", 2}, {"column", 4}});
  uint32_t v =
      p.state("v", DType::f32, {8}, {{fullAxis(0, 2), fullAxis(1, 4)}});
  uint32_t counter = p.state("counter", DType::i32, {1}, {{}});
  uint32_t limit = p.arena(DType::i32, {1}), go = p.arena(DType::i1, {});
  p.launch("limit_by_row", {limit});
  uint32_t head = p.next();
  p.launch("less", {counter, limit, go});
  JumpUnlessT &leave = p.jumpUnless(go, 0);
  p.allReduce({v}, {v}, {fullAxis(1, 4)});
  p.launch("increment", {counter});
  p.jump(head);
  leave.target = p.next();
  std::vector<uint8_t> image = p.image();
  // The counter, output 1, differs between rows and is not compared.
  std::vector<std::vector<uint8_t>> inputs = {numbers(*p.program.inputs[0]),
                                              {0, 0, 0, 0}};
  auto alone = results(nullptr, p, image, inputs),
       shared = results(together(), p, image, inputs);
  CHECK((alone[0] == shared[0]));
  CHECK((std::vector(alone.begin() + 2, alone.end()) ==
         std::vector(shared.begin() + 2, shared.end())));
}

/// An all-reduce after a jump, to which devices come unless `go` is 0.
static PlanBuilder reduceIf(bool isEqual) {
  PlanBuilder p({{"x", 6}});
  uint32_t v = p.state("v", DType::f32, {12}, {{fullAxis(0, 6)}});
  uint32_t go = p.state("go", DType::i1, {}, {});
  JumpUnlessT &skip = p.jumpUnless(go, 0);
  skip.equal = isEqual;
  p.allReduce({v}, {v}, {fullAxis(0, 6)});
  skip.target = p.next();
  return p;
}

TEST_CASE("a collective behind a condition that is equal on all devices") {
  for (uint8_t go : {0, 1}) {
    PlanBuilder p = reduceIf(/*isEqual=*/true);
    std::vector<uint8_t> image = p.image();
    std::vector<std::vector<uint8_t>> inputs = {numbers(*p.program.inputs[0]),
                                                {go}};
    REQUIRE((results(together(), p, image, inputs) ==
             results(nullptr, p, image, inputs)));
  }
}

TEST_CASE("GPUs of several processes do not branch apart around a collective",
          "[.apart]") {
  PlanBuilder p = reduceIf(/*isEqual=*/false);
  Loaded program(p.image(), devicesOf(6), 0, false, together());
  CHECK_THAT(program.run(),
             Catch::Contains(
                 "instruction 1 (all_reduce of the test) of program \"test\" "
                 "is between GPUs of several processes, and devices may come "
                 "to it a different number of times: the condition of "
                 "instruction 0 is not proven equal on all of them; reduce the "
                 "condition over the axes along which it differs, or run one "
                 "process"));
}

TEST_CASE("a deadlock across processes is an error", "[.deadlock]") {
  PlanBuilder p = deadlock();
  Loaded program(p.image(), devicesOf(2), 1, false, together());
  std::string error = program.run();
  if (weft_processes_rank(together()) == 0)
    CHECK(error ==
          "deadlock in \"test\": no group is complete; device 0 waits at "
          "instruction 2 (all_reduce of the test) for device 1 (in another "
          "process)");
}

TEST_CASE("every run after the death of a process is an error", "[.death]") {
  PlanBuilder p({{"x", 2}});
  std::vector<uint32_t> values = {
      p.state("v", DType::f32, {128}, {{fullAxis(0, 2)}})};
  p.allReduce(values, values, {fullAxis(0, 2)}, ReduceKind::sum);
  Loaded program(p.image(), devicesOf(2), 1, false, together());
  program.write(0, std::vector<float>(128, 1));
  REQUIRE(program.run() == "");
  if (weft_processes_rank(together()) == 1)
    _exit(0);
  for (int run = 0; run < 3; ++run)
    CHECK_THAT(program.run(), Catch::Contains("has died"));
}
