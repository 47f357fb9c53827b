// Enqueued runs and copies: their order, errors, callbacks and memory.
#include "weft/test/unit/runtime-plan.h"

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

using namespace weft::test;

namespace {

/// The host of a runtime. It records the values that runs show it, and blocks
/// these runs while it is closed.
class Host {
public:
  explicit Host(weft_runtime *runtime) {
    weft_runtime_set_host(runtime, answer, this);
  }
  void close() {
    std::lock_guard<std::mutex> guard(mutex);
    isOpen = false;
  }
  void open() {
    std::lock_guard<std::mutex> guard(mutex);
    isOpen = true;
    change.notify_all();
  }
  /// Waits until a run shows a value.
  void awaitRun() {
    std::unique_lock<std::mutex> guard(mutex);
    change.wait(guard, [this] { return isHeld; });
  }
  std::vector<int32_t> shown() {
    std::lock_guard<std::mutex> guard(mutex);
    return values;
  }

private:
  static void answer(void *user, int64_t, void *const *operands, size_t,
                     void *const *, size_t) {
    auto &host = *static_cast<Host *>(user);
    std::unique_lock<std::mutex> guard(host.mutex);
    host.values.push_back(*static_cast<int32_t *>(operands[0]));
    host.isHeld = true;
    host.change.notify_all();
    host.change.wait(guard, [&] { return host.isOpen; });
    host.isHeld = false;
  }
  std::mutex mutex;
  std::condition_variable change;
  bool isOpen = true, isHeld = false;
  std::vector<int32_t> values;
};

/// Returns a program that shows "counter" to the host, then adds 1 to it.
std::vector<uint8_t> counting() {
  PlanBuilder p({{"x", 2}});
  uint32_t counter = p.state("counter", DType::i32, {1}, {{}});
  uint32_t seen = p.arena(DType::i32, {1});
  p.hostCall(1, {counter}, {seen}, {fullAxis(0, 2)});
  p.launch("increment", {counter});
  return p.image();
}

/// Returns a program that copies "in" to "out" after it has shown "number" to
/// the host.
std::vector<uint8_t> copying() {
  PlanBuilder p({{"x", 2}});
  uint32_t in = p.input("in", DType::f32, {8192}, {{fullAxis(0, 2)}});
  uint32_t number = p.input("number", DType::i32, {1}, {{}});
  uint32_t out = p.output("out", DType::f32, {8192}, {{fullAxis(0, 2)}});
  uint32_t seen = p.arena(DType::i32, {1});
  p.hostCall(1, {number}, {seen}, {fullAxis(0, 2)});
  p.copy(in, out);
  return p.image();
}

/// Enqueues a run of a program with its own buffers.
weft_ticket *enqueue(Loaded &program) {
  weft_ticket *ticket = nullptr;
  REQUIRE(take(weft_execute_async(program.runtime, program.program,
                                  program.inputs.data(), program.outputs.data(),
                                  &ticket)) == "");
  REQUIRE(ticket);
  return ticket;
}

/// Waits for the ticket, frees it, and returns the error's message.
std::string finish(weft_ticket *ticket) {
  std::string why = take(weft_ticket_wait(ticket));
  weft_ticket_free(ticket);
  return why;
}

/// The arguments of a ticket's callback.
struct Heard {
  weft_ticket *ticket = nullptr;
  std::atomic<int> calls{0};
  std::string error = {};
  bool wasDone = false;
  static void ready(void *user, const weft_error *error) {
    auto &heard = *static_cast<Heard *>(user);
    heard.error = error ? weft_error_message(error) : "";
    heard.wasDone = weft_ticket_poll(heard.ticket) != 0;
    ++heard.calls;
  }
};

} // namespace

