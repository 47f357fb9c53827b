// The training loop runs programs written by hand. The tests check which array
// goes to which port, and the values that come back.
#include "weft/test/unit/runtime-plan.h"
#include "weft/training/Trainer.h"

#include <filesystem>
#include <malloc.h>

using weft::test::Axes;
using weft::test::PlanBuilder;
namespace plan = weft::plan;

static std::string scratch(const std::string &name) {
  auto folder = std::filesystem::temp_directory_path() / "weft-trainer-test";
  std::filesystem::create_directories(folder);
  return (folder / name).string();
}

/// Returns a program that counts its runs in `steps`, and returns x as the
/// output and y as the metric: for two samples y is a sum and a count, for one
/// it is a mean.
static std::vector<uint8_t> countingProgram(int64_t batch, bool train) {
  PlanBuilder p({{"x", 2}});
  std::vector<Axes> split = {{weft::test::fullAxis(0, 2)}, {}};
  uint32_t steps = p.state("steps", plan::DType::i32, {1}, {{}});
  for (plan::PortT *port :
       {p.program.inputs[0].get(), p.program.outputs[0].get()})
    port->role = plan::PortRole::state;
  p.program.inputs[0]->facts = std::make_unique<plan::PortFactsT>();
  p.program.inputs[0]->facts->initializer =
      R"({"class_name": "Constant", "config": {"value": 40}})";
  uint32_t x = p.input("x", plan::DType::f32, {batch, 2}, split);
  p.program.inputs.back()->role = plan::PortRole::input;
  uint32_t y = p.input("y", plan::DType::f32, {batch}, {{}});
  p.program.inputs.back()->role = plan::PortRole::label;
  uint32_t out = p.output("y", plan::DType::f32, {batch, 2}, split);
  p.program.outputs.back()->role = plan::PortRole::output;
  uint32_t loss = p.output("metrics/loss", plan::DType::f32, {batch}, {{}});
  p.program.outputs.back()->role = plan::PortRole::metric;
  if (train)
    p.launch("increment", {steps});
  p.copy(x, out);
  p.copy(y, loss);
  return p.image();
}

namespace {
struct Fixture {
  Fixture() {
    REQUIRE(weft::takeError(weft_runtime_create("cpu:2", 0, &runtime)));
    weft::Array x = weft::Array::zeros(weft::ElementType::UInt8, {5, 2});
    weft::Array y = weft::Array::zeros(weft::ElementType::Int64, {5, 1});
    for (int i = 0; i < 10; ++i)
      x.bytes[i] = uint8_t(10 * i);
    for (int i = 0; i < 5; ++i)
      y.data<int64_t>()[i] = 3 + i;
    REQUIRE(weft::writeNpz(
        file, {{"x_train", x}, {"y_train", y}, {"x_test", x}, {"y_test", y}}));
  }
  ~Fixture() {
    for (auto &[key, program] : programs)
      weft_program_free(program);
    weft_runtime_free(runtime);
  }
  weft::Result<weft_program *> program(weft::StepKind kind, int64_t batch) {
    weft_program *&known = programs[{kind, batch}];
    if (known)
      return known;
    auto image = countingProgram(batch, kind == weft::StepKind::Train);
    if (weft::Status ok = weft::takeError(
            weft_program_load_memory(image.data(), image.size(), &known));
        !ok)
      return ok.error();
    return known;
  }
  weft::Result<weft::TrainingData> data(const weft::DataOptions &options) {
    auto ports = weft::inputPorts(*program(weft::StepKind::Train, 2));
    return weft::selectData(options, weft::DataPurpose::Fit, ports);
  }
  std::string file = scratch("data.npz");
  weft_runtime *runtime = nullptr;
  std::map<std::pair<weft::StepKind, int64_t>, weft_program *> programs;
};
} // namespace

TEST_CASE("labels that are fewer than predictions are padded") {
  weft::Array labels = weft::Array::zeros(weft::ElementType::Int32, {2, 2});
  for (int i = 0; i < 4; ++i)
    labels.data<int32_t>()[i] = i + 1;
  std::string file = scratch("labels.npz");
  REQUIRE(weft::writeNpz(file, {{"y", labels}}));
  auto selected = [&](int64_t times, std::optional<int64_t> padding) {
    weft::Port port;
    port.name = "y";
    port.role = weft::Role::Label;
    port.type = weft::ElementType::Int32;
    port.shape = {8, times};
    port.facts.padding = padding;
    return weft::selectData({.data = file}, weft::DataPurpose::Fit, {&port, 1});
  };
  auto data = selected(3, 7);
  REQUIRE(data);
  CHECK(data->columns[0].sample == weft::Shape{3});
  std::vector<uint8_t> bytes;
  REQUIRE(weft::TrainingData::gather(data->columns[0],
                                     std::vector<int64_t>{1, 0},
                                     weft::ElementType::Float64, bytes));
  auto *values = reinterpret_cast<const double *>(bytes.data());
  CHECK(std::vector<double>(values, values + bytes.size() / 8) ==
        std::vector<double>{3, 4, 7, 1, 2, 7});
  CHECK(selected(2, 7)->columns[0].sample == weft::Shape{2});
  CHECK(selected(1, 7).message().ends_with(
      "labels.npz:y: has 2 labels a sample, the predictions 1 "
      "times, and a time "
      "says one label at most; leave out columns of padding"));
  CHECK(selected(3, std::nullopt)
            .message()
            .find("has samples of shape (2,), y needs (3,)") !=
        std::string::npos);
}

