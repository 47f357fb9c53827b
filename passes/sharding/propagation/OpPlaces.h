//===- OpPlaces.h - the part of the mesh on which each op runs --*- C++ -*-===//
//
// On "branch"=2, "data"=4, with %x and %w annotated `at = {"branch" = 0}` and
// %v `at = {"branch" = 1}`:
//
//   %u = dot %x, %w      "branch"=0: most of its bytes are there
//   %r = relu %u         "branch"=0
//   %c = add %r, %v      "branch"=0: the first of two operands of one size
//   %y = constrain %c    as annotated, perhaps on the whole mesh
//
// An annotation puts a value (an argument, a result, or a weft.constrain) on a
// part of the mesh, or on the whole of it. Every other op runs where the largest
// of its neighbours' values is: values are kept where they are, the largest first,
// until that would join two places that are annotated. What is computed from
// constants alone weighs nothing, as any part may compute it. Ops without a neighbour
// that is annotated run on the whole mesh, as do all ops of a function without
// parts. An op with regions runs on one part, with all ops in it; but if values
// in a loop are annotated with several parts, its ops have their own places, as
// those of a function have, and so has each value that it carries.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_SHARDING_PROPAGATION_OPPLACES_H
#define WEFT_PASSES_SHARDING_PROPAGATION_OPPLACES_H

#include "weft/layout/MeshPart.h"
#include "weft/passes/sharding/RegionFlow.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace weft {

/// The places of a function's ops before layouts are in the types.
class OpPlaces {
public:
  explicit OpPlaces(mlir::func::FuncOp function);

  /// The place of an op of the function, or in a region of one.
  MeshPart of(mlir::Operation *op) const;
  /// The place where an argument is, or where a value is computed.
  MeshPart of(mlir::Value value) const;

private:
  struct Node {
    unsigned parent;               ///< itself, or an earlier node of its set
    std::optional<MeshPart> fixed; ///< set in a set's first node
  };
  struct Edge {
    int64_t bytes;
    unsigned from, to;
  };
  void addNodes();
  void addBlock(mlir::Block &block);
  void addLoop(mlir::Operation *loop);
  /// Whether any block of the value is computed at no cost, wherever it is used:
  /// a scalar from constants and numbers of iterations, an array from a scalar.
  bool isFree(mlir::Value value) const;
  /// Whether the value is computed from constants, outside of loops or as what no
  /// iteration changes.
  bool isOfConstants(mlir::Value value) const;
  void addEdges();
  void addEdge(mlir::OpOperand &operand, unsigned to);
  void join(unsigned a, unsigned b);
  unsigned find(unsigned node) const;
  /// The node of an op, or of the nearest op around it that has one.
  std::optional<unsigned> nodeOf(mlir::Operation *op) const;
  std::optional<unsigned> nodeOf(mlir::Value value) const;

  mutable mlir::func::FuncOp function;
  std::optional<RegionFlow> flow; ///< nothing if there are no parts
  std::vector<Node> nodes;        ///< arguments, then ops and carried values
  std::vector<Edge> edges;
  llvm::DenseMap<mlir::Operation *, unsigned> numbers;
  llvm::DenseMap<mlir::Value, unsigned> carried; ///< by leader, of loops
  llvm::DenseSet<mlir::Operation *> free;        ///< whose results are
  llvm::DenseSet<mlir::Operation *>
      ofConstants; ///< and neither loop nor branch
};

} // namespace weft

#endif // WEFT_PASSES_SHARDING_PROPAGATION_OPPLACES_H
