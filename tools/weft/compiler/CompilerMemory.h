//===- CompilerMemory.h - freeing the memory of the compiler ----*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_COMPILERMEMORY_H
#define WEFT_TOOLS_WEFT_COMPILER_COMPILERMEMORY_H

namespace weft::tool {

/// Releases memory after a program is compiled and the compiler's objects are
/// freed: that of the heap, and the pages of large libraries with code only,
/// some 80 MiB of LLVM and MLIR. They come back from the page cache when a
/// later batch size is compiled. Does nothing if the system cannot release it.
void releaseCompilerMemory();

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_COMPILERMEMORY_H