TEST_CASE("a run that is enqueued does not keep its caller waiting") {
  Loaded program(counting(), "cpu:2");
  Host host(program.runtime);
  program.write(0, std::vector<int32_t>{40});
  host.close();
  weft_ticket *first = enqueue(program);
  host.awaitRun();
  weft_ticket *second = enqueue(program);
  CHECK(weft_ticket_poll(first) == 0);
  CHECK(weft_ticket_poll(second) == 0);
  CHECK(host.shown() == std::vector<int32_t>{40}); // the second waits
  host.open();
  CHECK(finish(second) == "");
  CHECK(weft_ticket_poll(first) == 1);
  CHECK(finish(first) == "");
  CHECK(host.shown() == std::vector<int32_t>{40, 41});
  CHECK(program.read<int32_t>(0, 1)[0] == 42);
}

TEST_CASE("a run that is enqueued waits for one that its caller works on") {
  Loaded program(counting(), "cpu:2");
  Host host(program.runtime);
  program.write(0, std::vector<int32_t>{40});
  for (int round = 0; round < 20; ++round) {
    host.close();
    weft_error *failed = nullptr;
    std::thread caller([&] {
      failed = weft_execute(program.runtime, program.program,
                            program.inputs.data(), program.outputs.data());
    });
    host.awaitRun();
    weft_ticket *ticket = enqueue(program);
    for (int look = 0; look < 1000; ++look) { // it has time to begin
      REQUIRE(host.shown().size() == size_t(2 * round + 1));
      std::this_thread::yield();
    }
    host.open();
    caller.join();
    CHECK(take(failed) == "");
    CHECK(finish(ticket) == "");
  }
  CHECK(host.shown() == iota<int32_t>(40, 40));
}

TEST_CASE("runs of several threads, and blocking ones, are never mixed") {
  Loaded program(counting(), "cpu:2");
  Host host(program.runtime);
  program.write(0, std::vector<int32_t>{0});
  constexpr int kThreads = 6, kRuns = 40;
  std::atomic<int> failed{0};
  auto work = [&](int thread) {
    std::vector<weft_ticket *> tickets;
    for (int run = 0; run < kRuns; ++run) {
      weft_ticket *ticket = nullptr;
      weft_error *error =
          thread % 3 == 0
              ? weft_execute(program.runtime, program.program,
                             program.inputs.data(), program.outputs.data())
              : weft_execute_async(program.runtime, program.program,
                                   program.inputs.data(),
                                   program.outputs.data(), &ticket);
      failed += error != nullptr;
      weft_error_free(error);
      tickets.push_back(ticket);
    }
    for (weft_ticket *ticket : tickets) {
      weft_error *error = weft_ticket_wait(ticket);
      failed += error != nullptr;
      weft_error_free(error);
      weft_ticket_free(ticket);
    }
  };
  std::vector<std::thread> threads;
  threads.reserve(kThreads);
  for (int thread = 0; thread < kThreads; ++thread)
    threads.emplace_back(work, thread);
  for (std::thread &thread : threads)
    thread.join();
  CHECK(failed == 0);
  CHECK(host.shown() == iota<int32_t>(kThreads * kRuns));
  CHECK(program.read<int32_t>(0, 1)[0] == kThreads * kRuns);
}

