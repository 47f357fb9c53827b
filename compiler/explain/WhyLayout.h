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
//     the next best by price: [-,data], 0.130 ms for all layouts instead of 0.118
//
// Propagation runs once more with a journal
// (passes/sharding/propagation/LayoutJournal.h), and a third time without the
// annotation of the first axis that comes from an annotation. A layout that was
// chosen by price is also forbidden in the graph of all layouts, which is then
// solved once more (LayoutSearch::ask).
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

/// The origin of one axis of one dimension; `steps` go from the value back to
/// the annotation or price.
struct AxisOrigin {
  unsigned dim = 0;
  std::string axis;    ///< "data"
  bool isLost = false; ///< the dimension lost the axis, which is cheaper
  std::vector<std::string> steps;
};

struct WhyLayout {
  std::string name, shape, layout;
  std::vector<AxisOrigin> origins;
  /// The value whose annotation gives the first annotated axis, and the layout
  /// without that annotation; empty if there is none.
  std::string annotation, layoutWithout;
  /// The next best layout, and what all layouts then cost, and cost now, in
  /// picoseconds; empty if the layout was not chosen by price.
  std::string nextBest;
  int64_t nextPrice = 0, price = 0;
};

/// The layouts of the values of a name, as in a layout map or a report
/// (d1/kernel, d2/output), or of a line (train.py:12): one for each different
/// shape and layout. Takes a module at stage `differentiated`. `names` gets all
/// names and lines that exist. Prices are those of the target (TargetRates.h).
std::vector<WhyLayout> whyLayouts(mlir::ModuleOp module, llvm::StringRef name,
                                  llvm::StringRef target,
                                  std::set<std::string> &names);
std::string toText(const std::vector<WhyLayout> &values);
llvm::json::Value toJson(const std::vector<WhyLayout> &values);

} // namespace weft

#endif // WEFT_COMPILER_EXPLAIN_WHYLAYOUT_H
