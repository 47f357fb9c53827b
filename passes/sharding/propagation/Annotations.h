//===- Annotations.h - the layouts that a program states --------*- C++ -*-===//
//
//   LayoutTable table(function, mesh);
//   if (failed(Annotations(table).enter()))
//     ...                          // the error has been reported
//
// Annotations are `weft.layout` of arguments and results, `weft.constrain`, and
// the layouts that ops state themselves (FixedLayoutsOpInterface). An annotated
// layout is closed. Only where a result of the function is a loop's, the
// annotation concerns the value after the loop, where it may be moved once: the
// loop prefers the layout and may carry the value in another. An argument, or a `weft.constrain`, may say more about its
// value:
//
//   weft.open = array<i64: 1>     dimension 1 may take further axes
//   weft.replicated = ["model"]   "model" shards no dimension of it
//   weft.priority = 1             propagates after the annotations of priority 0
//                                 (the default) have spread everywhere
//   weft.group = "embedding"      all values of the group are laid out alike
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_ANNOTATIONS_H
#define WEFT_PASSES_SHARDING_PROPAGATION_ANNOTATIONS_H

#include "weft/passes/sharding/propagation/LayoutTable.h"

namespace weft {

/// Reads the annotations of a table's function with all their options, and
/// enters them in the table.
class Annotations {
public:
  /// `without`: a value whose annotation is left out.
  explicit Annotations(LayoutTable &table [[clang::lifetimebound]],
                       mlir::Value without = {})
      : table(table), function(table.func()), mesh(table.mesh()),
        ignored(without) {}

  /// Enters all annotations. An error names the port or op, and both values if
  /// two annotations contradict each other.
  llvm::LogicalResult enter();

private:
  /// The layout in an attribute of a tensor; nothing, after an error, if it
  /// does not fit the type.
  std::optional<Layout> read(mlir::Attribute attribute, mlir::Type type,
                             const llvm::Twine &what);
  llvm::LogicalResult enterArguments();
  llvm::LogicalResult enterArgument(mlir::BlockArgument argument);
  llvm::LogicalResult enterDonation(mlir::BlockArgument argument);
  llvm::LogicalResult enterResults();
  llvm::LogicalResult enterResult(unsigned index);
  llvm::LogicalResult enterConstraints();
  llvm::LogicalResult enterFixedLayouts();
  /// Checks that a constraint in a region names free axes only.
  llvm::LogicalResult checkBound(mlir::Operation *op, const Layout &layout);
  void openToFreeAxes(mlir::Value value, llvm::ArrayRef<SubAxis> free);
  llvm::LogicalResult enterOptions(mlir::Value value);
  llvm::LogicalResult enterReplicated(mlir::Value value, LayoutEntry &entry);
  llvm::LogicalResult joinGroups();
  llvm::LogicalResult joinGroup(mlir::Value first);
  /// Closes the layout of a value: `by` is the op that states it, the
  /// function's end for a result, null for an argument.
  void fix(mlir::Value value, const Layout &layout, bool isState,
           mlir::Operation *by);
  /// Annotates a value that is partial itself; its uses need not be.
  void leavePartial(mlir::Value value, const Layout &layout);

  LayoutTable &table;
  mlir::func::FuncOp function;
  const Mesh &mesh;
  mlir::Value ignored;
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_ANNOTATIONS_H
