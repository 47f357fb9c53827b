//===- VerifyParts.h - no device reads what it does not have ----*- C++ -*-===//
//
//   %y = weft.at #mesh {"branch" = 0} (%x) ...
//   %z = weft.relu %y
//
// is refused, as devices with another coordinate have no %y: "runs on the whole
// mesh, but operand 0 is only on "branch"=0".
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_STAGES_VERIFYPARTS_H
#define WEFT_COMPILER_STAGES_VERIFYPARTS_H

#include "weft/passes/sharding/RegionFlow.h"

#include <map>
#include <string>

namespace weft {

/// The parts of the mesh whose devices have the values of partitioned programs.
class HeldParts {
public:
  /// The reason why an op would read a value on a device without it, or wait for
  /// a device that does not run it; or empty.
  std::string whyNotOnItsPart(mlir::Operation *op);

private:
  /// What a loop or branch passes on is where all of its sources are.
  struct OfFunction {
    explicit OfFunction(mlir::func::FuncOp function);
    MeshPart of(mlir::Value value) const;
    MeshPart readersOf(mlir::OpOperand &operand) const;
    RegionFlow flow;
    llvm::DenseMap<mlir::Value, MeshPart> passedOn; ///< indexed by leader
  };
  std::map<mlir::Operation *, OfFunction> functions;
};

} // namespace weft

#endif // WEFT_COMPILER_STAGES_VERIFYPARTS_H
