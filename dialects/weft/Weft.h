//===- Weft.h - the weft dialect --------------------------------*- C++ -*-===//

#ifndef WEFT_DIALECTS_WEFT_WEFT_H
#define WEFT_DIALECTS_WEFT_WEFT_H

#include "weft/dialects/weft/KernelTraits.h"
#include "weft/dialects/weft/rules/ShardingRule.h"
#include "weft/layout/Layout.h"
#include "weft/layout/MovedBoxes.h"

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

/// A device's shard of a result, of which the elements in boxes are known.
struct FilledBoxes {
  mlir::Value value;
  MovedBoxes boxes;
};

/// The positions of a device's local blocks, for ops whose result depends on
/// positions. Implemented by the partitioning pass.
class LocalPlacement {
public:
  virtual ~LocalPlacement() = default;
  /// Builds a tensor<i64>, the global index of the first local element of a
  /// result's dimension; null if it is not sharded (the offset is 0).
  virtual mlir::Value resultOffset(mlir::OpBuilder &builder, mlir::Location loc,
                                   unsigned result, unsigned dim) const = 0;
  /// Global shape of a result.
  virtual llvm::ArrayRef<int64_t> globalShape(unsigned result) const = 0;

  /// The number of shards of a factor of the op's rule.
  virtual int64_t shards(unsigned factor) const { return 1; }
  /// Builds a tensor<i64>, the number of the device's shard; null for one
  /// shard.
  virtual mlir::Value coordinate(mlir::OpBuilder &builder, mlir::Location loc,
                                 unsigned factor) const {
    return {};
  }
  /// Gathers the values of the devices with the factor's other shards, in
  /// order, concatenated along `dim`; returns the value itself if there is one
  /// shard.
  virtual mlir::Value gather(mlir::OpBuilder &builder, mlir::Location loc,
                             mlir::Value value, unsigned factor,
                             unsigned dim) const {
    return value;
  }
  /// Fetches elements of the concatenation of those devices' values along
  /// `dim`: `count` elements from coordinate * block + offset on, undefined
  /// outside. Only elements that the device lacks are moved.
  virtual mlir::Value fetch(mlir::OpBuilder &builder, mlir::Location loc,
                            mlir::Value value, unsigned factor, unsigned dim,
                            int64_t block, int64_t offset,
                            int64_t count) const {
    return value;
  }
  /// Fetches the elements at `positions` (i64) along `dim`, in the result's
  /// shape. The devices that have the elements are known only at run time.
  virtual mlir::Value pick(mlir::OpBuilder &builder, mlir::Location loc,
                           mlir::Value value, mlir::Value positions,
                           unsigned factor, unsigned dim) const {
    return value;
  }
  /// Moves boxes of operands, of which the device has its shards, to where they
  /// are in the device's shard of the only result: at once what others have, and
  /// by itself what the device has. The op has position maps with units for
  /// factors along which elements move. Nothing if no tensor is sharded.
  virtual llvm::SmallVector<FilledBoxes> move(mlir::OpBuilder &builder,
                                              mlir::Location loc,
                                              mlir::ValueRange operands,
                                              const MovedBoxes &boxes) const {
    return {};
  }
  /// Whether the local operand has, along a dimension with a window or shift
  /// factor, the elements that positions of the local result need, in the order
  /// of the factor's PositionMap, instead of its own block. A window's elements
  /// are then at p * |scale| + k * |dilation|, without padding or base
  /// dilation.
  virtual bool isFetched(unsigned operand, unsigned dim) const { return false; }
};

/// Clones an op and its regions with other operands and result types.
llvm::SmallVector<mlir::Value> cloneWithTypes(mlir::OpBuilder &builder,
                                              mlir::Operation *op,
                                              mlir::ValueRange operands,
                                              mlir::TypeRange resultTypes);

/// The layout in a type's encoding, or null.
class LayoutAttr;
LayoutAttr getLayout(mlir::Type type);
/// The type with another layout (null: without a layout).
mlir::RankedTensorType withLayout(mlir::RankedTensorType type,
                                  LayoutAttr layout);

