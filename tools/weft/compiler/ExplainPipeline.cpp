//===- ExplainPipeline.cpp - the stages of a step, as text ----------------===//

#include "weft/tools/weft/compiler/ExplainPipeline.h"

#include "weft/base/ClosestName.h"
#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/Replay.h"
#include "weft/base/pipeline/ScheduleChecks.h"
#include "weft/base/pipeline/TimeLine.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace weft;
using namespace weft::tool;

/// The schedule of a step with this many microbatches.
static std::optional<pipeline::Schedule> scheduleOf(const keras::Pipeline &its,
                                                    int64_t microbatches) {
  auto schedule = its.lists.empty()
                      ? pipeline::generate(its.schedule, int(its.count),
                                           int(microbatches), int(its.chunks()))
                      : pipeline::scheduleOf(its.lists);
  if (!schedule || schedule->microbatches != microbatches)
    return std::nullopt;
  return *schedule;
}

std::optional<PipelineReport> weft::tool::explainPipeline(
    const keras::Distribution &distribution, const keras::Model &model,
    const std::vector<keras::LayerPlace> &calls, int64_t batchSize) {
  if (!distribution.pipeline)
    return std::nullopt;
  const keras::Pipeline &its = *distribution.pipeline;
  PipelineReport report;
  report.axis = distribution.mesh.axes[its.axis].name;
  report.schedule = its.schedule;
  report.microbatches = std::min(its.microbatches, batchSize);
  auto schedule = scheduleOf(its, report.microbatches);
  auto replay = schedule ? pipeline::replay(*schedule)
                         : Result<pipeline::Replay>(Error{"no pipeline"});
  if (!replay)
    return std::nullopt;
  report.lanes = {*schedule, *replay};
  report.bubble = replay->bubble();
  report.end = replay->end;
  std::vector<int> live = pipeline::liveActivations(*schedule);
  for (size_t stage = 0; stage < live.size(); ++stage)
    report.stages.push_back({{},
                             live[stage],
                             replay->idle[stage],
                             replay->end - replay->idle[stage],
                             its.isAuto ? its.seconds[stage] : 0});
  for (unsigned node = 0; node < calls.size(); ++node)
    for (const AxisCoordinate &at : calls[node].part)
      if (at.axis == its.axis && !model.layerOf(node).isInput()) {
        auto &names = report.stages[size_t(at.coordinate)].layers;
        if (!std::ranges::count(names, model.layerOf(node).name))
          names.push_back(model.layerOf(node).name);
      }
  return report;
}

/// The seconds of stages that are cut by the cost of their layers.
static std::string cutText(const PipelineReport &report) {
  double all = 0, slowest = 0;
  std::vector<std::string> each;
  for (const PipelineReport::Stage &stage : report.stages) {
    all += stage.seconds;
    slowest = std::max(slowest, stage.seconds);
    each.push_back(llvm::formatv("{0:f1}", stage.seconds * 1e6));
  }
  if (all <= 0)
    return "";
  return llvm::formatv(
      "\n  cut by price: a step takes {0} us of the stages' time, with moves; "
      "the slowest is {1:f2} times the mean\n",
      llvm::join(each, ", "), slowest * double(each.size()) / all);
}

/// Characters of a stage's time line.
static constexpr size_t kLineWidth = 110;

/// "15.8 %".
static std::string share(int64_t part, int64_t whole) {
  return llvm::formatv("{0:f1} %", 100.0 * double(part) / double(whole));
}

std::string weft::tool::toText(const PipelineReport &report) {
  std::string text = llvm::formatv(
      "\nPipeline over \"{0}\", {1}, {2} microbatches; forward pass, gradient "
      "of "
      "inputs and gradient of weights take one unit of time each:\n\n  stage  "
      "live activations    idle    busy  bubble  layers\n",
      report.axis, report.schedule, report.microbatches);
  for (auto [number, stage] : llvm::enumerate(report.stages))
    text += llvm::formatv("  {0,5}  {1,16}  {2,6}  {3,6}  {4,6}  {5}\n", number,
                          stage.liveActivations, stage.idle, stage.busy,
                          share(stage.idle, report.end), someOf(stage.layers))
                .str();
  text +=
      "\n  over time, a column for a unit: Fk forward pass of microbatch k, "
      "Ik and Wk its gradients of inputs and of weights, Bk both, '.' "
      "idle\n";
  for (auto [number, line] : llvm::enumerate(pipeline::timeLine(
           report.lanes.schedule, report.lanes.replay, kLineWidth)))
    text += llvm::formatv("  stage {0,-3} {1}\n", number, line).str();
  text += llvm::formatv("\n  a stage is idle for {0} of {1} units: {2}\n",
                        report.bubble, report.end,
                        share(report.bubble, report.end));
  return text + cutText(report);
}

/// When a stage computes what: ["F0", 0, 1] for each item of its list.
static llvm::json::Array itemsOf(const StageLanes &lanes, size_t stage) {
  llvm::json::Array items;
  for (auto [work, begin] : llvm::zip_equal(lanes.schedule.stages[stage],
                                            lanes.replay.starts[stage]))
    items.push_back(
        llvm::json::Array{pipeline::textOf(work), begin,
                          begin + pipeline::WorkTimes().of(work.kind)});
  return items;
}

/// Items of all stages up to which JSON has them.
static constexpr size_t kMostItems = 20'000;

llvm::json::Value weft::tool::toJson(const PipelineReport &report) {
  llvm::json::Array stages;
  size_t count = 0;
  for (const std::vector<pipeline::Work> &list : report.lanes.schedule.stages)
    count += list.size();
  for (const PipelineReport::Stage &stage : report.stages) {
    llvm::json::Object its{{"layers", llvm::json::Array(stage.layers)},
                           {"live_activations", stage.liveActivations},
                           {"idle", stage.idle},
                           {"busy", stage.busy}};
    if (stage.seconds > 0)
      its["seconds"] = stage.seconds;
    if (count <= kMostItems)
      its["items"] = itemsOf(report.lanes, stages.size());
    stages.push_back(std::move(its));
  }
  return llvm::json::Object{{"axis", report.axis},
                            {"schedule", report.schedule},
                            {"microbatches", report.microbatches},
                            {"stages", std::move(stages)},
                            {"bubble", report.bubble},
                            {"end", report.end}};
}
