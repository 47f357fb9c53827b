//===- RandomIntegers.h - whole numbers as JAX draws them --------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_RANDOMINTEGERS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_RANDOMINTEGERS_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

#include <utility>

namespace weft::keras {

/// Splits a key in two, as jax.random.split.
std::pair<Tensor, Tensor> splitKey(Tensors &t, Tensor key);

/// Draws jax.random.randint from `least` to below `most` for types up to i32;
/// the result is i32. The limits are not negative and at most 256 apart.
Tensor randomIntegers(Tensors &t, Tensor key, llvm::ArrayRef<int64_t> shape,
                      int64_t least, int64_t most);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_RANDOMINTEGERS_H
