//===- Regularizer.h - penalties and constraints of weights ------*- C++ -*-===//
//
// A weight's regularizer is a penalty that each step adds to the loss; a
// constraint changes the weight after each update:
//
//   "kernel_regularizer": {"class_name": "L2", "config": {"l2": 0.001}}
//      loss + 0.001 * sum(kernel^2)
//   "kernel_constraint": {"class_name": "MaxNorm", "config": {"max_value": 2}}
//      kernel = kernel * clip(norm, 0, 2) / (1e-7 + norm)
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_REGULARIZERS_REGULARIZER_H
#define WEFT_COMPILER_FRONTENDS_KERAS_REGULARIZERS_REGULARIZER_H

#include "weft/base/config/Options.h"

namespace weft::formulas {
class Tensor;
} // namespace weft::formulas

namespace weft::keras {

using formulas::Tensor;
class Tensors;

class Regularizer : public Configured {
public:
  /// The penalty, a scalar of the weight's element type.
  virtual Tensor penalty(Tensors &t, Tensor weight) const = 0;
};

class Constraint : public Configured {
public:
  /// The axes along which it computes norms; weights must have these axes.
  virtual std::vector<int64_t> axes() const { return {}; }
  /// The weight after the constraint, in the same shape.
  virtual Tensor apply(Tensors &t, Tensor weight) const = 0;
};

using RegularizerPtr = std::shared_ptr<const Regularizer>;
using ConstraintPtr = std::shared_ptr<const Constraint>;
const Table<Regularizer> &regularizerTable();
/// The regularizer l1 * sum(|w|) + l2 * sum(w^2).
RegularizerPtr l1l2(double l1, double l2);
const Table<Constraint> &constraintTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_REGULARIZERS_REGULARIZER_H
