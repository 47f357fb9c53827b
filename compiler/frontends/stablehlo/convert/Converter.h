//===- Converter.h - from foreign ops to weft ops ---------------*- C++ -*-===//
//
// Private to the StableHLO front end. Tables, one at the end of each
// Convert*.cpp, have the function that converts each op, such as
//
//   LogicalResult convertTranspose(Converter &c, ForeignOp op) {
//     return c.give(op, c.make<TransposeOp>(op, c.input(op, 0),
//                                           op.ints("permutation")));
//   }
//
// Calls are inlined. Ops that weft lacks are refused by name. A conversion that
// computes the shape of a result of unknown shape sets it on the foreign value.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CONVERTER_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CONVERTER_H

#include "weft/compiler/frontends/stablehlo/convert/ForeignOp.h"
#include "weft/compiler/frontends/stablehlo/convert/Shardings.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringMap.h"

namespace weft::stablehlo {

using llvm::LogicalResult;
using mlir::Value;

/// A function of either reader: func.func or vhlo.func_v1.
struct Function {
  mlir::Operation *op = nullptr;
  mlir::Block *body = nullptr; ///< its only block
  /// Attributes of arguments and results; null or of the right size.
  mlir::ArrayAttr arguments, results;
  uint64_t ops = 0; ///< with all calls inlined
};

class Converter {
public:
  Converter(mlir::OpBuilder &builder, const Shardings &shardings,
            const llvm::StringMap<Function> &functions)
      : builder(builder), shardings(shardings), functions(functions) {}

  /// Converts all ops of a block except the last; `results` are the operands of
  /// that.
  LogicalResult convertBlock(mlir::Block &block,
                             llvm::SmallVectorImpl<Value> &results);
  /// Converts the block with other values instead of its arguments.
  LogicalResult inlineBlock(ForeignOp at, mlir::Block &block,
                            llvm::ArrayRef<Value> arguments,
                            llvm::SmallVectorImpl<Value> &results);
  LogicalResult call(ForeignOp op, llvm::StringRef callee);
  /// The number of ops of a function with all calls inlined; 0 if there is
  /// none.
  uint64_t opsOf(llvm::StringRef callee) const {
    return functions.lookup(callee).ops;
  }
  /// Converts the op as another one of StableHLO, with these operands and lists
  /// of integers and its other attributes.
  LogicalResult
  convertAs(ForeignOp op, llvm::StringRef name, mlir::ValueRange operands,
            mlir::RankedTensorType result,
            llvm::ArrayRef<std::pair<llvm::StringRef, Ints>> lists = {});

  void map(Value foreign, Value converted) { values[foreign] = converted; }
  Value lookup(Value foreign) const { return values.lookup(foreign); }
  Value input(ForeignOp op, unsigned index) const {
    return lookup(op->getOperand(index));
  }
  llvm::SmallVector<Value> inputs(ForeignOp op) const;

  template <typename Op, typename... Args>
  Value make(ForeignOp op, Args &&...args) {
    return Op::create(builder, op->getLoc(), std::forward<Args>(args)...)
        ->getResult(0);
  }
  /// Replaces the op's results; refuses other types than the op states.
  LogicalResult give(ForeignOp op, mlir::ValueRange all);

  /// A tensor with the number in every element.
  Value splat(ForeignOp op, double number, mlir::RankedTensorType type);
  /// Converts the value to another element type, if it has another.
  Value cast(ForeignOp op, Value value, mlir::Type elementType);
  /// Converts an operand of sums or products to that element type, unless it
  /// has all numbers of the operand's type.
  Value summand(ForeignOp op, Value value, mlir::Type elementType);
  /// Broadcasts a scalar to a shape.
  Value fill(ForeignOp op, Value scalar, mlir::RankedTensorType type);
  /// Combines two values by a reduction of that kind.
  Value combine(ForeignOp op, ReduceKind kind, Value a, Value b);
  /// Whether every element is the neutral element of the reduction.
  bool isNeutral(ReduceKind kind, Value init) const;

  mlir::OpBuilder &builder;
  const Shardings &shardings;
  /// Whether this is a region that is applied to elements: scalars have one
  /// layout.
  bool ofElements = false;
  /// Whether this is a manual computation: values are those of one device,
  /// except along `freeAxes`, which are full axes and along which values are
  /// global.
  bool perDevice = false;
  /// Whether the program has one device, inside and outside of manual
  /// computations.
  bool isOneDevice = false;
  SubAxes freeAxes;

private:
  LogicalResult convertOp(mlir::Operation *op);
  const llvm::StringMap<Function> &functions;
  llvm::DenseMap<Value, Value> values;
};

/// The reduction that a region of two scalars computes, if it is a known one.
std::optional<ReduceKind> reductionOf(mlir::Region &region);
/// Result `index` of a region with the arguments a0, a1, ... b0, b1, ...
std::optional<ReduceKind> reductionOf(mlir::Block &block, unsigned index);

/// The value before ops that only annotate its sharding. A region uses
/// constants from outside, which explicit axes annotate.
Value withoutAnnotations(Value value);
/// The op with this name and number of operands that defines the value, or
/// null.
mlir::Operation *definedBy(Value value, llvm::StringRef name,
                           unsigned operands);

using Conversion = LogicalResult (*)(Converter &, ForeignOp);
enum class OpRole : uint8_t {
  Plain,
  OverElements, ///< its regions are functions of scalars
  Annotation,   ///< its only result is its only operand
  GivesShape,   ///< its results may be of unknown shape before
  HasEffect,    ///< the op may have no results
};
/// A line of the table. The op has at least so many operands and exactly so
/// many regions (-1: any), and all its values are tensors of known shape,
/// except results of a conversion that `GivesShape`.
struct ConversionEntry {
  llvm::StringLiteral name;
  Conversion convert;
  unsigned operands = 1;
  int regions = 0;
  OpRole role = OpRole::Plain;
};
/// The conversion of an op; null for unknown ops.
const ConversionEntry *findConversion(llvm::StringRef name);

/// The table's parts, by family.
llvm::ArrayRef<ConversionEntry> elementwiseConversions();
llvm::ArrayRef<ConversionEntry> moveConversions();
llvm::ArrayRef<ConversionEntry> reductionConversions();
llvm::ArrayRef<ConversionEntry> windowConversions();
llvm::ArrayRef<ConversionEntry> indexingConversions();
llvm::ArrayRef<ConversionEntry> orderConversions();
llvm::ArrayRef<ConversionEntry> controlConversions();
llvm::ArrayRef<ConversionEntry> manualConversions();
llvm::ArrayRef<ConversionEntry> collectiveConversions();
llvm::ArrayRef<ConversionEntry> loopConversions();
llvm::ArrayRef<ConversionEntry> linearAlgebraConversions();
llvm::ArrayRef<ConversionEntry> bitConversions();
llvm::ArrayRef<ConversionEntry> dynamicConversions();
llvm::ArrayRef<ConversionEntry> randomConversions();
llvm::ArrayRef<ConversionEntry> realFunctionConversions();

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CONVERTER_H
