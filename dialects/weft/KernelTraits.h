//===- KernelTraits.h - what an op is to kernels ----------------*- C++ -*-===//
//
//   trait              an op that ...                         of weft
//   Elementwise        needs its operands at one position     add, exp, ...
//   KeepsPositions     likewise, and some whole numbers more  rng_bits
//   MovesElements      only says where an element comes from  transpose, slice
//   GeneratesElements  needs a position and nothing else      iota, constant
//   Costly             is dearer to compute than to load      exp, rng_bits
//   ReductionNest      combines elements along dimensions     reduce
//   ContractionNest    multiplies and adds                    dot
//   OwnLoopNest        is computed as a whole                 sort, scatter
//
// An embedder's op says the same with the same traits; what a trait cannot say
// it says with KernelOpInterface (Interfaces.td).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_DIALECTS_WEFT_KERNELTRAITS_H
#define WEFT_DIALECTS_WEFT_KERNELTRAITS_H

#include "mlir/IR/OpDefinition.h"

namespace weft {

/// Each element of the result is an element of the first operand, at a position
/// that costs a few additions: kernels have copies of such ops.
template <typename ConcreteType>
class MovesElements
    : public mlir::OpTrait::TraitBase<ConcreteType, MovesElements> {};

/// Each element follows from its position, as cheaply: copied likewise.
template <typename ConcreteType>
class GeneratesElements
    : public mlir::OpTrait::TraitBase<ConcreteType, GeneratesElements> {};

/// An element of the only result needs, of operands of the result's shape, the
/// element at its own position.
template <typename ConcreteType>
class KeepsPositions
    : public mlir::OpTrait::TraitBase<ConcreteType, KeepsPositions> {};

/// An element takes tens of instructions: a kernel that needs it twice stores
/// it.
template <typename ConcreteType>
class Costly : public mlir::OpTrait::TraitBase<ConcreteType, Costly> {};

template <typename ConcreteType>
class ReductionNest
    : public mlir::OpTrait::TraitBase<ConcreteType, ReductionNest> {};

template <typename ConcreteType>
class ContractionNest
    : public mlir::OpTrait::TraitBase<ConcreteType, ContractionNest> {};

/// Results are computed as a whole, by loops of the op's own: it is never part
/// of another op's loop nest, and no result may have an operand's memory.
template <typename ConcreteType>
class OwnLoopNest : public mlir::OpTrait::TraitBase<ConcreteType, OwnLoopNest> {
};

/// An op that kernels have copies of: it only says where elements come from.
bool isElementSource(mlir::Operation *op);
/// Elementwise, or keeps positions; one result.
bool keepsPositions(mlir::Operation *op);
/// A reduction, a contraction, or computed as a whole: its results are stored
/// by loops that compute nothing else.
bool hasLoopNest(mlir::Operation *op);
/// The number of elements of an operand at other positions that one element of the
/// result needs. 0 where it needs the one at its own position alone.
int64_t elementsReadElsewhere(mlir::OpOperand &operand);
/// About how many instructions the op takes; the same where its traits say all;
/// and where each element of its largest operand or result takes so many.
double workOf(mlir::Operation *op);
double workByTraits(mlir::Operation *op);
double instructionsForEach(mlir::Operation *op, double instructions);

/// Has the function the attribute kKernelAttr?
bool isKernel(mlir::Operation *function);
/// May a result of the kernel be in the memory of an argument of its type?
bool mayWorkInPlace(mlir::Operation *kernel);

} // namespace weft

#endif // WEFT_DIALECTS_WEFT_KERNELTRAITS_H
