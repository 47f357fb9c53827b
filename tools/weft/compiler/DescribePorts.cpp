//===- DescribePorts.cpp - a model's ports for training loops -------------===//

#include "weft/tools/weft/compiler/DescribePorts.h"

#include "weft/data/files/Files.h"
#include "weft/dialects/weft/PortFactsAttr.h"
#include "weft/dialects/weft/Ports.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/runtime/abi/weft.h"
#include "weft/tools/keras/LegacyWeights.h"
#include "weft/tools/keras/SavedModel.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

using namespace weft;
using namespace weft::tool;

namespace {
/// The datasets of variables. `here`: in files of the model's version of Keras.
/// `elsewhere`: in files from before 3.10 if that version is 3.10 or later, and
/// the reverse.
struct Places {
  llvm::StringMap<std::string> here, elsewhere;
};
} // namespace

static void addModel(PortFacts &facts, const std::string &name,
                     const keras::Model &model, const Places &places) {
  if (auto place = places.here.find(name); place != places.here.end()) {
    facts.saved = place->second;
    facts.savedElsewhere = places.elsewhere.lookup(name);
    return;
  }
  for (const keras::Variable &variable : model.variables)
    if (variable.isOfAdapter && variable.path == name) {
      facts.unsaved = "low-rank adapter";
      return;
    }
  if (name == "x")
    facts.layer = model.layerOf(model.inputs[0]).name;
  bool isOnly = model.outputs.size() == 1;
  for (unsigned output = 0; output < model.outputs.size(); ++output) {
    const std::string &layer = model.outputName(output);
    bool isLabel = name == (isOnly ? "y" : "y/" + layer);
    if (!isLabel && !(isOnly && name == "sample_weight"))
      continue;
    if (isOnly)
      facts.layer = layer;
    const keras::Loss *loss = model.lossOf(output);
    if (isLabel && loss && loss->labelsArePositions())
      facts.classes = model.outputShape(output).back();
  }
}

/// The position, among the numbers that Keras draws, of each variable's seed.
static llvm::StringMap<int64_t> drawsOf(const keras::Model &model) {
  llvm::StringMap<int64_t> out;
  for (auto [draw, variables] : llvm::enumerate(model.draws))
    for (unsigned variable : variables)
      out[model.variables[variable].path] = int64_t(draw);
  return out;
}

static void setFacts(mlir::func::FuncOp step, unsigned index,
                     const PortFacts &facts) {
  FunctionPort{step, index, /*isArgument=*/true}.set(
      kFactsAttr, factsAttr(step.getContext(), facts));
}

static PortFacts factsAt(mlir::func::FuncOp step, unsigned index) {
  return verifiedFactsOf(step.getArgAttr(index, kFactsAttr));
}

std::string weft::tool::hashOfText(llvm::StringRef text) {
  return llvm::formatv("{0:x-16}", weft_hash(text.data(), text.size()));
}

std::string weft::tool::hashOfFile(const std::string &path) {
  uint64_t hash = 0;
  Status read = readFileInChunks(path, [&](const uint8_t *chunk, size_t size) {
    hash = hash * 31 + weft_hash(chunk, size);
    return Status();
  });
  return read ? llvm::formatv("{0:x-16}", hash).str() : "unknown";
}

void weft::tool::noteSource(mlir::func::FuncOp step, const std::string &hash) {
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    auto role = step.getArgAttrOfType<mlir::StringAttr>(i, kRoleAttr);
    if (role != "input")
      continue;
    PortFacts facts = factsAt(step, i);
    facts.source = hash;
    return setFacts(step, i, facts);
  }
}

void weft::tool::describePorts(mlir::func::FuncOp step,
                               const keras::Model &model,
                               const std::vector<StoredArray> &saved) {
  Places places;
  for (const SavedVariable &variable : keras::savedVariables(model))
    places.here[variable.path] = variable.savedPath;
  for (const SavedVariable &variable : keras::savedElsewhere(model))
    places.elsewhere[variable.path] = variable.savedPath;
  llvm::StringMap<keras::LegacyPlace> inH5;
  for (const keras::LegacyPlace &place : keras::legacyPlaces(model))
    inH5[place.path] = place;
  llvm::StringMap<int64_t> draws = drawsOf(model);
  for (unsigned i = 0; i < step.getNumArguments(); ++i) {
    std::string name =
        step.getArgAttrOfType<mlir::StringAttr>(i, kNameAttr).str();
    auto role = step.getArgAttrOfType<mlir::StringAttr>(i, kRoleAttr);
    PortFacts facts = factsAt(step, i);
    addModel(facts, name, model, places);
    if (auto found = inH5.find(name); found != inH5.end()) {
      const keras::LegacyPlace &place = found->second;
      facts.h5 = {int64_t(place.layer), int64_t(place.layers),
                  int64_t(place.weight), int64_t(place.weights)};
      facts.h5Layer = place.layerName;
    }
    if (auto draw = draws.find(name); draw != draws.end())
      facts.draw = draw->second;
    bool isSaved =
        role == "weight" && llvm::any_of(saved, [&](const StoredArray &array) {
          return array.name == name;
        });
    if (isSaved) {
      facts.initializer = {};
      facts.seed.reset();
      facts.draw.reset();
    }
    setFacts(step, i, facts);
  }
}
