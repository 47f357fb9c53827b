//===- KernelTraits.h - the role of an op in kernels ------------*- C++ -*-===//
//
//   trait              an op that ...                         of weft
//   Elementwise        needs its operands at one position     add, exp, ...
//   KeepsPositions     likewise, and all of smaller operands  rng_bits
//   MovesElements      only says where an element comes from  transpose, slice
//   GeneratesElements  needs a position and nothing else      iota, constant
//   Costly             is dearer to compute than to load      exp, rng_bits
//   ReductionNest      combines elements along dimensions     reduce
//   ContractionNest    multiplies and adds                    dot
//   OwnLoopNest        is computed as a whole                 sort, scatter
//
// An embedder's op uses the same traits, and KernelOpInterface (Interfaces.td)
// for properties that no trait expresses.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_KERNELTRAITS_H
#define WEFT_DIALECTS_WEFT_KERNELTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace weft {

/// An op whose every result element is an element of the first operand, at a
/// position that costs a few additions: kernels have copies of such ops.
template <typename ConcreteType>
class MovesElements
    : public mlir::OpTrait::TraitBase<ConcreteType, MovesElements> {};

/// An op that computes each element from the element's position, as cheaply, so
/// that kernels have copies of the op, too.
template <typename ConcreteType>
class GeneratesElements
    : public mlir::OpTrait::TraitBase<ConcreteType, GeneratesElements> {};

/// An op whose element needs the element at its own position of each operand of
/// the result's shape. It has one result.
template <typename ConcreteType>
class KeepsPositions
    : public mlir::OpTrait::TraitBase<ConcreteType, KeepsPositions> {};

/// An op whose element takes tens of instructions: a kernel that needs it twice
/// stores it.
template <typename ConcreteType>
class Costly : public mlir::OpTrait::TraitBase<ConcreteType, Costly> {};

template <typename ConcreteType>
class ReductionNest
    : public mlir::OpTrait::TraitBase<ConcreteType, ReductionNest> {};

template <typename ConcreteType>
class ContractionNest
    : public mlir::OpTrait::TraitBase<ConcreteType, ContractionNest> {};

/// An op whose results are computed as a whole, by its own loops: it is never
/// part of another op's loop nest, and no result may have an operand's memory.
template <typename ConcreteType>
class OwnLoopNest : public mlir::OpTrait::TraitBase<ConcreteType, OwnLoopNest> {
};

/// Whether kernels have copies of the op: it only gives positions of elements.
bool isElementSource(mlir::Operation *op);
/// Whether the op is elementwise or keeps positions, with one result.
bool keepsPositions(mlir::Operation *op);
/// Whether the op is a reduction, a contraction or computed as a whole: its
/// own loops store its results.
bool hasLoopNest(mlir::Operation *op);
/// The number of elements of an operand at other positions that one element of
/// the result needs; 0 if it needs only the one at its own position.
int64_t elementsReadElsewhere(mlir::OpOperand &operand);
/// Three estimates of the op's instructions. The first asks the op's interface,
/// and its traits if it has none; the second asks the traits alone; the third
/// counts `instructions` for each element of the largest operand or result.
double workOf(mlir::Operation *op);
double workByTraits(mlir::Operation *op);
double instructionsForEach(mlir::Operation *op, double instructions);

/// Whether the function has the attribute kKernelAttr.
bool isKernel(mlir::Operation *function);
/// Whether a result of the kernel may be in the memory of an argument of its
/// type.
bool mayWorkInPlace(mlir::Operation *kernel);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_KERNELTRAITS_H
