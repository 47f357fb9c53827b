//===- ParsedProgram.h - a module read from its text ------------*- C++ -*-===//

#ifndef WEFT_TEST_UNIT_PARSEDPROGRAM_H
#define WEFT_TEST_UNIT_PARSEDPROGRAM_H

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

#include <string>

namespace weft::test {

/// A module parsed from a text; a text that is no valid module fails the test.
struct ParsedProgram {
  explicit ParsedProgram(const std::string &text) {
    context
        .loadDialect<WeftDialect, coll::CollDialect, mlir::func::FuncDialect>();
    module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    REQUIRE(module);
  }
  mlir::func::FuncOp function(llvm::StringRef name) {
    auto found = module->lookupSymbol<mlir::func::FuncOp>(name);
    REQUIRE(found);
    return found;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace weft::test

#endif // WEFT_TEST_UNIT_PARSEDPROGRAM_H
