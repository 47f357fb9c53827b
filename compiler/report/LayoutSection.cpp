//===- LayoutSection.cpp - the mesh, and the layouts of values on it ------===//

#include "weft/compiler/report/Html.h"

#include "weft/base/Text.h"
#include "weft/compiler/report/Sections.h"

#include <algorithm>
#include <map>

using namespace weft;
using namespace weft::html;

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

/// The first coordinates along an axis, -1 for those that are left out, and the
/// last one.
static std::vector<int64_t> shownCoordinates(int64_t size, int64_t most) {
  std::vector<int64_t> shown;
  for (int64_t i = 0; i < std::min(size, most); ++i)
    shown.push_back(i);
  if (size > most) {
    shown[most - 2] = -1;
    shown[most - 1] = size - 1;
  }
  return shown;
}

static std::string coordinateName(const MeshAxis &axis, int64_t at) {
  return at < 0 ? "…" : escaped(axis.name) + " " + std::to_string(at);
}

/// Draws the devices of the last two axes after `base`.
static void writeGrid(const Mesh &mesh, int64_t base, llvm::StringRef caption,
                      llvm::raw_ostream &out) {
  const MeshAxis &across = mesh.axes.back();
  bool isFlat = mesh.axes.size() < 2;
  const MeshAxis *down = isFlat ? nullptr : &mesh.axes[mesh.axes.size() - 2];
  std::vector<int64_t> columns = shownCoordinates(across.size, 16);
  std::vector<int64_t> rows = shownCoordinates(isFlat ? 1 : down->size, 16);
  out << "<table class=\"mesh\"><caption>" << caption << "</caption><tr>";
  if (!isFlat)
    out << "<td></td>";
  for (int64_t c : columns)
    out << "<th scope=\"col\">" << coordinateName(across, c) << "</th>";
  out << "</tr>";
  bool canPick = devicesCanBePicked(mesh);
  for (int64_t r : rows) {
    out << "<tr>";
    if (!isFlat)
      out << "<th scope=\"row\">" << coordinateName(*down, r) << "</th>";
    for (int64_t c : columns) {
      if (r < 0 || c < 0) {
        out << "<td class=\"gap\">…</td>";
        continue;
      }
      int64_t id = deviceAt(mesh, base + r * across.size + c);
      if (canPick)
        out << "<td><button type=\"button\" data-pick=\"" << id
            << "\" aria-pressed=\"false\" aria-label=\"device " << id << "\">"
            << id << "</button></td>";
      else
        out << "<td><b>" << id << "</b></td>";
    }
    out << "</tr>";
  }
  out << "</table>";
}

/// Draws one grid for each coordinate of the other axes, at most eight.
static void writeGrids(const Mesh &mesh, llvm::raw_ostream &out) {
  constexpr int64_t most = 8;
  int64_t inner = 1;
  for (const MeshAxis &axis : llvm::ArrayRef(mesh.axes).take_back(2))
    inner *= axis.size;
  int64_t grids = mesh.size() / inner;
  out << "<div class=\"grids\">";
  for (int64_t g = 0; g < std::min(grids, most); ++g) {
    std::string caption;
    for (unsigned a = 0; a + 2 < mesh.axes.size(); ++a)
      caption += (caption.empty() ? "" : ", ") + escaped(mesh.axes[a].name) +
                 " " + std::to_string(mesh.coordinate(g * inner, a));
    writeGrid(mesh, g * inner, caption, out);
  }
  out << "</div>";
  if (grids > most)
    out << "<p class=\"note\">and " << grouped(grids - most)
        << " more grids like these</p>";
}

void html::writeMesh(const Report &report, llvm::raw_ostream &out) {
  const Mesh &mesh = report.mesh;
  out << "<section id=\"mesh\"><h2>Mesh</h2>";
  if (mesh.size() == 1 || mesh.axes.empty()) {
    out << "<p>One device: it holds everything whole, and sends nothing.</p>"
           "</section>";
    return;
  }
  out << "<p class=\"lead\">" << counted(mesh.size(), "device")
      << " in a grid of "
      << (mesh.axes.size() == 1 ? "1 axis"
                                : std::to_string(mesh.axes.size()) + " axes")
      << ":";
  for (const MeshAxis &axis : mesh.axes)
    out << (&axis == &mesh.axes.front() ? " " : ", ") << code(axis.name)
        << " of " << grouped(axis.size);
  out << ". A tensor's dimension may be split over an axis; over the axes it "
         "is not "
         "split over, it is copied.";
  if (devicesCanBePicked(mesh))
    out << "<span class=\"js\"> Pick a device to see its shards.</span>";
  out << "</p>";
  writeGrids(mesh, out);
  out << "</section>";
}

//===----------------------------------------------------------------------===//
// Tensors
//===----------------------------------------------------------------------===//

namespace {
using Group = std::vector<const TensorLayout *>;

/// A subsection: a title and its tensors.
struct Shelf {
  std::string title, note;
  bool isOpen;
  Group tensors;
};
} // namespace

static std::vector<Shelf> shelves(const Report &report) {
  std::vector<Shelf> all = {
      {"Inputs", "Arrays that the caller passes to each step.", true, {}},
      {"Variables",
       "Weights and state: kept from step to step, updated in place.",
       true,
       {}},
      {"Optimizer", "The optimizer's state for each variable.", false, {}},
      {"Outputs", "Results of a step besides updated variables.", true, {}},
      {"Inside the step",
       "Outputs of layers whose layout a rule sets.",
       true,
       {}}};
  for (const TensorLayout &tensor : report.tensors) {
    bool isVariable = tensor.role == "weight" || tensor.role == "state";
    size_t shelf = tensor.role == kInside  ? 4
                   : tensor.isOutput       ? 3
                   : isVariable            ? 1
                   : tensor.role == "slot" ? 2
                                           : 0;
    all[shelf].tensors.push_back(&tensor);
  }
  return all;
}