/// The neutral element of a reduction: 0, -inf (or the smallest number), ...;
/// for complex numbers the real part's. Null for `and` and `or` of
/// other types than integers.
mlir::TypedAttr neutralElement(ReduceKind kind, mlir::Type elementType);
/// Data in which every element is the neutral element, or a number; also
/// complex.
mlir::DenseElementsAttr neutralData(ReduceKind kind,
                                    mlir::RankedTensorType type);
mlir::DenseElementsAttr splatData(double value, mlir::RankedTensorType type);

/// Parses a list of axes: "data", "model":(2)2. It is empty in front of a token
/// that is no string; after a comma such a token is an error.
mlir::ParseResult parseAxes(mlir::AsmParser &parser, const Mesh &mesh,
                            SubAxes &axes);
void printAxes(mlir::AsmPrinter &printer, const Mesh &mesh,
               llvm::ArrayRef<SubAxis> axes);

/// Parses a part of the mesh: {"branch" = 1}.
mlir::ParseResult parsePart(mlir::AsmParser &parser, const Mesh &mesh,
                            MeshPart &part);

/// Parses and prints the attribute of a part of the mesh, a layout without
/// dimensions: #mesh {"branch" = 1}.
mlir::ParseResult parsePlace(mlir::AsmParser &parser, LayoutAttr &place);
void printPlace(mlir::AsmPrinter &printer, mlir::Operation *op,
                LayoutAttr place);

/// Names of attributes on function arguments, results and ops.
inline constexpr llvm::StringLiteral kNameAttr =
    "weft.name"; ///< port name: d1/kernel, x, metrics/loss
inline constexpr llvm::StringLiteral kRoleAttr =
    "weft.role"; ///< PortRole of plan.fbs as text: weight, state, slot, ...
inline constexpr llvm::StringLiteral kLayoutAttr =
    "weft.layout"; ///< annotation: #weft.layout
inline constexpr llvm::StringLiteral kReasonAttr =
    "weft.reason"; ///< source of the annotation: "layout_map key d1/kernel"
inline constexpr llvm::StringLiteral kDonatedAttr =
    "weft.donated"; ///< on an argument: index of the result that reuses its memory (i64)
inline constexpr llvm::StringLiteral kFactsAttr =
    "weft.facts"; ///< facts for a training loop: PortFactsAttr.h
/// Attribute of a module: #weft.mesh, its devices.
inline constexpr llvm::StringLiteral kMeshAttr = "weft.mesh";
/// Attribute of a function that makes it a kernel: #weft.kernel<...>.
inline constexpr llvm::StringLiteral kKernelAttr = "weft.kernel";
/// An attribute of an op with the numbers of operands (array<i64>) that its kernel
/// does not compute: one arrives while the other is computed, or room for what
/// comes before is needed again.
inline constexpr llvm::StringLiteral kApartAttr = "weft.apart";

} // namespace weft

// Parses and prints a kind as its keyword, as a parameter of an attribute.
template <> struct mlir::FieldParser<weft::ReduceKind> {
  static mlir::FailureOr<weft::ReduceKind> parse(mlir::AsmParser &parser);
};
namespace weft {
inline mlir::AsmPrinter &operator<<(mlir::AsmPrinter &printer,
                                    ReduceKind kind) {
  return printer << stringifyReduceKind(kind);
}
struct OpGradients; // GradientBuilder.h
} // namespace weft

#include "weft/dialects/weft/WeftDialect.h.inc"
#include "weft/dialects/weft/WeftEnums.h.inc"
#define GET_ATTRDEF_CLASSES
#include "weft/dialects/weft/WeftAttributes.h.inc"
#include "weft/dialects/weft/WeftInterfaces.h.inc"
#define GET_OP_CLASSES
#include "weft/dialects/weft/WeftOps.h.inc"

#endif // WEFT_DIALECTS_WEFT_WEFT_H
