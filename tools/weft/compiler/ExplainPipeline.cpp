//===- ExplainPipeline.cpp - the stages of a step, as text ----------------===//

#include "weft/tools/weft/compiler/ExplainPipeline.h"

#include "weft/base/ClosestName.h"
#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/Replay.h"
#include "weft/base/pipeline/ScheduleChecks.h"

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
  report.bubble = replay->bubble();
  report.end = replay->end;
  std::vector<int> live = pipeline::liveActivations(*schedule);
  for (size_t stage = 0; stage < live.size(); ++stage)
    report.stages.push_back({{},
                             live[stage],
                             replay->idle[stage],
                             replay->end - replay->idle[stage]});
  for (unsigned node = 0; node < calls.size(); ++node)
    for (const AxisCoordinate &at : calls[node].part)
      if (at.axis == its.axis && !model.layerOf(node).isInput()) {
        auto &names = report.stages[size_t(at.coordinate)].layers;
        if (!std::ranges::count(names, model.layerOf(node).name))
          names.push_back(model.layerOf(node).name);
      }
  return report;
}

std::string weft::tool::toText(const PipelineReport &report) {
  std::string text = llvm::formatv(
      "\nPipeline over \"{0}\", {1}, {2} microbatches; forward pass, gradient "
      "of "
      "inputs and gradient of weights take one unit of time each:\n\n  stage  "
      "live activations    idle    busy  layers\n",
      report.axis, report.schedule, report.microbatches);
  for (auto [number, stage] : llvm::enumerate(report.stages))
    text += llvm::formatv("  {0,5}  {1,16}  {2,6}  {3,6}  {4}\n", number,
                          stage.liveActivations, stage.idle, stage.busy,
                          someOf(stage.layers))
                .str();
  text += llvm::formatv("\n  a stage is idle for {0} of {1} units: {2:f1} %\n",
                        report.bubble, report.end,
                        100.0 * double(report.bubble) / double(report.end));
  return text;
}

llvm::json::Value weft::tool::toJson(const PipelineReport &report) {
  llvm::json::Array stages;
  for (const PipelineReport::Stage &stage : report.stages)
    stages.push_back(
        llvm::json::Object{{"layers", llvm::json::Array(stage.layers)},
                           {"live_activations", stage.liveActivations},
                           {"idle", stage.idle},
                           {"busy", stage.busy}});
  return llvm::json::Object{{"axis", report.axis},
                            {"schedule", report.schedule},
                            {"microbatches", report.microbatches},
                            {"stages", std::move(stages)},
                            {"bubble", report.bubble},
                            {"end", report.end}};
}