TEST_CASE("an error is the ticket's, in every call, and no other run's") {
  PlanBuilder p = deadlock();
  Loaded stuck(p.image(), "cpu:2");
  const std::string why =
      "deadlock in \"test\": no group is complete; device 0 waits at "
      "instruction 2 (all_reduce of the test) for device 1 (returned)";
  weft_ticket *ticket = enqueue(stuck);
  weft_status status = WEFT_OK;
  CHECK(take(weft_ticket_wait(ticket), &status) == why);
  CHECK(status == WEFT_DEADLOCK);
  CHECK(take(weft_ticket_wait(ticket)) == why);
  Heard late{ticket};
  CHECK(take(weft_ticket_on_ready(ticket, Heard::ready, &late)) == "");
  CHECK(late.calls == 1); // at once
  CHECK(late.error == why);
  weft_ticket_free(ticket);

  // The other program is on the same runtime, after a run that fails.
  weft_program *good = nullptr;
  std::vector<uint8_t> image = counting();
  REQUIRE(take(weft_program_load_memory(image.data(), image.size(), &good)) ==
          "");
  Host host(stuck.runtime);
  weft_buffer *counter = nullptr;
  REQUIRE(take(weft_input_create(stuck.runtime, good, 0, &counter)) == "");
  int32_t value = 6;
  REQUIRE(take(weft_buffer_write(counter, &value, 4)) == "");
  weft_ticket *bad = enqueue(stuck), *next = nullptr;
  REQUIRE(take(weft_execute_async(stuck.runtime, good, &counter, &counter,
                                  &next)) == "");
  CHECK(finish(next) == "");
  CHECK(finish(bad) == why);
  REQUIRE(take(weft_buffer_read(counter, &value, 4)) == "");
  CHECK(value == 7);
  weft_buffer_free(counter);
  weft_program_free(good);
}

TEST_CASE("callbacks come once, in order, when the ticket is done") {
  Loaded program(counting(), "cpu:2");
  Host host(program.runtime);
  program.write(0, std::vector<int32_t>{0});
  host.close();
  std::vector<Heard> heard(3);
  static std::mutex mutex;
  static std::vector<const void *> order;
  order.clear();
  for (Heard &one : heard) {
    one.ticket = enqueue(program);
    for (weft_ready_fn ready :
         {weft_ready_fn(Heard::ready),
          weft_ready_fn([](void *user, const weft_error *) {
            std::lock_guard<std::mutex> guard(mutex);
            order.push_back(user);
          })})
      REQUIRE(take(weft_ticket_on_ready(one.ticket, ready, &one)) == "");
  }
  CHECK(take(weft_ticket_on_ready(heard[0].ticket, nullptr, nullptr)) ==
        "null argument");
  host.awaitRun();
  CHECK(heard[0].calls == 0);
  host.open();
  weft_runtime_set_host(program.runtime, nullptr, nullptr); // waits for all
  for (Heard &one : heard) {
    CHECK(finish(one.ticket) == "");
    while (one.calls == 0) // the last run is done before its callback
      std::this_thread::yield();
    CHECK(one.wasDone);
  }
  CHECK(take(weft_execute(program.runtime, program.program,
                          program.inputs.data(), program.outputs.data()))
            .find("of its host, which has none") != std::string::npos);
  for (Loaded *one : {&program}) { // its runtime waits for the last callback
    weft_runtime_free(one->runtime);
    one->runtime = nullptr;
  }
  for (Heard &one : heard)
    CHECK(one.calls == 1);
  CHECK(order == std::vector<const void *>{&heard[0], &heard[1], &heard[2]});
}

TEST_CASE("a callback enqueues, and waits for nothing") {
  Loaded program(counting(), "cpu:2");
  Host host(program.runtime);
  program.write(0, std::vector<int32_t>{0});
  struct Chain {
    Loaded &program;
    weft_ticket *behind = nullptr, *next = nullptr;
    std::string enqueued = {}, executed = {}, waited = {}, readIt = {};
    std::atomic<bool> isOver{false};
  } chain{program};
  host.close();
  weft_ticket *first = enqueue(program);
  host.awaitRun();
  chain.behind = enqueue(program);
  auto ready = [](void *user, const weft_error *) {
    auto &c = *static_cast<Chain *>(user);
    Loaded &p = c.program;
    int32_t value = 0;
    c.waited = take(weft_ticket_wait(c.behind));
    c.executed = p.run();
    c.readIt = take(weft_buffer_read(p.outputs[0], &value, 4));
    c.enqueued = take(weft_execute_async(p.runtime, p.program, p.inputs.data(),
                                         p.outputs.data(), &c.next));
    c.isOver = true;
  };
  REQUIRE(take(weft_ticket_on_ready(first, ready, &chain)) == "");
  host.open();
  CHECK(finish(chain.behind) == "");
  CHECK(chain.isOver); // the run after it began later
  const std::string waits = "a callback of a ticket waits for work enqueued "
                            "behind it; give that ticket a callback instead";
  CHECK(chain.waited == waits);
  CHECK(chain.readIt == waits);
  CHECK(chain.executed ==
        "a callback of a ticket waits for a run, which begins when the "
        "callback is over; enqueue the run instead");
  CHECK(chain.enqueued == "");
  CHECK(finish(chain.next) == "");
  CHECK(program.read<int32_t>(0, 1)[0] == 3);
  CHECK(finish(first) == "");
}

