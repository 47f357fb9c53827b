//===- ProgramEmitter.h - the program of one function -----------*- C++ -*-===//

#ifndef WEFT_PASSES_PLANNING_PROGRAMEMITTER_H
#define WEFT_PASSES_PLANNING_PROGRAMEMITTER_H

#include "weft/dialects/plan/Plan.h"
#include "weft/passes/planning/ArenaPacking.h"
#include "weft/passes/planning/BufferAssignment.h"
#include "weft/passes/planning/EqualValues.h"

#include <map>

namespace weft {

/// The names of the module's builtins, by their runtime's names and parameters.
using Builtins =
    std::map<std::pair<std::string, std::vector<int64_t>>, mlir::StringAttr>;

/// Emits the program of one function.
class ProgramEmitter {
public:
  /// Counted loops are unrolled up to this many instructions.
  ProgramEmitter(mlir::func::FuncOp function, MeshAttr mesh,
                 Builtins &builtins [[clang::lifetimebound]], int64_t unrolled)
      : function(function), mesh(mesh), builtins(builtins),
        assignment(function), builder(function), unrolled(unrolled) {}

  llvm::LogicalResult emit();
  int64_t inPlace = 0, copies = 0, unrolledLoops = 0;

private:
  /// Copies as pairs of source and target. All sources are read before any
  /// target is written.
  using Moves = llvm::SmallVector<std::pair<mlir::Value, mlir::Value>>;
  llvm::LogicalResult emitPorts();
  llvm::LogicalResult emitInstruction(mlir::Operation &op);
  void emitLaunch(mlir::func::CallOp call);
  void emitBuiltin(PlannedCallOpInterface call);
  mlir::IntegerAttr timesAttr() {
    return times == 1 ? mlir::IntegerAttr() : builder.getI64IntegerAttr(times);
  }
  llvm::LogicalResult emitBlock(mlir::Block &block);
  llvm::LogicalResult emitWhile(PlannedLoopOpInterface loop);
  int64_t bodiesOf(PlannedLoopOpInterface loop);
  llvm::LogicalResult emitRound(PlannedLoopOpInterface loop,
                                mlir::StringAttr exit, Moves &atExit);
  llvm::LogicalResult emitBody(PlannedLoopOpInterface loop);
  llvm::LogicalResult emitUnrolled(PlannedLoopOpInterface loop, int64_t bodies);
  Moves movesOfResults(PlannedLoopOpInterface loop);
  llvm::LogicalResult emitCase(PlannedBranchOpInterface choice);
  int64_t timesTaken(mlir::Operation *choice) const;
  llvm::LogicalResult emitPart(PlannedPartOpInterface part);
  void emitJumpUnless(mlir::Location loc, mlir::Value condition,
                      llvm::StringRef label);
  mlir::StringAttr emitJumpOutside(mlir::Location loc, const MeshPart &part);
  void emitCopy(mlir::Location loc, mlir::Value source, mlir::Value target);
  void emitFinalCopies(mlir::func::ReturnOp op);
  void emitMoves(mlir::Location loc, Moves moves);
  Moves movesBetween(llvm::ArrayRef<mlir::Value> sources,
                     llvm::ArrayRef<mlir::Value> targets);
  /// A unique label: "loop 3".
  std::string label(llvm::StringRef what) {
    return (what + " " + llvm::Twine(labels++)).str();
  }
  /// Marks an op that is shared over these axes, if any.
  static void share(mlir::Operation *op, LayoutAttr axes);
  mlir::Value buffer(mlir::Value value);
  llvm::SmallVector<mlir::Value> buffers(mlir::ValueRange values);
  LayoutAttr layoutOf(mlir::DictionaryAttr attributes, int64_t rank);

  mlir::func::FuncOp function;
  MeshAttr mesh;
  std::optional<EqualValues> equal; ///< for conditions, once there is one
  Builtins &builtins;
  BufferAssignment assignment;
  mlir::OpBuilder builder;
  ArenaPlaces packing;
  plan::ProgramOp program;
  llvm::SmallVector<mlir::Value> inputs, outputs, arena, constants;
  /// The loops around the present instruction, and the iteration in whose body
  /// it is.
  llvm::SmallVector<std::pair<const BufferExchange *, unsigned>> exchanging;
  /// The starts of collectives that are awaited later.
  llvm::DenseMap<mlir::Operation *, plan::StartOp> started;
  /// The parts of the mesh whose devices have memory for ports.
  llvm::DenseMap<mlir::Value, MeshPart> partOfPort;
  MeshPart inside; ///< the part whose devices run the present instructions
  unsigned labels = 0;
  int64_t unrolled;  ///< the most instructions of a counted loop's bodies
  int64_t times = 1; ///< executions of the present block; 0: unknown
};

} // namespace weft

#endif // WEFT_PASSES_PLANNING_PROGRAMEMITTER_H
