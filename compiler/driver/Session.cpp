//===- Session.cpp - what a compiler keeps between programs ---------------===//

#include "weft/compiler/driver/Session.h"

#include "weft/compiler/Register.h"

using namespace mlir;
using namespace weft;

static DialectRegistry ownDialects() {
  DialectRegistry registry;
  registerAllDialects(registry);
  return registry;
}

Session::Session(Report to, ArrayRef<Register> more)
    : own(ownDialects(), MLIRContext::Threading::DISABLED), passes(&own),
      report(std::move(to)) {
  own.loadAllAvailableDialects();
  DialectRegistry others;
  for (Register registerDialects : more)
    registerDialects(others);
  own.appendDialectRegistry(others);
  own.printOpOnDiagnostic(false); // the location identifies the op
  own.getDiagEngine().registerHandler([this](Diagnostic &diagnostic) {
    report(diagnostic);
    return success();
  });
}

CompileOptions Session::options() {
  CompileOptions out;
  out.passes = &passes;
  return out;
}
