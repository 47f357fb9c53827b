//===- KernelWalk.cpp - what GPUs have code for ---------------------------===//

#include "weft/compiler/codegen/gpu/KernelWalk.h"

#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/codegen/elements/ScalarOps.h"

#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace weft::elements;

namespace weft::gpu {

static std::string text(Type type) {
  std::string result;
  llvm::raw_string_ostream(result) << type;
  return result;
}

/// Polynomials stand in for the functions of floats up to 32 bits.
static bool isFunctionWithoutCode(Operation &op) {
  if (op.getNumResults() != 1)
    return false;
  Type element = getElementTypeOrSelf(op.getResult(0).getType());
  return isElementwise(&op) && op.hasTrait<Costly>() && element.isF64();
}

/// Why there is no code for an op, or empty.
static std::string refusalOf(Operation &op, Attribute walk) {
  StringRef name = op.getName().getStringRef();
  if (isFunctionWithoutCode(op))
    return ("it contains " + name + " on " + text(op.getResult(0).getType()) +
            ", which is no instruction")
        .str();
  if (auto constant = dyn_cast<ConstantOp>(op))
    return isa<DenseElementsAttr>(constant.getValue())
               ? ""
               : "it contains constant data that is not dense<...>";
  if (isa<nest::SumsAttr>(walk) && isa<TermCodeOpInterface>(op))
    return "";
  if (auto reduce = dyn_cast<ReduceOp>(op)) {
    Type element = getElementTypeOrSelf(reduce.getResult().getType());
    bool isExchanged =
        element.isF32() || element.isInteger(32) || element.isInteger(1);
    return isExchanged
               ? ""
               : "weft.reduce combines elements of type " + text(element) +
                     " but lanes exchange f32, i32, ui32 and i1";
  }
  bool hasCode = isElementwise(&op) || isa<ElementCodeOpInterface>(op) ||
                 isa<nest::StoreOp>(op);
  return hasCode ? "" : "it contains " + name.str();
}

nest::LoopsOp findLaunch(func::FuncOp kernel, std::string &why) {
  auto nests = llvm::to_vector(kernel.getOps<nest::LoopsOp>());
  nest::KernelAttr decisions = nest::decisionsOf(kernel);
  for (nest::LoopsOp loops : nests)
    for (Operation &op : loops.getBody().front())
      if (why = refusalOf(op, loops.getWalk()); !why.empty())
        return {};
  if (nests.size() != 1 ||
      !isa<nest::ElementsAttr, nest::RowsAttr, nest::SumsAttr>(
          nests[0].getWalk())) {
    why = decisions && decisions.getReason()
              ? decisions.getReason().str()
              : "it has " + std::to_string(nests.size()) +
                    " loop nests, and a launch is one over elements, rows or "
                    "sums";
    return {};
  }
  auto rows = dyn_cast<nest::RowsAttr>(nests[0].getWalk());
  if (rows && rows.getLanes() != kWarpLanes) {
    why = std::to_string(rows.getLanes()) +
          " lanes share a row, and a warp has " + std::to_string(kWarpLanes);
    return {};
  }
  if (nests[0].getNumResults() == kernel.getNumResults())
    return nests[0];
  why = "it returns what no nest stores";
  return {};
}

} // namespace weft::gpu
