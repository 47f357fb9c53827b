//===- PortLayouts.h - layouts of a step that is IR --------------*- C++ -*-===//
//
// A step that Keras traced has ports with the names and roles of a model's:
//
//   layOutPorts(function, distribution, status)
//   d1/kernel                  [{}, {"model"}]     because layout_map "d1/kernel"
//   adam/d1_kernel_momentum    [{}, {"model"}]     because it is a slot of d1/kernel
//   x                          [{"data"}, {}]      because batch axis "data"
//
// They replace the layouts that the ports had. Results that reuse a variable's
// memory have its layout; layouts of the others are propagated.
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
