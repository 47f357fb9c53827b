//===- InnerModel.cpp - a model that is an option of a layer --------------===//

#include "weft/compiler/frontends/keras/layers/InnerModel.h"
#include "weft/compiler/frontends/keras/layers/InputLayer.h"
#include "weft/compiler/frontends/keras/layers/MaskArgument.h"

#include "llvm/ADT/DenseMap.h"

#include <set>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

const Table<Layer> &weft::keras::innerLayerTable() {
  static const Table<Layer> table = [] {
    std::vector<TableRow> rows = layerTable().rows;
    rows.push_back(row<InnerSequential>("Sequential"));
    rows.push_back(row<InnerFunctional>("Functional"));
    return Table<Layer>{{"layer class", "layers", std::move(rows)}};
  }();
  return table;
}

void InnerSequential::options(Options &o) {
  trainable = true; // Keras reads it from each layer instead
  o.graph(graph, innerLayerTable(), /*isChain=*/true);
}

void InnerFunctional::options(Options &o) {
  o.graph(graph, innerLayerTable(), /*isChain=*/false);
}

std::vector<std::string> InnerModel::attributes() const {
  std::map<std::string, unsigned> used;
  std::vector<std::string> out;
  for (size_t i = 0; i < graph.members.size(); ++i) {
    std::string name = "layers/" + member(i).savedName();
    if (unsigned earlier = used[name]++)
      name += "_" + std::to_string(earlier);
    out.push_back(std::move(name));
  }
  return out;
}

std::string InnerModel::attributeIn(const std::string &inside) const {
  const std::vector<std::string> all = attributes();
  for (size_t i = 0; i < all.size(); ++i)
    if (StringRef rest = inside;
        rest.consume_front(all[i]) && rest.consume_front("/"))
      return all[i] + "/" + member(i).savedPath(rest.str());
  return inside;
}

/// Whether the tensors of a call have the number and the shapes of the model's
/// inputs; refuses others.
bool InnerModel::binds(Call &c, const CallInputs &inputs) const {
  if (inputs.values.size() != graph.inputs.size()) {
    c.refuse("its model " + name + " takes " +
             std::to_string(graph.inputs.size()) + " tensors, not " +
             std::to_string(inputs.values.size()));
    return false;
  }
  for (auto [wanted, value] : llvm::zip_equal(graph.inputs, inputs.values))
    for (size_t i = 0; i < graph.members.size(); ++i) {
      auto *input = dynamic_cast<const InputLayer *>(graph.members[i].get());
      if (!input || graph.names[i] != wanted.member)
        continue;
      std::vector<int64_t> shape = input->sampleShape();
      ArrayRef<int64_t> given = c.t.shape(value).drop_front();
      bool fits = shape.size() == given.size();
      for (size_t d = 0; fits && d < given.size(); ++d)
        fits = shape[d] == -1 || shape[d] == given[d];
      if (!fits) {
        c.refuse("its model " + name + " takes samples of shape " +
                 shapeText(shape) + ", but is called with " + shapeText(given));
        return false;
      }
    }
  return true;
}

namespace {
/// The tensors of one run, and their masks.
struct Run {
  std::map<InnerGraph::Tensor, Tensor> values;
  llvm::DenseMap<Value, Tensor> masks;

  bool hasAll(const InnerGraph::Call &call) const {
    return llvm::all_of(call.tensors, [&](const InnerGraph::Tensor &tensor) {
      return values.count(tensor);
    });
  }
  CallInputs inputsOf(const InnerGraph::Call &call, const Layer &layer) const;
};
} // namespace

/// The inputs of a member's call: its first parameter is positional, the others
/// are found by name.
CallInputs Run::inputsOf(const InnerGraph::Call &call,
                         const Layer &layer) const {
  CallInputs out;
  for (const InnerGraph::Tensor &tensor : call.tensors) {
    out.tensors.push_back(values.at(tensor));
    out.tensorMasks.push_back(masks.lookup(values.at(tensor)));
  }
  std::vector<const char *> names = layer.facts().tensors;
  out.arguments.keywords = call.arguments.keywords;
  for (auto [i, argument] : llvm::enumerate(call.arguments.positional))
    if (i == 0 || i >= names.size())
      out.arguments.positional.push_back(argument);
    else
      out.arguments.keywords[names[i]] = argument;
  if (!names.empty() && out.arguments.positional.empty())
    if (auto first = out.arguments.keywords.find(names[0]);
        first != out.arguments.keywords.end()) {
      out.arguments.positional.push_back(first->second);
      out.arguments.keywords.erase(first);
    }
  std::vector<size_t> places;
  for (const Argument &argument : out.arguments.positional)
    argument.collect(places);
  for (size_t place : places) {
    out.values.push_back(out.tensors[place]);
    out.masks.push_back(out.tensorMasks[place]);
  }
  giveMasks(out);
  return out;
}

/// Refuses arguments that the member does not take.
static bool takesArguments(Call &c, const Layer &layer,
                           const CallInputs &inputs) {
  std::set<std::string> known = {"mask"};
  const Facts facts = layer.facts();
  for (const char *name : facts.tensors)
    known.insert(name);
  for (const char *name : facts.flags)
    known.insert(name);
  for (const auto &[name, argument] : inputs.arguments.keywords)
    if (argument.isGiven() && !known.count(name)) {
      c.refuse("its layer " + layer.name + " is called with an argument \"" +
               name + "\", which is not supported");
      return false;
    }
  return true;
}

CallResults InnerModel::run(Call &c, const CallInputs &inputs) const {
  if (!binds(c, inputs))
    return {};
  Run run;
  for (auto [i, tensor] : llvm::enumerate(graph.inputs)) {
    run.values[tensor] = inputs.values[i];
    if (Tensor mask = inputs.mask(i))
      run.masks[inputs.values[i]] = mask;
  }
  const std::vector<std::string> all = attributes();
  for (bool progress = true; progress;) {
    progress = false;
    for (const InnerGraph::Call &call : graph.calls) {
      if (run.values.count(call.name) || !run.hasAll(call))
        continue;
      const Layer &layer = member(call.member);
      CallInputs given = run.inputsOf(call, layer);
      if (!takesArguments(c, layer, given))
        return {};
      CallResults results;
      if (auto *model = dynamic_cast<const InnerModel *>(&layer)) {
        Call inner = c.inside(layer, all[call.member]);
        results = model->run(inner, given);
      } else {
        results = c.runMember(layer, all[call.member], given);
      }
      if (results.values.empty())
        return {};
      if (layer.facts().takesMasksOff)
        for (Tensor value : given.tensors)
          run.masks.erase(value);
      InnerGraph::Tensor name = call.name;
      for (auto [value, mask] :
           llvm::zip_equal(results.values, results.masks)) {
        run.values[name] = value;
        if (mask)
          run.masks.try_emplace(value, mask);
        ++name.result;
      }
      progress = true;
    }
  }
  CallResults out;
  for (const InnerGraph::Tensor &tensor : graph.outputs) {
    auto found = run.values.find(tensor);
    if (found == run.values.end()) {
      c.refuse("its model " + this->name + " never computes its output \"" +
               tensor.member + "\"");
      return {};
    }
    out.values.push_back(found->second);
    out.masks.push_back(run.masks.lookup(found->second));
  }
  return out;
}
