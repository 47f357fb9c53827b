//===- Shardings.h - shardings of a program as layouts ----------*- C++ -*-===//
//
// Private to the StableHLO front end.
//
//   Shardings shardings;
//   if (failed(shardings.collect(program, devices))) ...
//   LayoutAttr layout = shardings.layoutOf(attribute, rank, error);
//
// A program has one mesh: that of its first sharding. Shardings over another
// mesh of the same devices are said in its axes (MeshDigits.h); an argument or a
// result over one with its devices in another order says that order, too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGS_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace weft::stablehlo {

/// The parts of a sharding of one value.
struct Annotation {
  LayoutAttr layout;               ///< null: nothing is said
  llvm::SmallVector<int64_t> open; ///< dimensions that may take more axes
  int64_t priority = 0;
  llvm::SmallVector<mlir::Attribute> replicated; ///< names of axes
  /// The device at each position of the program's mesh, where the sharding's
  /// own mesh has them in another order. Only where a value meets its caller's
  /// memory does the order matter.
  llvm::SmallVector<int64_t> devices;

  /// weft.open, weft.priority and weft.replicated, as far as it says so.
  llvm::SmallVector<mlir::NamedAttribute> options() const;
};

class Shardings {
public:
  /// Finds the mesh. Fails with an error where there are two of different
  /// sets of devices.
  llvm::LogicalResult collect(mlir::ModuleOp program);
  /// Null where nothing is sharded.
  MeshAttr mesh() const { return meshAttribute; }
  int64_t devices() const;
  /// A mesh of that many devices, where no sharding names one.
  void assume(mlir::MLIRContext *context, int64_t devices);
  /// Shardings say nothing from here on.
  void ignore() { ignored = true; }
  bool isIgnored() const { return ignored; }

  /// From a dictionary of ReaderDialects.h; an error is emitted at `loc`.
  /// Where `only` is given, other axes than those of these names are left out.
  llvm::FailureOr<Annotation> resolve(mlir::Location loc,
                                      mlir::Attribute sharding, int64_t rank,
                                      mlir::ArrayAttr only = {}) const;

  /// Are the axes that it names the program's own?
  bool isOverMesh(mlir::Location loc, mlir::Attribute sharding) const;

private:
  llvm::FailureOr<MeshAttr> meshOf(mlir::Location loc,
                                   mlir::DictionaryAttr sharding) const;
  llvm::LogicalResult see(mlir::Location loc, mlir::Attribute sharding);
  llvm::StringMap<mlir::DictionaryAttr> named;
  MeshAttr meshAttribute;
  bool ignored = false;
};

} // namespace weft::stablehlo

#endif // WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGS_H
