//===- QuantizedSum.h - a weight of integers plus its adapter ---*- C++ -*-===//
//
// Keras' files have integers k and scales s for a weight of floats, k / s or,
// with zeros z, (k - z) * s. Such a weight with an adapter is saved as the
// integers, scales and zeros of
//
//   k / s + scale * a . b
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_KERAS_QUANTIZEDSUM_H
#define WEFT_TOOLS_KERAS_QUANTIZEDSUM_H

#include "weft/compiler/frontends/keras/layers/Layer.h"
#include "weft/data/arrays/StoredArray.h"

namespace weft::keras {

/// The product of row `at / columns` of a with column `at % columns` of b.
float productOf(const Array &a, const Array &b, int64_t at);

/// Replaces the arrays by those of the sum, which is computed, in memory, when
/// one of them is read. They stay as they are if a . b is 0. `zeros` may be
/// null.
void quantizeAgain(StoredArray &weight, StoredArray &scales, StoredArray *zeros,
                   const StoredArray &a, const StoredArray &b,
                   const Adapter &adapter);

} // namespace weft::keras

#endif // WEFT_TOOLS_KERAS_QUANTIZEDSUM_H