/// Groups of tensors that differ only in the numbers in their names and
/// reasons; one tensor each if there are few.
static std::vector<Group> groups(const Mesh &mesh, const Group &tensors) {
  constexpr size_t many = 12;
  std::vector<Group> result;
  std::map<std::string, size_t> known;
  for (const TensorLayout *tensor : tensors) {
    std::string key = tensor->name + "|" + tensor->key;
    if (tensors.size() > many)
      key = withoutNumbers(tensor->name) + "|" +
            withoutNumbers(tensor->reason) + "|" + shapeName(tensor->shape) +
            "|" + tensor->elementType + "|" + tensor->role + "|" +
            toCommandText(mesh, tensor->layout);
    auto [entry, isNew] = known.try_emplace(key, result.size());
    if (isNew)
      result.emplace_back();
    result[entry->second].push_back(tensor);
  }
  return result;
}

static void writeNames(const Group &group, llvm::raw_ostream &out) {
  constexpr size_t most = 600;
  out << "<details><summary>and " << grouped(group.size() - 1)
      << " like it</summary><p class=\"names\">";
  for (size_t i = 1; i < std::min(group.size(), most); ++i)
    out << (i > 1 ? ", " : "") << code(shortened(group[i]->name, 80));
  if (group.size() > most)
    out << " and " << grouped(group.size() - most) << " more";
  out << "</p></details>";
}

/// Whether the tensor's role is written: its name and the title of the
/// subsection do not imply it.
static bool saysRole(const TensorLayout &tensor) {
  return tensor.role != "weight" && tensor.role != "slot" &&
         tensor.role != kInside && tensor.role != "other" &&
         tensor.role != tensor.name &&
         !(tensor.role == "output" && tensor.isOutput);
}

static void writeCard(const Mesh &mesh, const Group &group,
                      llvm::raw_ostream &out) {
  const TensorLayout &tensor = *group.front();
  out << "<li class=\"card\"><h4>" << code(shortened(tensor.name, 120));
  if (group.size() > 1)
    out << " <span class=\"times\">× " << grouped(group.size()) << "</span>";
  out << "</h4>" << drawTensor(mesh, tensor) << "<p class=\"shape\">"
      << escaped(shapeName(tensor.shape)) << " " << escaped(tensor.elementType)
      << (saysRole(tensor) ? ", " + escaped(tensor.role) : "") << " · "
      << code(toCommandText(mesh, tensor.layout)) << " · "
      << escaped(shapeName(localShape(tensor.layout, tensor.shape)))
      << " a device</p><p>" << escaped(layoutWords(mesh, tensor)) << "</p>";
  if (!tensor.reason.empty())
    out << "<p class=\"why\">because: "
        << escaped(shortened(tensor.reason, 200)) << "</p>";
  if (group.size() > 1)
    writeNames(group, out);
  out << "</li>";
}

/// Writes whole scalars in a line, and draws the other tensors: 120 groups at
/// most.
static void writeShelf(const Mesh &mesh, const Shelf &shelf,
                       llvm::raw_ostream &out) {
  constexpr size_t most = 120;
  if (shelf.tensors.empty())
    return;
  Group drawn;
  std::vector<std::string> scalars;
  for (const TensorLayout *tensor : shelf.tensors)
    if (tensor->shape.empty() && !tensor->layout.isPartial())
      scalars.push_back(tensor->name);
    else
      drawn.push_back(tensor);
  out << "<details class=\"shelf\"" << (shelf.isOpen ? " open" : "")
      << "><summary><h3>" << shelf.title << "</h3> <span>"
      << grouped(shelf.tensors.size()) << "</span></summary><p class=\"note\">"
      << shelf.note << "</p><ul class=\"cards\">";
  std::vector<Group> all = groups(mesh, drawn);
  for (const Group &group : llvm::ArrayRef(all).take_front(most))
    writeCard(mesh, group, out);
  out << "</ul>";
  if (all.size() > most)
    out << "<p class=\"note\">and " << grouped(all.size() - most)
        << " more that are not drawn (weft layout --only NAME draws them)</p>";
  if (!scalars.empty())
    out << "<p class=\"note\">Single numbers, whole on each device: "
        << codeList(scalars, 24) << "</p>";
  out << "</details>";
}

void html::writeLayouts(const Report &report, llvm::raw_ostream &out) {
  out << "<section id=\"layouts\"><h2>Layouts</h2><p class=\"lead\">A box is a "
         "tensor, "
         "a block of it is one device's shard, and numbers in a block are "
         "the "
         "devices that hold it. Sheets behind a box are copies on other "
         "devices, "
         "dashed blocks are padding.</p>"
         "<svg class=\"patterns\" width=\"0\" height=\"0\" "
         "aria-hidden=\"true\"><defs>"
         "<pattern id=\"rows\" width=\"4\" height=\"4\" "
         "patternUnits=\"userSpaceOnUse\">"
         "<path d=\"M0 0H4\" class=\"hatch\"/></pattern>"
         "<pattern id=\"columns\" width=\"4\" height=\"4\" "
         "patternUnits=\"userSpaceOnUse\">"
         "<path d=\"M0 0V4\" class=\"hatch\"/></pattern>"
         "<pattern id=\"partial\" width=\"6\" height=\"6\" "
         "patternUnits=\"userSpaceOnUse\">"
         "<path d=\"M0 6L6 0\" class=\"hatch\"/></pattern></defs></svg>";
  for (const Shelf &shelf : shelves(report))
    writeShelf(report.mesh, shelf, out);
  out << "</section>";
}
