//===- KernelWalk.cpp - kernels that have code for GPUs -------------------===//

#include "weft/compiler/codegen/gpu/KernelWalk.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/NestCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"
#include "weft/dialects/nest/TileWalk.h"
#include "weft/dialects/nest/TransposedWalk.h"
#include "weft/dialects/nest/UpdateWalk.h"
#include "weft/dialects/weft/KernelTraits.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

/// The reason why there is no code for an op, or empty.
static std::string refusalOf(Operation &op, Attribute walk) {
  StringRef name = op.getName().getStringRef();
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue())
               ? ""
               : "it contains constant data that is not dense<...>";
  if ((isa<nest::SumsAttr, nest::TilesAttr>(walk) &&
       isa<TermCodeOpInterface>(op)) ||
      (isa<nest::OwnAttr, nest::UpdatesAttr>(walk) &&
       isa<NestCodeOpInterface>(op)))
    return "";
  if (isa<nest::RowsAttr>(walk) && isa<ReduceOp>(op))
    return "";
  bool hasCode = isElementwise(&op) || isa<ElementCodeOpInterface>(op) ||
                 isa<nest::StoreOp, nest::PartsOp>(op);
  return hasCode ? "" : "it contains " + name.str();
}

SmallVector<std::pair<int64_t, int64_t>> independentLoops(nest::LoopsOp loops) {
  auto op = dyn_cast_or_null<nest::OpLoopsInterface>(loops.getNestOp());
  if (!op)
    return {};
  return op.getOwnLoops().independent;
}

int64_t threadsOf(nest::LoopsOp loops) {
  int64_t threads = 1;
  if (isa<nest::OwnAttr>(loops.getWalk())) {
    for (auto [dim, size] : independentLoops(loops))
      threads *= size;
    return threads;
  }
  if (auto tiles = dyn_cast<nest::TilesAttr>(loops.getWalk()))
    return blocksOf(tiles, *nest::productShape(loops.getNestOp())) *
           kBlockThreads;
  if (auto updates = dyn_cast<nest::UpdatesAttr>(loops.getWalk()))
    return nest::warpsOf(updates, cast<ScatterOp>(loops.getNestOp())) *
           kWarpLanes;
  auto kernel = loops->getParentOfType<func::FuncOp>();
  auto first =
      cast<OpResult>(kernel.getBody().front().getTerminator()->getOperand(0));
  ArrayRef<int64_t> shape =
      typeOf(loops.getStored()[first.getResultNumber()]).getShape();
  if (auto rows = dyn_cast<nest::RowsAttr>(loops.getWalk())) {
    shape = shape.take_front(rows.getDims());
    threads = rows.getLanes();
  }
  if (auto sums = dyn_cast<nest::SumsAttr>(loops.getWalk()))
    return ShapedType::getNumElements(shape) / sums.getSide() * sums.getLanes();
  if (auto transposed = dyn_cast<nest::TransposedAttr>(loops.getWalk()))
    return llvm::product_of(nest::turnedTiles(shape, transposed.getAlong())) *
           kBlockThreads;
  if (auto elements = dyn_cast<nest::ElementsAttr>(loops.getWalk()))
    return ShapedType::getNumElements(shape) / elements.getSide();
  return threads * ShapedType::getNumElements(shape);
}

/// Whether the nest stores parts of sums, which the next nest adds up.
static bool storesParts(nest::LoopsOp loops) {
  return llvm::all_of(loops.getPlaces(),
                      [](Attribute place) {
                        return cast<nest::PlaceAttr>(place).getKind() ==
                               nest::PlaceKind::Planned;
                      }) &&
         isa<nest::TilesAttr>(loops.getWalk());
}

/// The reason why there is no code for a nest, or empty.
static std::string refusalOf(nest::LoopsOp loops) {
  for (Operation &op : loops.getBody().front())
    if (std::string why = refusalOf(op, loops.getWalk()); !why.empty())
      return why;
  auto rows = dyn_cast<nest::RowsAttr>(loops.getWalk());
  if (rows && rows.getLanes() != kWarpLanes && rows.getLanes() != kBlockThreads)
    return std::to_string(rows.getLanes()) +
           " lanes share a row, and a warp has " + std::to_string(kWarpLanes) +
           ", a block " + std::to_string(kBlockThreads);
  return "";
}

SmallVector<nest::LoopsOp> findLaunches(func::FuncOp kernel, std::string &why) {
  auto nests = llvm::to_vector(kernel.getOps<nest::LoopsOp>());
  nest::KernelAttr decisions = nest::decisionsOf(kernel);
  if (decisions && decisions.getReason()) {
    why = decisions.getReason().str();
    return {};
  }
  if (nests.empty() ||
      !llvm::all_of(ArrayRef(nests).drop_back(), storesParts) ||
      !isa<nest::ElementsAttr, nest::TransposedAttr, nest::RowsAttr,
           nest::SumsAttr, nest::TilesAttr, nest::OwnAttr, nest::UpdatesAttr>(
          nests.back().getWalk())) {
    why =
        "it has " + std::to_string(nests.size()) +
        " loop nests, and a launch is one over elements, rows, sums, tiles or "
        "loops of an op's own";
    return {};
  }
  for (nest::LoopsOp loops : nests)
    if (why = refusalOf(loops); !why.empty())
      return {};
  if (nests.back().getNumResults() == kernel.getNumResults())
    return nests;
  why = "it returns a value that no nest stores";
  return {};
}

std::string launchName(func::FuncOp kernel, size_t launch) {
  std::string name = kernel.getName().str();
  if (launch == 0)
    return name;
  auto module = kernel->getParentOfType<ModuleOp>();
  name += "_sum";
  auto isTaken = [&] {
    Operation *other = module.lookupSymbol(name);
    return other && isKernel(other);
  };
  while (isTaken())
    name += "_";
  return name;
}

} // namespace weft::gpu
