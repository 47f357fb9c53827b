//===- LayerListFile.h - .h5 files with a list of layers --------*- C++ -*-===//
//
//   Result<KerasH5> file = readLayersH5("m.h5");
//   LayerListFile placed(*file, state, "m.h5");
//   Status ok = placed.place();
//   placed.datasets   // {"layers/dense/vars/0", kernel}, {"optimizer/vars/0", ...}
//
// The facts of a weight's port have its position in such a file: h5 = 0, 3, 1, 2
// is the second of 2 weights of the first of 3 layers with weights.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_WEFT_TRAINING_LAYERLISTFILE_H
#define WEFT_TOOLS_WEFT_TRAINING_LAYERLISTFILE_H

#include "weft/data/formats/KerasH5.h"
#include "weft/training/ModelState.h"

#include <map>
#include <set>

namespace weft::tool {

/// The datasets of an .h5 file whose layers are in a list, under the names that
/// a .keras file of the model gives them. As in Keras, layers and their weights
/// are found by position; their names may differ.
class LayerListFile {
public:
  LayerListFile(const KerasH5 &file [[clang::lifetimebound]],
                const ModelState &state, const std::string &where);

  /// Where a file has the value of a port.
  struct Place {
    size_t layer, layers; ///< position of the layer, and their number
    size_t weight, weights;
    std::string name; ///< the name of the model's layer
    Port port;
  };

  /// Fills the two lists below.
  Status place();
  /// The arrays that no list names, apart from those of the optimizer.
  std::vector<std::string> unlisted() const;

  std::vector<StoredArray> datasets; ///< indexed by place in a .keras file
  std::vector<StoredArray>
      adapters; ///< weights that such a file lacks, by path

private:
  Status addWeight(const Place &place,
                   const std::vector<const KerasH5::Layer *> &layers);
  Status add(const std::string &dataset, const std::string &as,
             std::vector<StoredArray> &to);

  const KerasH5 &file;
  const std::string where;
  std::map<std::string, const StoredArray *> arrays;
  std::vector<Place> wanted;
  size_t layersOfModel = 0;
  std::set<std::string> listed;
};

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_TRAINING_LAYERLISTFILE_H
