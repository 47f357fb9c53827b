//===- VerifyStage.cpp - invariants at the borders of stages --------------===//

#include "weft/compiler/stages/VerifyStage.h"
#include "weft/compiler/stages/VerifyParts.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/LayoutBorder.h"
#include "weft/dialects/weft/PlannedFlow.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/VerifySizes.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/sharding/FreeRegions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace weft;

namespace {

/// The rules of Stages.def: refusal() returns the reason why an op is not
/// allowed at the stage, or empty.
class BorderRules {
public:
  explicit BorderRules(Stage stage) : stage(stage) {}

  std::string refusal(Operation *op) const {
    auto around = op->getParentOfType<FixedLayoutsOpInterface>();
    if (around && around.getFreeAxes().empty())
      return ""; // This is a program of one device on local blocks.
#define WEFT_RULE(first, last, refused, why)                                   \
  if (stage >= Stage::first && stage <= Stage::last && (refused))              \
    return why;
#include "weft/compiler/stages/Stages.def"
    return "";
  }

private:
  /// Whether the op's region may be a program of one device, on local blocks.
  static bool isPerDevice(Operation *op) {
    return isa<FixedLayoutsOpInterface>(op);
  }
  /// The error for a value that is sharded over bound axes of the region:
  /// devices along them hold different values.
  static std::string liesOverBound(Operation *op,
                                   FixedLayoutsOpInterface around) {
    if (!around)
      return "";
    for (Type type : op->getResultTypes()) {
      LayoutAttr attribute = weft::getLayout(type);
      if (!attribute)
        continue;
      const Mesh mesh = attribute.getMesh().getMesh();
      const Layout layout = attribute.getLayout();
      SubAxes used = layout.partial;
      for (const SubAxes &dim : layout.dims)
        llvm::append_range(used, dim);
      for (const SubAxis &axis : boundAxes(mesh, around.getFreeAxes()))
        if (llvm::any_of(used,
                         [&](const SubAxis &x) { return x.axis == axis.axis; }))
          return "has a layout over \"" + mesh.axes[axis.axis].name +
                 "\", which " + around->getName().getStringRef().str() +
                 " around it takes itself; run --weft-propagate-layouts";
    }
    return "";
  }
  static bool isStepFunction(Operation *op) {
    auto function = dyn_cast_or_null<func::FuncOp>(op);
    return function && becomesProgram(function);
  }
  static bool isAbstract(Operation *op) { return isa<ValueAndGradOp>(op); }
  static bool saysLayout(Operation *op) {
    return isa<ReshardOp, ConstrainOp>(op);
  }
  static bool communicates(Operation *op) {
    return isa_and_nonnull<coll::CollDialect>(op->getDialect());
  }
  static bool isOfPart(Operation *op) { return isa<AtOp>(op); }
  static bool hasNests(Operation *op) { return op->hasAttr(nest::kNestAttr); }
  static bool isUndecided(Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    return function && isKernel(function) && !nest::decisionsOf(function);
  }
  static bool belongsBetweenKernels(Operation *op) {
    if (!isStepFunction(op->getParentOfType<func::FuncOp>()))
      return true;
    return isa<func::CallOp, func::ReturnOp, ConstantOp>(op) ||
           isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface,
               plan::PlanInstructionOpInterface, PlannedCallOpInterface>(op);
  }

  std::string whyNotOnItsPart(Operation *op) const {
    return parts.whyNotOnItsPart(op);
  }

  Stage stage;
  mutable HeldParts parts;
};

struct VerifyStagePass : PassWrapper<VerifyStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyStagePass)

  VerifyStagePass() = default;
  VerifyStagePass(const VerifyStagePass &other) : PassWrapper(other) {}

  StringRef getName() const override { return "VerifyStage"; }
  StringRef getArgument() const override { return "weft-verify-stage"; }
  StringRef getDescription() const override {
    return "Checks the invariants at a stage's border.";
  }
  void runOnOperation() override {
    std::optional<Stage> stage = parseStage(stageName);
    if (!stage) {
      getOperation().emitError() << unknownStage(stageName);
      return signalPassFailure();
    }
    if (failed(verifyStage(getOperation(), *stage)))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }

  Option<std::string> stageName{*this, "stage",
                                llvm::cl::desc("stage the module is at")};
};

} // namespace

LogicalResult weft::verifyStage(ModuleOp module, Stage stage) {
  BorderRules rules(stage);
  if (failed(verifySizes(module)) || failed(verifyPorts(module)))
    return failure();
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::string why = rules.refusal(op);
    // The body of an op with a rule consists of scalars without layouts.
    if (why.empty())
      return isa<ShardingRuleOpInterface>(op) ? WalkResult::skip()
                                              : WalkResult::advance();
    op->emitError() << "stage '" << stages()[unsigned(stage)].name << "': '"
                    << op->getName() << "' " << why;
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

std::unique_ptr<Pass> weft::createVerifyStagePass(Stage stage) {
  auto pass = std::make_unique<VerifyStagePass>();
  pass->stageName = stages()[unsigned(stage)].name.str();
  return pass;
}

void weft::registerVerifyStagePass() {
  mlir::registerPass([] { return std::make_unique<VerifyStagePass>(); });
}
