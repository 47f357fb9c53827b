//===- PlanAttributes.h - attributes of the plan dialect --------*- C++ -*-===//

#ifndef WEFT_DIALECTS_PLAN_PLANATTRIBUTES_H
#define WEFT_DIALECTS_PLAN_PLANATTRIBUTES_H

#include "weft/dialects/weft/Weft.h"
#include "weft/layout/Communication.h"

#include "weft/dialects/plan/PlanEnums.h.inc"
#include "weft/dialects/plan/PlanInterfaces.h.inc"
#define GET_ATTRDEF_CLASSES
#include "weft/dialects/plan/PlanAttributes.h.inc"

namespace weft::plan {

/// The axes of a group, major to minor. A group is a layout of rank 1.
SubAxes groupAxes(LayoutAttr group);
int64_t groupSize(LayoutAttr group);
/// The group over these axes: a layout of rank 1.
LayoutAttr groupOver(MeshAttr mesh, llvm::ArrayRef<SubAxis> axes);

} // namespace weft::plan

#endif // WEFT_DIALECTS_PLAN_PLANATTRIBUTES_H
