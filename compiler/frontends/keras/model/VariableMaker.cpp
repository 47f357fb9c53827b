//===- VariableMaker.cpp - a model's variables, from its calls ------------===//

#include "weft/compiler/frontends/keras/model/VariableMaker.h"

#include <algorithm>
#include <set>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The initializers of an object and of the layers that are its options, in the
/// order of construction.
static std::vector<InitializerPtr> initializersOf(const Configured &object) {
  std::vector<InitializerPtr> out;
  for (const auto &part : objectsOf(object)) {
    if (auto initializer = std::dynamic_pointer_cast<const Initializer>(part))
      out.push_back(initializer);
    if (std::dynamic_pointer_cast<const Layer>(part))
      llvm::append_range(out, initializersOf(*part));
  }
  return out;
}

void VariableMaker::refuse(const std::string &complaint) {
  if (status)
    status =
        Error{"layer \"" + model.layers[current].name + "\": " + complaint};
}

void VariableMaker::enter(unsigned layer) {
  current = layer;
  isAgain = false;
  if (made[layer].calls++ == 0)
    called.push_back(layer);
}

Value VariableMaker::get(const VariableRequest &request) {
  Made &of = made[current];
  std::string key = request.layer + "/" + request.name;
  Type element = request.isRandom
                     ? Type(builder.getIntegerType(32, /*isSigned=*/false))
                     : typeOf(builder, request.dtype);
  auto type = RankedTensorType::get(request.shape, element);
  auto [entry, isNew] = of.values.try_emplace(key);
  if (!isNew) {
    if (entry->second.getType() != type)
      refuse("its " + request.name + " has the shape " +
             shapeText(Tensors::shape(entry->second)) + " in one call and " +
             shapeText(request.shape) +
             " in another; call it with tensors of one shape");
    return entry->second;
  }
  Variable variable;
  variable.path = request.scope + "/" + request.name;
  variable.key = key;
  variable.shape = request.shape;
  variable.dtype = request.isRandom ? "uint32" : request.dtype;
  variable.isUnnamed = request.rules.isUnnamed;
  variable.isDrawnAlways = request.isDrawnAlways;
  variable.trainable = request.trainable;
  variable.initializer = request.rules.initializer;
  variable.seed = request.rules.initializer->ownSeed();
  variable.layer = model.layers[current].name;
  variable.owner = current;
  variable.regularizer = request.rules.regularizer;
  variable.constraint = request.rules.constraint;
  variable.inputAxes = request.rules.inputAxes;
  variable.outputAxes = request.rules.outputAxes;
  variable.isOfAdapter = request.rules.isOfAdapter;
  variable.takesGradient = request.rules.takesGradient;
  variable.adapter = request.rules.adapter;
  if (std::optional<Adapter> &adapter = variable.adapter) {
    std::vector<std::string *> names = {&adapter->a, &adapter->b};
    if (adapter->integers)
      names.insert(names.end(),
                   {&adapter->integers->scale, &adapter->integers->zero});
    for (std::string *name : names)
      if (!name->empty())
        name->insert(0, request.scope + "/");
  }
  of.variables.push_back(std::move(variable));
  if (std::find(of.sublayers.begin(), of.sublayers.end(), request.layer) ==
      of.sublayers.end())
    of.sublayers.push_back(request.layer);
  entry->second = block.addArgument(type, builder.getUnknownLoc());
  return entry->second;
}

void VariableMaker::set(const VariableRequest &request, Value) {
  for (Variable &variable : made[current].variables)
    if (variable.key == request.layer + "/" + request.name)
      variable.isUpdated = true;
}

void VariableMaker::construct(const Layer &layer, const Constructor &by) {
  for (const InitializerPtr &initializer : initializersOf(layer))
    construct(initializer, by);
}

void VariableMaker::construct(const InitializerPtr &initializer,
                              const Constructor &by) {
  if (made[current].calls == 1 && !isAgain)
    made[current].built.push_back({initializer, by});
}