TEST_CASE("fit, evaluate and predict share variables and weigh a short batch") {
  Fixture f;
  weft::ModelState state(f.runtime);
  weft::Trainer trainer(f.runtime, state,
                        [&](weft::StepKind kind, int64_t batch) {
                          return f.program(kind, batch);
                        });
  weft::Result<weft::TrainingData> data =
      f.data({.data = f.file, .divideBy = 10});
  INFO((data ? "" : data.message()));
  REQUIRE(data);
  CHECK(data->description().text() ==
        "x: " + f.file + ":x_train (5, 2) uint8 0..90, divided by 10\n" +
            "y: " + f.file + ":y_train (5,) int64 3..7\n" + f.file +
            ": x_test, y_test: not read; for weft evaluate\n");
  weft::FitOptions options;
  options.batchSize = 2;
  options.epochs = 2;
  options.shuffle = weft::Shuffle::None;
  options.validation = &*data;
  options.keepSteps = true;
  options.verbose = 2;
  std::string text;
  double time = 0;
  options.clock = [&] { return time += 0.001; };
  options.print = [&](std::string_view part) { text += part; };
  weft::Result<weft::History> history = trainer.fit(*data, options);
  INFO((history ? "" : history.message()));
  REQUIRE(history);
  float mean = (3.0f + 5.0f + 7.0f) / (4 + 6 + 1);
  CHECK(history->history == weft::History::Series{{"loss", {mean, mean}},
                                                  {"val_loss", {mean, mean}}});
  CHECK(history->steps ==
        weft::History::Series{
            {"loss", {0.75, float(5.0f / 6), 7, 0.75, float(5.0f / 6), 7}}});
  CHECK(text.starts_with("Epoch 1/2\n3/3 - 0s - "));
  CHECK(state.read("steps")->at(0) == 46);

  weft::Result<std::vector<weft::NamedArray>> predicted =
      trainer.predict(*data, options);
  REQUIRE(predicted);
  REQUIRE(predicted->size() == 1);
  CHECK((*predicted)[0].array.shape == weft::Shape{5, 2});
  for (int i = 0; i < 10; ++i)
    CHECK((*predicted)[0].array.at(i) == i);

  // Weights are saved and loaded by variable path.
  REQUIRE(weft::writeNpz(scratch("w.npz"), *state.save()));
  REQUIRE(state.write(
      "steps",
      weft::convert(weft::Array::zeros(weft::ElementType::Float32, {1}),
                    weft::ElementType::Int32)));
  REQUIRE(state.load(*weft::readNpz(scratch("w.npz")), true));
  CHECK(state.read("steps")->at(0) == 46);
  CHECK(state.load({}, true).message().find("has no value for it") !=
        std::string::npos);

  options.maxSteps = 4;
  options.validation = nullptr;
  CHECK(trainer.fit(*data, options)->stepCount == 4);
  std::atomic<bool> stop = true;
  options.stop = &stop;
  CHECK(trainer.fit(*data, options)->interrupted);
}

TEST_CASE("steps keep no memory") {
  Fixture f;
  weft::ModelState state(f.runtime);
  weft::Trainer trainer(f.runtime, state,
                        [&](weft::StepKind kind, int64_t batch) {
                          return f.program(kind, batch);
                        });
  auto data = f.data({.data = f.file});
  REQUIRE(data);
  weft::FitOptions options;
  options.batchSize = 1;
  options.epochs = 500; // of 5 steps
  options.shuffle = weft::Shuffle::None;
  options.verbose = 0;
  options.print = [](std::string_view) {};
  options.clock = [] { return 0.0; };
  int64_t steps = 0, before = 0, after = 0;
  auto allocated = [] { // large vectors have mappings of their own
    struct mallinfo2 info = mallinfo2();
    return int64_t(info.uordblks + info.hblkhd);
  };
  options.stepEnd = [&](const weft::FitOptions::StepReport &) {
    ++steps;
    if (steps == 499)
      before = allocated();
    if (steps == 2499)
      after = allocated();
    return weft::Status{};
  };
  auto history = trainer.fit(*data, options);
  REQUIRE(history);
  CHECK(history->stepCount == 2500);
  CHECK(history->steps.empty());
  // 400 epochs add a value of a metric and a number each, in vectors that
  // double.
  INFO(after - before << " bytes for 2,000 steps");
  CHECK(after - before < 2000 * 16);
}

