//===- Warp.h - 32 threads that run together --------------------*- C++ -*-===//
//
// A warp has paths: a position in the code and the lanes that are there. The
// path with the lowest position runs; paths that meet become one, so that lanes
// come together again after a branch. An instruction .sync keeps its path
// waiting until the lanes that its mask names are there too.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_MACHINE_WARP_H
#define WEFT_TEST_CUDA_MACHINE_WARP_H

#include "weft/test/cuda/machine/AsyncCopy.h"
#include "weft/test/cuda/machine/Launch.h"

#include <cstring>

namespace weft::ptx {

class Block;

/// The number in 0, 1, 2, 4 or 8 bytes, without a sign. Each case copies a
/// constant number of bytes: one instruction in place of a call.
inline uint64_t readBits(const uint8_t *at, unsigned bytes) {
  uint64_t value = 0;
  switch (bytes) {
  case 8:
    std::memcpy(&value, at, 8);
    break;
  case 4:
    std::memcpy(&value, at, 4);
    break;
  case 2:
    std::memcpy(&value, at, 2);
    break;
  case 1:
    value = *at;
  }
  return value;
}
/// Writes the lowest 0, 1, 2, 4 or 8 bytes of the value.
inline void writeBits(uint8_t *at, unsigned bytes, uint64_t value) {
  switch (bytes) {
  case 8:
    std::memcpy(at, &value, 8);
    break;
  case 4:
    std::memcpy(at, &value, 4);
    break;
  case 2:
    std::memcpy(at, &value, 2);
    break;
  case 1:
    *at = uint8_t(value);
  }
}

class Warp {
public:
  Warp(Block &block [[clang::lifetimebound]],
       const Launch &launch [[clang::lifetimebound]]);

  enum State { Running, AtBarrier, Done, Stopped };

  /// Starts this warp as number `index` of a new block of `threads` threads.
  void start(unsigned index, unsigned threads);
  State run();
  /// Continues after the barrier.
  void passBarrier();
  /// Ends the launch, as other warps are at another barrier.
  void stopAtBarrier(const std::string &what);
  State state() const { return now; }
  unsigned barrier() const { return barrierIndex; }
  unsigned index() const { return warpIndex; }
  uint64_t steps() const { return executed; }
  uint32_t syncs() const { return warpSyncs; }

  // Accessors for the functions that compute.
  template <class T> T *lanes(const Operand &operand) {
    return reinterpret_cast<T *>(registers + operand.offset);
  }
  Mask &predicate(const Operand &operand) { return *lanes<Mask>(operand); }
  /// An operand of any width in one lane, without its sign.
  uint64_t bits(const Operand &operand, unsigned lane) {
    return readBits(lanes<uint8_t>(operand) + lane * operand.bytes,
                    operand.bytes);
  }
  void setBits(const Operand &operand, unsigned lane, uint64_t value) {
    writeBits(lanes<uint8_t>(operand) + lane * operand.bytes, operand.bytes,
              value);
  }
  Block &block() { return owner; }
  const Launch &launch() const { return running; }
  uint8_t *localMemory(unsigned lane) {
    return local.data() + size_t(lane) * kernel.localBytes;
  }
  AsyncCopies &copies(unsigned lane) { return asyncCopies[lane]; }
  std::vector<bool> &localWritten() { return writtenLocal; }
  /// Reports a finding at the instruction in the lane.
  void report(const Instruction &at, unsigned lane, const std::string &what);
  /// Reports a finding that ends the launch.
  void stop(const Instruction &at, unsigned lane, Fault fault,
            const std::string &what);
  void noteSync() { ++warpSyncs; }
  /// The allocation that was touched last.
  Allocation *recent = nullptr;

private:
  struct Path {
    uint32_t position = 0;
    Mask lanes = 0;
    bool isWaiting = false;
    Mask exitedThen = 0; ///< when it began to wait
  };

  void fillConstants();
  void fillSpecials();
  bool choosePath();
  void runPath();
  void step(const Instruction &i);
  void compute(const Instruction &i, Mask active);
  void checkReads(const Instruction &i, Mask active);
  void branch(const Instruction &i, Mask taken);
  void branchIndexed(const Instruction &i, Mask active);
  void exit(Mask active);
  void arrive(const Instruction &i, Mask active);
  void synchronize(const Instruction &i, Mask active);
  void wait();
  void reportStuck();
  std::string linesOf(Mask lanes) const;

  Block &owner;
  const Launch &running;
  const Kernel &kernel;
  std::vector<uint8_t> registerMemory;
  uint8_t *registers = nullptr; ///< a multiple of 64
  std::vector<Mask> written, initiallyWritten;
  std::vector<uint8_t> local;
  std::vector<bool> writtenLocal;
  std::vector<Path> paths; ///< the last runs
  std::vector<AsyncCopies> asyncCopies;
  State now = Done;
  Mask exited = 0;
  unsigned warpIndex = 0, barrierIndex = 0;
  uint32_t warpSyncs = 0;
  uint64_t executed = 0;
};

} // namespace weft::ptx

#endif // WEFT_TEST_CUDA_MACHINE_WARP_H
