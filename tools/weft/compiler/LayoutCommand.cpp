//===- LayoutCommand.cpp - weft layout ------------------------------------===//

#include "weft/base/PortRole.h"
#include "weft/base/Text.h"
#include "weft/compiler/explain/TensorLayouts.h"
#include "weft/dialects/weft/PortName.h"
#include "weft/passes/planning/Passes.h"
#include "weft/tools/weft/compiler/DrawShards.h"
#include "weft/tools/weft/compiler/ForeignProgram.h"
#include "weft/tools/weft/compiler/StepCompiler.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace weft;
using namespace weft::tool;

namespace {
/// One tensor to draw.
struct Row {
  std::string name, role, reason;
  std::vector<int64_t> shape;
  Layout layout;
  std::string key = {}; ///< the array's key in files, if it differs

  bool isCalled(const std::string &text) const {
    return name == text || (!key.empty() && key == text);
  }
};
} // namespace

static std::string shapeText(llvm::ArrayRef<int64_t> shape) {
  return shape.empty() ? "scalar" : joined(shape, "x");
}

static std::vector<int64_t> batched(int64_t batchSize,
                                    llvm::ArrayRef<int64_t> sample) {
  std::vector<int64_t> shape{batchSize};
  shape.insert(shape.end(), sample.begin(), sample.end());
  return shape;
}

static void addBatch(std::vector<Row> &rows, const keras::Model &model,
                     const keras::Distribution &distribution,
                     const keras::ResolvedLayouts &layouts, int64_t batchSize) {
  for (unsigned node : model.inputs) {
    const std::string &name = model.layerOf(node).name;
    Row row{name, "input", "", batched(batchSize, model.nodes[node].shape), {}};
    if (auto found = layouts.inputs.find(name); found != layouts.inputs.end())
      row.layout = found->second.layout, row.reason = found->second.reason;
    rows.push_back(std::move(row));
  }
  for (unsigned output = 0; output < model.outputs.size(); ++output) {
    if (!model.hasLabel(output))
      continue;
    std::string name = "labels";
    if (model.outputs.size() > 1)
      name += "/" + model.outputName(output);
    Row row{
        name, "label", "", batched(batchSize, model.labelShape(output)), {}};
    keras::ResolvedLayout labels = keras::batchLayout(distribution, row.shape);
    row.layout = labels.layout, row.reason = labels.reason;
    rows.push_back(std::move(row));
  }
}

static void addVariables(std::vector<Row> &rows, const keras::Model &model,
                         const keras::ResolvedLayouts &layouts) {
  for (const keras::Variable &variable : model.variables) {
    Row row{variable.path, "variable", "", variable.shape, {}};
    if (auto found = layouts.variables.find(variable.path);
        found != layouts.variables.end())
      row.layout = found->second.layout, row.reason = found->second.reason;
    rows.push_back(std::move(row));
  }
}

/// Adds layers whose output has a rule, and the propagated layouts of other
/// outputs of the model.
static Status addOutputs(std::vector<Row> &rows, StepCompiler &steps,
                         const keras::ResolvedLayouts &layouts,
                         int64_t batchSize) {
  const keras::Model &model = steps.model();
  auto module = steps.reach("predict", batchSize, Stage::sharded);
  if (!module)
    return module.error();
  mlir::func::FuncOp predict;
  for (auto function : (*module)->getOps<mlir::func::FuncOp>())
    if (becomesProgram(function))
      predict = function;
  for (size_t node = 0; node < model.nodes.size(); ++node) {
    const std::string &name = model.layerOf(node).name;
    auto returned = std::find(model.outputs.begin(), model.outputs.end(), node);
    Row row{name + "/output",
            "output",
            "",
            batched(batchSize, model.nodes[node].shape),
            {}};
    if (auto found = layouts.outputs.find(name);
        found != layouts.outputs.end()) {
      row.layout = found->second.layout, row.reason = found->second.reason;
    } else if (returned != model.outputs.end() && predict) {
      LayoutAttr layout =
          getLayout(predict.getResultTypes()[returned - model.outputs.begin()]);
      if (layout)
        row.layout = layout.getLayout();
      row.reason = "follows from the others";
    } else {
      continue;
    }
    rows.push_back(std::move(row));
  }
  return {};
}

static llvm::json::Object rowJson(const Mesh &mesh, const Row &row) {
  llvm::json::Array shards;
  for (const HeldBlock &block : heldBlocks(mesh, row.layout, row.shape)) {
    llvm::json::Array begin, end;
    for (const Interval &side : block.box) {
      begin.push_back(side.begin);
      end.push_back(side.end);
    }
    shards.push_back(
        llvm::json::Object{{"devices", llvm::json::Array(block.devices)},
                           {"begin", std::move(begin)},
                           {"end", std::move(end)}});
  }
  bool hasKey = !row.key.empty();
  return llvm::json::Object{
      {"name", hasKey ? row.key : row.name},
      {"source_name",
       hasKey ? llvm::json::Value(row.name) : llvm::json::Value(nullptr)},
      {"role", row.role},
      {"shape", llvm::json::Array(row.shape)},
      {"layout", toCommandText(mesh, row.layout)},
      {"local_shape", llvm::json::Array(localShape(row.layout, row.shape))},
      {"reason", row.reason},
      {"shards", std::move(shards)}};
}

static void printJson(const Mesh &mesh, llvm::ArrayRef<Row> rows) {
  llvm::json::Array axes, tensors;
  for (const MeshAxis &axis : mesh.axes)
    axes.push_back(
        llvm::json::Object{{"name", axis.name}, {"size", axis.size}});
  for (const Row &row : rows)
    tensors.push_back(rowJson(mesh, row));
  llvm::outs() << llvm::formatv(
      "{0:2}\n",
      llvm::json::Value(llvm::json::Object{{"devices", mesh.size()},
                                           {"mesh", std::move(axes)},
                                           {"tensors", std::move(tensors)}}));
}

