//===- priced-bytes-test.cpp - prices are the bytes that are counted ------===//
//
// Every assignment of a mesh's axes to the factors of an op, as propagation
// chooses from: the price of what the op fetches and sends itself, of its
// partial sums and of its operands that come in another layout has as many
// bytes as the collectives that partitioning makes.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/plan/LocalArrays.h"
#include "weft/dialects/plan/PlanInstruction.h"
#include "weft/passes/sharding/propagation/ChooseSharding.h"
#include "weft/test/unit/OneOp.h"
#include "weft/test/unit/PartitionPasses.h"

#include "weft/dialects/coll/Coll.h"

using namespace mlir;
using namespace weft;
using namespace weft::test;

namespace {
const OpText kOps[] = {
    kAdd,
    kDot,
    {{"tensor<8x12xf32>"},
     "weft.reduce sum %0 dims [0] : tensor<8x12xf32> -> tensor<12xf32>"},
    {{"tensor<8x16xf32>"},
     "weft.sort %0 dim 1 keys 1 : (tensor<8x16xf32>) -> tensor<8x16xf32>"},
    {{"tensor<64x8xf32>"},
     "weft.sort %0 dim 0 keys 1 : (tensor<64x8xf32>) -> tensor<64x8xf32>"},
    {{"tensor<8x16xf32>"}, "weft.cumulative sum %0 dim 1 : tensor<8x16xf32>"},
    {{"tensor<8x16xf32>"},
     "weft.slice %0 from [0, 3] to [8, 11] by [1, 1] : tensor<8x16xf32> -> "
     "tensor<8x8xf32>"},
    {{"tensor<8x16xf32>"},
     "weft.slice %0 from [0, 0] to [8, 16] by [1, 2] : tensor<8x16xf32> -> "
     "tensor<8x8xf32>"},
    {{"tensor<8x16xf32>"}, "weft.reverse %0 dims [1] : tensor<8x16xf32>"},
    {{"tensor<8x16xf32>"}, "weft.roll %0 by [0, 3] : tensor<8x16xf32>"},
    {{"tensor<8x16xf32>", "tensor<8x8xf32>"},
     "weft.concatenate %0, %1 dim 1 : (tensor<8x16xf32>, tensor<8x8xf32>) -> "
     "tensor<8x24xf32>"},
    {{"tensor<8x16xf32>"},
     "weft.pad %0 low [0, 2] high [0, 6] interior [0, 0] : tensor<8x16xf32> "
     "-> tensor<8x24xf32>"},
    {{"tensor<8x16xf32>"},
     "weft.transpose %0 [1, 0] : tensor<8x16xf32> -> tensor<16x8xf32>"},
    {{"tensor<8x16xf32>"},
     "weft.reshape %0 : tensor<8x16xf32> -> tensor<128xf32>"},
};

/// The bytes of all collectives of a module.
int64_t countedBytes(ModuleOp module) {
  int64_t bytes = 0;
  module.walk([&](plan::PlanInstructionOpInterface op) {
    SubAxes axes = plan::groupAxes(op.getCommunicatingGroup());
    const Mesh mesh = op.getCommunicatingGroup().getMesh().getMesh();
    bytes += bytesSent(op.getCommunication().getCommunication(), {mesh, axes},
                       plan::localArrays(op->getOperandTypes()),
                       plan::localArrays(op->getResultTypes()));
  });
  return bytes;
}

/// A module with the op under a sharding, whose result is reduced and whose
/// operands come as they are required.
OwningOpRef<ModuleOp> programOf(OneOp &it, const OpSharding &sharding) {
  OwningOpRef<ModuleOp> module(cast<ModuleOp>(it.module->clone()));
  MeshAttr mesh = MeshAttr::get(&it.context, it.mesh);
  (*module)->setAttr(kMeshAttr, mesh);
  auto function = *module->getOps<func::FuncOp>().begin();
  Block &block = function.getBody().front();
  Operation &op = block.front();
  auto laidOut = [&](Value value, const Layout &layout) {
    value.setType(withLayout(cast<RankedTensorType>(value.getType()),
                             LayoutAttr::get(mesh, layout)));
  };
  for (auto [operand, layout] : llvm::zip(op.getOperands(), sharding.operands))
    laidOut(operand, layout);
  OpBuilder builder(block.getTerminator());
  llvm::SmallVector<Value> results;
  for (auto [result, layout] : llvm::zip(op.getResults(), sharding.results)) {
    laidOut(result, layout);
    Layout reduced = layout;
    reduced.partial.clear();
    reduced.reduce = ReduceKind::Sum;
    auto type = cast<RankedTensorType>(result.getType());
    results.push_back(ReshardOp::create(
        builder, op.getLoc(), withLayout(type, LayoutAttr::get(mesh, reduced)),
        result));
  }
  block.getTerminator()->setOperands(results);
  function.setFunctionType(FunctionType::get(
      &it.context, block.getArgumentTypes(), ValueRange(results).getTypes()));
  return module;
}

/// Calls `visit` for every assignment of the axes to factors that they divide.
template <typename F>
void forEachAssignment(OneOp &it, unsigned axis, FactorAxes axes, F visit) {
  if (axis == it.mesh.axes.size())
    return visit(applyAxes(it.mesh, it.op, axes));
  forEachAssignment(it, axis + 1, axes, visit);
  for (unsigned factor = 0; factor < axes.size(); ++factor) {
    int64_t shards = shardCount(axes[factor]) * it.mesh.axes[axis].size;
    if (!it.op.isShardable(factor) ||
        it.op.rule.factors[factor].size % shards != 0)
      continue;
    FactorAxes next = axes;
    next[factor].push_back(fullAxis(it.mesh, axis));
    forEachAssignment(it, axis + 1, next, visit);
  }
}
} // namespace

TEST_CASE("a choice's price has the bytes of the program under it") {
  unsigned programs = 0, sending = 0;
  for (const OpText &text : kOps)
    for (const char *mesh : {"d=4", "a=2,b=4"}) {
      std::vector<const char *> none(text.types.size() + 1, "");
      OneOp it(mesh, text, none);
      it.context.loadDialect<coll::CollDialect>();
      ShardingPrices prices(it.mesh);
      FactorAxes start(it.op.rule.factors.size());
      forEachAssignment(it, 0, start, [&](const OpSharding &sharding) {
        INFO(text.op << " over " << mesh << " as "
                     << textOf(it.mesh, sharding));
        TensorLayouts layouts(it.op.numTensors());
        std::vector<Layout> reduced(sharding.results.begin(),
                                    sharding.results.end());
        for (auto [index, layout] : llvm::enumerate(reduced)) {
          layout.partial.clear();
          layout.reduce = ReduceKind::Sum;
          layouts[it.op.numOperands() + index] = &layout;
        }
        OpPrice price = prices.of(it.op, sharding, layouts);
        OwningOpRef<ModuleOp> module = programOf(it, sharding);
        PassManager passes(&it.context);
        passes.addPass(createPartitionPass());
        REQUIRE(succeeded(passes.run(*module)));
        int64_t counted = countedBytes(*module);
        CHECK((price.rest + price.results).bytes == counted);
        ++programs;
        sending += counted > 0;
      });
    }
  CHECK(programs >= 100);
  CHECK(sending >= 40);
}
