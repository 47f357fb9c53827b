//===- AnnotationChanges.h - other annotations in a program -----*- C++ -*-===//
//
// Changes that a person could make to the annotations in a program's own text
// (Weft's, StableHLO): for a collective over "model",
//
//   change the layout of "down" from [{"model"}, {}] to [{}, {"model"}]
//   remove the layout of "up": [{}, {"model"}]
//   change the constraint at tp.mlir:14 from [{}, {}, {}] to [{}, {"model"}, {}]
//   lay out "x" as [{"model"}, {}, {}]
//   change the layouts of "p['l'][*]['up']", "m['l'][*]['up']" (64 tensors) from
//     [{}, {"model"}] to [{"model"}, {}]
//
// Places are arguments and results of the public function, and constraints.
// Places whose annotation has an axis of the collective come first, then places
// that the collective names, then the other annotated places, as layouts
// propagate. A change affects one annotation, or all that belong together:
// tensors of one shape and layout whose names are equal without the numbers of
// layers and without the text before the keys of a JAX tree (weights, their
// optimizer's values and the results of both), and constraints at one line of a
// script.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_ANNOTATIONCHANGES_H
#define WEFT_COMPILER_EXPLAIN_ANNOTATIONCHANGES_H

#include "weft/compiler/explain/Explain.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <set>

namespace weft {

/// The place of a possible annotation, valid in copies of the module, too.
struct AnnotationPlace {
  enum class Kind { Argument, Result, Constraint };
  Kind kind = Kind::Argument;
  unsigned index = 0; ///< the number of a constraint in the order of a walk
};

struct AnnotationChange {
  std::string text;       ///< the change, for people
  std::string annotation; ///< the replaced or removed annotation; or ""
  std::vector<AnnotationPlace> places;
  std::optional<Layout> wanted; ///< none if the annotations are removed

  /// A copy of the module with the change.
  mlir::OwningOpRef<mlir::ModuleOp> applied(mlir::ModuleOp imported) const;
};

class AnnotationChanges {
public:
  /// Takes a module at stage `imported` with one public function.
  explicit AnnotationChanges(mlir::ModuleOp imported);

  std::vector<AnnotationChange> of(const CollectiveCost &collective) const;

private:
  struct Tensor {
    AnnotationPlace place;
    std::string subject; ///< "up"; argument 0; constraint at tp.mlir:14
    std::string name;    ///< up; empty if the place has no name
    std::vector<int64_t> shape;
    std::optional<Layout> layout;
    int together = -1; ///< tensors that belong together; -1: none
  };
  void addPorts(mlir::func::FuncOp function);
  void addConstraints(mlir::ModuleOp module);
  void joinTensors();
  /// Adds the changes of tensors of one shape and layout.
  void change(llvm::ArrayRef<const Tensor *> together,
              const std::set<unsigned> &axes,
              std::vector<AnnotationChange> &changes) const;

  MeshAttr mesh;
  std::vector<Tensor> tensors;
  std::vector<std::vector<unsigned>>
      groups; ///< changes of tensors, indexed by Tensor::together
};

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_ANNOTATIONCHANGES_H
