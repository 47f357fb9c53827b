//===- AnnotationChanges.cpp - other annotations in a program -------------===//

#include "weft/compiler/explain/AnnotationChanges.h"

#include "weft/compiler/explain/LayoutVariants.h"
#include "weft/passes/planning/Passes.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace weft;

using Kind = AnnotationPlace::Kind;

/// The public function, which becomes a program.
static func::FuncOp publicFunction(ModuleOp module) {
  for (auto function : module.getOps<func::FuncOp>())
    if (becomesProgram(function))
      return function;
  return {};
}

static llvm::SmallVector<ConstrainOp> constraintsIn(ModuleOp module) {
  llvm::SmallVector<ConstrainOp> found;
  module.walk([&](ConstrainOp op) { found.push_back(op); });
  return found;
}

OwningOpRef<ModuleOp> AnnotationChange::applied(ModuleOp imported) const {
  OwningOpRef<ModuleOp> copy = imported.clone();
  auto mesh = copy.get()->getAttrOfType<MeshAttr>(kMeshAttr);
  LayoutAttr layout = wanted ? LayoutAttr::get(mesh, *wanted) : LayoutAttr();
  if (place.kind == Kind::Constraint) {
    ConstrainOp op = constraintsIn(*copy)[place.index];
    if (layout) {
      op.setLayoutAttr(layout);
    } else {
      op.getResult().replaceAllUsesWith(op.getInput());
      op.erase();
    }
    return copy;
  }
  func::FuncOp function = publicFunction(*copy);
  bool isArgument = place.kind == Kind::Argument;
  if (layout && isArgument)
    function.setArgAttr(place.index, kLayoutAttr, layout);
  else if (layout)
    function.setResultAttr(place.index, kLayoutAttr, layout);
  else if (isArgument)
    function.removeArgAttr(place.index, kLayoutAttr);
  else
    function.removeResultAttr(place.index,
                              StringAttr::get(copy->getContext(), kLayoutAttr));
  return copy;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

AnnotationChanges::AnnotationChanges(ModuleOp imported)
    : mesh(imported->getAttrOfType<MeshAttr>(kMeshAttr)) {
  if (!mesh)
    return;
  if (func::FuncOp function = publicFunction(imported))
    addPorts(function);
  addConstraints(imported);
}

void AnnotationChanges::addPorts(func::FuncOp function) {
  auto add = [&](Kind kind, unsigned index, Type type,
                 DictionaryAttr attributes) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    StringAttr name;
    LayoutAttr layout;
    if (attributes) {
      name = attributes.getAs<StringAttr>(kNameAttr);
      layout = attributes.getAs<LayoutAttr>(kLayoutAttr);
    }
    std::string called =
        name ? "\"" + name.str() + "\""
             : (kind == Kind::Argument ? "argument " : "result ") +
                   std::to_string(index);
    tensors.push_back(
        {{kind, index},
         called,
         name ? name.str() : "",
         tensor.getRank(),
         layout ? std::optional(layout.getLayout()) : std::nullopt});
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    add(Kind::Argument, index, type, function.getArgAttrDict(index));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    add(Kind::Result, index, type, function.getResultAttrDict(index));
}

/// The text " at tp.mlir:14", if the location has a line.
static std::string lineOf(Location location) {
  auto file = location->findInstanceOf<FileLineColLoc>();
  if (!file || file.getLine() == 0)
    return "";
  return " at " + file.getFilename().str() + ":" +
         std::to_string(file.getLine());
}

void AnnotationChanges::addConstraints(ModuleOp module) {
  for (auto [index, op] : llvm::enumerate(constraintsIn(module))) {
    std::string name = op.getReason().value_or("").str();
    std::string called = "constraint" + lineOf(op.getLoc());
    if (!name.empty())
      called += " for \"" + name + "\"";
    tensors.push_back(
        {{Kind::Constraint, static_cast<unsigned>(index)},
         called,
         name,
         static_cast<int64_t>(op.getLayout().getLayout().dims.size()),
         op.getLayout().getLayout()});
  }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

void AnnotationChanges::change(const Tensor &tensor,
                               const std::set<unsigned> &axes,
                               std::vector<AnnotationChange> &changes) const {
  const Mesh grid = mesh.getMesh();
  bool isConstraint = tensor.place.kind == Kind::Constraint;
  std::string subject =
      (isConstraint ? "the " : "the layout of ") + tensor.subject;
  std::string said;
  if (tensor.layout)
    said = tensor.subject + ": " + toString(grid, *tensor.layout);
  Layout now = tensor.layout.value_or(Layout::replicated(tensor.rank));
  for (const Layout &layout : layoutVariants(grid, now, axes)) {
    std::string text =
        tensor.layout
            ? "change " + subject + " from " + toString(grid, now) + " to " +
                  toString(grid, layout)
            : "lay out " + tensor.subject + " as " + toString(grid, layout);
    changes.push_back({text, said, tensor.place, layout});
  }
  if (tensor.layout)
    changes.push_back({"remove " + subject + ": " + toString(grid, now), said,
                       tensor.place, std::nullopt});
}

std::vector<AnnotationChange>
AnnotationChanges::of(const CollectiveCost &collective) const {
  std::vector<AnnotationChange> changes;
  if (!mesh)
    return changes;
  const Mesh grid = mesh.getMesh();
  std::set<unsigned> axes;
  for (const std::string &name : collective.axes)
    if (auto axis = grid.find(name.substr(0, name.find(':'))))
      axes.insert(*axis);
  auto urgency = [&](const Tensor &tensor) {
    bool uses = tensor.layout && llvm::any_of(axes, [&](unsigned axis) {
                  return usesAxis(*tensor.layout, axis);
                });
    bool named = !tensor.name.empty() &&
                 (llvm::is_contained(collective.where, tensor.name) ||
                  StringRef(collective.reason).contains(tensor.name));
    return uses && named ? 0 : uses ? 1 : named ? 2 : 3;
  };
  std::vector<std::pair<int, const Tensor *>> order;
  for (const Tensor &tensor : tensors)
    order.push_back({urgency(tensor), &tensor});
  llvm::stable_sort(order, [](auto &a, auto &b) { return a.first < b.first; });
  for (auto &[rank, tensor] : order)
    if (rank < 3 || tensor->layout)
      change(*tensor, axes, changes);
  return changes;
}
