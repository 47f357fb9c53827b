//===- Summary.cpp - weft summary -----------------------------------------===//
//
// Prints the output of Keras' model.summary() for the file's model.
//
//===----------------------------------------------------------------------===//

#include "weft/base/Text.h"
#include "weft/data/arrays/Array.h"
#include "weft/tools/weft/compiler/StepCompiler.h"
#include "weft/tools/weft/compiler/SummaryTable.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <sys/ioctl.h>
#include <unistd.h>

using namespace weft;
using namespace weft::tool;

namespace {

/// The size of weights: their number, and bytes.
struct Size {
  int64_t numbers = 0;
  double bytes = 0;
  void add(llvm::ArrayRef<int64_t> shape, const std::string &dtype) {
    int64_t count = 1;
    for (int64_t size : shape)
      count *= size;
    auto type = elementTypeNamed(dtype);
    numbers += count;
    bytes += double(count) * double(type ? byteWidth(*type) : 4);
  }
  Size operator+(const Size &other) const {
    return {numbers + other.numbers, bytes + other.bytes};
  }
};

std::string readable(double bytes) {
  const char *units[] = {"B", "KB", "MB", "GB", "TB", "PB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < std::size(units); ++unit)
    bytes /= 1024;
  return llvm::formatv("{0:f2} {1}", bytes, units[unit]);
}

class ModelSummary {
public:
  /// `other` is the same model with other sizes where an input leaves them
  /// open; sizes that differ are None, as Keras writes them.
  ModelSummary(const keras::Model &model, const keras::Model &other,
               const SummaryFlags &flags [[clang::lifetimebound]])
      : model(model), other(other), flags(flags), isChain(findChain()) {}

  void print() const {
    std::vector<SummaryColumn> columns = columnsOf();
    std::vector<std::vector<std::string>> rows;
    addRows(rows, -1, "");
    std::printf("Model: \"%s\"\n%s", model.name.c_str(),
                summaryTable(columns, rows, lineLength()).c_str());
    printSizes();
  }

private:
  std::vector<SummaryColumn> columnsOf() const {
    std::vector<SummaryColumn> out = {{"Layer (type)", Justify::Left, 0.45},
                                      {"Output Shape", Justify::Left, 0.80},
                                      {"Param #", Justify::Right, 1.0}};
    if (!isChain)
      out = {{"Layer (type)", Justify::Left, 0.3},
             {"Output Shape", Justify::Left, 0.56},
             {"Param #", Justify::Right, 0.74},
             {"Connected to", Justify::Left, 1.0}};
    if (!flags.showTrainable)
      return out;
    for (SummaryColumn &column : out)
      column.end *= 0.90;
    out.push_back({"Trainable", Justify::Center, 1.0});
    return out;
  }

  /// The length of lines: the flag's, or the terminal's minus four, from 40 to
  /// Keras' default.
  int lineLength() const {
    if (flags.lineLength)
      return int(*flags.lineLength);
    int columns = 80;
    winsize size = {};
    const char *said = std::getenv("COLUMNS");
    if (int number = said ? std::atoi(said) : 0; number > 0)
      columns = number;
    else if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
      columns = size.ws_col;
    int most = (isChain ? 88 : 108) + (flags.showTrainable ? 12 : 0);
    return std::max(std::min(most, columns - 4), 40);
  }

  /// Whether each layer passes its only result to the next.
  bool findChain() const {
    if (model.className == "Sequential")
      return true;
    std::map<unsigned, unsigned> calls, readers;
    for (auto [index, node] : llvm::enumerate(model.nodes)) {
      if (model.layers[node.layer].parent >= 0 || node.result > 0)
        continue;
      bool isAlone = ++calls[node.layer] == 1 && outerInputs(node).size() <= 1;
      for (unsigned input : outerInputs(node))
        isAlone &= ++readers[input] == 1;
      if (!isAlone)
        return false;
    }
    return model.inputs.size() == 1 && model.outputs.size() == 1;
  }

  bool isInside(unsigned layer, unsigned parent) const {
    for (int at = model.layers[layer].parent; at >= 0;
         at = model.layers[at].parent)
      if (at == int(parent))
        return true;
    return false;
  }

  /// The call of the outermost model whose result is that of this inner call;
  /// the call itself if it is in no inner model.
  unsigned outermost(unsigned index) const {
    for (int parent = model.layers[model.nodes[index].layer].parent;
         parent >= 0; parent = model.layers[parent].parent)
      for (auto [i, node] : llvm::enumerate(model.nodes))
        if (int(node.layer) == parent && llvm::is_contained(node.inputs, index))
          index = unsigned(i);
    return index;
  }

  /// Adds the inputs of a nested model: outer calls whose results inner ones
  /// read.
  void addOuterInputs(unsigned layer, llvm::ArrayRef<unsigned> inputs,
                      std::vector<unsigned> &found,
                      std::set<unsigned> &visited) const {
    for (unsigned input : inputs) {
      const keras::Node &node = model.nodes[input];
      if (!visited.insert(input).second)
        continue;
      if (isInside(node.layer, layer))
        addOuterInputs(layer, node.inputs, found, visited);
      else if (unsigned from = outermost(input);
               !llvm::is_contained(found, from))
        found.push_back(from);
    }
  }

  std::vector<unsigned> outerInputs(const keras::Node &node) const {
    std::vector<unsigned> found;
    std::set<unsigned> visited;
    if (model.layers[node.layer].isModel())
      addOuterInputs(node.layer, node.inputs, found, visited);
    else if (!model.layers[node.layer].isInput())
      for (unsigned input : node.inputs)
        found.push_back(outermost(input));
    return found;
  }

  static bool isOf(const keras::Variable &variable,
                   const keras::ModelLayer &layer) {
    return variable.key.starts_with(layer.path + "/");
  }

  std::vector<const keras::Variable *> weightsOf(unsigned index) const {
    std::vector<const keras::Variable *> out;
    if (model.layers[index].isModel()) {
      for (unsigned i = 0; i < model.layers.size(); ++i)
        if (model.layers[i].parent == int(index))
          llvm::append_range(out, weightsOf(i));
      return out;
    }
    for (const keras::Variable &variable : model.variables)
      if (!variable.isSeedState() && isOf(variable, model.layers[index]))
        out.push_back(&variable);
    return out;
  }

  static std::string shapeText(llvm::ArrayRef<int64_t> sample,
                               llvm::ArrayRef<int64_t> otherSample) {
    std::string text = "(None";
    for (auto [size, otherSize] : llvm::zip(sample, otherSample)) {
      bool isOpen = size < 0 || size != otherSize;
      text += ", " + (isOpen ? "None" : std::to_string(size));
    }
    return text + (sample.empty() ? ",)" : ")");
  }

  std::string shapeOf(unsigned index) const {
    std::vector<std::string> results;
    for (auto [node, otherNode] : llvm::zip(model.nodes, other.nodes)) {
      if (node.layer != index)
        continue;
      if (node.result == 0) // the last call counts
        results.clear();
      results.push_back(shapeText(node.shape, otherNode.shape));
    }
    const keras::ModelLayer &layer = model.layers[index];
    if (results.empty() && layer.isInput()) // an input of an inner model
      return shapeText(layer.input->sampleShape(), layer.input->sampleShape());
    if (results.size() == 1)
      return results[0];
    std::string all;
    for (const std::string &text : results)
      all += (all.empty() ? "" : ", ") + text;
    return results.empty() ? "?" : "(" + all + ")";
  }

  /// The inputs of all calls of a layer: a[0][0], b[1][0] are the layer that
  /// makes an input, its call, and the result.
  std::string connectionsOf(unsigned index) const {
    std::string out;
    for (const keras::Node &node : model.nodes) {
      if (node.layer != index || node.result > 0)
        continue;
      for (unsigned input : outerInputs(node)) {
        const keras::Node &from = model.nodes[input];
        unsigned call = 0;
        for (unsigned i = 0; i < input - from.result; ++i)
          call +=
              model.nodes[i].layer == from.layer && model.nodes[i].result == 0;
        out += (out.empty() ? "" : ", ") + model.layers[from.layer].name + "[" +
               std::to_string(call) + "][" + std::to_string(from.result) + "]";
      }
    }
    return out.empty() ? "-" : out;
  }

  void addRows(std::vector<std::vector<std::string>> &rows, int parent,
               const std::string &prefix) const {
    const std::string &owner =
        parent < 0 ? model.className : model.layers[parent].className;
    for (unsigned i = 0; i < model.layers.size(); ++i) {
      const keras::ModelLayer &layer = model.layers[i];
      if (layer.parent != parent || (layer.isInput() && owner == "Sequential"))
        continue;
      Size size;
      std::vector<const keras::Variable *> weights = weightsOf(i);
      for (const keras::Variable *weight : weights)
        size.add(weight->shape, weight->dtype);
      std::vector<std::string> row = {prefix + layer.name + " (" +
                                          layer.className + ")",
                                      shapeOf(i), grouped(size.numbers)};
      if (!isChain)
        row.push_back(parent < 0 ? connectionsOf(i) : "-");
      bool isTrained = llvm::any_of(weights, [](const keras::Variable *weight) {
        return weight->trainable;
      });
      if (flags.showTrainable)
        row.push_back(weights.empty() ? "-" : isTrained ? "Y" : "N");
      rows.push_back(std::move(row));
      if (flags.expandNested && layer.isModel())
        addRows(rows, int(i), prefix.empty() ? "   └ " : "   " + prefix);
    }
  }

  void printSizes() const {
    Size trainable, others, optimizer;
    for (const keras::Variable &variable : model.variables)
      if (!variable.isSeedState())
        (variable.trainable || variable.takesGradient ? trainable : others)
            .add(variable.shape, variable.dtype);
    for (const keras::OptimizerVariable &variable : model.optimizerVariables())
      optimizer.add(variable.shape, variable.dtype);
    auto line = [](const char *what, const Size &size) {
      std::printf(" %s params: %s (%s)\n", what, grouped(size.numbers).c_str(),
                  readable(size.bytes).c_str());
    };
    line("Total", trainable + others + optimizer);
    line("Trainable", trainable);
    line("Non-trainable", others);
    if (model.optimizer)
      line("Optimizer", optimizer);
  }

  const keras::Model &model, &other;
  const SummaryFlags &flags;
  bool isChain;
};

} // namespace

/// A variable whose shape depends on an open size, so that Keras could not build
/// it; or empty.
static std::string variableOfOpenSize(const StepCompiler &one,
                                      const StepCompiler &other) {
  for (auto [variable, otherVariable] :
       llvm::zip(one.model().variables, other.model().variables))
    if (variable.shape != otherVariable.shape)
      return variable.path;
  return "";
}

int weft::tool::runSummary(const SummaryFlags &flags) {
  // Sizes that most models can halve several times.
  ModelFlags sized = flags.model, others = flags.model;
  sized.openSizes = {256};
  others.openSizes = {320};
  auto opened = StepCompiler::open(sized);
  if (!opened)
    return fail(opened.error());
  const keras::Model &model = (*opened)->model();
  bool isOpen = !model.openInputs.empty();
  std::unique_ptr<StepCompiler> differently;
  if (isOpen) {
    auto other = StepCompiler::open(others);
    if (!other)
      return fail(other.error());
    differently = std::move(*other);
    if (std::string variable = variableOfOpenSize(**opened, *differently);
        !variable.empty())
      return fail(flags.model.model + ": the size of " + variable +
                  " depends on one that an input leaves open; give it with "
                  "--shape " +
                  model.openInputs.front() + "=...");
  }
  ModelSummary(model, differently ? differently->model() : model, flags)
      .print();
  return 0;
}
