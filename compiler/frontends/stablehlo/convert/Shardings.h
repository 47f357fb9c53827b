//===- Shardings.h - shardings of a program as layouts ----------*- C++ -*-===//
//
// The mesh and the layouts of a program, from its shardings.
//
//   Shardings shardings;
//   if (failed(shardings.collect(program))) ...
//   FailureOr<Annotation> found = shardings.resolve(loc, attribute, rank);
//
// A program has one mesh, which is that of its first sharding over several
// devices. Shardings over another mesh of the same devices are expressed by
// axes of the program's mesh (MeshDigits.h). If the other mesh orders the
// devices differently, the order of an argument or result is recorded, too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGS_H
#define WEFT_COMPILER_FRONTENDS_STABLEHLO_CONVERT_SHARDINGS_H

#include "weft/dialects/weft/Weft.h"

#include "mlir/IR/BuiltinOps.h"
#include "llvm/ADT/StringMap.h"

namespace weft::stablehlo {

/// The sharding of one value.
struct Annotation {
  LayoutAttr layout;               ///< null: no layout
  llvm::SmallVector<int64_t> open; ///< dimensions that may take more axes
  int64_t priority = 0;
  llvm::SmallVector<mlir::Attribute> replicated; ///< names of axes
  /// The device at each position of the program's mesh, if the sharding's own
  /// mesh has another order. The order matters only for a value in its caller's
  /// memory.
  llvm::SmallVector<int64_t> devices;

  /// The attributes weft.open, weft.priority and weft.replicated that are set.
  llvm::SmallVector<mlir::NamedAttribute> options() const;
};

class Shardings {
public:
  /// Finds the program's mesh. Fails with an error if shardings name meshes
  /// with different sets of devices.
  llvm::LogicalResult collect(mlir::ModuleOp program);
  /// The mesh; null without shardings.
  MeshAttr mesh() const { return meshAttribute; }
  int64_t devices() const;
  /// Sets a mesh of `devices` devices, for programs without shardings.
  void assume(mlir::MLIRContext *context, int64_t devices);
  /// Ignores all shardings from now on.
  void ignore() { ignored = true; }
  bool isIgnored() const { return ignored; }

  /// Resolves a dictionary of ReaderDialects.h; emits errors at `loc`. If
  /// `only` is given, axes that are not in it are left out.
  llvm::FailureOr<Annotation> resolve(mlir::Location loc,
                                      mlir::Attribute sharding, int64_t rank,
                                      mlir::ArrayAttr only = {}) const;

  /// Whether the sharding's axes are those of the program's mesh.
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
