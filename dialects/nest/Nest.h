//===- Nest.h - the loop nests of a kernel ----------------------*- C++ -*-===//
//
//   func.func private @softmax(%x: tensor<8x10xf32>) -> tensor<8x10xf32>
//       attributes {nest.kernel = #nest.kernel<target = "cpu:avx2", scratch = 128>, ...} {
//     %m = nest.loops #nest.reduction<register> to [#nest.place<scratch 0>] {
//       %0 = weft.reduce max %x dims [1] : tensor<8x10xf32> -> tensor<8xf32>
//       nest.store %0 : tensor<8xf32>
//     } : tensor<8xf32>
//     ...
//
// On a GPU the same kernel is one nest, whose walk is #nest.rows.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_NEST_NEST_H
#define WEFT_DIALECTS_NEST_NEST_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "weft/dialects/nest/NestAttrInterfaces.h.inc"
#include "weft/dialects/nest/NestDialect.h.inc"
#include "weft/dialects/nest/NestEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "weft/dialects/nest/NestAttributes.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/nest/NestOps.h.inc"

namespace weft::nest {
/// The attribute of a kernel whose nests are chosen: a KernelAttr.
inline constexpr llvm::StringLiteral kNestAttr = "nest.kernel";
/// The decisions about a kernel; null before the stage `nests`.
KernelAttr decisionsOf(mlir::func::FuncOp kernel);
/// The attribute of a module with the type to which operands of f32
/// contractions may be rounded: "f32" (the default) or "tf32".
inline constexpr llvm::StringLiteral kPrecisionAttr = "nest.matmul_precision";
enum class MatmulPrecision { F32, Tf32 };
/// Parses "f32" or "tf32".
std::optional<MatmulPrecision> parseMatmulPrecision(llvm::StringRef name);
MatmulPrecision matmulPrecisionOf(mlir::Operation *module);
/// Whether the op's operands of f32 may be rounded to tf32: its own attribute,
/// else its module's.
bool mayRoundToTf32(mlir::Operation *op, MatmulPrecision ofModule);
/// Bytes of a kernel's scratch or planned memory that hold values; temporary
/// memory of loops follows.
int64_t keptBytes(mlir::func::FuncOp kernel,
                  PlaceKind kind = PlaceKind::Scratch);
/// Bytes of temporary memory that a share's loops need if its nests run one
/// after the other.
int64_t workingBytes(mlir::func::FuncOp kernel);
/// Whether temporary memory of loops is planned, so that scratch memory has
/// none after its values.
bool worksInPlanned(mlir::func::FuncOp kernel);
/// The alignment of values in scratch and planned memory, in bytes.
inline constexpr int64_t kScratchAlignment = 64;

/// Whether this is a constant that is no splat: it is in memory from the
/// start, and stands between the nests of a kernel.
bool isDataConstant(mlir::Operation *op);

/// Whether computing `value` reads an element of one of `stored` at another
/// position. Other values in memory are loaded, not computed.
bool readsElsewhere(mlir::Value value,
                    const llvm::SetVector<mlir::Value> &stored,
                    llvm::function_ref<bool(mlir::Value)> isInMemory);

/// (K1) A kernel with decisions holds nests, data constants and a return. (K2)
/// Each result that a nest computes is in the memory of that result, or of
/// another of the same value. (K3) Values fit in the kernel's memory, and none
/// overwrites a value that is still read. (K4) A kernel of the kind
/// `elementwise` is one nest of elements, transposed or not. (K5) Launches give
/// the kernel the planned memory that it uses. (K6) An argument that a result
/// updates (weft.updated) is read only by the op of that result, which changes
/// elements of it.
llvm::LogicalResult verifyKernel(mlir::func::FuncOp kernel);
} // namespace weft::nest

#endif // WEFT_DIALECTS_NEST_NEST_H
