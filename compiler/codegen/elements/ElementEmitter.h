//===- ElementEmitter.h - the value of one element --------------*- C++ -*-===//
//
// Values in memory are loaded; all others are computed element by element where
// they are needed, in registers, by their op's ElementCode or ScalarCode
// (ElementCode.td):
//
//   %0 = weft.broadcast %b dims [1]        element(%2, [i, j]):
//   %1 = weft.add %x, %0            =>       max(x[i,j] + b[j], 0)
//   %2 = weft.relu %1
//
// An element that is needed twice at one position is computed once, in the
// outermost loop in which the position is known, unless a loop is closed
// between the two uses.
//
// A processor's code generator opens the loops, places the tensors and stores.
// It gives its emitter the parts that depend on the processor: how loops are
// shared, and scratch memory (ProcessorLoops).
//
// The emitter creates arith, math, complex and scf on 64-bit integers and
// scalars, and ops of the llvm dialect, mainly llvm.load and llvm.store on
// plain pointers.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTEMITTER_H
#define WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTEMITTER_H

#include "weft/compiler/codegen/elements/LoopNest.h"
#include "weft/compiler/codegen/elements/Registers.h"
#include "weft/dialects/nest/OpLoops.h"
#include "weft/dialects/weft/Weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SetVector.h"

#include <map>

namespace weft::elements {

/// Data of constants as they are in memory: an i1 is a byte, a complex number
/// two numbers.
mlir::DenseElementsAttr flatData(mlir::DenseElementsAttr data);

class ElementEmitter;

/// The position of an element: one i64 for each dimension, or the row-major
/// position alone (`linear`) in a flat nest. `depth` is the number of loops
/// around the place where the position is known. A copy may be changed: only
/// the values count.
struct ElementIndex {
  llvm::SmallVector<mlir::Value, 4> dims;
  mlir::Value linear;
  unsigned depth = 0;
};

/// A tensor in memory as contractions need it: with strides in elements.
struct StridedView : nest::Strides {
  mlir::Value pointer;
};

/// The loops, shares and scratch memory that a processor gives to nests of ops.
class ProcessorLoops {
public:
  virtual ~ProcessorLoops() = default;
  /// Opens a loop over [0, n) of dimension `dim` (numbered by
  /// OpLoopsInterface), or over this worker's share of it, unless a loop over
  /// this thread's positions is open. Returns the position.
  virtual mlir::Value openSharedLoop(int64_t dim, int64_t n) = 0;
  /// Whether openSharedLoop shares the dimension.
  virtual bool isShared(int64_t dim) const = 0;
  /// Whether LLVM makes vectors of the processor's loops.
  virtual bool hasVectors() const { return false; }
  /// The bytes of a vector in a register; 0 where code has scalars only.
  virtual int64_t vectorBytes() const { return 0; }
  /// The temporary memory of the nest (getWorkingBytes of its walk), aligned to
  /// 64 bytes; null if it needs none. The next nest may reuse it.
  virtual mlir::Value scratch() = 0;
};

/// LLVM's names of the registers of 32 and of 64 bits in inline assembly.
struct RegisterNames {
  llvm::StringRef narrow = "r", wide = "r";
};

class ElementEmitter : public LoopNest {
public:
  /// Takes a kernel. Without a processor's loops elements can be emitted, but
  /// no ops with their own nest.
  ElementEmitter(mlir::func::FuncOp kernel, ProcessorLoops *processor,
                 RegisterNames registers = {});

  // --- loops ----------------------------------------------------------------
  mlir::Value openSharedLoop(int64_t dim, int64_t n) {
    return processor->openSharedLoop(dim, n);
  }
  /// Builds such a loop, with the body at the position, and closes it.
  void eachShared(int64_t dim, int64_t n,
                  llvm::function_ref<void(mlir::Value i)> body) {
    unsigned outer = depth();
    body(openSharedLoop(dim, n));
    closeLoops(outer);
  }
  bool isShared(int64_t dim) const { return processor->isShared(dim); }
  bool hasVectors() const { return processor->hasVectors(); }
  int64_t vectorBytes() const { return processor->vectorBytes(); }
  /// Starts a nest: forgets positions and elements of the previous nest, and
  /// closes that nest's loops.
  void beginNest();
  /// Keeps the open loops around the nests that follow.
  void beginOuterLoops() { outerLoops = depth(); }
  void endOuterLoops() { outerLoops = 0; }
  /// Opens one loop for each dimension; returns the position in them.
  ElementIndex openLoops(llvm::ArrayRef<int64_t> shape);

