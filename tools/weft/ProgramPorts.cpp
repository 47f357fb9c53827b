//===- ProgramPorts.cpp - what a program file takes and gives -------------===//

#include "weft/tools/weft/ProgramPorts.h"

#include "weft/runtime/abi/plan_generated.h"
#include "weft/runtime/training/Ports.h"

#include <algorithm>
#include <array>

using namespace weft;

namespace {
using Row = std::array<std::string, 6>;
using Axes = flatbuffers::Vector<const plan::SubAxis *>;
} // namespace

/// `x`, or `x:(2)4` for 4 of an axis after its first 2.
static std::string axisText(const plan::Mesh &mesh, const plan::SubAxis &axis) {
  std::string text = mesh.axis_names()->Get(axis.axis())->str();
  if (axis.size() == mesh.axis_sizes()->Get(axis.axis()))
    return text;
  return text + ":(" + std::to_string(axis.skip()) + ")" +
         std::to_string(axis.size());
}

static std::string axesText(const plan::Mesh &mesh, const Axes *axes) {
  if (!axes || axes->size() == 0)
    return "-";
  std::string text;
  for (const plan::SubAxis *axis : *axes)
    text += (text.empty() ? "" : ",") + axisText(mesh, *axis);
  return axes->size() > 1 ? "(" + text + ")" : text;
}

static std::string layoutText(const plan::Mesh &mesh, const plan::Port &port) {
  const plan::Layout *layout = port.layout();
  size_t rank = port.shape() ? port.shape()->size() : 0;
  std::string text;
  for (size_t i = 0; i < rank; ++i) {
    bool known = layout && layout->dims() && i < layout->dims()->size();
    text += (i ? "," : "") +
            (known ? axesText(mesh, layout->dims()->Get(i)->axes()) : "-");
  }
  text = "[" + text + "]";
  if (layout && layout->partial() && layout->partial()->size())
    text += " partial " + axesText(mesh, layout->partial());
  return text;
}

static std::string meshText(const plan::Mesh &mesh) {
  std::string text;
  for (size_t i = 0; mesh.axis_names() && i < mesh.axis_names()->size(); ++i)
    text += (i ? ", " : "") + mesh.axis_names()->Get(i)->str() + "=" +
            std::to_string(mesh.axis_sizes()->Get(i));
  return text.empty() ? "one device" : "mesh " + text;
}

int64_t weft::tool::deviceCount(const weft_program *program) {
  const plan::Mesh *mesh = plan::GetProgram(weft_program_plan(program))->mesh();
  int64_t count = 1;
  for (size_t i = 0;
       mesh && mesh->axis_sizes() && i < mesh->axis_sizes()->size(); ++i)
    count *= mesh->axis_sizes()->Get(i);
  if (mesh && mesh->devices())
    for (int64_t id : *mesh->devices())
      count = std::max(count, id + 1);
  return count;
}

static void
addRows(const plan::Mesh &mesh, const char *direction,
        const flatbuffers::Vector<flatbuffers::Offset<plan::Port>> *ports,
        const std::vector<Port> &values, std::vector<Row> &rows) {
  for (size_t i = 0; i < values.size(); ++i)
    rows.push_back({direction, values[i].name,
                    plan::EnumNamePortRole(ports->Get(i)->role()),
                    text(values[i].shape), std::string(name(values[i].type)),
                    layoutText(mesh, *ports->Get(i))});
}

std::string weft::tool::portTable(const weft_program *program) {
  const plan::Program *plan = plan::GetProgram(weft_program_plan(program));
  std::vector<Row> rows;
  addRows(*plan->mesh(), "input", plan->inputs(), inputPorts(program), rows);
  addRows(*plan->mesh(), "output", plan->outputs(), outputPorts(program), rows);
  std::array<size_t, 6> width{};
  for (const Row &row : rows)
    for (size_t c = 0; c < row.size(); ++c)
      width[c] = std::max(width[c], row[c].size());
  std::string out = meshText(*plan->mesh()) + "; compiled for " +
                    (plan->target() ? plan->target()->str() : "") + "\n\n";
  for (const Row &row : rows) {
    for (size_t c = 0; c + 1 < row.size(); ++c)
      out += row[c] + std::string(width[c] - row[c].size() + 2, ' ');
    out += row.back() + "\n";
  }
  return out;
}
