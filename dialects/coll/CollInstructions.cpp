//===- CollInstructions.cpp - collectives as instructions of a plan -------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/plan/Plan.h"

using namespace mlir;
using namespace weft;
using namespace weft::coll;

/// An all_reduce combines elements after all devices' elements were loaded.
bool AllReduceOp::worksInPlace() { return true; }

void AllReduceOp::createInstruction(OpBuilder &builder, ValueRange sources,
                                    ValueRange targets, IntegerAttr times) {
  plan::AllReduceOp::create(builder, getLoc(), getKindAttr(), sources, targets,
                            getGroup(), getReasonAttr(), times);
}

void AllGatherOp::createInstruction(OpBuilder &builder, ValueRange sources,
                                    ValueRange targets, IntegerAttr times) {
  plan::AllGatherOp::create(builder, getLoc(), sources[0], targets[0],
                            getDimAttr(), getGroup(), getReasonAttr(), times);
}

void ReduceScatterOp::createInstruction(OpBuilder &builder, ValueRange sources,
                                        ValueRange targets, IntegerAttr times) {
  plan::ReduceScatterOp::create(builder, getLoc(), sources[0], targets[0],
                                getKindAttr(), getDimAttr(), getGroup(),
                                getReasonAttr(), times);
}

void AllToAllOp::createInstruction(OpBuilder &builder, ValueRange sources,
                                   ValueRange targets, IntegerAttr times) {
  plan::AllToAllOp::create(builder, getLoc(), sources[0], targets[0],
                           getSplitAttr(), getConcatAttr(), getGroup(),
                           getReasonAttr(), times);
}

void FetchOp::createInstruction(OpBuilder &builder, ValueRange sources,
                                ValueRange targets, IntegerAttr times) {
  plan::FetchOp::create(builder, getLoc(), sources[0], targets[0], getDimAttr(),
                        getSizeAttr(), getBlockAttr(), getStepAttr(),
                        getOffsetAttr(), getDivisorAttr(), getModulusAttr(),
                        getGroup(), getReasonAttr(), times);
}

void PickOp::createInstruction(OpBuilder &builder, ValueRange sources,
                               ValueRange targets, IntegerAttr times) {
  plan::PickOp::create(builder, getLoc(), sources[0], sources[1], targets[0],
                       getDimAttr(), getGroup(), getReasonAttr(), times);
}

void CollectivePermuteOp::createInstruction(OpBuilder &builder,
                                            ValueRange sources,
                                            ValueRange targets,
                                            IntegerAttr times) {
  plan::CollectivePermuteOp::create(builder, getLoc(), sources[0], targets[0],
                                    getSourcesAttr(), getGroup(),
                                    getReasonAttr(), times);
}

void PermuteOp::createInstruction(OpBuilder &builder, ValueRange sources,
                                  ValueRange targets, IntegerAttr times) {
  plan::PermuteOp::create(builder, getLoc(), sources[0], targets[0],
                          getShapeAttr(), getFrom(), getTo(), getReasonAttr(),
                          times);
}

void ExchangeOp::createInstruction(OpBuilder &builder, ValueRange sources,
                                   ValueRange targets, IntegerAttr times) {
  plan::ExchangeOp::create(builder, getLoc(), sources[0], targets[0],
                           getShapeAttr(), getFrom(), getTo(), getReasonAttr(),
                           times);
}
