// The CPU's executor is tested with a provider of the test's own.
#include "weft/test/unit/runtime-plan.h" // first: its SubAxis is the plan's

#include "weft/runtime/devices/cpu/Executor.h"
#include "weft/runtime/devices/cpu/Workers.h"

#include <atomic>
#include <sched.h>

using namespace weft::test;
namespace runtime = weft::runtime;

namespace {

/// More polls of group 0 than a thread makes before it sees group 1.
constexpr int kManyLooks = 40000;

/// The messages of two groups: devices 0 and 2 are group 0, 1 and 3 are group
/// 1; 2 and 3 are in another process. Group 0's message arrives only after
/// group 1 was polled.
struct Mail {
  std::atomic<int> looksAt0{0};
  std::atomic<bool> has1Begun{false}, has1Arrived{false}, isLost{false};
};

class Messages final : public runtime::GroupMessages {
public:
  Messages(Mail &mail [[clang::lifetimebound]], int64_t group)
      : mail(mail), group(group) {}
  weft::Status start(void **sources) override {
    sources[1] = sources[0]; // the other member's source
    while (group == 1 && mail.looksAt0 == 0)
      sched_yield(); // until group 0 was polled alone
    mail.has1Begun = mail.has1Begun || group == 1;
    return {};
  }
  bool poll() override {
    if (group == 1)
      return mail.has1Arrived = true;
    ++mail.looksAt0;
    if (mail.has1Begun && ++looksInVain > kManyLooks)
      mail.isLost = true;
    return mail.has1Arrived || mail.isLost;
  }
  bool hasResults() const override { return false; }
  void sendResults(void *const *) override {}
  void finish() override {}
  void abandon() override {}

private:
  Mail &mail;
  int64_t group;
  int looksInVain = 0;
};

class Mailed final : public runtime::PreparedCollective {
public:
  explicit Mailed(Mail &mail) : groups{{mail, 0}, {mail, 1}} {}
  int64_t chunkCount(int64_t) const override { return 0; }
  void run(int64_t, void *const *, void *const *, int64_t) const override {}
  std::vector<runtime::MemberSlice>
  needs(int64_t, const std::function<bool(int64_t)> &) const override {
    return {};
  }
  runtime::GroupMessages *messages(int64_t group) const override {
    return &groups[group];
  }

private:
  mutable Messages groups[2];
};

class Post final : public runtime::CollectiveProvider {
public:
  explicit Post(Mail &mail [[clang::lifetimebound]]) : mail(mail) {}
  weft::Status
  prepare(const weft::Mesh &, const runtime::Ownership &,
          const runtime::Collective &, int64_t,
          std::unique_ptr<runtime::PreparedCollective> &out) const override {
    out = std::make_unique<Mailed>(mail);
    return {};
  }

private:
  Mail &mail;
};

} // namespace

TEST_CASE("a worker that polls messages learns of a group that begins later") {
  PlanBuilder p({{"row", 2}, {"column", 2}});
  uint32_t v =
      p.state("v", DType::f32, {4}, {{fullAxis(0, 2), fullAxis(1, 2)}});
  p.allReduce({v}, {v}, {fullAxis(0, 2)}); // positions 0 and 2, 1 and 3
  std::vector<uint8_t> image = p.image();
  std::shared_ptr<const runtime::Program> program;
  REQUIRE(runtime::Program::load(image, program));
  REQUIRE(program->prepare());
  for (int round = 0; round < 20; ++round) {
    Mail mail;
    Post post(mail);
    runtime::Executor executor(program, runtime::Ownership{0, {0, 0, 1, 1}});
    REQUIRE(executor.prepare(post, 2));
    float values[2] = {};
    executor.bind({}, [&](const runtime::Executor::Bound &, int64_t position,
                          size_t) { return &values[position]; });
    runtime::Workers workers(2);
    CHECK(executor.run(workers));
    CHECK(mail.has1Arrived);
    CHECK(!mail.isLost);
  }
}

TEST_CASE("an error in C has the options of its message, and a status") {
  weft_error *error = runtime::guarded([]() -> weft::Status {
    return weft::Status(runtime::makeError(
                            weft::StatusCode::Incompatible, "needs 8 of ", 2,
                            " devices; use ", weft::Option{"devices", "cpu:8"},
                            " or leave ", weft::Option{"target"}, " out"))
        .in("step.weft");
  });
  std::string text = weft_error_message(error);
  CHECK(text == "step.weft: needs 8 of 2 devices; use devices=cpu:8 or leave "
                "target out");
  CHECK(weft_error_status(error) == WEFT_INCOMPATIBLE);
  const weft_option *options = nullptr;
  REQUIRE(weft_error_options(error, &options) == 2);
  CHECK(text.substr(options[0].begin, options[0].bytes) == "devices=cpu:8");
  CHECK(std::string(options[0].name) == "devices");
  CHECK(std::string(options[0].value) == "cpu:8");
  CHECK(text.substr(options[1].begin, options[1].bytes) == "target");
  CHECK(std::string(options[1].value).empty());
  weft_error_free(error);
  CHECK(weft_error_options(nullptr, &options) == 0);
  CHECK(runtime::guarded([] { return weft::Status(); }) == nullptr);
  error = runtime::guarded([]() -> weft::Status { throw std::bad_alloc(); });
  CHECK(weft_error_status(error) == WEFT_OUT_OF_MEMORY);
  weft_error_free(error);
}
