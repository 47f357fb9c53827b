//===- StageLoop.h - a loop in which stages work side by side ---*- C++ -*-===//
//
// Rewrites a loop over microbatches
//
//   for %k in 0 .. 3 (%acc) { %a = F0 %k; %b = F1 %a; %d = B1 %b;
//                             yield add %acc, (B0 %d, %a) }
//
// to one whose iterations have passes of several microbatches, as the steady
// state of a schedule says (base/pipeline/SteadyState.h):
//
//   for %i in 0 .. 4 (%acc, %ring, %before) {
//     %a, %r = case 0 <= %i < 3 { F0; update of %ring }
//     %a1 = constrain %a to stage 1
//     %b = case 0 <= %i - 1 < 3 { F1 %before }
//     %d = case 0 <= %i - 1 < 3 { B1 %b }
//     %d0 = constrain %d to stage 0
//     %s = case 0 <= %i - 1 < 3 { add %acc, (B0 %d0, slice of %r) }
//     yield %s, %r, %a1 }
//
// What a pass gives to another of a later iteration is carried, in a ring if
// several are waiting. What another stage reads is moved behind the pass; there
// it is stored at the end of the iteration, so that nothing waits for the move
// earlier. In the first and last iterations a pass may have no microbatch: it
// computes nothing, and gives zeros or what was carried.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_TRAINING_STAGELOOP_H
#define WEFT_PASSES_TRAINING_STAGELOOP_H

#include "weft/base/pipeline/SteadyState.h"
#include "weft/passes/training/StagedOps.h"

#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/MapVector.h"

#include <map>
#include <tuple>

namespace weft {

class StageLoop {
public:
  StageLoop(ForOp loop, const StagedOps &staged [[clang::lifetimebound]],
            const pipeline::SteadyState &state [[clang::lifetimebound]],
            MeshAttr mesh, unsigned axis);
  /// Replaces the loop. Fails, with an error, if a stage needs what is computed
  /// later.
  llvm::LogicalResult run();

private:
  /// A value on its way from a pass to the passes of one stage.
  struct Channel {
    unsigned from = 0;     ///< the pass
    int64_t stage = 0;     ///< of the passes that read it
    int64_t delay = 0;     ///< the most iterations until it is read
    int64_t live = 0;      ///< the most that are on their way
    bool isDirect = false; ///< whether one reads it in the same iteration
    mlir::Value value;     ///< the value of this iteration, at the stage
    mlir::Value before;    ///< carried from the iteration before
    mlir::Value after;     ///< carried to the next
  };
  /// A value at a stage, of a microbatch of the round.
  using Key = std::tuple<mlir::Value, int64_t, int64_t>;
  Key keyOf(mlir::Value value, unsigned reader) const {
    return {value, pass(reader).stage, pass(reader).offset};
  }

  const pipeline::StagePass &pass(unsigned number) const {
    return state.passes[number];
  }
  /// The pass that computes an op, or a value, for the microbatch at an offset.
  std::optional<unsigned> passOf(mlir::Operation *op, int64_t offset) const;
  std::optional<unsigned> passOf(mlir::Value value, int64_t offset) const;
  llvm::LogicalResult addChannels();
  llvm::LogicalResult addChannel(mlir::Value value, unsigned to,
                                 mlir::Operation *user);
  llvm::LogicalResult checkCarried();
  void addArguments();
  void buildPass(unsigned number);
  /// A result of a pass.
  struct Given {
    mlir::Value value;
    mlir::Value otherwise; ///< where there is no microbatch; null: zeros
    mlir::Value *target;   ///< set to the result
  };
  llvm::SmallVector<Given> givenBy(unsigned number);
  void addCase(unsigned number, mlir::Block *block,
               llvm::ArrayRef<Given> results);
  void buildMoves(unsigned number);
  void storeMoved();
  mlir::Value store(mlir::Value value, const Channel &channel);
  bool isMoved(const Channel &channel) const {
    return pass(channel.from).stage != channel.stage;
  }
  /// Whether the pass reads the ring of a channel when this iteration's value is
  /// in it.
  bool readsAfter(const Channel &channel, unsigned reader) const {
    return !isMoved(channel) && reader > channel.from;
  }
  mlir::Value valueIn(mlir::Value value, unsigned pass);
  mlir::Value receive(Channel &channel, unsigned pass);
  mlir::Value put(mlir::Value value, int64_t stage);
  mlir::Value numberOf(unsigned pass);
  mlir::Value hasMicrobatch(unsigned pass);
  mlir::Value slot(int64_t delay, int64_t count);
  llvm::SmallVector<mlir::Value> yields();

  ForOp loop;
  const StagedOps &staged;
  const pipeline::SteadyState &state;
  MeshAttr mesh;
  unsigned axis;
  mlir::Block *body;
  mlir::OpBuilder builder;
  llvm::MapVector<Key, Channel> channels;
  std::vector<std::vector<mlir::Operation *>> ops; ///< by pass
  std::vector<mlir::IRMapping> local;              ///< by pass
  std::vector<mlir::Value> numbers;                ///< by pass
  std::map<std::pair<int64_t, int64_t>, mlir::Value> conditions;
  std::vector<mlir::Value> carried; ///< as the old loop, by this or the next
  llvm::SmallVector<mlir::Value> inits;
};

} // namespace weft

#endif // WEFT_PASSES_TRAINING_STAGELOOP_H