TEST_CASE("buffers and programs that are freed early last until their run") {
  Loaded program(copying(), "cpu:2");
  Host host(program.runtime);
  std::vector<float> data = iota<float>(8192);
  program.write(0, data);
  program.write(1, std::vector<int32_t>{5});
  host.close();
  weft_ticket *ticket = enqueue(program);
  host.awaitRun();
  uint64_t before = weft_runtime_peak_memory(program.runtime);
  for (weft_buffer *&input : program.inputs) {
    weft_buffer_free(input);
    std::erase(program.owned, input);
  }
  // A call that is refused does not release the buffers of the run.
  CHECK(take(weft_execute(
            program.runtime, program.program,
            std::array<weft_buffer *, 2>{program.outputs[0], program.outputs[0]}
                .data(),
            program.outputs.data())) ==
        "\"number\" is given the buffer of \"out\", which has another dtype, "
        "shape or layout");
  weft_program_free(program.program);
  program.program = nullptr;
  host.open();
  CHECK(finish(ticket) == "");
  CHECK(program.read<float>(0, 8192) == data);
  CHECK(weft_runtime_peak_memory(program.runtime) == before);
  // A buffer may even outlive its runtime.
  weft_runtime_free(program.runtime);
  program.runtime = nullptr;
}

TEST_CASE("reads and writes of a buffer wait for the runs that use it") {
  Loaded program(copying(), "cpu:2");
  Host host(program.runtime);
  std::vector<float> data = iota<float>(8192);
  program.write(0, data);
  program.write(1, std::vector<int32_t>{5});
  weft_buffer *free = nullptr; // used by no run
  REQUIRE(take(weft_input_create(program.runtime, program.program, 1, &free)) ==
          "");
  host.close();
  weft_ticket *ticket = enqueue(program);
  host.awaitRun();
  int32_t number = 9; // the write does not wait for the blocked run
  CHECK(take(weft_buffer_write(free, &number, 4)) == "");
  std::vector<float> read(8192), other(8192, 1);
  std::atomic<int> started{0};
  weft_error *failed[2] = {};
  std::thread reader([&] {
    ++started;
    failed[0] = weft_buffer_read(program.outputs[0], read.data(), 4 * 8192);
  });
  std::thread writer([&] {
    ++started;
    failed[1] = weft_buffer_write(program.inputs[0], other.data(), 4 * 8192);
  });
  while (started < 2)
    std::this_thread::yield();
  CHECK(weft_ticket_poll(ticket) == 0);
  host.open();
  reader.join();
  writer.join();
  CHECK(take(failed[0]) == "");
  CHECK(take(failed[1]) == "");
  CHECK(read == data);
  CHECK(finish(ticket) == "");
  CHECK(program.run() == "");
  CHECK(program.read<float>(0, 8192) == other);
  weft_buffer_free(free);
}