namespace {
/// Reads the model after each second step, as a backup does.
class EachSecond : public weft::Callback {
public:
  bool awaitsBatch() const override { return since == 1; }
  weft::Status settled(weft::TrainingRun &run, bool isEpochEnd) override {
    if (isEpochEnd || ++since < 2)
      return {};
    since = 0;
    seen.emplace_back(run.steps, run.state().read("steps")->at(0));
    return {};
  }
  int since = 0;
  std::vector<std::pair<int64_t, double>> seen;
};
} // namespace

/// Trains batches of one sample, with or without running ahead.
static weft::Result<weft::History>
trainAhead(bool runsAhead, weft::FitOptions options, double &counted) {
  Fixture f;
  weft::ModelState state(f.runtime);
  weft::Trainer trainer(f.runtime, state,
                        [&](weft::StepKind kind, int64_t batch) {
                          return f.program(kind, batch);
                        });
  auto data = f.data({.data = f.file});
  REQUIRE(data);
  options.batchSize = 1;
  options.epochs = 3;
  options.shuffle = weft::Shuffle::None;
  options.keepSteps = true;
  options.verbose = 0;
  options.runsAhead = runsAhead;
  auto history = trainer.fit(*data, options);
  counted = state.read("steps")->at(0) - 40;
  return history;
}

TEST_CASE("a step that begins before the last one is read changes no result") {
  double waited = 0, ahead = 0;
  auto wanted = trainAhead(false, {}, waited),
       found = trainAhead(true, {}, ahead);
  REQUIRE(wanted);
  REQUIRE(found);
  CHECK(found->json(true) == wanted->json(true));
  CHECK(found->steps[0].second.size() == 15);
  CHECK(ahead == 15);
  CHECK(waited == 15);
}

TEST_CASE("no step begins behind the last one that is asked for") {
  weft::FitOptions options;
  options.maxSteps = 7;
  double counted = 0;
  auto history = trainAhead(true, options, counted);
  REQUIRE(history);
  CHECK(history->stepCount == 7);
  CHECK(counted == 7);
}

TEST_CASE("Ctrl-C ends a training behind a step whose results are read") {
  for (bool runsAhead : {false, true}) {
    std::atomic<bool> stop = false;
    weft::FitOptions options;
    options.stop = &stop;
    int steps = 0;
    options.stepEnd = [&](const weft::FitOptions::StepReport &) {
      stop = stop || ++steps == 4;
      return weft::Status();
    };
    double counted = 0;
    auto history = trainAhead(runsAhead, options, counted);
    REQUIRE(history);
    CHECK(history->interrupted);
    CHECK(history->stepCount == counted);
    CHECK(history->stepCount >= 4);
    CHECK(history->stepCount <= 5);
  }
}

TEST_CASE("the error of a step ends a training whose next step runs") {
  class Failing : public weft::Callback {
  public:
    weft::Status batchEnd(weft::TrainingRun &run, int64_t batch,
                          const weft::Logs &) override {
      seen = run.steps;
      return batch == 3 ? weft::Status(weft::Error{"batch 3 is bad"})
                        : weft::Status();
    }
    int64_t seen = 0;
  };
  for (bool runsAhead : {false, true}) {
    auto callback = std::make_shared<Failing>();
    weft::CallbackList callbacks = {callback};
    weft::FitOptions options;
    options.callbacks = &callbacks;
    double counted = 0;
    auto history = trainAhead(runsAhead, options, counted);
    REQUIRE_FALSE(history);
    CHECK(history.message() == "batch 3 is bad");
    CHECK(callback->seen == 4);
    CHECK(counted == (runsAhead ? 5 : 4));
  }
}

TEST_CASE("a callback that reads the model finds that of its step") {
  for (bool runsAhead : {false, true}) {
    auto callback = std::make_shared<EachSecond>();
    weft::CallbackList callbacks = {callback};
    weft::FitOptions options;
    options.callbacks = &callbacks;
    double counted = 0;
    REQUIRE(trainAhead(runsAhead, options, counted));
    CHECK(callback->seen.size() == 7);
    for (auto [step, value] : callback->seen)
      CHECK(value == 40 + double(step));
  }
}

