//===- DescribePorts.cpp - a model's ports for training loops -------------===//

#include "weft/tools/weft/compiler/DescribePorts.h"

#include "weft/data/files/Files.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/runtime/abi/weft.h"
#include "weft/tools/keras/LegacyWeights.h"
#include "weft/tools/keras/SavedModel.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"

using namespace weft;
using namespace weft::tool;

namespace {
/// An entry to add to a port's metadata.
struct Note {
  std::string key;
  llvm::json::Value value;
};

/// The datasets of variables. `here`: in files of the model's version of Keras.
/// `elsewhere`: in files from before 3.10 if that version is 3.10 or later, and
/// the reverse.
struct Places {
  llvm::StringMap<std::string> here, elsewhere;
};
} // namespace

static std::vector<Note> notesOf(const std::string &name,
                                 const keras::Model &model,
                                 const Places &places) {
  if (auto place = places.here.find(name); place != places.here.end()) {
    std::vector<Note> notes = {{"saved", place->second}};
    if (auto other = places.elsewhere.find(name);
        other != places.elsewhere.end())
      notes.push_back({"saved_elsewhere", other->second});
    return notes;
  }
  for (const keras::Variable &variable : model.variables)
    if (variable.isOfAdapter && variable.path == name)
      return {{"unsaved", "low-rank adapter"}};
  if (name == "x")
    return {{"layer", model.layerOf(model.inputs[0]).name}};
  bool isOnly = model.outputs.size() == 1;
  for (unsigned output = 0; output < model.outputs.size(); ++output) {
    const std::string &layer = model.outputName(output);
    bool isLabel = name == (isOnly ? "y" : "y/" + layer);
    if (!isLabel && !(isOnly && name == "sample_weight"))
      continue;
    std::vector<Note> notes;
    if (isOnly)
      notes.push_back({"layer", layer});
    const keras::Loss *loss = model.lossOf(output);
    if (isLabel && loss && loss->labelsArePositions())
      notes.push_back({"classes", model.outputShape(output).back()});
    return notes;
  }
  return {};
}

/// The object of a port's metadata; an empty one if there is none.
static llvm::json::Object metadataOf(mlir::func::FuncOp step, unsigned index) {
  auto text = step.getArgAttrOfType<mlir::StringAttr>(index, kMetadataAttr);
  if (!text)
    return {};
  auto parsed = llvm::json::parse(text.getValue());
  if (!parsed) {
    llvm::consumeError(parsed.takeError());
    return {};
  }
  llvm::json::Object *object = parsed->getAsObject();
  return object ? std::move(*object) : llvm::json::Object();
}

/// The position, among the numbers that Keras draws, of each variable's seed.
static llvm::StringMap<int64_t> drawsOf(const keras::Model &model) {
  llvm::StringMap<int64_t> out;
  for (auto [draw, variables] : llvm::enumerate(model.draws))
    for (unsigned variable : variables)
      out[model.variables[variable].path] = int64_t(draw);
  return out;
}

static void setMetadata(mlir::func::FuncOp step, unsigned index,
                        llvm::json::Object metadata) {
  std::string text =
      llvm::formatv("{0}", llvm::json::Value(std::move(metadata)));
  step.setArgAttr(index, kMetadataAttr,
                  mlir::StringAttr::get(step.getContext(), text));
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
    llvm::json::Object metadata = metadataOf(step, i);
    metadata["source"] = hash;
    return setMetadata(step, i, std::move(metadata));
  }
}

static llvm::json::Array positionIn(const keras::LegacyPlace &place) {
  return llvm::json::Array{int64_t(place.layer), int64_t(place.layers),
                           int64_t(place.weight), int64_t(place.weights),
                           place.layerName};
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
    llvm::json::Object metadata = metadataOf(step, i);
    for (Note &note : notesOf(name, model, places))
      metadata[note.key] = std::move(note.value);
    if (auto place = inH5.find(name); place != inH5.end())
      metadata["h5"] = positionIn(place->second);
    if (auto draw = draws.find(name); draw != draws.end())
      metadata["draw"] = draw->second;
    bool isSaved =
        role == "weight" && llvm::any_of(saved, [&](const StoredArray &array) {
          return array.name == name;
        });
    if (isSaved) {
      metadata.erase("initializer");
      metadata.erase("seed");
      metadata.erase("draw");
    }
    if (metadata.empty())
      continue;
    setMetadata(step, i, std::move(metadata));
  }
}
