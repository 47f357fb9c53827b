//===- Loops.h - one step of a formula for each time -------------*- C++ -*-===//
//
// Private to the Keras front end. A counterpart of jax.lax.scan: the body is
// built once, and runs for each time of the sequences with the states of the
// time before.
//
//   Scanned sums = scan(t, {xs}, 1, {zero}, false,
//                       [&](ArrayRef<Tensor> x, ArrayRef<Tensor> sum) {
//                         Tensor next = sum[0] + x[0] * weight;
//                         return Scanned{{next}, {next}};
//                       });
//
// of xs (batch, 10, 4) becomes
//
//   weft.for 10 (%zero, %stack, %xs, %weight) {
//     %x = dynamic_slice %xs at (0, %i, 0) ...
//     yield %next, (dynamic_update_slice %stack, %next at (0, %i, 0)), %xs, %weight }
//
// The body may use any value from outside; the loop carries it unchanged, and
// constants are cloned.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_LOOPS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_LOOPS_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

struct Scanned {
  llvm::SmallVector<Tensor> states; ///< the states after the last time
  /// The outputs at one time or, as the result of scan(), stacked over all
  /// times.
  llvm::SmallVector<Tensor> outputs;
};

using ScanBody = llvm::function_ref<Scanned(llvm::ArrayRef<Tensor> elements,
                                            llvm::ArrayRef<Tensor> states)>;

/// Runs `body` for each element along dimension `dim` of the sequences, from the
/// last to the first if `isBackwards`. Outputs are stacked along the same
/// dimension in the order in which they are made.
Scanned scan(Tensors &t, llvm::ArrayRef<Tensor> sequences, int64_t dim,
             llvm::ArrayRef<Tensor> states, bool isBackwards, ScanBody body);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_TENSORS_LOOPS_H
