//===- OneOp.h - one op and the layouts of its tensors ----------*- C++ -*-===//
//
//   OneOp it("data=2", {{"tensor<8x4xf32>"}, "weft.relu %0 : tensor<8x4xf32>"},
//            {"[data,-]", ""});
//
// OneOp parses an op and holds it with its rule and the layouts of its
// operands, then of its results. An empty text is no layout, here the result's.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_ONEOP_H
#define WEFT_TEST_UNIT_ONEOP_H

#include "weft/passes/sharding/OpSharding.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

#include <string>
#include <vector>

namespace weft::test {

inline Mesh meshOf(const char *text) {
  Mesh mesh;
  REQUIRE(parseMesh(text, mesh) == "");
  return mesh;
}

inline Layout layoutOf(const Mesh &mesh, const char *text) {
  Layout layout;
  REQUIRE(parseCommandText(text, mesh, layout) == "");
  return layout;
}

/// Parses the axes of factors, which are written like a layout's dimensions.
inline FactorAxes axesOf(const Mesh &mesh, const char *text) {
  return llvm::to_vector<4>(layoutOf(mesh, text).dims);
}

inline std::string textOf(const Mesh &mesh, const FactorAxes &axes) {
  Layout layout;
  layout.dims.assign(axes.begin(), axes.end());
  return toCommandText(mesh, layout);
}

/// Writes layouts as in "[data,model] [model,-] -> [data,-]+sum(model)".
inline std::string textOf(const Mesh &mesh, const OpSharding &sharding) {
  std::string text;
  for (const Layout &layout : sharding.operands)
    text += toCommandText(mesh, layout) + " ";
  text += "->";
  for (const Layout &layout : sharding.results)
    text += " " + toCommandText(mesh, layout);
  return text;
}

/// The types of an op's operands %0, %1, ..., and the op; its result is %r if
/// the text names none.
struct OpText {
  std::vector<const char *> types;
  std::string op;
};
inline const OpText kAdd = {{"tensor<8x12xf32>", "tensor<8x12xf32>"},
                            "weft.add %0, %1 : tensor<8x12xf32>"};
inline const OpText kDot = {{"tensor<8x12xf32>", "tensor<12x6xf32>"},
                            "weft.dot %0, %1 contract [1] x [0] : "
                            "tensor<8x12xf32>, tensor<12x6xf32> -> "
                            "tensor<8x6xf32>"};

struct OneOp {
  OneOp(const char *meshText, const OpText &text,
        const std::vector<const char *> &tensors)
      : mesh(meshOf(meshText)) {
    context.loadDialect<WeftDialect, mlir::func::FuncDialect>();
    std::string ports;
    for (size_t i = 0; i < text.types.size(); ++i)
      ports += (i ? ", %" : "%") + std::to_string(i) + ": " + text.types[i];
    module = mlir::parseSourceString<mlir::ModuleOp>(
        "func.func @main(" + ports + ") {\n" +
            (text.op.front() == '%' ? "" : "%r = ") + text.op + "\nreturn\n}",
        &context);
    REQUIRE(module);
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    op = OpWithRule::get(&function.getBody().front().front());
    REQUIRE(op.numTensors() == tensors.size());
    said.reserve(tensors.size());
    for (const char *layout : tensors) {
      if (*layout)
        said.push_back(layoutOf(mesh, layout));
      layouts.push_back(*layout ? &said.back() : nullptr);
    }
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  Mesh mesh;
  OpWithRule op;
  std::vector<Layout> said;
  TensorLayouts layouts;
};

} // namespace weft::test

#endif // WEFT_TEST_UNIT_ONEOP_H
