//===- PortLayouts.h - layouts of a step that is IR --------------*- C++ -*-===//
//
// The ports of a step that Keras traced have the names and roles of a model's:
//
//   layOutPorts(function, distribution)
//   d1/kernel                [{}, {"model"}]   because layout_map "d1/kernel"
//   adam/d1_kernel_momentum  [{}, {"model"}]   because a slot of "d1/kernel"
//   x                        [{"data"}, {}]    because batch axis "data"
//
// The new layouts replace those that the ports had. A result that reuses a
// variable's memory has its layout; other results get theirs by propagation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PORTLAYOUTS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PORTLAYOUTS_H

#include "weft/compiler/frontends/keras/distribution/Distribution.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace weft::keras {

/// Annotates the ports; returns the status of each rule, or the reason why the
/// layouts do not fit.
Result<std::vector<RuleStatus>> layOutPorts(mlir::func::FuncOp function,
                                            const Distribution &distribution);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_DISTRIBUTION_PORTLAYOUTS_H
