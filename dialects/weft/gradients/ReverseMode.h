//===- ReverseMode.h - gradients of a straight line of ops ------*- C++ -*-===//
//
//   %0 = weft.mul %w, %x          d%w += d%0 * %x
//   %1 = weft.reduce sum %0       d%0  = broadcast d%1
//
// The ops are visited backwards; each op builds the gradients of its operands
// from the gradients of its results (DifferentiableOpInterface), which are
// summed.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_GRADIENTS_REVERSEMODE_H
#define WEFT_DIALECTS_WEFT_GRADIENTS_REVERSEMODE_H

#include "weft/dialects/weft/Weft.h"

namespace weft {

/// The name of a gradient op's location, which contains that of the forward op.
inline constexpr llvm::StringLiteral kGradientOf = "gradient of";

/// Gives every op that the builder inserts in its present block the location
/// "gradient of" the op that is being differentiated, and appends it to
/// `created`.
class GradientRecorder : public mlir::OpBuilder::Listener {
public:
  GradientRecorder(mlir::OpBuilder &builder [[clang::lifetimebound]],
                   llvm::SmallVectorImpl<mlir::Operation *> &created
                   [[clang::lifetimebound]]);
  ~GradientRecorder() override;

  void setForward(mlir::Location forward);
  mlir::Location getGradientLoc() const {
    return mlir::LocationAttr(gradientLoc);
  }
  void notifyOperationInserted(mlir::Operation *op,
                               mlir::OpBuilder::InsertPoint) override;

private:
  mlir::OpBuilder &builder;
  llvm::SmallVectorImpl<mlir::Operation *> &created;
  mlir::Block *block;
  mlir::OpBuilder::Listener *previous;
  mlir::LocationAttr gradientLoc;
};

/// The gradient of sum_i <outputs[i], outputGradients[i]> in each of `inputs`;
/// null where it is zero. A null output gradient stands for zero. The ops of
/// `tape` are before the builder's insertion point. An op that saves values for
/// its derivative is replaced in `tape` and in its uses; the caller erases the
/// old op. Created ops are appended to `created`. Fails, with an error on the
/// op, if an op has no derivative.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
buildReverse(mlir::OpBuilder &builder, mlir::Location loc,
             llvm::MutableArrayRef<mlir::Operation *> tape,
             mlir::ValueRange outputs, mlir::ValueRange outputGradients,
             mlir::ValueRange inputs,
             llvm::SmallVectorImpl<mlir::Operation *> &created);

/// Runs the ops of `region` again on other arguments at the insertion point,
/// and builds the gradient of each of `inputs`, which are such arguments. Ops
/// that are not needed are omitted. A null gradient of a yielded value stands
/// for zero.
llvm::FailureOr<llvm::SmallVector<mlir::Value>>
reverseRegion(mlir::OpBuilder &builder, mlir::Location loc,
              mlir::Region &region, mlir::ValueRange arguments,
              mlir::ValueRange yieldedGradients, mlir::ValueRange inputs);

/// Replaces values that were results of replaced ops of the tape by the new
/// results, and erases the old ops.
void eraseReplaced(llvm::ArrayRef<mlir::Operation *> before,
                   llvm::ArrayRef<mlir::Operation *> after,
                   llvm::MutableArrayRef<mlir::Value> values);

/// A tensor of one float in every element, of a type without its layout.
mlir::Value constantLike(mlir::OpBuilder &builder, mlir::Location loc,
                         mlir::Type type, double value);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_GRADIENTS_REVERSEMODE_H
