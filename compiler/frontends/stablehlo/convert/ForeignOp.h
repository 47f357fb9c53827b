//===- ForeignOp.h - one op of StableHLO, as it was read --------*- C++ -*-===//
//
// Private to the StableHLO front end. A view of a generic op, whose builtin
// attributes may have several forms ([1], array<i64: 1>, dense<1>).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_FOREIGNOP_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_FOREIGNOP_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/Operation.h"

#include <optional>

namespace weft::stablehlo {

using Ints = llvm::SmallVector<int64_t>;

class ForeignOp {
public:
  explicit ForeignOp(mlir::Operation *op) : op(op) {}

  /// The op's name without dialect and version: "add" for stablehlo.add and
  /// vhlo.add_v1. Ops of other dialects keep it ("sdy.mesh"), and vhlo's
  /// functions and calls are named "func.func" and "func.call".
  std::string name() const;
  mlir::Operation *operator->() const { return op; }
  mlir::Operation *get() const { return op; }

  mlir::Attribute attribute(llvm::StringRef name) const {
    return op->getAttr(name);
  }
  /// The integers of an attribute; empty if there is none of that name, or it
  /// is no list of integers.
  Ints ints(llvm::StringRef name) const;
  /// The integers of an attribute, or `count` times `fallback` if there is
  /// none.
  Ints ints(llvm::StringRef name, size_t count, int64_t fallback) const;
  std::optional<int64_t> integer(llvm::StringRef name) const;
  bool flag(llvm::StringRef name) const;
  llvm::StringRef word(llvm::StringRef name) const;

  mlir::RankedTensorType operandType(unsigned index) const;
  mlir::RankedTensorType resultType(unsigned index = 0) const;
  /// Emits an error `'stablehlo.add' ...` at the op's location, to be
  /// continued.
  mlir::InFlightDiagnostic refuse() const;

private:
  mlir::Operation *op;
};

/// Whether kernels and the runtime support elements of that type.
bool isSupported(mlir::Type element);

/// What a program can have in the place of such elements; empty if that is
/// unknown.
llvm::StringRef wayOutOf(mlir::Type element);

/// All integers of a list or tensor, in row-major order.
Ints integersOf(mlir::Attribute attribute);

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_FOREIGNOP_H
