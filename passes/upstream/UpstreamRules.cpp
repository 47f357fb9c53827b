//===- UpstreamRules.cpp - rules for linalg, arith, tensor, tosa -----------===//

#include "weft/passes/upstream/UpstreamRules.h"

void weft::registerUpstreamRules(mlir::DialectRegistry &registry) {
  registerLinalgRules(registry);
  registerArithRules(registry);
  registerTensorRules(registry);
  registerTosaRules(registry);
}
