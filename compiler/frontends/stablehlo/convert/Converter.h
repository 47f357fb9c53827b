//===- Converter.h - from foreign ops to weft ops ---------------*- C++ -*-===//
//
// Private to the StableHLO front end. Each Convert*.cpp (but
// ConvertHostCalls.cpp) ends with a table of the functions that convert its
// ops, such as
//
//   LogicalResult convertTranspose(Converter &c, ForeignOp op) {
//     return c.give(op, c.make<TransposeOp>(op, c.input(op, 0),
//                                           op.ints("permutation")));
//   }
//
// Calls are inlined. Ops without a conversion are refused by name. A conversion
// that computes an unknown shape of a result sets it on the foreign value.
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

/// A function in text (func.func) or in an artifact (vhlo.func_v1).
struct Function {
  mlir::Operation *op = nullptr;
  mlir::Block *body = nullptr; ///< its only block
  /// Attributes of arguments (null, empty or of the right size) and of results
  /// (null or of any size).
  mlir::ArrayAttr arguments, results;
  uint64_t ops = 0; ///< number, with all calls inlined
};

class Converter {
public:
  Converter(mlir::OpBuilder &builder [[clang::lifetimebound]],
            const Shardings &shardings [[clang::lifetimebound]],
            const llvm::StringMap<Function> &functions [[clang::lifetimebound]])
      : builder(builder), shardings(shardings), functions(functions) {}

  /// Converts all ops of a block except the terminator; `results` are the
  /// converted operands of the terminator.
  LogicalResult convertBlock(mlir::Block &block,
                             llvm::SmallVectorImpl<Value> &results);
  /// Converts the ops of a block with these values as its arguments.
  LogicalResult inlineBlock(ForeignOp at, mlir::Block &block,
                            llvm::ArrayRef<Value> arguments,
                            llvm::SmallVectorImpl<Value> &results);
  LogicalResult call(ForeignOp op, llvm::StringRef callee);
  /// The number of ops in a function with all calls inlined; 0 if there is no
  /// such function.
  uint64_t opsOf(llvm::StringRef callee) const {
    return functions.lookup(callee).ops;
  }
  /// Converts the op like another StableHLO op, with these operands, its own
  /// attributes, and these lists of integers.
  LogicalResult
  convertAs(ForeignOp op, llvm::StringRef name, mlir::ValueRange operands,
            mlir::RankedTensorType result,
            llvm::ArrayRef<std::pair<llvm::StringRef, Ints>> lists = {});
  /// Converts the op like the op of that name, dialect included, with its
  /// operands and results and these attributes (null: none).
  LogicalResult convertAs(ForeignOp op, llvm::StringRef name,
                          mlir::DictionaryAttr attributes);

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
  /// Sets the converted results of the op; refuses types other than the op's.
  LogicalResult give(ForeignOp op, mlir::ValueRange all);

  /// A tensor with the number in every element.
  Value splat(ForeignOp op, double number, mlir::RankedTensorType type);
  /// Converts the value to the element type, unless it has this type.
  Value cast(ForeignOp op, Value value, mlir::Type elementType);
  /// Converts an operand of sums or products to the element type, unless the
  /// type represents all numbers of the operand's type: then the op converts
  /// it.
  Value summand(ForeignOp op, Value value, mlir::Type elementType);
  /// Broadcasts a scalar to the shape of `type`.
  Value fill(ForeignOp op, Value scalar, mlir::RankedTensorType type);
  /// Combines two values by the op of the reduction.
  Value combine(ForeignOp op, ReduceKind kind, Value a, Value b);
  /// Whether every element of `init` is the neutral element of the reduction.
  bool isNeutral(ReduceKind kind, Value init) const;

  mlir::OpBuilder &builder;
  const Shardings &shardings;
  /// Whether the current region is applied to elements, where ops are on
  /// scalars and layouts have no meaning.
  bool ofElements = false;
  /// Whether the current region is a manual computation. Values are those of
  /// one device, except along `freeAxes`, which are full axes with global
  /// values.
  bool perDevice = false;
  /// Whether the program runs on one device.
  bool isOneDevice = false;
  SubAxes freeAxes;
  /// The number of generators of random numbers converted so far; each has a
  /// key of its own.
  uint64_t generators = 0;
  /// The number of ops that unrolling of loops made (UnrollPrice.h).
  uint64_t unrolledOps = 0;

private:
  LogicalResult convertOp(mlir::Operation *op);
  const llvm::StringMap<Function> &functions;
  llvm::DenseMap<Value, Value> values;
};

/// The reduction that a region of two scalars computes, if it is a known one.
std::optional<ReduceKind> reductionOf(mlir::Region &region);
/// The reduction of result `index` in a block with arguments a0, a1, ... b0,
/// b1, ...
std::optional<ReduceKind> reductionOf(mlir::Block &block, unsigned index);

/// The value before the ops that only annotate its sharding, such as those of
/// explicit axes on constants that a region uses.
Value withoutAnnotations(Value value);
/// The op with this name and number of operands that defines the value, or
/// null.
mlir::Operation *definedBy(Value value, llvm::StringRef name,
                           unsigned operands);

using Conversion = LogicalResult (*)(Converter &, ForeignOp);
enum class OpRole : uint8_t {
  Plain,
  OverElements, ///< its regions are functions of scalars
  Annotation,   ///< the only result is the only operand
  GivesShape,   ///< results may have unknown shapes before
  HasEffect,    ///< the op may have no results
};
/// A row of a table. The op has at least `operands` operands and exactly
/// `regions` regions (-1: any number). All values are tensors of known shape,
/// except results of a conversion with GivesShape.
struct ConversionEntry {
  llvm::StringLiteral name;
  Conversion convert;
  unsigned operands = 1;
  int regions = 0;
  OpRole role = OpRole::Plain;
};
/// The conversion of an op; null for unknown ops.
const ConversionEntry *findConversion(llvm::StringRef name);

/// The routine of LAPACK that a custom call's target names, "dgetrf" of
/// lapack_dgetrf_ffi, and the conversion of such a call.
std::optional<llvm::StringRef> routineOfCall(llvm::StringRef target);
LogicalResult convertLapack(Converter &c, ForeignOp op,
                            llvm::StringRef routine);

/// The tables of each family of ops.
llvm::ArrayRef<ConversionEntry> elementwiseConversions();
llvm::ArrayRef<ConversionEntry> moveConversions();
llvm::ArrayRef<ConversionEntry> reductionConversions();
llvm::ArrayRef<ConversionEntry> productConversions();
llvm::ArrayRef<ConversionEntry> normalizationConversions();
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
llvm::ArrayRef<ConversionEntry> startedConversions();

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_CONVERTER_H