  // --- positions ------------------------------------------------------------
  ElementIndex makeIndex(llvm::ArrayRef<mlir::Value> dims, unsigned depth);
  ElementIndex makeFlatIndex(mlir::Value linear, unsigned depth);
  /// Divides positions in 32 bits where these suffice, as a GPU does fastest.
  void divideNarrow() { dividesNarrow = true; }
  /// The position in each dimension of the element at a row-major position.
  llvm::SmallVector<mlir::Value> positionsOf(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> shape);
  mlir::Value linearIndex(llvm::ArrayRef<int64_t> shape,
                          const ElementIndex &index);
  /// The position, in an array of the shape `to`, of the element that is at a
  /// position of an array of the shape `from`, in row-major order. Adjacent
  /// positions stay adjacent where the last dimensions allow that.
  ElementIndex reshaped(const ElementIndex &index, llvm::ArrayRef<int64_t> from,
                        llvm::ArrayRef<int64_t> to);
  /// The position plus the value of an i64 operand, if there is an operand.
  mlir::FailureOr<mlir::Value> shifted(mlir::Value position, mlir::Value offset,
                                       unsigned depth);
  /// An integer element as a position: i64, and clamped to [0, last].
  mlir::Value extended(mlir::Value value, mlir::Type elementType);
  mlir::Value clampedPosition(mlir::Value value, mlir::Type elementType,
                              int64_t last);
  /// A position as an element of a tensor of integers.
  mlir::Value narrowed(mlir::Value position, mlir::Value tensor);
  /// Hides from LLVM that a position counts a loop's iterations. LLVM's
  /// strength reduction tries the sums of every chain of additions that starts
  /// at a counter, which takes 4 s for the rounds of one threefry generator.
  mlir::Value asBits(mlir::Value position);
  /// Whether the kernel mixes bits, as an expanded random generator does.
  bool mixesBits() const;

  // --- elements -------------------------------------------------------------
  /// The value of one element, in its compute type.
  mlir::FailureOr<mlir::Value> element(mlir::Value tensor,
                                       const ElementIndex &index);
  /// Sets an element, so that element() neither loads nor computes it.
  void setElement(mlir::Value tensor, const ElementIndex &index,
                  mlir::Value value);
  /// Sets the element for all positions that the nest reads, such as the result
  /// of a row's reduction: a walk over rows reads it in that row only.
  void setElementOfNest(mlir::Value tensor, mlir::Value value) {
    ofNest[tensor] = value;
  }
  /// Computes all that follows in the nest at the present depth or deeper: a
  /// scalar that is known there has no position from which this could be told.
  void stayAtDepth() { leastDepth = depth(); }
  /// The elements at one position of the values that a nest stores, which are
  /// computed, never loaded. The builder is then in the innermost loop.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  storedElements(llvm::ArrayRef<mlir::Value> tensors,
                 const ElementIndex &index);
  /// The number of times that the code computes an element of the op, if each
  /// loop runs once.
  unsigned computationsOf(mlir::Operation *op) const {
    return computations.lookup(op);
  }

  /// Marks positions as adjacent; the first is a multiple of their count.
  /// Contiguous elements at these innermost positions (row-major in a flat
  /// nest) are loaded as vectors, aligned to their size or 16 bytes. Complex
  /// numbers are not.
  void addNeighbours(llvm::ArrayRef<mlir::Value> positions);
  /// Stores a value for each adjacent position, the first at `linear`.
  void storeNeighbours(llvm::ArrayRef<mlir::Value> values, mlir::Value pointer,
                       mlir::Type elementType, mlir::Value linear);

