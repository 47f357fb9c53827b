//===- ShardedWitness.cpp - a small program, compiled and run -------------===//

#include "weft/test/unit/ShardedWitness.h"

#include "weft/compiler/explain/Explain.h"
#include "weft/compiler/stages/Pipeline.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/passes/verify/CompareWithGlobal.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/Support/raw_ostream.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

static std::string meshAlias(const Mesh &mesh) {
  std::string axes;
  for (const MeshAxis &axis : mesh.axes)
    axes += (axes.empty() ? "\"" : ", \"") + axis.name +
            "\"=" + std::to_string(axis.size);
  return "#mesh = #weft.mesh<" + axes + ">\n";
}

/// Returns the program with its short layouts spelled out.
static std::string expandLayouts(const Mesh &mesh, llvm::StringRef program) {
  std::string text;
  while (!program.empty()) {
    size_t mark = std::min(program.find("@["), program.find("#["));
    text += program.substr(0, mark);
    if (mark == llvm::StringRef::npos)
      return text;
    bool port = program[mark] == '@';
    size_t end = program.find(']', mark);
    Layout layout;
    REQUIRE(parseCommandText(program.slice(mark + 1, end + 1), mesh, layout) ==
            "");
    std::string full = "#weft.layout<#mesh, " + toString(mesh, layout) + ">";
    text += port ? "{weft.layout = " + full + "}" : full;
    program = program.substr(end + 1);
  }
  return text;
}

std::string weft::witnessText(const std::string &meshText,
                              llvm::StringRef program) {
  Mesh mesh;
  REQUIRE(parseMesh(meshText, mesh) == "");
  return meshAlias(mesh) +
         "module attributes {weft.mesh = #mesh} {\nfunc.func @main" +
         expandLayouts(mesh, program) + "\n}\n";
}

static void runTo(ModuleOp module, Stage from, Stage to) {
  PassManager pm(module.getContext());
  buildPipeline(pm, {}, from, to);
  REQUIRE(succeeded(pm.run(module)));
}

static Sent readPlan(ModuleOp module) {
  Sent sent;
  for (auto program : module.getOps<plan::ProgramOp>())
    for (Explanation explanation = explainProgram(program);
         const CollectiveCost &cost : explanation.collectives) {
      sent.counts[cost.kind] += cost.count;
      sent.bytesOf[cost.kind] += cost.count * cost.bytes;
      INFO("nobody says why there is a collective " << cost.kind);
      CHECK(cost.reason != "");
    }
  return sent;
}

Sent weft::runWitness(const std::string &mesh, llvm::StringRef program,
                      double tolerance) {
  std::string text = witnessText(mesh, program);
  INFO(text);
  MLIRContext context(MLIRContext::Threading::DISABLED);
  context.loadDialect<WeftDialect, coll::CollDialect, plan::PlanDialect,
                      func::FuncDialect>();
  auto global = parseSourceString<ModuleOp>(text, &context);
  REQUIRE(global);
  OwningOpRef<ModuleOp> local(global->clone());
  runTo(*local, Stage::imported, Stage::scheduled);
  CompareOptions options;
  options.tolerance = tolerance;
  auto entry = [](ModuleOp module) {
    return module.lookupSymbol<func::FuncOp>("main");
  };
  CHECK(succeeded(compareWithGlobal(entry(*global), entry(*local), options)));
  runTo(*local, Stage::scheduled, Stage::plan);
  return readPlan(*local);
}
