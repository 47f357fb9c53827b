//===- SharedMemory.h - the memory that a block's threads share -*- C++ -*-===//
//
//   SharedMemory shared(elements);
//   shared.allocate(function, "dot.shared", 4096);
//   Value half = shared.at(shared.base(), i8, elements.constant(2048));
//   shared.barrier();                       // all threads of the block
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_CODEGEN_GPU_SHAREDMEMORY_H
#define WEFT_COMPILER_CODEGEN_GPU_SHAREDMEMORY_H

#include "weft/compiler/codegen/elements/LoopNest.h"

namespace weft::gpu {

/// The number of the thread in its block, the number of the block in the grid,
/// and the number of blocks.
struct GridPlace {
  mlir::Value thread, block, blocks;
};

class SharedMemory {
public:
  explicit SharedMemory(elements::LoopNest &nest [[clang::lifetimebound]])
      : nest(nest) {}
  /// Declares shared memory before `function`. A function may use one
  /// allocation only.
  void allocate(mlir::Operation *function, llvm::StringRef name, int64_t bytes);
  mlir::Value base() const { return pointer; }
  /// The pointer `offset` elements of a type after another pointer.
  mlir::Value at(mlir::Value from, mlir::Type element, mlir::Value offset);
  /// Loads `count` adjacent elements: a scalar, or a vector.
  mlir::Value load(mlir::Value from, mlir::Type element, int64_t count);
  void store(mlir::Value from, mlir::Type element,
             llvm::ArrayRef<mlir::Value> values);
  /// Waits for all threads of the block, or of the warp.
  void barrier();
  void warpBarrier();

private:
  elements::LoopNest &nest;
  mlir::Value pointer;
};

} // namespace weft::gpu

#endif // WEFT_COMPILER_CODEGEN_GPU_SHAREDMEMORY_H