/// Sorts a layer's variables: its own first, then those of each inner layer;
/// for each of them weights, then statistics, then random states.
void VariableMaker::order(Made &of) const {
  auto rank = [&](const Variable &variable) {
    std::string layer = variable.key.substr(0, variable.key.rfind('/'));
    auto at = std::find(of.sublayers.begin(), of.sublayers.end(), layer);
    bool isOwn = layer == model.layers[current].path;
    int kind = variable.isSeedState() ? 2 : variable.isUpdated ? 1 : 0;
    return std::pair<int64_t, int>(isOwn ? 0 : 1 + (at - of.sublayers.begin()),
                                   kind);
  };
  std::map<std::pair<int64_t, int>, std::vector<Variable>> ordered;
  for (Variable &variable : of.variables)
    ordered[rank(variable)].push_back(std::move(variable));
  of.variables.clear();
  for (auto &[at, variables] : ordered)
    for (Variable &variable : variables)
      of.variables.push_back(std::move(variable));
}

void VariableMaker::addDraws(const std::vector<InitializerPtr> &initializers,
                             const std::string &scope) {
  for (const InitializerPtr &initializer : initializers) {
    std::vector<unsigned> seeded;
    for (unsigned i = 0; i < model.variables.size(); ++i)
      if (model.variables[i].initializer->seeded(initializer))
        seeded.push_back(i);
    if (initializer->className == kSeedGenerator) {
      std::string name = scope + "seed_generator";
      if (unsigned earlier = generators++)
        name += "_" + std::to_string(earlier);
      for (unsigned i : seeded)
        model.variables[i].path = name + "/seed_generator_state";
    }
    if (initializer->drawsSeed())
      model.draws.push_back(std::move(seeded));
  }
}

void VariableMaker::addDraws(int parent) {
  for (unsigned i = 0; i < model.layers.size(); ++i) {
    const ModelLayer &layer = model.layers[i];
    if (layer.parent != parent)
      continue;
    if (layer.isModel()) {
      addDraws(int(i));
      continue;
    }
    addDraws(*layer.layer, made[i]);
    if (graphs.isBuiltAlone[i])
      addBuilt(nullptr, made[i]);
  }
  for (unsigned i : called)
    if (model.layers[i].parent == parent && !graphs.isBuiltAlone[i])
      addBuilt(nullptr, made[i]);
}

void VariableMaker::addDraws(const Configured &object, Made &of) {
  for (const auto &part : objectsOf(object)) {
    if (auto initializer = std::dynamic_pointer_cast<const Initializer>(part))
      addDraws({initializer}, "");
    auto layer = std::dynamic_pointer_cast<const Layer>(part);
    if (!layer)
      continue;
    addDraws(*layer, of);
    if (layer->isBuiltAlone)
      addBuilt(layer.get(), of);
  }
}

void VariableMaker::addBuilt(const Layer *by, Made &of) {
  std::vector<Built> rest;
  for (Built &built : of.built)
    if (!by || built.by.layer == by)
      addDraws({built.initializer}, built.by.scope + "/");
    else
      rest.push_back(std::move(built));
  of.built = std::move(rest);
}

void VariableMaker::finish() {
  std::set<std::string> paths;
  for (current = 0; status && current < made.size(); ++current) {
    const ModelLayer &layer = model.layers[current];
    if (!layer.isModel() && !layer.isInput() && made[current].calls == 0)
      return refuse("is never called");
    order(made[current]);
    for (Variable &variable : made[current].variables) {
      if (variable.isUnnamed && unnamed++)
        variable.path += "_" + std::to_string(unnamed - 1);
      // Paths may collide, since the paths of layers that are options do not
      // contain the outer layer. Seed states may have equal paths.
      if (!variable.isSeedState() && !paths.insert(variable.path).second)
        return refuse("its variable \"" + variable.path +
                      "\" has the path of another one; give the layers inside "
                      "different names");
      model.variables.push_back(std::move(variable));
    }
  }
  if (status)
    addDraws(-1);
}
