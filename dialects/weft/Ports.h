//===- Ports.h - attributes of arguments and results ------------*- C++ -*-===//
//
//   func.func @train(%w: tensor<4xf32> {weft.donated = 3 : i64}) -> tensor<4xf32>
//
//   error: argument 0 is donated to result 3, the function has 1
//
// Each stage border checks the attributes. Passes that run alone read donations
// by donatedResult().
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_PORTS_H
#define WEFT_DIALECTS_WEFT_PORTS_H

#include "mlir/Interfaces/FunctionInterfaces.h"

namespace weft {

/// The attribute of a function whose arguments and results without annotation
/// have layouts of whole axes and full blocks. JAX has no arrays with padding,
/// and no sub-axes.
inline constexpr llvm::StringLiteral kFullPortsAttr = "weft.full_ports";

/// The attribute of an argument or result of a partitioned function with its
/// global type, a TypeAttr.
inline constexpr llvm::StringLiteral kGlobalTypeAttr = "weft.global_type";

/// An argument or result of a function.
struct FunctionPort {
  mutable mlir::FunctionOpInterface function;
  unsigned index;
  bool isArgument;

  mlir::Type type() const;
  /// Null if there is no attribute.
  mlir::DictionaryAttr attributes() const;
  /// Sets the attribute; removes it if it is null.
  void set(llvm::StringRef name, mlir::Attribute attribute) const;
  /// Starts an error: "@main: argument 2".
  mlir::InFlightDiagnostic refuse() const;
};

/// The result that reuses the argument's memory, if it has kDonatedAttr with
/// the number of a result.
std::optional<unsigned> donatedResult(mlir::FunctionOpInterface function,
                                      unsigned argument);

/// Whether the layout of an argument or result is on a part of the mesh.
bool hasPortOnPart(mlir::FunctionOpInterface function);

/// Emits an error at the first function of the module with an argument or
/// result whose attribute "weft.*" has another form than its readers expect.
llvm::LogicalResult verifyPorts(mlir::Operation *module);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_PORTS_H
