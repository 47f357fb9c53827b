//===- Nest.cpp - the nest dialect ----------------------------------------===//

#include "weft/dialects/nest/Nest.h"

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/nest/OpLoops.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace weft;
using namespace weft::nest;

#include "weft/dialects/nest/NestAttrInterfaces.cpp.inc"
#include "weft/dialects/nest/NestDialect.cpp.inc"
#include "weft/dialects/nest/NestEnums.cpp.inc"
#define GET_ATTRDEF_CLASSES
#include "weft/dialects/nest/NestAttributes.cpp.inc"
#define GET_OP_CLASSES
#include "weft/dialects/nest/NestOps.cpp.inc"

void NestDialect::initialize() {
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/nest/NestOps.cpp.inc"
      >();
  addAttributes<
#define GET_ATTRDEF_LIST
#include "weft/dialects/nest/NestAttributes.cpp.inc"
      >();
  attachOpLoops(getContext());
}

LogicalResult NestDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  if (attribute.getName() == kPrecisionAttr) {
    auto name = dyn_cast<StringAttr>(attribute.getValue());
    if (isa<ModuleOp>(op) && name && parseMatmulPrecision(name))
      return success();
    return op->emitError() << "attribute '" << kPrecisionAttr << "' is "
                           << attribute.getValue()
                           << "; write \"f32\" or \"tf32\" on a module";
  }
  auto kernel = dyn_cast<func::FuncOp>(op);
  if (attribute.getName() != kNestAttr || !kernel ||
      !isa<KernelAttr>(attribute.getValue()))
    return op->emitError() << "attribute '" << attribute.getName() << "' is "
                           << attribute.getValue() << "; write '" << kNestAttr
                           << " = #nest.kernel<target = \"cpu:avx2\">' on a "
                              "kernel function";
  return verifyKernel(kernel);
}

KernelAttr weft::nest::decisionsOf(func::FuncOp kernel) {
  return kernel->getAttrOfType<KernelAttr>(kNestAttr);
}

std::optional<MatmulPrecision>
weft::nest::parseMatmulPrecision(StringRef name) {
  if (name == "f32")
    return MatmulPrecision::F32;
  if (name == "tf32")
    return MatmulPrecision::Tf32;
  return std::nullopt;
}

MatmulPrecision weft::nest::matmulPrecisionOf(Operation *module) {
  auto name = module->getAttrOfType<StringAttr>(kPrecisionAttr);
  return name ? parseMatmulPrecision(name).value_or(MatmulPrecision::F32)
              : MatmulPrecision::F32;
}

bool weft::nest::mayRoundToTf32(Operation *op, MatmulPrecision ofModule) {
  auto loops = dyn_cast<OpLoopsInterface>(op);
  Precision precision =
      loops ? loops.getProductPrecision() : Precision::Default;
  return precision == Precision::Tf32 ||
         (precision != Precision::Highest && ofModule == MatmulPrecision::Tf32);
}

bool weft::nest::isDataConstant(Operation *op) {
  DenseElementsAttr data;
  return matchPattern(op, m_Constant(&data)) && !data.isSplat();
}

LogicalResult ShareAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                int64_t dim, int64_t size, int64_t unit,
                                int64_t shares, int64_t block) {
  if (block < 0 || block % unit != 0)
    return emitError() << "runs its nests for blocks of " << block
                       << " positions, which units of " << unit
                       << " do not divide";
  if (dim < 0 || size < 1 || unit < 1 || shares < 2 || shares > size / unit)
    return emitError() << "shares " << size << " positions of dimension " << dim
                       << " in units of " << unit << " among " << shares
                       << " workers; each of at least 2 needs a unit";
  return success();
}

OperandRange LoopsOp::getStored() {
  return cast<StoreOp>(getBody().front().getTerminator()).getValues();
}

Operation *LoopsOp::getNestOp() {
  for (Operation &op : getBody().front().without_terminator())
    if (hasLoopNest(&op))
      return &op;
  return nullptr;
}

LogicalResult PartsOp::verify() {
  auto of = cast<RankedTensorType>(getSums().getType()),
       type = cast<RankedTensorType>(getResult().getType());
  if (type.getRank() == of.getRank() + 1 && type.getDimSize(0) >= 2 &&
      type.getShape().drop_front() == of.getShape() &&
      type.getElementType() == of.getElementType() &&
      isa<FloatType>(of.getElementType())) { // (C1)
    auto loops = (*this)->getParentOfType<LoopsOp>();
    if (loops && isa<TilesAttr>(loops.getWalk())) // (C2)
      return success();
    return emitOpError("stands in no nest of tiles; write #nest.tiles<..., "
                       "parts = ")
           << type.getDimSize(0) << ">";
  }
  return emitOpError("divides ")
         << of << " into " << type
         << "; parts are floats of the same type and shape, at least two along "
            "a new first dimension";
}

LogicalResult LoopsOp::verify() {
  auto kernel = dyn_cast_or_null<func::FuncOp>((*this)->getParentOp());
  if (!kernel || !kernel->hasAttr(kNestAttr)) // (C2)
    return emitOpError("stands outside of a kernel; give the function the "
                       "attribute '")
           << kNestAttr << "'";
  if (getPlaces().size() != getNumResults()) // (C1)
    return emitOpError("has ")
           << getNumResults() << " results but " << getPlaces().size()
           << " places; give each result one";
  return success();
}

LogicalResult LoopsOp::verifyRegions() {
  Operation &end = getBody().front().back();
  if (!isa<StoreOp>(end))
    return emitOpError("ends with '")
           << end.getName() << "'; end it with 'nest.store'";
  if (getStored().getTypes() != getResultTypes()) // (C1)
    return emitOpError("has results of types ")
           << getResultTypes() << " but stores " << getStored().getTypes();
  for (Value value : getStored())
    if (value.getParentBlock() != &getBody().front())
      return emitOpError("stores ")
             << value << ", which its body does not compute";
  for (Operation &op : getBody().front())
    if (isDataConstant(&op))
      return op.emitOpError("is data, which is in memory: it stands between "
                            "the nests of a kernel, not in one");
  return getWalk().verifyWalk(*this); // (C3)
}
