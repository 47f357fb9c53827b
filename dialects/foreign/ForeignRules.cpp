//===- ForeignRules.cpp - rules for linalg, arith, tensor, tosa -----------===//

#include "weft/dialects/foreign/ForeignRules.h"

void weft::registerForeignRules(mlir::DialectRegistry &registry) {
  registerLinalgRules(registry);
  registerArithRules(registry);
  registerTensorRules(registry);
  registerTosaRules(registry);
}
