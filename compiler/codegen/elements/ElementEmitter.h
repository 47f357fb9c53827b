//===- ElementEmitter.h - the value of one element --------------*- C++ -*-===//
//
// What is in memory is loaded; everything else is computed element by element
// where it is needed, in registers, out of what its op's ElementCode or
// ScalarCode (ElementCode.td) says:
//
//   %0 = weft.broadcast %b dims [1]        element(%2, [i, j]):
//   %1 = weft.add %x, %0            =>       max(x[i,j] + b[j], 0)
//   %2 = weft.relu %1
//
// An element that is asked for twice at one position is computed once, in the
// outermost loop that knows the position.
//
// A processor's code generator opens the loops, places the tensors and stores.
// It has an emitter and gives it what the emitter cannot know: how loops are
// shared, and scratch memory (ProcessorLoops).
//
// Emitted are arith, math, complex and scf on 64-bit integers and scalars, and
// llvm.load and llvm.store on plain pointers.
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

class ElementEmitter;

/// The position of an element: one i64 for each dimension, or the row-major
/// position alone (`linear`) in a flat nest. `depth` is the number of loops
/// around the place where the position is known.
struct ElementIndex {
  llvm::SmallVector<mlir::Value, 4> dims;
  mlir::Value linear;
  unsigned depth = 0;
  unsigned id = 0; ///< equal positions have equal ids within a nest
};

/// A tensor in memory as contractions see it: strides in elements.
struct StridedView : nest::Strides {
  mlir::Value pointer;
};

/// The loops, shares and scratch memory that a processor gives to nests of ops.
class ProcessorLoops {
public:
  virtual ~ProcessorLoops() = default;
  /// Opens a loop over [0, n) of dimension `dim`, as OpLoopsInterface numbers
  /// the independent ones, or over the share of it that this worker has;
  /// returns the position.
  virtual mlir::Value openPartLoop(int64_t dim, int64_t n) = 0;
  /// Does openPartLoop share the dimension?
  virtual bool isShared(int64_t dim) const = 0;
  /// The memory that the nest works with (getWorkingBytes of its walk), aligned
  /// to 64 bytes; null where it needs none. The next nest may use it again.
  virtual mlir::Value scratch() = 0;
};

/// LLVM's names of the registers of 32 and of 64 bits in inline assembly.
struct RegisterNames {
  llvm::StringRef narrow = "r", wide = "r";
};

class ElementEmitter : public LoopNest {
public:
  /// Without a processor's loops there is code for elements, and none for ops
  /// with a nest of their own.
  ElementEmitter(mlir::func::FuncOp kernel, ProcessorLoops *processor,
                 RegisterNames registers = {});

  // --- loops ----------------------------------------------------------------
  mlir::Value openPartLoop(int64_t dim, int64_t n) {
    return processor->openPartLoop(dim, n);
  }
  bool isShared(int64_t dim) const { return processor->isShared(dim); }
  /// Starts a nest: forgets positions and elements of the one before, and
  /// closes its loops.
  void beginNest();
  /// The loops that are open now stay around the nests that follow.
  void beginOuterLoops() { outerLoops = depth(); }
  void endOuterLoops() { outerLoops = 0; }
  /// One loop for each dimension, and the position in them.
  ElementIndex openLoops(llvm::ArrayRef<int64_t> shape);

  // --- positions ------------------------------------------------------------
  ElementIndex makeIndex(llvm::ArrayRef<mlir::Value> dims, unsigned depth);
  ElementIndex makeFlatIndex(mlir::Value linear, unsigned depth);
  /// The position in each dimension of what lies at a row-major position.
  llvm::SmallVector<mlir::Value> positionsOf(mlir::Value linear,
                                             llvm::ArrayRef<int64_t> shape);
  mlir::Value linearIndex(llvm::ArrayRef<int64_t> shape,
                          const ElementIndex &index);
  /// The position plus an i64 that is an operand, if there is one.
  mlir::FailureOr<mlir::Value> shifted(mlir::Value position, mlir::Value offset,
                                       unsigned depth);
  /// An integer element as a position: i64, and clamped to [0, last].
  mlir::Value extended(mlir::Value value, mlir::Type elementType);
  mlir::Value clampedPosition(mlir::Value value, mlir::Type elementType,
                              int64_t last);
  /// A position as an element of a tensor of integers.
  mlir::Value narrowed(mlir::Value position, mlir::Value tensor);
  /// A position from which LLVM cannot see that it counts a loop's rounds. Its
  /// strength reduction tries the sums of every chain of additions that starts
  /// at such a number: 4 s for the rounds of one threefry generator.
  mlir::Value asBits(mlir::Value position);
  /// Does the kernel mix bits, as a random generator that is written out does?
  bool mixesBits() const;

