//===- ProgramTexts.cpp - layouts as a person writes them -----------------===//
//
//   (data,model:(2)4)      data=2, model=8      [-,model]
//
//===----------------------------------------------------------------------===//

#include "weft/runtime/program/Program.h"

using namespace weft;
using namespace weft::runtime;

namespace {
using Axes = flatbuffers::Vector<const plan::SubAxis *>;
using Ports = flatbuffers::Vector<flatbuffers::Offset<plan::Port>>;
} // namespace

/// The text of an axis: `x`, or `x:(2)4` for 4 of an axis after its first 2.
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
  return "[" + text + "]";
}

static std::string meshText(const plan::Mesh &mesh) {
  std::string text;
  for (size_t i = 0; mesh.axis_names() && i < mesh.axis_names()->size(); ++i)
    text += (i ? ", " : "") + mesh.axis_names()->Get(i)->str() + "=" +
            std::to_string(mesh.axis_sizes()->Get(i));
  return text;
}

static std::vector<std::string> layoutTexts(const plan::Mesh &mesh,
                                            const Ports *ports) {
  std::vector<std::string> out;
  for (size_t i = 0; ports && i < ports->size(); ++i)
    out.push_back(layoutText(mesh, *ports->Get(i)));
  return out;
}

const Program::Texts &Program::texts() const {
  std::call_once(textsMade, [this] {
    const plan::Program *plan = plan::GetProgram(bytes.get());
    const plan::Mesh &mesh = *plan->mesh();
    madeTexts.mesh = meshText(mesh);
    madeTexts.inputLayouts = layoutTexts(mesh, plan->inputs());
    madeTexts.outputLayouts = layoutTexts(mesh, plan->outputs());
    for (size_t i = 0; plan->instructions() && i < plan->instructions()->size();
         ++i)
      if (const auto *start =
              plan->instructions()->Get(i)->operation_as_Start())
        madeTexts.axes.push_back(axesText(mesh, start->group()));
  });
  return madeTexts;
}