TEST_CASE("the error for data that does not fit names the fix") {
  Fixture f;
  auto message = [&](const weft::DataOptions &options) {
    auto data = f.data(options);
    return data ? std::string("fits") : data.message();
  };
  CHECK(message({}).find("add data=FILE.npz or x=FILE.npz:KEY") !=
        std::string::npos);
  CHECK(message({.data = f.file, .x = {f.file + ":x_test[0:3]"}})
            .find("take as many of both") != std::string::npos);
  CHECK(message({.data = f.file, .x = {f.file + ":y_train"}}) ==
        f.file + ":y_train: has samples of shape (1,), x needs (2,); reshape "
                 "the array or choose another one with x");
  CHECK(message({.data = f.file, .addChannel = true})
            .find("leave out add_channel") != std::string::npos);
  CHECK(message({.data = f.file, .x = {"x=" + f.file + ":x_test"}}) == "fits");
  REQUIRE(weft::writeNpz(
      scratch("other.npz"),
      {{"a", weft::Array::zeros(weft::ElementType::UInt8, {2})}}));
  CHECK(message({.data = scratch("other.npz")})
            .find("has neither x nor x_train, but a; name one with x=") !=
        std::string::npos);
  // The caller's words take the place of the option's name.
  CHECK(f.data({}).error().message.text([](const weft::Option &option) {
    return "<" + option.name + ">";
  }) == "no array is given for x; add <data> or <x>");
  auto data = f.data({.data = f.file});
  auto parts = data->split(0.2);
  REQUIRE(parts);
  CHECK(parts->first.samples == 4);
  CHECK(parts->second.samples == 1);
  int64_t first = 0;
  std::vector<uint8_t> row;
  REQUIRE(weft::TrainingData::gather(parts->second.columns[1], {&first, 1},
                                     weft::ElementType::Float32, row));
  CHECK(row.size() == 4);
  CHECK(*reinterpret_cast<const float *>(row.data()) == 7);
  CHECK(data->split(1).message().find("between 0 and 1") != std::string::npos);
}

/// Returns a program that counts runs in `seen`, a metric's own state, and in
/// `average`; `kernel` never changes by itself.
static std::vector<uint8_t> statefulProgram(int64_t batch) {
  PlanBuilder p({{"x", 2}});
  auto state = [&](const char *name, plan::PortRole role, double value) {
    uint32_t buffer = p.state(name, plan::DType::i32, {1}, {{}});
    p.program.inputs.back()->role = p.program.outputs.back()->role = role;
    p.program.inputs.back()->facts = std::make_unique<plan::PortFactsT>();
    p.program.inputs.back()->facts->value = {value};
    return buffer;
  };
  uint32_t seen = state("seen", plan::PortRole::metric_state, 40);
  uint32_t average = state("average", plan::PortRole::state, 7);
  state("kernel", plan::PortRole::weight, 1);
  p.program.inputs.back()->facts->average = "average";
  p.input("x", plan::DType::f32, {batch, 2}, {{}, {}});
  p.program.inputs.back()->role = plan::PortRole::input;
  uint32_t metric = p.output("metrics/seen", plan::DType::i32, {}, {});
  p.program.outputs.back()->role = plan::PortRole::metric;
  p.program.outputs.back()->facts = std::make_unique<plan::PortFactsT>();
  p.program.outputs.back()->facts->running = true;
  p.launch("increment", {seen});
  p.launch("increment", {average});
  p.copy(seen, metric);
  return p.image();
}

TEST_CASE(
    "a metric's own state begins again with each epoch; an average becomes "
    "its weight at the end") {
  Fixture f;
  weft::ModelState state(f.runtime);
  auto programs = [&](weft::StepKind kind,
                      int64_t batch) -> weft::Result<weft_program *> {
    weft_program *&known = f.programs[{kind, batch}];
    auto image = statefulProgram(batch);
    if (!known)
      REQUIRE(weft::takeError(
          weft_program_load_memory(image.data(), image.size(), &known)));
    return known;
  };
  weft::Trainer trainer(f.runtime, state, programs);
  weft::DataOptions source{.data = f.file};
  auto ports = weft::inputPorts(*programs(weft::StepKind::Train, 2));
  auto data = weft::selectData(source, weft::DataPurpose::Fit, ports);
  REQUIRE(data);
  weft::FitOptions options;
  options.batchSize = 2;
  options.keepSteps = true;
  options.epochs = 2;
  options.shuffle = weft::Shuffle::None;
  options.verbose = 0;
  options.validation = &*data;
  auto history = trainer.fit(*data, options);
  INFO((history ? "" : history.message()));
  REQUIRE(history);
  // An epoch has three batches; validation counts from the start, too.
  CHECK(history->history ==
        weft::History::Series{{"seen", {43, 43}}, {"val_seen", {43, 43}}});
  CHECK(history->steps ==
        weft::History::Series{{"seen", {41, 42, 43, 41, 42, 43}}});
  CHECK(state.read("average")->at(0) == 19);
  CHECK(state.read("kernel")->at(0) == 19);
  auto saved = state.save();
  REQUIRE(saved);
  CHECK(saved->size() == 2); // states that outlast an epoch
}
