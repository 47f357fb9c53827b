//===- Interpret.h - the meaning of programs --------------------*- C++ -*-===//
//
// A reference interpreter: slow, simple, and right. `interpretFunction` runs a
// program on global values, `interpretDevices` a partitioned program on every
// device of a mesh in lockstep, op by op:
//
//   all_reduce sum over "data" of  {1, 2 | 10, 20}   (4 devices, "data"=2
//   minor) gives every device its group's sum {3, 3 | 30, 30}
//
// Both report an op that they cannot interpret as an error on it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_INTERPRET_INTERPRET_H
#define WEFT_PASSES_INTERPRET_INTERPRET_H

#include "weft/layout/Layout.h"
#include "weft/passes/interpret/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace weft {

using Tensors = llvm::SmallVector<Tensor>;

/// A function that is called after each op except terminators, with the
/// operands and results of the first device, also in regions and called
/// functions; not in weft.manual and the bodies of structured ops.
using ObserveOp = std::function<void(mlir::Operation &op,
                                     llvm::ArrayRef<const Tensor *> given,
                                     llvm::ArrayRef<Tensor> results)>;

/// Runs the function and returns its results. Layouts of types are ignored: a
/// value is its global tensor.
llvm::FailureOr<Tensors> interpretFunction(mlir::func::FuncOp function,
                                           llvm::ArrayRef<Tensor> arguments,
                                           const ObserveOp &observe = nullptr);

/// Runs a partitioned function and returns the results of each device.
/// arguments[position][argument] are local tensors; positions are row-major in
/// the mesh.
llvm::FailureOr<llvm::SmallVector<Tensors>>
interpretDevices(mlir::func::FuncOp function, const Mesh &mesh,
                 llvm::ArrayRef<Tensors> arguments);

/// Runs one local op without communication on its operands' tensors.
llvm::FailureOr<Tensors> interpretOp(mlir::Operation *op,
                                     llvm::ArrayRef<const Tensor *> operands);

/// Combines element j of `from` into element i of `into` by `kind`.
void combineInto(ReduceKind kind, Tensor &into, int64_t i, const Tensor &from,
                 int64_t j);
/// A tensor of the neutral element: 0 for sum, -inf or the least integer for
/// max, all ones for and.
Tensor neutralTensor(ReduceKind kind, mlir::RankedTensorType type);
/// A tensor of the value that a device without elements of a reduction
/// contributes.
Tensor absentTensor(ReduceKind kind, mlir::RankedTensorType type);

/// The local tensor of each device; elements past a shard's end, and all of a
/// device that holds no shard, are padding (Tensor::setPadding). A partial layout puts the value on coordinate 0,
/// absent elements elsewhere.
Tensors shardTensor(const Mesh &mesh, const Layout &layout,
                    const Tensor &global);
/// Like shardTensor, but the summands of a partial value are not neutral. A sum
/// has summands x - r and r for small integers r, exact if elements are small
/// integers; other kinds have x everywhere. Sums of complex numbers and of
/// floats below 16 bits are as in shardTensor.
Tensors spreadTensor(const Mesh &mesh, const Layout &layout,
                     const Tensor &global);
/// Combines local tensors to the global tensor in `global`. Returns the reason
/// why that is impossible (a local shape, copies that differ) or empty. Partial
/// values are combined.
std::string gatherTensor(const Mesh &mesh, const Layout &layout,
                         llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<Tensor> locals, Tensor &global);

} // namespace weft

#endif // WEFT_PASSES_INTERPRET_INTERPRET_H
