//===- AnnotationChanges.cpp - other annotations in a program -------------===//

#include "weft/compiler/explain/AnnotationChanges.h"

#include "weft/compiler/explain/CollectiveRows.h"
#include "weft/compiler/explain/LayoutVariants.h"
#include "weft/dialects/weft/PortName.h"
#include "weft/passes/planning/Passes.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace weft;

using Kind = AnnotationPlace::Kind;

/// Returns the public function, which becomes a program.
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

/// Whether an annotation puts a value on a part of the mesh.
static bool hasParts(ModuleOp module) {
  bool found = false;
  module.walk([&](Operation *op) {
    op->getAttrDictionary().walk(
        [&](LayoutAttr layout) { found |= !layout.getLayout().part.empty(); });
  });
  return found;
}

/// Sets the layout of an argument or a result, or removes it.
static void layOutPort(func::FuncOp function, const AnnotationPlace &place,
                       LayoutAttr layout) {
  auto name = StringAttr::get(function.getContext(), kLayoutAttr);
  if (place.kind == Kind::Argument && layout)
    function.setArgAttr(place.index, name, layout);
  else if (place.kind == Kind::Argument)
    function.removeArgAttr(place.index, name);
  else if (layout)
    function.setResultAttr(place.index, name, layout);
  else
    function.removeResultAttr(place.index, name);
}

OwningOpRef<ModuleOp> AnnotationChange::applied(ModuleOp imported) const {
  OwningOpRef<ModuleOp> copy = imported.clone();
  auto mesh = copy.get()->getAttrOfType<MeshAttr>(kMeshAttr);
  LayoutAttr layout = wanted ? LayoutAttr::get(mesh, *wanted) : LayoutAttr();
  func::FuncOp function = publicFunction(*copy);
  llvm::SmallVector<ConstrainOp> constraints = constraintsIn(*copy);
  for (const AnnotationPlace &place : places) {
    if (place.kind != Kind::Constraint) {
      layOutPort(function, place, layout);
      continue;
    }
    ConstrainOp op = constraints[place.index];
    if (layout) {
      op.setLayoutAttr(layout);
    } else {
      op.getResult().replaceAllUsesWith(op.getInput());
      op.erase();
    }
  }
  return copy;
}

//===----------------------------------------------------------------------===//
// Places
//===----------------------------------------------------------------------===//

AnnotationChanges::AnnotationChanges(ModuleOp imported)
    : mesh(imported->getAttrOfType<MeshAttr>(kMeshAttr)) {
  // Changes of layouts leave places as they are, which these do not know.
  if (!mesh || hasParts(imported))
    return;
  if (func::FuncOp function = publicFunction(imported))
    addPorts(function);
  addConstraints(imported);
  joinTensors();
}

/// The text that tensors which belong together have in common: of
/// "state[1].mu['l'][3]['up']" and "params['l'][0]['up']" "['l'][*]['up']".
static std::string sharedName(StringRef name) {
  size_t key = name.find("['");
  return withoutLayerNumbers(key == StringRef::npos ? name
                                                    : name.drop_front(key));
}

void AnnotationChanges::joinTensors() {
  const Mesh grid = mesh.getMesh();
  std::map<std::string, int> known;
  for (auto [i, tensor] : llvm::enumerate(tensors)) {
    bool isConstraint = tensor.place.kind == Kind::Constraint;
    if (!tensor.layout || (tensor.name.empty() && !isConstraint))
      continue;
    std::string key =
        (isConstraint ? tensor.subject : sharedName(tensor.name)) + "|" +
        toString(grid, *tensor.layout);
    for (int64_t size : tensor.shape)
      key += "x" + std::to_string(size);
    auto [entry, isNew] = known.try_emplace(key, groups.size());
    if (isNew)
      groups.emplace_back();
    groups[entry->second].push_back(i);
    tensor.together = entry->second;
  }
  for (Tensor &tensor : tensors)
    if (tensor.together >= 0 && groups[tensor.together].size() == 1)
      tensor.together = -1;
}