TEST_CASE("memory of devices is copied in order, and freed behind its runs") {
  Loaded program(copying(), "cpu:2");
  Host host(program.runtime);
  weft_runtime *runtime = program.runtime;
  constexpr uint64_t kBytes = 4096 * 4; // a device's half of "in"
  std::vector<float> data = iota<float>(8192), back(8192);
  void *ports[3][2] = {}; // in, number, out on both devices
  weft_ticket *ticket = nullptr;
  std::vector<weft_ticket *> tickets;
  int32_t number = 3;
  auto copy = [&](int64_t to, void *target, int64_t from, const void *source,
                  uint64_t bytes) {
    REQUIRE(take(weft_device_copy(runtime, to, target, from, source, bytes,
                                  &ticket)) == "");
    tickets.push_back(ticket);
  };
  for (auto &port : ports)
    for (int64_t device : {0, 1}) {
      REQUIRE(take(weft_device_allocate(runtime, device, kBytes,
                                        &port[device])) == "");
      CHECK(reinterpret_cast<uintptr_t>(port[device]) % 64 == 0);
    }
  host.close();
  for (int64_t device : {0, 1}) {
    copy(device, ports[0][device], -1, &data[size_t(4096 * device)], kBytes);
    copy(device, ports[1][device], -1, &number, 4);
  }
  void *inputs[] = {ports[0][0], ports[0][1], ports[1][0], ports[1][1]};
  REQUIRE(take(weft_execute_local_async(runtime, program.program, inputs,
                                        ports[2], &ticket)) == "");
  tickets.push_back(ticket);
  host.awaitRun();
  CHECK(host.shown() == std::vector<int32_t>{3});
  CHECK(weft_ticket_poll(ticket) == 0);
  // Copies from device to device and to the host, enqueued after the run.
  copy(0, ports[2][0], 1, ports[2][1], kBytes);
  copy(-1, back.data(), 0, ports[2][0], kBytes);
  copy(-1, &back[4096], 1, ports[2][1], kBytes);
  for (void *memory : {ports[0][0], ports[0][1], ports[2][0], ports[2][1]})
    CHECK(take(weft_device_free(runtime, memory)) == "");
  host.open();
  for (weft_ticket *one : tickets)
    CHECK(finish(one) == "");
  CHECK(std::vector(back.begin() + 4096, back.end()) ==
        std::vector(data.begin() + 4096, data.end()));
  CHECK(std::vector(back.begin(), back.begin() + 4096) ==
        std::vector(data.begin() + 4096, data.end()));
}

TEST_CASE("an address that is no memory of a device is an error") {
  Loaded program(copying(), "cpu:2", 3);
  weft_runtime *runtime = program.runtime;
  void *memory = nullptr;
  weft_ticket *ticket = nullptr;
  CHECK(take(weft_device_allocate(runtime, 2, 64, &memory)) ==
        "there is no device 2 of cpu:2, 3 workers; give one from 0 to 1");
  CHECK(memory == nullptr);
  REQUIRE(take(weft_device_allocate(runtime, 1, 64, &memory)) == "");
  CHECK(take(weft_device_copy(runtime, -2, memory, 1, memory, 64, &ticket)) ==
        "there is no device -2 of cpu:2, 3 workers; give one from 0 to 1");
  CHECK(take(weft_device_copy(runtime, -1, nullptr, 1, memory, 64, &ticket)) ==
        "null argument");
  CHECK(take(weft_device_copy(runtime, -1, &ticket, 1, memory, 8, nullptr)) ==
        "null argument");
  CHECK(take(weft_device_free(runtime, memory)) == "");
  std::string why = take(weft_device_free(runtime, memory));
  CHECK(why.starts_with("no memory of cpu:2, 3 workers begins at 0x"));
  CHECK(why.ends_with("; free each address of weft_device_allocate once"));
  CHECK(take(weft_device_free(runtime, nullptr)) == "");
  CHECK(take(weft_execute_async(runtime, program.program, program.inputs.data(),
                                program.outputs.data(), nullptr)) ==
        "null argument");
  CHECK(weft_ticket_poll(nullptr) == 1);
  CHECK(take(weft_ticket_wait(nullptr)) == "");
}
