//===- LayoutCommand.cpp - weft layout -------------------------------------===//

#include "weft/tools/weft/DrawShards.h"
#include "weft/tools/weft/StepCompiler.h"

#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace weft::tool;

namespace {
struct Row {
  std::string name, reason;
  std::vector<int64_t> shape;
  Layout layout;
};
} // namespace

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  std::string text;
  for (int64_t n : shape)
    text += (text.empty() ? "" : "x") + std::to_string(n);
  return text.empty() ? "scalar" : text;
}

/// Inputs of one batch, then every variable.
static std::vector<Row> rowsOf(const StepCompiler &steps, int64_t batchSize,
                               const keras::ResolvedLayouts &layouts) {
  std::vector<Row> rows;
  const keras::Model &model = steps.model();
  for (unsigned node : model.inputs) {
    const std::string &name = model.layerOf(node).name;
    Row row{name, "", {batchSize}, {}};
    row.shape.insert(row.shape.end(), model.nodes[node].shape.begin(),
                     model.nodes[node].shape.end());
    if (auto found = layouts.inputs.find(name); found != layouts.inputs.end())
      row.layout = found->second.layout, row.reason = found->second.reason;
    rows.push_back(std::move(row));
  }
  for (const keras::Variable &variable : model.variables) {
    Row row{variable.path, "", variable.shape, {}};
    if (auto found = layouts.variables.find(variable.path);
        found != layouts.variables.end())
      row.layout = found->second.layout, row.reason = found->second.reason;
    rows.push_back(std::move(row));
  }
  for (Row &row : rows)
    row.layout.dims.resize(row.shape.size());
  return rows;
}

int weft::tool::runLayout(const ExplainFlags &flags) {
  auto steps = StepCompiler::open(flags.model);
  if (!steps)
    return 1;
  keras::Distribution single = keras::dataParallel(1);
  const keras::Distribution &distribution =
      steps->distribution() ? *steps->distribution() : single;
  auto resolved = keras::resolveLayouts(distribution, steps->model());
  if (!resolved)
    return fail(flags.model.distribution + ": " + resolved.error);
  llvm::json::Array rows;
  for (const Row &row : rowsOf(*steps, flags.model.batchSize, *resolved)) {
    auto local = localShape(row.layout, row.shape);
    std::string text = toCommandText(distribution.mesh, row.layout);
    if (flags.json) {
      rows.push_back(llvm::json::Object{
          {"name", row.name}, {"shape", llvm::json::Array(row.shape)},
          {"layout", text}, {"local_shape", llvm::json::Array(local)},
          {"why", row.reason}});
      continue;
    }
    llvm::outs() << row.name << "  " << shapeText(row.shape) << "  " << text
                 << "  " << shapeText(local) << " a device  (" << row.reason
                 << ")\n"
                 << drawShards(distribution.mesh, row.layout, row.shape)
                 << "\n";
  }
  if (flags.json)
    llvm::outs() << llvm::formatv("{0:2}\n",
                                  llvm::json::Value(std::move(rows)));
  return 0;
}
