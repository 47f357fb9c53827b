//===- KernelTable.h - what is decided about each kernel --------*- C++ -*-===//
//
//   dot_add_relu_512x768x1024: 2 launches of 404,226,048 operations
//     reads 3,150,848 bytes, writes 2,097,152, scratch 640,896
//     at most 9 workers share 512 positions in units of 14
//     contraction<packed, tile[14, 2], blocks[112, 512, 256]>: dot
//     elements<dimensions>: broadcast add relu
//
// Read off the kernels' loop nests (dialects/nest), of a module at stage `plan`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_KERNELTABLE_H
#define WEFT_COMPILER_EXPLAIN_KERNELTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace weft {

/// One loop nest.
struct NestLine {
  std::string walk;                ///< "elements<flat>"
  std::vector<std::string> ops;    ///< what it computes, in order: "dot"
  std::vector<std::string> places; ///< of what it stores: "result 0"
  int64_t storedBytes = 0;
};

struct KernelLine {
  std::string name, target;
  int64_t launches = 0; ///< in the program's text: what a loop repeats is one
  /// One launch: the sizes of its arguments and results, and about how many
  /// instructions it takes (KernelTraits.h), a multiply-add counted as one.
  int64_t bytesRead = 0, bytesWritten = 0;
  double operations = 0;
  int64_t scratchBytes = 0;
  std::string share;  ///< how workers share it; empty: they do not
  std::string reason; ///< why it is several nests where one was wanted
  std::vector<NestLine> nests;
};

/// The one that takes most operations, over all its launches, first.
std::vector<KernelLine> kernelTable(mlir::ModuleOp module);
llvm::json::Value toJson(llvm::ArrayRef<KernelLine> kernels);
/// Lines of at most `width` columns, but for names that are longer.
std::string toText(llvm::ArrayRef<KernelLine> kernels, unsigned width = 96);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_KERNELTABLE_H
