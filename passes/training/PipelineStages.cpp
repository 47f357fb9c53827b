//===- PipelineStages.cpp - --weft-pipeline-stages ------------------------===//

#include "weft/base/pipeline/Generators.h"
#include "weft/base/pipeline/ScheduleChecks.h"
#include "weft/passes/training/Passes.h"
#include "weft/passes/training/StageLoop.h"

namespace weft {
#define GEN_PASS_DEF_PIPELINESTAGESPASS
#include "weft/passes/training/Passes.h.inc"
} // namespace weft

using namespace mlir;
using namespace weft;

namespace {
/// What the module's attribute says.
struct Wanted {
  unsigned axis = 0;
  int64_t stages = 0, chunks = 1;
  std::string name; ///< of the schedule, or none
  std::vector<std::string> lists;
};

struct PipelineStages : weft::impl::PipelineStagesPassBase<PipelineStages> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    Attribute attribute = module->removeDiscardableAttr(kPipelineAttr);
    auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!attribute)
      return;
    SmallVector<std::pair<func::FuncOp, ForOp>> loops;
    module.walk([&](ForOp loop) {
      if (loop->removeDiscardableAttr(kMicrobatchesAttr))
        loops.push_back({loop->getParentOfType<func::FuncOp>(), loop});
    });
    std::optional<Wanted> wanted = read(attribute, mesh);
    if (!wanted)
      return signalPassFailure();
    for (auto [function, loop] : loops)
      if (failed(pipeline(function, loop, mesh, *wanted)))
        return signalPassFailure();
  }

  std::optional<Wanted> read(Attribute attribute, MeshAttr mesh) {
    auto entries = dyn_cast<DictionaryAttr>(attribute);
    Wanted wanted;
    auto axis = entries ? entries.getAs<StringAttr>("axis") : StringAttr();
    Attribute schedule = entries ? entries.get("schedule") : Attribute();
    if (auto name = dyn_cast_or_null<StringAttr>(schedule))
      wanted.name = name.str();
    if (auto lists = dyn_cast_or_null<ArrayAttr>(schedule))
      for (Attribute list : lists)
        if (auto text = dyn_cast<StringAttr>(list))
          wanted.lists.push_back(text.str());
    auto chunks =
        entries ? entries.getAs<IntegerAttr>("chunks") : IntegerAttr();
    wanted.chunks = chunks ? chunks.getInt() : 1;
    if (!axis || wanted.name.empty() == wanted.lists.empty() ||
        wanted.chunks < 1 || wanted.chunks > pipeline::kMostItems ||
        entries.size() != (chunks ? 3 : 2)) {
      getOperation().emitError()
          << kPipelineAttr << " is " << attribute
          << "; write it as {axis = \"stage\", schedule = \"1f1b\"}";
      return std::nullopt;
    }
    std::vector<MeshAxis> axes;
    if (mesh)
      axes = mesh.getMesh().axes;
    for (auto [number, known] : llvm::enumerate(axes))
      if (known.name == axis.getValue()) {
        wanted.axis = unsigned(number);
        wanted.stages = known.size;
        return wanted;
      }
    getOperation().emitError()
        << kPipelineAttr << " names the axis " << axis
        << ", which the mesh does not have; name one of its " << axes.size()
        << " axes";
    return std::nullopt;
  }

  /// The schedule of a step with this many microbatches: a short last batch may
  /// have fewer than its lists name, or than rounds need, and is then no
  /// pipeline.
  FailureOr<std::optional<pipeline::Schedule>>
  scheduleOf(const Wanted &wanted, int64_t microbatches) {
    // Rounds of an interleaved schedule have a microbatch for each stage.
    if (wanted.name == "interleaved" && microbatches % wanted.stages != 0)
      return std::optional<pipeline::Schedule>();
    Result<pipeline::Schedule> schedule =
        wanted.name.empty()
            ? pipeline::scheduleOf(wanted.lists)
            : pipeline::generate(wanted.name, int(wanted.stages),
                                 int(microbatches), int(wanted.chunks));
    Status valid = schedule ? pipeline::check(*schedule) : schedule.error();
    if (!valid)
      return getOperation().emitError() << valid.message();
    if (int64_t(schedule->stages.size()) != wanted.stages)
      return getOperation().emitError()
             << "the schedule has " << schedule->stages.size()
             << " stages, and the axis has " << wanted.stages
             << " coordinates; give both the same number";
    if (schedule->microbatches < microbatches)
      return getOperation().emitError()
             << "the schedule has " << schedule->microbatches
             << " microbatches, and the step has " << microbatches
             << "; give both the same number";
    if (schedule->microbatches != microbatches)
      return std::optional<pipeline::Schedule>();
    return std::optional(std::move(*schedule));
  }

  LogicalResult pipeline(func::FuncOp function, ForOp loop, MeshAttr mesh,
                         const Wanted &wanted) {
    int64_t count = loop.getCount();
    if (count > pipeline::kMostItems)
      return getOperation().emitError()
             << "@" << function.getName() << " divides the batch in " << count
             << " microbatches, more than the limit of " << pipeline::kMostItems
             << "; use fewer";
    auto schedule = scheduleOf(wanted, count);
    if (failed(schedule))
      return failure();
    if (wanted.stages < 2 || !*schedule)
      return success();
    StagedOps staged(function, loop, wanted.axis, wanted.stages,
                     (*schedule)->chunks);
    if (failed(staged.run()))
      return failure();
    Result<pipeline::SteadyState> state = pipeline::steadyState(
        staged.hasGradients() ? **schedule
                              : pipeline::forwardPasses(**schedule));
    if (!state)
      return loop.emitError() << state.message();
    ++numPipelined;
    return StageLoop(loop, staged, *state, mesh, wanted.axis).run();
  }
};
} // namespace
