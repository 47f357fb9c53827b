//===- CompilerMemory.h - what training does not need -----------*- C++ -*-===//

#ifndef WEFT_TOOLS_WEFT_COMPILER_COMPILERMEMORY_H
#define WEFT_TOOLS_WEFT_COMPILER_COMPILERMEMORY_H

namespace weft::tool {

/// Called when a program is compiled and the compiler's objects are gone: gives
/// their memory back, and the pages of large libraries that hold code only,
/// some 80 MiB of LLVM and MLIR. They come back from the page cache when a
/// later batch size is compiled. Does nothing where the system cannot.
void releaseCompilerMemory();

} // namespace weft::tool

#endif // WEFT_TOOLS_WEFT_COMPILER_COMPILERMEMORY_H
