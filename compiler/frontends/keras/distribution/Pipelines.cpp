//===- Pipelines.cpp - layers in stages of a pipeline ---------------------===//

#include "weft/compiler/frontends/keras/distribution/Pipelines.h"

#include "weft/base/config/Json.h"
#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/ScheduleJson.h"
#include "weft/base/pipeline/SteadyState.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::keras;

/// Refuses a file's schedule of other numbers than the pipeline has.
static Status checkNumbers(const Pipeline &pipeline,
                           const pipeline::Schedule &schedule) {
  auto differs = [&](int64_t has, int64_t wanted, const char *what) {
    return Error{"has " + std::to_string(has) + " " + what +
                 ", and \"pipeline\" has " + std::to_string(wanted) +
                 "; give both the same number"};
  };
  if (schedule.chunks != pipeline.chunks())
    return differs(schedule.chunks, pipeline.chunks(), "chunks");
  if (int64_t(schedule.stages.size()) != pipeline.count)
    return differs(int64_t(schedule.stages.size()), pipeline.count, "stages");
  if (schedule.microbatches != pipeline.microbatches)
    return differs(schedule.microbatches, pipeline.microbatches,
                   "microbatches");
  return {};
}

/// Reads a schedule's file, and checks that a loop computes it.
static Status readFile(Pipeline &pipeline, const ReadSchedule &read) {
  Result<std::string> text = read(pipeline.schedule);
  if (!text)
    return text.error().in(
        "schedule " + inQuotes(pipeline.schedule) +
        " is none of gpipe, 1f1b, interleaved and zb-h1, and "
        "no file");
  auto schedule = pipeline::readSchedule(*text);
  if (!schedule)
    return schedule.error().in(pipeline.schedule);
  if (Status fits = checkNumbers(pipeline, *schedule); !fits)
    return fits.in(pipeline.schedule);
  if (auto loop = pipeline::steadyState(*schedule); !loop)
    return loop.error().in(pipeline.schedule);
  for (const std::vector<pipeline::Work> &list : schedule->stages)
    pipeline.lists.push_back(pipeline::textOf(list));
  return {};
}

Status weft::keras::resolveSchedule(Distribution &distribution,
                                    const ReadSchedule &read) {
  if (!distribution.pipeline)
    return {};
  Pipeline &pipeline = *distribution.pipeline;
  if (pipeline.schedule == "interleaved" && pipeline.chunks() == 1)
    return Error{"pipeline: an interleaved schedule has several chunks of the "
                 "model for each stage, and \"stages\" has one; write " +
                 std::to_string(2 * pipeline.count) +
                 " lists, of which the last " + std::to_string(pipeline.count) +
                 " are the second chunks, or use gpipe, 1f1b or zb-h1"};
  if (!std::ranges::count(pipeline::scheduleNames(), pipeline.schedule))
    return readFile(pipeline, read);
  auto schedule =
      pipeline::generate(pipeline.schedule, int(pipeline.count),
                         int(pipeline.microbatches), int(pipeline.chunks()));
  if (!schedule)
    return schedule.error().in("pipeline");
  return {};
}

namespace {
/// Checks the stages of a model's layers.
class StageChecker {
public:
  StageChecker(const Pipeline &pipeline [[clang::lifetimebound]],
               const Model &model [[clang::lifetimebound]],
               const std::vector<LayerPlace> &places [[clang::lifetimebound]])
      : pipeline(pipeline), model(model), places(places) {}

  Status run() {
    for (unsigned node = 0; node < model.nodes.size(); ++node) {
      if (model.layerOf(node).isInput())
        continue;
      if (Status has = checkHasStage(node); !has)
        return has;
      for (unsigned input : model.nodes[node].inputs)
        if (Status follows = checkFollows(input, node); !follows)
          return follows;
    }
    return {};
  }

private:
  std::optional<int64_t> stageOf(unsigned node) const {
    for (const AxisCoordinate &at : places[node].part)
      if (at.axis == pipeline.axis)
        return at.coordinate;
    return std::nullopt;
  }
  std::string named(unsigned node) const {
    return "layer " + inQuotes(model.layerOf(node).name);
  }
  Status checkHasStage(unsigned node) const {
    if (stageOf(node))
      return {};
    return Error{"pipeline: " + named(node) + " is in none of the " +
                 std::to_string(pipeline.stages.size()) +
                 " stages; add its path, or a pattern that matches it, to one "
                 "of \"stages\""};
  }
  /// The way out for a call of a layer that has others.
  std::string orListTwice(unsigned node) const {
    unsigned layer = model.nodes[node].layer;
    bool hasOthers = std::ranges::count_if(model.nodes, [&](const Node &other) {
                       return other.layer == layer && other.result == 0;
                     }) > 1;
    return hasOthers ? "; as " + named(node) +
                           " is called several times, it may also be in the "
                           "lists of all stages that call it"
                     : "";
  }
  /// Notes the chunk of a call: what reads a later stage is of the next one.
  Status checkFollows(unsigned from, unsigned to) {
    std::optional<int64_t> before = stageOf(from), after = stageOf(to);
    if (model.layerOf(from).isInput() || !before || !after)
      return {};
    int64_t wanted = chunks[from] + (*before > *after ? 1 : 0);
    chunks[to] = std::max(chunks[to], wanted);
    if (wanted < pipeline.chunks())
      return {};
    if (pipeline.chunks() > 1)
      return Error{"pipeline: " + named(to) + " is behind more than the " +
                   std::to_string(pipeline.chunks()) + " chunks of stage " +
                   std::to_string(*after) + ", as " + named(from) +
                   " of stage " + std::to_string(*before) +
                   " gives its output to it; put both into one list of "
                   "\"stages\", or order the lists as the layers are"};
    return Error{
        "pipeline: " + named(from) + " of stage " + std::to_string(*before) +
        " gives its output to " + named(to) + " of stage " +
        std::to_string(*after) + ", so that stages wait for each other; put " +
        named(to) + " into stage " + std::to_string(*before) +
        " or a later one, or " + named(from) + " into stage " +
        std::to_string(*after) + " or an earlier one" + orListTwice(to)};
  }

  const Pipeline &pipeline;
  const Model &model;
  const std::vector<LayerPlace> &places;
  std::map<unsigned, int64_t> chunks; ///< by node
};
} // namespace

Status weft::keras::checkStages(const Distribution &distribution,
                                const Model &model,
                                const std::vector<LayerPlace> &places) {
  if (!distribution.pipeline)
    return {};
  return StageChecker(*distribution.pipeline, model, places).run();
}
