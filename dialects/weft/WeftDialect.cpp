//===- WeftDialect.cpp - the dialect and its ops' generated parts ---------===//

#include "weft/dialects/weft/CountedLoop.h"
#include "weft/dialects/weft/InterleavedRows.h"
#include "weft/dialects/weft/PlannedFlow.h"
#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/dialects/weft/TypeLists.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/dialects/weft/ops/FlowOps.h"
#include "weft/dialects/weft/ops/FoldOps.h"
#include "weft/dialects/weft/ops/IndexingOps.h"
#include "weft/dialects/weft/ops/LinearAlgebraOps.h"
#include "weft/dialects/weft/ops/ScanOps.h"
#include "weft/dialects/weft/ops/WindowOps.h"

#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace weft;

#include "weft/dialects/weft/WeftDialect.cpp.inc"
#include "weft/dialects/weft/WeftEnums.cpp.inc"
#include "weft/dialects/weft/WeftInterfaces.cpp.inc"

#define GET_OP_CLASSES
#include "weft/dialects/weft/WeftOps.cpp.inc"

namespace {
/// Whether these are facts of a port that would fill a line.
bool areLongFacts(Attribute attribute) {
  auto facts = dyn_cast<DictionaryAttr>(attribute);
  return facts && (facts.size() > 2 || facts.contains("initializer")) &&
         llvm::all_of(facts, [](NamedAttribute entry) {
           return isFactName(entry.getName().strref());
         });
}

/// Prints each mesh, layout and long list of facts once, above the program.
struct AttributeAliases : OpAsmDialectInterface {
  using OpAsmDialectInterface::OpAsmDialectInterface;
  AliasResult getAlias(Attribute attribute, raw_ostream &os) const override {
    if (isa<MeshAttr>(attribute))
      os << "mesh";
    else if (isa<LayoutAttr>(attribute))
      os << "layout";
    else if (areLongFacts(attribute))
      os << "facts";
    else
      return AliasResult::NoAlias;
    return AliasResult::FinalAlias;
  }
};
/// Elements of operand 0 that are not replaced are read at their own position.
struct UpdateReads
    : KernelOpInterface::ExternalModel<UpdateReads, DynamicUpdateSliceOp> {
  int64_t getElementsReadElsewhere(Operation *, unsigned operand) const {
    return operand == 0 ? 0 : 1;
  }
};
template <typename ConcreteOp>
struct UpdatesFirst
    : UpdatesOperandOpInterface::ExternalModel<UpdatesFirst<ConcreteOp>,
                                               ConcreteOp> {};
} // namespace

void WeftDialect::initialize() {
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/weft/WeftOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/weft/ops/FlowOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/weft/ops/FoldOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/weft/ops/IndexingOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/weft/ops/ScanOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/weft/ops/LinearAlgebraOps.cpp.inc"
      >();
  addOperations<
#define GET_OP_LIST
#include "weft/dialects/weft/ops/WindowOps.cpp.inc"
      >();
  addInterfaces<AttributeAliases>();
  DynamicUpdateSliceOp::attachInterface<UpdateReads,
                                        UpdatesFirst<DynamicUpdateSliceOp>>(
      *getContext());
  ScatterOp::attachInterface<UpdatesFirst<ScatterOp>>(*getContext());
  attachCountedLoops(*getContext());
  attachInterleavedRows(*getContext());
  attachPlannedFlow(*getContext());
}

/// Checks the values of the mesh and of a kernel's kind.
LogicalResult WeftDialect::verifyOperationAttribute(Operation *op,
                                                    NamedAttribute attribute) {
  auto require = [&](bool holds, StringRef form) -> LogicalResult {
    if (holds)
      return success();
    return op->emitError() << "attribute '" << attribute.getName() << "' is "
                           << attribute.getValue() << "; write " << form;
  };
  if (attribute.getName() == kMeshAttr)
    return require(isa<MeshAttr>(attribute.getValue()),
                   "a mesh, as #weft.mesh<\"batch\"=8>");
  if (attribute.getName() == kKernelAttr)
    return require(isa<KernelKindAttr>(attribute.getValue()),
                   "#weft.kernel<elementwise>, <reduce>, <dot> or <general>");
  return success();
}

Operation *WeftDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  auto elements = dyn_cast<ElementsAttr>(value);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!elements || !tensor ||
      elements.getShapedType().getShape() != tensor.getShape() ||
      elements.getElementType() != tensor.getElementType())
    return nullptr;
  return ConstantOp::create(builder, loc, tensor, elements);
}
