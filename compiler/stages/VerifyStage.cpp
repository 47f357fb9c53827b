//===- VerifyStage.cpp - what holds at a stage's border -------------------===//

#include "weft/compiler/stages/VerifyStage.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/Nest.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/dialects/weft/VerifySizes.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/planning/Passes.h"
#include "weft/passes/sharding/FreeRegions.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"

using namespace mlir;
using namespace weft;

namespace {

/// Why an op may not stand at a stage, or empty. One rule a line, as Stages.def
/// says it.
class BorderRules {
public:
  explicit BorderRules(Stage stage) : stage(stage) {}

  std::string refusal(Operation *op) const {
    auto around = op->getParentOfType<FixedLayoutsOpInterface>();
    if (around && around.getFreeAxes().empty())
      return ""; // one device's program: blocks, and communication
    if (stage >= Stage::partitioned && isPerDevice(op))
      return "still has tensors of all devices; run --weft-partition";
    if (stage >= Stage::differentiated && isa<ValueAndGradOp>(op))
      return "is still abstract; run --weft-differentiate";
    if (stage == Stage::sharded && layoutMissing(op))
      return "has a tensor without a layout; run --weft-propagate-layouts";
    if (stage == Stage::sharded)
      return around ? liesOverBound(op, around) : "";
    if (carriesLayout(op))
      return "has a layout in a type, which only the stage 'sharded' allows; "
             "name the stage it is at";
    if (stage >= Stage::partitioned && isa<ReshardOp, ConstrainOp>(op))
      return "still says how a tensor lies; run --weft-partition";
    if (stage < Stage::partitioned && !around &&
        isa_and_nonnull<coll::CollDialect>(op->getDialect()))
      return "communicates, which starts with the stage 'partitioned'; name "
             "the stage it is at";
    if ((stage == Stage::kernels || stage == Stage::nests) &&
        !belongsBetweenKernels(op))
      return "computes outside a kernel; run --weft-outline-kernels";
    if (stage >= Stage::nests && isUndecided(op))
      return "is a kernel without loop nests; run --weft-choose-nests";
    if (stage < Stage::nests && op->hasAttr(nest::kNestAttr))
      return "has loop nests, which start with the stage 'nests'; name the "
             "stage it is at";
    if (stage == Stage::plan && isStepFunction(op->getParentOp()))
      return "is left in a function; run --weft-place-buffers";
    return "";
  }

private:
  /// Its region is one device's program already: blocks, and communication.
  static bool isPerDevice(Operation *op) {
    return isa<FixedLayoutsOpInterface>(op);
  }
  /// Devices that differ along axes that a region takes itself hold different
  /// values there.
  static std::string liesOverBound(Operation *op,
                                   FixedLayoutsOpInterface around) {
    for (Type type : op->getResultTypes()) {
      LayoutAttr attribute = weft::getLayout(type);
      if (!attribute)
        continue;
      const Mesh mesh = attribute.getMesh().getMesh();
      const Layout layout = attribute.getLayout();
      SubAxes used = layout.partial;
      for (const SubAxes &dim : layout.dims)
        used.append(dim);
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
  static bool isUndecided(Operation *op) {
    auto function = dyn_cast<func::FuncOp>(op);
    return function && isKernel(function) && !nest::decisionsOf(function);
  }
  static bool belongsBetweenKernels(Operation *op) {
    if (!isStepFunction(op->getParentOfType<func::FuncOp>()))
      return true;
    return isa<func::CallOp, func::ReturnOp, ConstantOp>(op) ||
           isa<RegionBranchOpInterface, RegionBranchTerminatorOpInterface,
               plan::PlanInstructionOpInterface>(op);
  }
  static bool anyTensor(Operation *op, bool withLayout) {
    auto test = [&](Type type) {
      return isa<RankedTensorType>(type) &&
             bool(weft::getLayout(type)) == withLayout;
    };
    return llvm::any_of(op->getOperandTypes(), test) ||
           llvm::any_of(op->getResultTypes(), test);
  }
  static bool carriesLayout(Operation *op) { return anyTensor(op, true); }
  static bool layoutMissing(Operation *op) { return anyTensor(op, false); }

  Stage stage;
};

struct VerifyStagePass : PassWrapper<VerifyStagePass, OperationPass<ModuleOp>> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(VerifyStagePass)

  VerifyStagePass() = default;
  VerifyStagePass(const VerifyStagePass &other) : PassWrapper(other) {}

  StringRef getName() const override { return "VerifyStage"; }
  StringRef getArgument() const override { return "weft-verify-stage"; }
  StringRef getDescription() const override {
    return "Checks what holds at a stage's border.";
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
  if (failed(verifySizes(module)))
    return failure();
  WalkResult result = module.walk<WalkOrder::PreOrder>([&](Operation *op) {
    std::string why = rules.refusal(op);
    // The body of an op with a rule is of scalars: it has no layouts.
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
