//===- ImportShardings.cpp - annotations of the shard dialect -------------===//

#include "weft/passes/upstream/Passes.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Shard/IR/ShardDialect.h"
#include "mlir/Dialect/Shard/IR/ShardOps.h"

namespace weft {
#define GEN_PASS_DEF_IMPORTSHARDINGSPASS
#include "weft/passes/upstream/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

namespace {
class ShardingImport {
public:
  explicit ShardingImport(ModuleOp module) : module(module) {}
  LogicalResult run();

private:
  LogicalResult importGrid(shard::GridOp grid);
  LogicalResult importShard(shard::ShardOp op);
  FailureOr<LayoutAttr> layoutOf(shard::ShardingOp sharding, Type type);
  LogicalResult removeRest();

  ModuleOp module;
  MeshAttr mesh;
  StringRef gridName;
};
} // namespace

LogicalResult ShardingImport::importGrid(shard::GridOp grid) {
  if (mesh)
    return grid.emitError("this is a second shard.grid beside @")
           << gridName << "; a module has one mesh";
  gridName = grid.getSymName();
  if (ShapedType::isDynamicShape(grid.getShape()))
    return grid.emitError("the shape of shard.grid @")
           << gridName
           << " is known only at run time; give the number of devices";
  mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  if (!mesh) {
    Mesh axes;
    for (auto [index, size] : llvm::enumerate(grid.getShape()))
      axes.axes.push_back({"axis" + std::to_string(index), size});
    mesh = MeshAttr::get(module.getContext(), axes);
    module->setAttr(kMeshAttr, mesh);
  }
  SmallVector<int64_t> sizes = llvm::map_to_vector(
      mesh.getMesh().axes, [](const MeshAxis &axis) { return axis.size; });
  if (ArrayRef(sizes) != grid.getShape())
    return grid.emitError("the shape of shard.grid @")
           << gridName << " is not that of the module's " << mesh
           << "; leave one of them out";
  return success();
}

FailureOr<LayoutAttr> ShardingImport::layoutOf(shard::ShardingOp sharding,
                                               Type type) {
  if (!mesh) // the grid of an inner module
    return sharding.emitError("shard.grid @")
           << sharding.getGrid()
           << " is not in the outermost module; move it there";
  if (!sharding.getStaticHaloSizes().empty() ||
      !sharding.getStaticShardedDimsOffsets().empty())
    return sharding.emitError(
        "halo sizes and offsets of shards are not imported; "
        "leave them out: Weft receives the halos that ops "
        "need, from shards of equal size");
  int64_t rank = cast<RankedTensorType>(type).getRank();
  auto split = sharding.getSplitAxes().getAxes();
  if (static_cast<int64_t>(split.size()) > rank)
    return sharding.emitError("splits ")
           << split.size() << " dimensions of a tensor of rank " << rank;
  Layout layout = Layout::replicated(rank);
  for (auto [dim, axes] : llvm::enumerate(split))
    for (shard::GridAxis axis : axes.asArrayRef()) {
      unsigned index = static_cast<unsigned>(axis);
      layout.dims[dim].push_back({index, 1, mesh.getMesh().axes[index].size});
    }
  std::string why = invalidReason(mesh.getMesh(), layout, rank);
  if (!why.empty())
    return sharding.emitError(why);
  return LayoutAttr::get(mesh, layout);
}

LogicalResult ShardingImport::importShard(shard::ShardOp op) {
  auto sharding = op.getSharding().getDefiningOp<shard::ShardingOp>();
  if (!sharding)
    return op.emitError("the sharding is not known here; use the result of "
                        "shard.sharding");
  auto layout = layoutOf(sharding, op.getType());
  if (failed(layout))
    return failure();
  auto argument = dyn_cast<BlockArgument>(op.getSrc());
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  if (function && !op.getAnnotateForUsers() &&
      !function.getArgAttr(argument.getArgNumber(), kLayoutAttr))
    function.setArgAttr(argument.getArgNumber(), kLayoutAttr, *layout);
  OpBuilder builder(op);
  Value constrained =
      ConstrainOp::create(builder, op.getLoc(), op.getType(), op.getSrc(),
                          *layout, builder.getStringAttr("shard.shard"));
  op.replaceAllUsesWith(constrained);
  op.erase();
  return success();
}

LogicalResult ShardingImport::removeRest() {
  for (shard::GridOp grid :
       llvm::make_early_inc_range(module.getOps<shard::GridOp>()))
    grid.erase();
  WalkResult result = module.walk([](Operation *op) {
    if (!isa_and_nonnull<shard::ShardDialect>(op->getDialect()))
      return WalkResult::advance();
    if (isa<shard::ShardingOp>(op) && op->use_empty()) {
      op->erase();
      return WalkResult::advance();
    }
    op->emitError("is not imported; Weft reads shard.grid, shard.sharding and "
                  "shard.shard");
    return WalkResult::interrupt();
  });
  return failure(result.wasInterrupted());
}

LogicalResult ShardingImport::run() {
  for (auto grid : module.getOps<shard::GridOp>())
    if (failed(importGrid(grid)))
      return failure();
  WalkResult result = module.walk([&](shard::ShardOp op) {
    return failed(importShard(op)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
  });
  return result.wasInterrupted() ? failure() : removeRest();
}

namespace {
struct ImportShardings : weft::impl::ImportShardingsPassBase<ImportShardings> {
  void runOnOperation() override {
    if (failed(ShardingImport(getOperation()).run()))
      signalPassFailure();
  }
};
} // namespace
