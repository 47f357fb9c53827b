//===- KernelTable.h - the decisions about each kernel ----------*- C++ -*-===//
//
//   dot_add_relu_512x768x1024: 2 launches of 406,847,488 operations
//     reads 4,722,688 bytes, writes 2,097,152, scratch 640,896
//     at most 9 workers share 512 positions in units of 14
//     contraction<packed, tile[14, 2], blocks[112, 512, 256]>: dot broadcast
//       add relu -> result 0
//
// The table is computed from the kernels' loop nests (dialects/nest) of a
// module at stage `plan`.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_KERNELTABLE_H
#define WEFT_COMPILER_EXPLAIN_KERNELTABLE_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <string>
#include <vector>

namespace weft {

/// A loop nest of a kernel.
struct NestLine {
  std::string walk;                ///< "elements<flat>"
  std::vector<std::string> ops;    ///< ops that it computes, in order: "dot"
  std::vector<std::string> places; ///< places of its stores: "result 0"
  int64_t storedBytes = 0;
};

struct KernelLine {
  std::string name, target;
  /// Launches in the program's text: a launch in a loop counts once.
  int64_t launches = 0;
  /// Figures of one launch: the sizes of its arguments and results, and its
  /// estimated instructions (KernelTraits.h), a multiply-add counted as one.
  int64_t bytesRead = 0, bytesWritten = 0;
  double operations = 0;
  int64_t scratchBytes = 0, plannedBytes = 0;
  std::string share; ///< description of the workers' shares; or ""
  /// The reason why the kernel has several nests although one nest was wanted.
  std::string reason;
  std::vector<NestLine> nests;
};

/// The kernels of a module, those with the most operations over all launches
/// first.
std::vector<KernelLine> kernelTable(mlir::ModuleOp module);
llvm::json::Value toJson(llvm::ArrayRef<KernelLine> kernels);
/// Formats lines of at most `width` columns, except for longer names.
std::string toText(llvm::ArrayRef<KernelLine> kernels, unsigned width = 96);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_KERNELTABLE_H
