//===- WeightShards.h - Keras' weights in several files ---------*- C++ -*-===//
//
//   // m.weights.json: {"metadata": {"total_size": 4096},
//   //   "weight_map": {"/layers/dense/vars": "m_00000.weights.h5", ...}}
//   Status ok = visitWeightShards("m.weights.json", [&](auto &shard) {
//     return load(shard);                // the datasets of m_00000.weights.h5
//   });
//   ok = writeWeightShards("m.weights.json", groups, weights, 1 << 30);
//
// The files of model.save_weights(path, max_shard_size=N) and load_weights. A
// block of one array at a time is in memory.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DATA_FORMATS_WEIGHTSHARDS_H
#define WEFT_DATA_FORMATS_WEIGHTSHARDS_H

#include "weft/data/formats/Hdf5.h"

#include <functional>

namespace weft {

using VisitShard = std::function<Status(std::vector<StoredArray> &shard)>;
Status visitWeightShards(const std::string &path, const VisitShard &visit,
                         const ReadLimits &limits = {});
/// Writes the files. Without `writesFiles` the weights are only read
/// (writeKerasArchive). A new file begins before one would exceed `mostBytes`
/// bytes of weights; an array of more bytes is an error.
Status writeWeightShards(const std::string &path,
                         const std::vector<Hdf5Group> &groups,
                         const std::vector<StoredArray> &weights,
                         uint64_t mostBytes, bool writesFiles = true);

/// Writes shards if the path ends in .weights.json, else one .weights.h5 file.
Status writeKerasWeights(const std::string &path,
                         const std::vector<Hdf5Group> &groups,
                         const std::vector<StoredArray> &weights,
                         uint64_t mostBytes, bool writesFiles = true);

} // namespace weft

#endif // WEFT_DATA_FORMATS_WEIGHTSHARDS_H
