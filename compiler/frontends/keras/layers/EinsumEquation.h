//===- EinsumEquation.h - the equation of an EinsumDense ---------*- C++ -*-===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMEQUATION_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMEQUATION_H

#include "weft/compiler/frontends/keras/tensors/Tensors.h"

namespace weft::keras {

/// An equation such as "...ab,bc->...ac", with a letter for each dimension of
/// the dots: ABab,bc->ABac for a tensor of rank 4.
struct EinsumEquation {
  std::string input, kernel, output;
  int64_t elided = 0;    ///< the number of dimensions of "..."
  bool isLeft = false;   ///< whether the dots are on the left
  std::string complaint; ///< the reason why it is invalid, or empty

  EinsumEquation(const std::string &text, int64_t rank);

  /// Contracts x with the kernel; with elements of x's type if `element` is
  /// null.
  Tensor contracted(Tensors &t, Tensor x, Tensor kernel,
                    mlir::Type element = {}) const;
  /// The dimensions of x that are summed.
  llvm::SmallVector<int64_t> summedDims() const;
};

inline bool namesLetter(const std::string &text, char letter) {
  return text.find(letter) != text.npos;
}

/// Gives a tensor with a dimension for each letter the shape of one with the
/// letters `to`: transposed, and repeated along the other letters.
Tensor spreadLetters(Tensors &t, Tensor a, const std::string &letters,
                     const std::string &to, llvm::ArrayRef<int64_t> shape);

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_EINSUMEQUATION_H
