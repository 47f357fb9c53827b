//===- WhyLayout.h - why a value is laid out as it is -----------*- C++ -*-===//
//
// `weft explain --why d2/output` follows each axis of a value's layout back to
// the annotation, or to the price, that put it there:
//
//   d2/output  128x10  [data,-]
//
//     dimension 0 is split over "data"
//       by weft.dot of d2, as dimension 0 of output of d1
//       by weft.relu of d1, as dimension 0 of output of d1
//       by weft.dot of d1, as dimension 0 of x
//       annotated: batch axis "data"
//     without the annotation of x: [-,-]
//
// Propagation runs once more with a journal (passes/sharding/propagation/LayoutJournal.h),
// and a third time without the nearest annotation.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_EXPLAIN_WHYLAYOUT_H
#define WEFT_COMPILER_EXPLAIN_WHYLAYOUT_H

#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

#include <set>
#include <string>
#include <vector>

namespace weft {

/// Where one axis of one dimension comes from, nearest first.
struct AxisOrigin {
  unsigned dim = 0;
  std::string axis;    ///< "data"
  bool isLost = false; ///< the dimension would have it, but for its price
  std::vector<std::string> steps;
};

struct WhyLayout {
  std::string name, shape, layout;
  std::vector<AxisOrigin> origins;
  /// The nearest annotation, and the layout without it; empty where none is.
  std::string annotation, layoutWithout;
};

/// The values of that name, as a layout map or a report calls them (d1/kernel,
/// d2/output), or of that line (train.py:12). One for each different layout; of a
/// module at stage `differentiated`. `names` gets all names that there are.
std::vector<WhyLayout> whyLayouts(mlir::ModuleOp module, llvm::StringRef name,
                                  std::set<std::string> &names);
std::string toText(const std::vector<WhyLayout> &values);
llvm::json::Value toJson(const std::vector<WhyLayout> &values);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_WHYLAYOUT_H
