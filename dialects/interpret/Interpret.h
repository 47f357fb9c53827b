//===- Interpret.h - the meaning of programs --------------------*- C++ -*-===//
//
// A reference interpreter: slow, simple, and right. `interpretFunction` runs a
// program on global values, `interpretDevices` a partitioned program on every
// device of a mesh in lockstep, op by op:
//
//   all_reduce sum over "data" of  {1, 2 | 10, 20}   (4 devices, "data"=2
//   minor) gives every device its group's sum {3, 3 | 30, 30}
//
// Both report what they cannot do as an error on the op.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_INTERPRET_INTERPRET_H
#define WEFT_DIALECTS_INTERPRET_INTERPRET_H

#include "weft/dialects/interpret/Tensor.h"
#include "weft/dialects/layout/Layout.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>

namespace weft {

using Tensors = llvm::SmallVector<Tensor>;

/// Called behind each op, of regions and called functions too, with what it was
/// given and gave on the first device.
using ObserveOp = std::function<void(mlir::Operation &op,
                                     llvm::ArrayRef<const Tensor *> given,
                                     llvm::ArrayRef<Tensor> results)>;

/// The function's results. Layouts of types are ignored: a value means its
/// global tensor.
llvm::FailureOr<Tensors> interpretFunction(mlir::func::FuncOp function,
                                           llvm::ArrayRef<Tensor> arguments,
                                           const ObserveOp &observe = nullptr);

/// Local results of each device, from local arguments of each device:
/// arguments[position][argument], positions row-major in the mesh.
llvm::FailureOr<llvm::SmallVector<Tensors>>
interpretDevices(mlir::func::FuncOp function, const Mesh &mesh,
                 llvm::ArrayRef<Tensors> arguments);

/// One local op without communication on the tensors of its operands.
llvm::FailureOr<Tensors> interpretOp(mlir::Operation *op,
                                     llvm::ArrayRef<const Tensor *> operands);

/// x `kind` y into element i of `into`.
void combineInto(ReduceKind kind, Tensor &into, int64_t i, const Tensor &from,
                 int64_t j);
/// A tensor of the neutral element: 0 for sum, -inf or the least integer for
/// max, all ones for and.
Tensor neutralTensor(ReduceKind kind, mlir::RankedTensorType type);
/// Likewise what a device without a part of a reduction contributes to it.
Tensor absentTensor(ReduceKind kind, mlir::RankedTensorType type);

/// The local tensor of each device; what lies past a shard's end is padding
/// (NaN). A partial layout puts the value on coordinate 0, absent elements elsewhere.
Tensors shardTensor(const Mesh &mesh, const Layout &layout,
                    const Tensor &global);
/// Like shardTensor, but no summand of a partial value is neutral: those of a sum
/// are x - r and r for small integers r, exact where elements are small
/// integers; those of other kinds are all x. Sums of complex numbers and
/// of floats below 16 bits stay as shardTensor's.
Tensors spreadTensor(const Mesh &mesh, const Layout &layout,
                     const Tensor &global);
/// The global tensor of local ones. Returns why that is impossible (a local
/// shape, copies that differ) or empty. Partial values are combined.
std::string gatherTensor(const Mesh &mesh, const Layout &layout,
                         llvm::ArrayRef<int64_t> shape,
                         llvm::ArrayRef<Tensor> locals, Tensor &global);

} // namespace weft

#endif // WEFT_DIALECTS_INTERPRET_INTERPRET_H
