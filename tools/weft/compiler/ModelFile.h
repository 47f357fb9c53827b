//===- ModelFile.h - the file of a Keras model, of any kind -----*- C++ -*-===//
//
//   auto file = openModelFile("m.h5");              // .keras, .h5 or JSON
//   auto model = readModel(*file, options);
//   auto values = valuesOf(*file, *model, "m.h5");  // d1/kernel, ...
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_MODELFILE_H
#define WEFT_TOOLS_WEFT_COMPILER_MODELFILE_H

#include "weft/compiler/frontends/keras/model/Model.h"
#include "weft/data/formats/KerasArchive.h"
#include "weft/data/formats/KerasH5.h"

namespace weft::tool {

struct ModelFile {
  std::string text;     ///< JSON, or a .keras file's config.json
  std::string metadata; ///< the metadata.json of a .keras file, or empty
  std::vector<StoredArray> datasets; ///< datasets of a .keras file
  std::optional<KerasH5> legacy;     ///< the whole content of an .h5 file
};

/// Opens a file, whose content determines its kind.
Result<ModelFile> openModelFile(const std::string &path);

/// Reads the model; it gets the file's metadata.
Result<keras::Model> readModel(const ModelFile &file,
                               const keras::ModelOptions &options);

/// The saved values by variable path; none for JSON.
Result<std::vector<StoredArray>> valuesOf(const ModelFile &file,
                                          const keras::Model &model,
                                          const std::string &path);

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_MODELFILE_H
