//===- Lockstep.h - all devices at the same op ------------------*- C++ -*-===//
//
// Runs each op for all devices before the next op. All devices take the same
// branch, as they have the same predicate. A global program has one device.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_INTERPRET_LOCKSTEP_H
#define WEFT_PASSES_INTERPRET_LOCKSTEP_H

#include "weft/passes/interpret/Interpret.h"

#include <unordered_map>

namespace weft {

/// The largest trip count of a loop; the interpreter refuses longer loops.
inline constexpr int64_t kMostTimes = 1 << 20;

class Lockstep {
public:
  explicit Lockstep(const Mesh &mesh [[clang::lifetimebound]],
                    ObserveOp observe = nullptr)
      : observe(std::move(observe)), mesh(mesh), devices(mesh.size()) {}

  /// Runs the function on the arguments of each device; returns each device's
  /// results.
  llvm::FailureOr<llvm::SmallVector<Tensors>>
  run(mlir::func::FuncOp function, llvm::ArrayRef<Tensors> arguments);

private:
  ObserveOp observe;
  /// operands[device][operand]
  using Operands = llvm::SmallVector<llvm::SmallVector<const Tensor *>>;
  using Outcome = llvm::FailureOr<llvm::SmallVector<Tensors>>;

  llvm::LogicalResult checkArguments(mlir::func::FuncOp function,
                                     llvm::ArrayRef<Tensors> arguments);
  /// Runs a block and returns the operands of its terminator.
  Outcome run(mlir::Block &block, llvm::ArrayRef<Tensors> arguments);
  Outcome step(mlir::Operation &op, const Operands &operands);
  Outcome call(mlir::func::CallOp op, const Operands &operands);
  /// Runs Weft's ops with regions except fold, and barriers; nothing for other
  /// ops.
  std::optional<Outcome> flow(mlir::Operation &op, const Operands &operands);
  Outcome runWhile(mlir::Operation &op, llvm::SmallVector<Tensors> carried);
  Outcome runFor(mlir::Operation &op, llvm::SmallVector<Tensors> carried);
  /// Runs scf.for and scf.if; nothing for other ops.
  std::optional<Outcome> foreignFlow(mlir::Operation &op,
                                     const Operands &operands);
  Outcome runCountedLoop(mlir::Operation &op,
                         llvm::SmallVector<Tensors> carried);
  /// Runs linalg's structured ops and tensor.pad, whose bodies use values from
  /// outside; nothing for other ops.
  std::optional<Outcome> structured(mlir::Operation &op,
                                    const Operands &operands);
  Outcome runCase(mlir::Operation &op, llvm::SmallVector<Tensors> operands);
  /// Runs the region for all devices; those that are not in the part have
  /// undefined results.
  Outcome runAt(mlir::Operation &op, llvm::SmallVector<Tensors> operands);
  /// Blocks of the operands for the devices of the op's mesh.
  static llvm::SmallVector<Tensors> blocksOf(mlir::Operation &op,
                                             const Operands &operands);
  Outcome runManual(mlir::Operation &op, const Operands &operands);
  /// Removes the first tensor of each device and returns its value, an integer;
  /// fails, with an error, if it is not the same on all devices.
  llvm::FailureOr<int64_t> takeInteger(mlir::Operation &op,
                                       llvm::SmallVector<Tensors> &values);
  static llvm::SmallVector<Tensors> copied(const Operands &operands);

  const Mesh &mesh;
  int64_t devices;
  /// Values of the running function, one tensor for each device; regions see
  /// the values around them.
  std::unordered_map<void *, Tensors> values;
  unsigned depth = 0;
};

} // namespace weft

#endif // WEFT_PASSES_INTERPRET_LOCKSTEP_H
