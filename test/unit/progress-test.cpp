// The progress bar is compared with the bytes that Keras prints, the order of
// samples with that of Keras' fit.
#include "catch2/catch.hpp"
#include "weft/training/EpochOrder.h"
#include "weft/training/History.h"
#include "weft/training/RunningMetrics.h"

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

using namespace weft;
using nlohmann::json;

static std::string read(const std::string &name) {
  std::ifstream file(WEFT_FIXTURES "/" + name);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST_CASE("the bar prints Keras' bytes") {
  json cases = json::parse(read("callbacks/progbar.json"));
  for (const auto &[name, c] : cases.items()) {
    INFO(name);
    double time = 1000;
    std::string text;
    ProgressBar bar(
        {.target = c["target"].is_null() ? -1 : c["target"].get<int64_t>(),
         .clock = [&] { return time; },
         .print = [&](std::string_view part) { text += part; }});
    int64_t step = 0, target = c["target"].is_null()
                                   ? INT64_MAX
                                   : c["target"].get<int64_t>();
    for (const json &s : c["steps"]) {
      time += s[0].get<double>();
      ++step;
      bar.update(step, {{"loss", std::stod(s[1].get<std::string>())}},
                 step >= target);
    }
    CHECK(text == c["output"].get<std::string>());
  }
}

TEST_CASE("verbose 2, and output that is no terminal, is one plain line") {
  for (int verbose : {1, 2}) {
    double time = 0;
    std::string text;
    ProgressBar bar({.target = 4,
                     .verbose = verbose,
                     .terminal = false,
                     .clock = [&] { return time; },
                     .print = [&](std::string_view part) { text += part; }});
    for (int step = 1; step <= 4; ++step) {
      time += 0.035;
      bar.update(step, {{"loss", 2.0}});
    }
    bar.update(4, {{"accuracy", 0.421875}, {"loss", 1.0719}}, true);
    CHECK(text == "4/4 - 0s - 35ms/step - loss: 1.0719 - accuracy: 0.4219\n");
  }
}

TEST_CASE("batches hold the samples that Keras' fit took") {
  int compared = 0;
  json rows = json::parse(read("rng/shuffle.json"))["rows"];
  for (const json &row : rows) {
    std::string arguments = row["arguments"];
    auto generator =
        MersenneTwister::numpy(row["set_random_seed"].get<uint32_t>());
    EpochOrder::Options options{.samples = row["samples"].get<int64_t>(),
                                .batchSize = row["batch_size"].get<int64_t>()};
    options.shuffle = arguments == "shuffle=False"     ? Shuffle::None
                      : arguments == "shuffle='batch'" ? Shuffle::InBatches
                                                       : Shuffle::All;
    if (arguments == "validation_split=0.2")
      options.samples = int64_t(std::floor(options.samples * (1 - 0.2)));
    if (arguments == "steps_per_epoch=2")
      options.stepsPerEpoch = 2;
    for (const json &call : row["fit_calls"]) {
      INFO(arguments);
      EpochOrder order(options, &generator);
      std::vector<std::vector<int64_t>> batches;
      std::vector<int64_t> indices, expected;
      for (int64_t epoch = 0; epoch < row["epochs"].get<int64_t>(); ++epoch) {
        order.startEpoch();
        while (order.next(indices)) {
          // The batch that peek() gave is the next one, in the last epoch, too.
          CHECK((expected.empty() || expected == indices));
          batches.push_back(indices);
          order.peek(expected);
          CHECK(!expected.empty());
        }
      }
      CHECK(batches == call["batches"].get<decltype(batches)>());
      options.firstFit = false;
      ++compared;
    }
  }
  CHECK(compared == 20);
}

TEST_CASE("running means weigh a short batch by its samples") {
  RunningMetrics metrics;
  metrics.add("loss", 2, 32);
  metrics.add("loss", 5, 16);
  metrics.add("accuracy", 1, 32);
  CHECK(metrics.logs() == Logs{{"accuracy", 1.0}, {"loss", 3.0}});
}

TEST_CASE("history is written as JSON") {
  History history;
  history.addEpoch(0, {{"loss", 1.5}, {"val_loss", std::nan("")}});
  history.addEpoch(1, {{"loss", 1}, {"val_loss", 0.1}});
  history.addStep({{"loss", 1e-7}});
  CHECK(history.json(true) ==
        "{\"epoch\": [0, 1], \"history\": {\"loss\": [1.5, 1.0], "
        "\"val_loss\": [NaN, 0.1]}, \"steps\": {\"loss\": [1e-07]}}\n");
}
