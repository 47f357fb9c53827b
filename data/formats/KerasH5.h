//===- KerasH5.h - whole models in HDF5 files -------------------*- C++ -*-===//
//
//   Result<KerasH5> file = readKerasH5("m.h5"); // model.save("m.h5"), Keras 1-3
//   file->config             // {"class_name": "Sequential", "config": {...}}
//   file->layers[0].name     // dense
//   file->layers[0].weights  // {"model_weights/dense/dense/kernel:0", ...}
//
// Configs are attributes of the file, and the order of a layer's datasets is an
// attribute of its group. A child process reads both (see Hdf5.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_KERASH5_H
#define WEFT_DATA_FORMATS_KERASH5_H

#include "weft/data/formats/Hdf5.h"

namespace weft {

struct KerasH5 {
  struct Layer {
    std::string name;
    std::vector<std::string> weights; ///< names among `arrays`, in Keras' order
  };
  std::string version;  ///< Keras' version, 2.15.0, or empty
  std::string config;   ///< JSON: {"class_name": ..., "config": ...}
  std::string training; ///< JSON: loss, metrics, optimizer_config; or empty
  std::vector<Layer> layers;
  std::vector<std::string> optimizer; ///< names, as in Layer::weights
  std::vector<StoredArray> arrays;

  bool isOfKeras3() const;
  /// Whether it has the state of an optimizer of Keras 1 or 2, which Keras 3
  /// does not take over.
  bool hasOlderOptimizer() const;
};

/// Whether the file begins as an HDF5 file does.
bool startsLikeHdf5(const std::string &start);

/// Reads a model, or the weights of one alone (save_weights("w.h5") of Keras 1
/// and 2). A .weights.h5 file of Keras 3 has no list of layers.
Result<KerasH5> readLayersH5(const std::string &path,
                             const ReadLimits &limits = {});
/// Reads a model; fails for a file of weights only.
Result<KerasH5> readKerasH5(const std::string &path,
                            const ReadLimits &limits = {});

} // namespace weft

#endif // WEFT_DATA_FORMATS_KERASH5_H