  // --- elements -------------------------------------------------------------
  /// The value of one element, in its compute type.
  mlir::FailureOr<mlir::Value> element(mlir::Value tensor,
                                       const ElementIndex &index);
  /// Says what an element is, so that element() neither loads nor computes it.
  void setElement(mlir::Value tensor, const ElementIndex &index,
                  mlir::Value value);
  /// The same for every position that the nest asks for: of a row's reduction,
  /// say, which a walk over rows reads in its own row only.
  void setElementOfNest(mlir::Value tensor, mlir::Value value) {
    ofNest[tensor] = value;
  }
  /// The elements at one position of what a nest stores: these are computed,
  /// never loaded. The builder is then in the innermost loop.
  mlir::FailureOr<llvm::SmallVector<mlir::Value>>
  storedElements(llvm::ArrayRef<mlir::Value> tensors,
                 const ElementIndex &index);
  /// How often the code computes an element of the op, all loops taken once.
  unsigned computationsOf(mlir::Operation *op) const {
    return computations.lookup(op);
  }

  /// These are neighbours, the first of them at a multiple of their count:
  /// elements at innermost (in a flat nest: row-major) positions of theirs are
  /// loaded as a vector where they lie side by side, from 16-byte addresses.
  void addNeighbours(llvm::ArrayRef<mlir::Value> positions);
  /// Stores a value for each neighbour, the first of them at `linear`.
  void storeNeighbours(llvm::ArrayRef<mlir::Value> values, mlir::Value pointer,
                       mlir::Type elementType, mlir::Value linear);

  // --- memory ---------------------------------------------------------------
  /// Where a tensor is; null for one that is computed by element.
  mlir::Value memoryOf(mlir::Value tensor) const {
    return memory.lookup(tensor);
  }
  bool isInMemory(mlir::Value tensor) const { return memory.contains(tensor); }
  void place(mlir::Value tensor, mlir::Value pointer) {
    memory[tensor] = pointer;
  }
  /// Where the coordinates of the device are, one i64 for each axis.
  void placeCoordinates(mlir::Value pointer) { coordinates = pointer; }
  /// Constant data goes in front of this op of the module.
  void placeGlobals(mlir::Operation *before) { globalsBefore = before; }
  /// Places the kernel's constants that are more than one number. Fails, with
  /// an error on the op, for data that has no bytes.
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
  mlir::Value address(mlir::Value pointer, mlir::Type storage,
                      mlir::Value linear);
  mlir::Value unknownZero(mlir::Type type);
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
  /// The first of a position's neighbours, its number, and how many they are.
  struct Neighbour {
    mlir::Value first;
    int64_t number, count;
  };
  llvm::DenseMap<mlir::Value, Neighbour> neighbours;
  /// Vectors of them, by tensor and the position in front.
  std::map<llvm::SmallVector<void *, 4>, mlir::Value> vectors;
  unsigned elementsClosings = 0; ///< closings() when `elements` was right
  std::map<llvm::SmallVector<void *, 4>, unsigned> indexIds;
  llvm::DenseMap<mlir::Operation *, unsigned> computations;
  unsigned globals = 0, outerLoops = 0;
  mlir::Operation *globalsBefore;
};

} // namespace weft::elements

#endif // WEFT_COMPILER_CODEGEN_ELEMENTS_ELEMENTEMITTER_H
