//===- ForeignRules.cpp - sharding rules of upstream's ops ----------------===//

#include "weft/dialects/foreign/ForeignRules.h"

void weft::registerForeignRules(mlir::DialectRegistry &registry) {
  registerLinalgRules(registry);
  registerArithRules(registry);
  registerTensorRules(registry);
  registerTosaRules(registry);
}