static std::string drawn(const Mesh &mesh, llvm::ArrayRef<Row> rows) {
  std::string text;
  llvm::raw_string_ostream out(text);
  out << "Shards on " << mesh.size()
      << (mesh.size() == 1 ? " device" : " devices");
  for (size_t i = 0; i < mesh.axes.size(); ++i)
    out << (i ? " x " : ": ") << mesh.axes[i].name << "=" << mesh.axes[i].size;
  out << "; numbers in a box are the devices that hold it.\n";
  for (const Row &row : rows) {
    auto local = localShape(row.layout, row.shape);
    out << "\n"
        << row.name << "  " << shapeText(row.shape) << "  "
        << toCommandText(mesh, row.layout) << "  " << shapeText(local)
        << " a device  (" << row.reason << ")\n"
        << drawShards(mesh, row.layout, row.shape);
  }
  return text;
}

/// Drops rows that were not requested; returns an error, or empty.
static std::string selectRows(std::vector<Row> &rows,
                              const std::vector<std::string> &only) {
  if (only.empty())
    return "";
  std::string known;
  for (const Row &row : rows)
    known += (known.empty() ? "" : ", ") + row.name;
  for (const std::string &name : only)
    if (llvm::none_of(rows, [&](const Row &row) { return row.isCalled(name); }))
      return "--only " + name + ": no such tensor; use one of " + known;
  llvm::erase_if(rows, [&](const Row &row) {
    return llvm::none_of(
        only, [&](const std::string &name) { return row.isCalled(name); });
  });
  return "";
}

static bool isVariable(llvm::StringRef role) {
  std::optional<Role> known = roleNamed(role);
  return known && holdsState(*known);
}

/// Adds the inputs of a program and its results of role "output", with
/// propagated layouts for those without an annotation.
static void addPorts(std::vector<Row> &rows, mlir::func::FuncOp function) {
  auto add = [&](mlir::Type type, auto attribute, const char *otherwise) {
    auto text = [&](llvm::StringRef name, const char *otherwise) {
      auto found = llvm::dyn_cast_or_null<mlir::StringAttr>(attribute(name));
      return found ? found.str() : std::string(otherwise);
    };
    Row row{text(kNameAttr, ""),
            text(kRoleAttr, "other"),
            "",
            llvm::cast<mlir::RankedTensorType>(type).getShape().vec(),
            {}};
    if (isVariable(row.role))
      row.role = "variable";
    if (LayoutAttr layout = getLayout(type))
      row.layout = layout.getLayout();
    row.reason = text(kReasonAttr, otherwise);
    if (std::string name = text(kSourceNameAttr, ""); !name.empty()) {
      row.key = std::move(row.name);
      row.name = std::move(name);
    }
    rows.push_back(std::move(row));
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    add(
        function.getArgumentTypes()[i],
        [&](llvm::StringRef name) { return function.getArgAttr(i, name); },
        "no rule matches");
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (function.getResultAttrOfType<mlir::StringAttr>(i, kRoleAttr) ==
        "output")
      add(
          function.getResultTypes()[i],
          [&](llvm::StringRef name) { return function.getResultAttr(i, name); },
          "follows from the others");
}

static int print(const ExplainFlags &flags, const Mesh &mesh,
                 std::vector<Row> rows) {
  if (std::string why = selectRows(rows, flags.only); !why.empty())
    return fail(why);
  for (Row &row : rows)
    row.layout.dims.resize(row.shape.size());
  if (flags.json)
    printJson(mesh, rows);
  else
    printText(drawn(mesh, rows));
  return 0;
}

static int layoutOfProgram(const ExplainFlags &flags) {
  auto program = ForeignProgram::open(flags.model);
  if (!program)
    return fail(program.error());
  auto reached = (*program)->reach(Stage::sharded);
  if (!reached)
    return fail(reached.error());
  mlir::ModuleOp module = **reached;
  std::vector<Row> rows;
  for (auto function : module.getOps<mlir::func::FuncOp>())
    if (becomesProgram(function))
      addPorts(rows, function);
  auto mesh = module->getAttrOfType<MeshAttr>(kMeshAttr);
  return print(flags, mesh ? mesh.getMesh() : keras::dataParallel(1).mesh,
               std::move(rows));
}

int weft::tool::runLayout(const ExplainFlags &given) {
  ExplainFlags flags = given;
  flags.model.openSizes.assign(std::begin(kOpenSizes), std::end(kOpenSizes));
  if (namesForeignProgram(flags.model.model))
    return layoutOfProgram(flags);
  if (flags.model.namesStep)
    return fail("--step has no effect on the layouts of " + flags.model.model +
                ", which are those of all its steps; leave it out");
  auto opened = StepCompiler::open(flags.model);
  if (!opened)
    return fail(opened.error());
  StepCompiler *steps = opened->get();
  keras::Distribution single = keras::dataParallel(1);
  const keras::Distribution &distribution =
      steps->distribution() ? *steps->distribution() : single;
  auto resolved = keras::resolveLayouts(distribution, steps->model());
  if (!resolved)
    return fail(resolved.error().in(flags.model.distribution));
  std::vector<Row> rows;
  int64_t batchSize = flags.model.batchSize;
  addBatch(rows, steps->model(), distribution, *resolved, batchSize);
  addVariables(rows, steps->model(), *resolved);
  if (Status added = addOutputs(rows, *steps, *resolved, batchSize); !added)
    return fail(added.error());
  return print(flags, distribution.mesh, std::move(rows));
}
