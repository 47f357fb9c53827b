//===- FoldIntegers.cpp - computations on a few constants -----------------===//

#include "weft/passes/interpret/Interpret.h"
#include "weft/passes/sharding/Passes.h"

#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/Matchers.h"

namespace weft {
#define GEN_PASS_DEF_FOLDINTEGERSPASS
#include "weft/passes/sharding/Passes.h.inc"
} // namespace weft

using namespace weft;
using namespace mlir;

/// Constants of a program that are numbers of positions have few elements.
static constexpr int64_t kMostElements = 64;

/// Whether the tensor can be positions of one block. What has more dimensions is
/// laid out as other arrays are: positions of the rows of a batch follow it.
static bool isNumberOrList(RankedTensorType type) {
  return !type.getEncoding() && type.getRank() <= 1 &&
         type.getNumElements() <= kMostElements;
}

static bool isSmallInteger(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && isNumberOrList(tensor) &&
         isa<IntegerType>(tensor.getElementType());
}

/// A tensor of integers or floats as data; null for other elements.
static DenseElementsAttr dataOf(const Tensor &tensor, RankedTensorType type) {
  Type element = type.getElementType();
  if (auto integer = dyn_cast<IntegerType>(element)) {
    SmallVector<APInt> values;
    for (int64_t i = 0; i < tensor.size(); ++i)
      values.push_back(APInt(integer.getWidth(), uint64_t(tensor.integer(i)),
                             /*isSigned=*/false, /*implicitTrunc=*/true));
    return DenseElementsAttr::get(type, values);
  }
  if (!isa<Float32Type, Float64Type>(element))
    return {};
  SmallVector<APFloat> values;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    APFloat value(tensor.real(i));
    bool losesInfo = false;
    value.convert(cast<FloatType>(element).getFloatSemantics(),
                  APFloat::rmNearestTiesToEven, &losesInfo);
    values.push_back(value);
  }
  return DenseElementsAttr::get(type, values);
}

/// The result of an op on constants; null if it is not folded. What is computed
/// of integers alone is the same on every device.
static DenseElementsAttr folded(Operation *op) {
  if (op->getNumResults() != 1 || op->getNumOperands() == 0 ||
      op->getNumRegions() != 0 || !isPure(op))
    return {};
  auto type = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (!type || !isNumberOrList(type))
    return {};
  SmallVector<Tensor> given;
  for (Value operand : op->getOperands()) {
    DenseElementsAttr data;
    if (!isSmallInteger(operand.getType()) ||
        !matchPattern(operand, m_Constant(&data)))
      return {};
    given.push_back(Tensor::ofAttribute(data));
  }
  SmallVector<const Tensor *> operands;
  for (const Tensor &tensor : given)
    operands.push_back(&tensor);
  ScopedDiagnosticHandler silent(op->getContext(),
                                 [](Diagnostic &) { return success(); });
  FailureOr<Tensors> result = interpretOp(op, operands);
  return failed(result) || result->size() != 1 ? DenseElementsAttr()
                                               : dataOf((*result)[0], type);
}

namespace {
struct FoldIntegers : weft::impl::FoldIntegersPassBase<FoldIntegers> {
  void runOnOperation() override {
    auto mesh = getOperation()->getAttrOfType<MeshAttr>(kMeshAttr);
    if (!mesh || mesh.getMesh().size() == 1)
      return; // Only layouts need to know the numbers.
    getOperation().walk([&](Operation *op) {
      if (!isa_and_nonnull<WeftDialect>(op->getDialect()))
        return;
      DenseElementsAttr data = folded(op);
      if (!data)
        return;
      OpBuilder builder(op);
      Value constant = ConstantOp::create(builder, op->getLoc(), data);
      op->getResult(0).replaceAllUsesWith(constant);
      ++numFolded;
    });
  }
};
} // namespace