void AnnotationChanges::addPorts(func::FuncOp function) {
  auto add = [&](Kind kind, unsigned index, Type type,
                 DictionaryAttr attributes) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    if (!tensor)
      return;
    StringAttr name = shownName(attributes);
    LayoutAttr layout =
        attributes ? attributes.getAs<LayoutAttr>(kLayoutAttr) : LayoutAttr();
    std::string called =
        name ? "\"" + name.str() + "\""
             : (kind == Kind::Argument ? "argument " : "result ") +
                   std::to_string(index);
    tensors.push_back(
        {{kind, index},
         called,
         name ? name.str() : "",
         tensor.getShape().vec(),
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
    tensors.push_back({{Kind::Constraint, static_cast<unsigned>(index)},
                       called,
                       name,
                       op.getType().getShape().vec(),
                       op.getLayout().getLayout()});
  }
}

//===----------------------------------------------------------------------===//
// Changes
//===----------------------------------------------------------------------===//

/// The subject of tensors that belong together: "p['l'][*]['up']", "m['l'][*]
/// ['up']" and 2 more (128 tensors).
static std::string subjectOf(llvm::ArrayRef<const std::string *> subjects) {
  std::vector<std::string> texts;
  for (const std::string *subject : subjects)
    texts.push_back(*subject);
  texts = mergedNames(texts);
  constexpr size_t most = 3;
  std::string text = llvm::join(llvm::ArrayRef(texts).take_front(most), ", ");
  if (texts.size() > most)
    text += " and " + std::to_string(texts.size() - most) + " more";
  return text + " (" + std::to_string(subjects.size()) + " tensors)";
}

void AnnotationChanges::change(llvm::ArrayRef<const Tensor *> together,
                               const std::set<unsigned> &axes,
                               std::vector<AnnotationChange> &changes) const {
  const Mesh grid = mesh.getMesh();
  const Tensor &first = *together.front();
  bool isOne = together.size() == 1;
  std::vector<AnnotationPlace> places;
  llvm::SmallVector<const std::string *> subjects;
  for (const Tensor *tensor : together) {
    places.push_back(tensor->place);
    subjects.push_back(&tensor->subject);
  }
  std::string called = isOne ? first.subject : subjectOf(subjects);
  bool isConstraint = first.place.kind == Kind::Constraint;
  std::string subject = (isConstraint ? "the "
                         : isOne      ? "the layout of "
                                      : "the layouts of ") +
                        called;
  std::string said;
  if (first.layout)
    said = called + ": " + toString(grid, *first.layout);
  Layout now =
      first.layout.value_or(Layout::replicated(int64_t(first.shape.size())));
  for (const Layout &layout : layoutVariants(grid, now, axes)) {
    std::string text =
        first.layout ? "change " + subject + " from " + toString(grid, now) +
                           " to " + toString(grid, layout)
                     : "lay out " + called + " as " + toString(grid, layout);
    changes.push_back({text, said, places, layout});
  }
  if (first.layout)
    changes.push_back({"remove " + subject + ": " + toString(grid, now), said,
                       places, std::nullopt});
}

/// Whether the text has the name as a whole word.
static bool mentions(StringRef text, StringRef name) {
  auto continues = [](char c) { return llvm::isAlnum(c) || c == '_'; };
  for (size_t at = text.find(name); at != StringRef::npos;
       at = text.find(name, at + 1)) {
    size_t end = at + name.size();
    if ((at == 0 || !continues(text[at - 1])) &&
        (end == text.size() || !continues(text[end])))
      return true;
  }
  return false;
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
                  mentions(collective.reason, tensor.name));
    return uses && named ? 0 : uses ? 1 : named ? 2 : 3;
  };
  std::vector<std::pair<int, const Tensor *>> order;
  for (const Tensor &tensor : tensors)
    order.push_back({urgency(tensor), &tensor});
  llvm::stable_sort(order, [](auto &a, auto &b) { return a.first < b.first; });
  std::set<int> done;
  for (auto &[rank, tensor] : order)
    if (tensor->together >= 0 && done.insert(tensor->together).second) {
      std::vector<const Tensor *> together;
      for (unsigned i : groups[tensor->together])
        together.push_back(&tensors[i]);
      change(together, axes, changes);
    } else if (tensor->together < 0 && (rank < 3 || tensor->layout)) {
      change({tensor}, axes, changes);
    }
  // Then a few tensors that belong together, each alone.
  constexpr size_t few = 8;
  for (auto &[rank, tensor] : order)
    if (tensor->together >= 0 && rank < 3 &&
        groups[tensor->together].size() <= few)
      change({tensor}, axes, changes);
  return changes;
}
