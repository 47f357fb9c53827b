//===- Weft.h - the weft dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_WEFT_H
#define WEFT_DIALECTS_WEFT_WEFT_H

#include "weft/dialects/layout/Layout.h"
#include "weft/dialects/layout/ShardingRule.h"
#include "weft/dialects/weft/KernelTraits.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/DialectImplementation.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/IR/TensorEncoding.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace weft {

/// Where a device's local blocks lie, for ops whose result depends on
/// positions. Implemented by the partitioning pass.
class LocalPlacement {
public:
  virtual ~LocalPlacement() = default;
  /// tensor<i64>: global index of the first local element of a result's
  /// dimension; null where the dimension is not sharded (the offset is 0).
  virtual mlir::Value resultOffset(mlir::OpBuilder &builder, mlir::Location loc,
                                   unsigned result, unsigned dim) const = 0;
  /// Global shape of a result.
  virtual llvm::ArrayRef<int64_t> globalShape(unsigned result) const = 0;

  /// Over how many shards a factor of the op's rule lies.
  virtual int64_t shards(unsigned factor) const { return 1; }
  /// tensor<i64>: which of them the device has; null where there is one.
  virtual mlir::Value coordinate(mlir::OpBuilder &builder, mlir::Location loc,
                                 unsigned factor) const {
    return {};
  }
  /// The values of the devices that have the factor's other shards, in their
  /// order, one after the other along `dim`; the value itself where there is
  /// one shard.
  virtual mlir::Value gatherParts(mlir::OpBuilder &builder, mlir::Location loc,
                                  mlir::Value value, unsigned factor,
                                  unsigned dim) const {
    return value;
  }
  /// Fetches, of the values of those devices, one after the other along `dim`, the
  /// `count` elements from coordinate * block + offset on, undefined where none
  /// are. Only what the device lacks is moved.
  virtual mlir::Value fetchParts(mlir::OpBuilder &builder, mlir::Location loc,
                                 mlir::Value value, unsigned factor,
                                 unsigned dim, int64_t block, int64_t offset,
                                 int64_t count) const {
    return value;
  }
  /// Fetches the elements at `positions` (i64) along `dim`, which has the
  /// result's shape. Which device has them is known when the program runs.
  virtual mlir::Value pickParts(mlir::OpBuilder &builder, mlir::Location loc,
                                mlir::Value value, mlir::Value positions,
                                unsigned factor, unsigned dim) const {
    return value;
  }
  /// Holds the local operand, along a dimension with a window or shift factor,
  /// what the positions of the local result need, in the order of the
  /// factor's PositionMap, instead of its own block? A window's elements are
  /// then at p * |scale| + k * |dilation|, without padding or base dilation.
  virtual bool isFetched(unsigned operand, unsigned dim) const { return false; }
};

/// Clones an op, its regions too, with other operands and result types.
llvm::SmallVector<mlir::Value> cloneWithTypes(mlir::OpBuilder &builder,
                                              mlir::Operation *op,
                                              mlir::ValueRange operands,
                                              mlir::TypeRange resultTypes);

/// The layout in a type's encoding, or null.
class LayoutAttr;
LayoutAttr getLayout(mlir::Type type);
/// The type with another layout (null: without).
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// The neutral element of a reduction: 0, -inf (or the smallest integer), ...;
/// of complex numbers that of their real part.
mlir::TypedAttr neutralElement(ReduceKind kind, mlir::Type elementType);
/// Data of which every element is the neutral one, or a number; also complex.
mlir::DenseElementsAttr neutralData(ReduceKind kind,
                                    mlir::RankedTensorType type);
mlir::DenseElementsAttr splatData(double value, mlir::RankedTensorType type);

/// A list of axes as it stands in IR: "data", "model":(2)2. The parser stops in
/// front of what is no string.
mlir::ParseResult parseAxes(mlir::AsmParser &parser, const Mesh &mesh,
                            SubAxes &axes);
void printAxes(mlir::AsmPrinter &printer, const Mesh &mesh,
               llvm::ArrayRef<SubAxis> axes);

/// Names of attributes on function arguments, results and ops.
inline constexpr llvm::StringLiteral kNameAttr =
    "weft.name"; ///< port name: d1/kernel, x, metrics/loss
inline constexpr llvm::StringLiteral kRoleAttr =
    "weft.role"; ///< PortRole of plan.fbs as text: weight, state, slot, ...
inline constexpr llvm::StringLiteral kLayoutAttr =
    "weft.layout"; ///< annotation: #weft.layout
inline constexpr llvm::StringLiteral kReasonAttr =
    "weft.reason"; ///< what put the annotation there: "layout_map key d1/kernel"
inline constexpr llvm::StringLiteral kDonatedAttr =
    "weft.donated"; ///< on an argument: index of the result that reuses its memory (i64)
inline constexpr llvm::StringLiteral kMetadataAttr =
    "weft.metadata"; ///< JSON of whoever made the program, kept as it is
/// On a module: #weft.mesh, the devices it is for.
inline constexpr llvm::StringLiteral kMeshAttr = "weft.mesh";
/// On a function: #weft.kernel<...>, which makes it a kernel.
inline constexpr llvm::StringLiteral kKernelAttr = "weft.kernel";

} // namespace weft

// Spells a kind as its keyword where it is a parameter of an attribute.
template <> struct mlir::FieldParser<weft::ReduceKind> {
  static mlir::FailureOr<weft::ReduceKind> parse(mlir::AsmParser &parser);
};
namespace weft {
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer,
                                    ReduceKind kind) {
  return printer << stringifyReduceKind(kind);
}
} // namespace weft

#include "weft/dialects/weft/WeftDialect.h.inc"
#include "weft/dialects/weft/WeftEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "weft/dialects/weft/WeftAttributes.h.inc"
#include "weft/dialects/weft/WeftInterfaces.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/weft/WeftOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_WEFT_H
