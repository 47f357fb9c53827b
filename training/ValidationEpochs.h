//===- ValidationEpochs.h - which epochs end with a validation --*- C++ -*-===//
//
// Epochs of Keras' validation_freq: each n-th one, or those listed, counted
// from 1.
//
//   ValidationEpochs{.every = 2}.contains(1)        // true: the second epoch
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TRAINING_VALIDATIONEPOCHS_H
#define WEFT_TRAINING_VALIDATIONEPOCHS_H

#include <cstdint>
#include <set>

namespace weft {

struct ValidationEpochs {
  int64_t every = 1;
  std::set<int64_t> listed = {}; ///< empty: by `every`

  /// Whether an epoch, counted from 0, is validated.
  bool contains(int64_t epoch) const {
    return listed.empty() ? (epoch + 1) % every == 0
                          : listed.contains(epoch + 1);
  }
  bool isEachEpoch() const { return listed.empty() && every == 1; }
};

} // namespace weft

#endif // WEFT_TRAINING_VALIDATIONEPOCHS_H
