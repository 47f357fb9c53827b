//===- ModelFile.cpp - the file of a Keras model, of any kind -------------===//

#include "weft/tools/weft/compiler/ModelFile.h"

#include "weft/tools/keras/LegacyWeights.h"
#include "weft/tools/keras/SavedModel.h"
#include "weft/tools/weft/Commands.h"
#include "weft/tools/weft/compiler/StepCompiler.h"
#include "weft/tools/weft/training/SavedWeights.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"

using namespace weft;
using namespace weft::tool;

/// The kind of a path that holds no model that can be read; else empty.
static std::string otherKind(const std::string &path,
                             const std::string &start) {
  auto isBinary = [](unsigned char c) { return c < 9 || c >= 0x80; };
  bool hasMark = start.starts_with("\xEF\xBB\xBF");
  if (start.empty())
    return "is empty; save the model again";
  if (!hasMark && llvm::any_of(start, isBinary))
    return "is no model: neither a .keras archive, nor an .h5 file, nor JSON; "
           "save the model with Keras' model.save(\"m.keras\")";
  return "";
}

Result<ModelFile> weft::tool::openModelFile(const std::string &path) {
  if (llvm::sys::fs::exists(path + "/saved_model.pb"))
    return Error{path + ": is a SavedModel of TensorFlow, which holds graphs "
                        "and not layers; save the model with Keras' "
                        "model.save(\"m.keras\")"};
  Result<std::string> start = readStart(path, 8);
  if (!start)
    return start.error();
  ModelFile out;
  if (startsLikeHdf5(*start)) {
    Result<KerasH5> file = readKerasH5(path);
    if (!file)
      return file.error();
    out.legacy = std::move(*file);
    return out;
  }
  if (start->starts_with("PK\x03\x04")) {
    Result<KerasArchive> archive = readKerasArchive(path);
    if (!archive)
      return archive.error();
    warnOfMembers(path, *archive);
    out.datasets = std::move(archive->weights);
    out.metadata = std::move(archive->metadata);
    out.text = std::move(archive->config);
    return out;
  }
  if (std::string kind = otherKind(path, *start); !kind.empty())
    return Error{path + ": " + kind};
  Result<std::string> text = readJsonFile(path);
  if (!text)
    return text.error();
  out.text = std::move(*text);
  return out;
}

/// The 8 of {"keras_version": "3.8.0"}.
static std::optional<unsigned> minorVersion(const std::string &metadata) {
  llvm::Expected<llvm::json::Value> json = llvm::json::parse(metadata);
  if (!json) {
    llvm::consumeError(json.takeError());
    return std::nullopt;
  }
  const llvm::json::Object *object = json->getAsObject();
  auto said = object ? object->getString("keras_version") : std::nullopt;
  llvm::StringRef version = said.value_or("");
  unsigned minor;
  if (!version.consume_front("3.") || version.consumeInteger(10, minor))
    return std::nullopt;
  return minor;
}

Result<keras::Model> weft::tool::readModel(const ModelFile &file,
                                           const keras::ModelOptions &options) {
  Result<keras::Model> model =
      file.legacy
          ? keras::readLegacyModel({file.legacy->config, file.legacy->training,
                                    file.legacy->version},
                                   options)
          : keras::readModel(file.text, options);
  if (model) {
    model->kerasMinor = minorVersion(file.metadata);
    model->metadata = file.metadata;
  }
  return model;
}

Result<std::vector<StoredArray>> weft::tool::valuesOf(const ModelFile &file,
                                                      const keras::Model &model,
                                                      const std::string &path) {
  std::vector<StoredArray> datasets = file.datasets;
  if (file.legacy) {
    if (file.legacy->hasOlderOptimizer() && model.optimizer)
      warn(path + ": holds the state of an optimizer of Keras 2, which Keras 3 "
                  "does not take over; it starts afresh");
    auto found = keras::legacyDatasets(*file.legacy, model, path);
    if (!found)
      return found.error();
    datasets = std::move(*found);
  }
  if (datasets.empty())
    return datasets;
  auto values = savedValues(datasets, keras::savedVariables(model), path);
  if (!values)
    return values.error();
  for (const StoredArray &value : *values)
    for (const keras::Variable &variable : model.variables)
      if (variable.path == value.name)
        if (Status fits = checkQuantized(
                value, elementTypeNamed(variable.dtype).value_or(value.type),
                path);
            !fits)
          return fits.error();
  for (const StoredArray &dataset : datasets)
    for (const keras::Variable &variable : model.variables)
      if (variable.isOfAdapter && variable.path == dataset.name)
        values->push_back(dataset);
  return values;
}