  // --- memory ---------------------------------------------------------------
  // The address of a tensor; null for a tensor that is computed by element.
  mlir::Value memoryOf(mlir::Value tensor) const {
    return memory.lookup(tensor);
  }
  bool isInMemory(mlir::Value tensor) const { return memory.contains(tensor); }
  void place(mlir::Value tensor, mlir::Value pointer) {
    memory[tensor] = pointer;
  }
  /// Sets the address of the device's coordinates, one i64 for each axis.
  void placeCoordinates(mlir::Value pointer) { coordinates = pointer; }
  /// Sets the op of the module before which constant data is put.
  void placeGlobals(mlir::Operation *before) { globalsBefore = before; }
  /// Places the kernel's constants with more than one number. Fails, with an
  /// error on the op, for data without bytes.
  llvm::LogicalResult placeConstants();
  mlir::Value load(mlir::Value pointer, mlir::Type elementType,
                   mlir::Value linear);
  void store(mlir::Value value, mlir::Value pointer, mlir::Type elementType,
             mlir::Value linear);
  std::optional<StridedView> viewOf(mlir::Value tensor);
  /// The device's position in a group.
  mlir::Value coordinate(LayoutAttr group);
  mlir::Value scratch() { return processor->scratch(); }
  /// The address of read-only data.
  mlir::Value globalData(mlir::DenseElementsAttr flat);

private:
  mlir::FailureOr<mlir::Value> compute(mlir::Operation *op,
                                       const ElementIndex &index);
  void forgetClosed();
  /// The number of a position: within a nest equal positions have equal
  /// numbers.
  unsigned numberOf(const ElementIndex &index);
  mlir::Value address(mlir::Value pointer, mlir::Type storage,
                      mlir::Value linear);
  mlir::Value unknownZero(mlir::Type type);
  llvm::SmallVector<mlir::Value, 4>
  positionsReshaped(llvm::ArrayRef<mlir::Value> dims,
                    llvm::ArrayRef<int64_t> from, llvm::ArrayRef<int64_t> to);
  mlir::Value loadNeighbour(mlir::Value tensor, mlir::Value pointer,
                            const ElementIndex &index);
  mlir::Value fromStorage(mlir::Value bits, mlir::Type elementType);
  mlir::Value toStorage(mlir::Value value, mlir::Type elementType);

  mlir::func::FuncOp kernel;
  ProcessorLoops *processor;
  RegisterNames registers;
  mlir::Value coordinates;
  llvm::DenseMap<mlir::Value, mlir::Value> memory;
  llvm::SetVector<mlir::Value> roots;
  llvm::DenseMap<std::pair<mlir::Value, unsigned>, mlir::Value> elements;
  llvm::DenseMap<mlir::Value, mlir::Value> ofNest;
  /// A position's group of adjacent positions: the first position, the number
  /// of this position, and the count.
  struct Neighbour {
    mlir::Value first;
    int64_t number, count;
  };
  llvm::DenseMap<mlir::Value, Neighbour> neighbours;
  /// Loaded vectors, by tensor and the outer position.
  std::map<llvm::SmallVector<void *, 4>, mlir::Value> vectors;
  /// The positions of each group of adjacent positions, by the first.
  llvm::DenseMap<mlir::Value, llvm::SmallVector<mlir::Value>> adjacent;
  /// Results of reshaped(), by position and both shapes.
  std::map<llvm::SmallVector<int64_t, 8>, llvm::SmallVector<mlir::Value, 4>>
      reshapedDims;
  /// Positions that positionsReshaped() made of one row-major position.
  struct Divided {
    llvm::SmallVector<mlir::Value> dims;
    llvm::SmallVector<int64_t> shape;
    mlir::Value linear;
  };
  llvm::DenseMap<mlir::Value, Divided> divided; ///< quotients, by the position
  unsigned elementsClosings = 0; ///< closings() when `elements` was filled
  std::map<llvm::SmallVector<void *, 4>, unsigned> positionNumbers;
  llvm::DenseMap<mlir::Operation *, unsigned> computations;
  unsigned globals = 0, outerLoops = 0;
  unsigned leastDepth = 0; ///< least depth of computed values
  bool dividesNarrow = false;
  mlir::Operation *globalsBefore;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTEMITTER_H
