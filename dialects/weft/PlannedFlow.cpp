//===- PlannedFlow.cpp - loops, branches and data of a plan ---------------===//

#include "weft/dialects/weft/PlannedFlow.h"

#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"

using namespace mlir;

#include "weft/dialects/weft/PlannedFlow.cpp.inc"

namespace weft {
namespace {
struct PlannedWhile
    : PlannedLoopOpInterface::ExternalModel<PlannedWhile, WhileOp> {
  Block &getConditionBlock(Operation *op) const {
    return cast<WhileOp>(op).getCondition().front();
  }
  Block &getBodyBlock(Operation *op) const {
    return cast<WhileOp>(op).getBody().front();
  }
  static ConditionOp end(Operation *op) {
    return cast<ConditionOp>(
        cast<WhileOp>(op).getCondition().front().getTerminator());
  }
  Value getDecision(Operation *op) const { return end(op).getCondition(); }
  OperandRange getPassedOn(Operation *op) const { return end(op).getValues(); }
};
struct PlannedCase
    : PlannedBranchOpInterface::ExternalModel<PlannedCase, CaseOp> {};
struct PlannedAt : PlannedPartOpInterface::ExternalModel<PlannedAt, AtOp> {
  LayoutAttr getPlaceOfPart(Operation *op) const {
    return cast<AtOp>(op).getPlace();
  }
};
struct PlannedConstant
    : PlannedDataOpInterface::ExternalModel<PlannedConstant, ConstantOp> {
  ElementsAttr getData(Operation *op) const {
    return cast<ConstantOp>(op).getValue();
  }
};
/// The verifier has made the call before.
struct PlannedLapack
    : PlannedCallOpInterface::ExternalModel<PlannedLapack, LapackOp> {
  std::string getBuiltinName(Operation *op) const {
    return "lapack." + cast<LapackOp>(op).getRoutine().str();
  }
  std::vector<int64_t> getBuiltinParameters(Operation *op) const {
    return cast<LapackOp>(op).getCall()->parameters();
  }
  double getOperations(Operation *op) const {
    return cast<LapackOp>(op).getCall()->operations();
  }
};
} // namespace

void attachPlannedFlow(MLIRContext &context) {
  WhileOp::attachInterface<PlannedWhile>(context);
  LapackOp::attachInterface<PlannedLapack>(context);
  CaseOp::attachInterface<PlannedCase>(context);
  AtOp::attachInterface<PlannedAt>(context);
  ConstantOp::attachInterface<PlannedConstant>(context);
}
} // namespace weft
