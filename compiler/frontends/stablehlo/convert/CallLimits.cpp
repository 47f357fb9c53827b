//===- CallLimits.cpp - how far inlining lets a program grow --------------===//

#include "weft/compiler/frontends/stablehlo/convert/CallLimits.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

/// The most ops after inlining. Train steps of Keras have some thousands.
static constexpr uint64_t kMostOps = 250000;
/// The limit of nested calls and regions. Conversion and later passes use
/// native stack for each level.
static constexpr unsigned kDeepest = 200;

StringRef stablehlo::calleeOf(ForeignOp op) {
  std::string name = op.name();
  StringRef attribute = name == "func.call"   ? "callee"
                        : name == "composite" ? "decomposition"
                                              : "";
  if (attribute.empty())
    return "";
  if (auto symbol =
          dyn_cast_or_null<FlatSymbolRefAttr>(op.attribute(attribute)))
    return symbol.getValue();
  return op.word(attribute);
}

namespace {
/// The size of one function with all of its calls inlined.
struct Expansion {
  uint64_t ops = 0;
  unsigned depth = 0;
  /// Whether its body is being counted; a call of it is then recursion.
  bool isOpen = true;
};

class CallChecker {
public:
  explicit CallChecker(llvm::StringMap<Function> &functions
                       [[clang::lifetimebound]])
      : functions(functions) {}
  LogicalResult check(StringRef name);

private:
  LogicalResult checkRegion(Region &region, unsigned depth, Expansion &sum);
  LogicalResult checkCall(ForeignOp op, unsigned depth, Expansion &sum);

  llvm::StringMap<Function> &functions;
  llvm::StringMap<Expansion> known;
  unsigned active = 0; ///< number of functions being counted
};
} // namespace

LogicalResult CallChecker::checkCall(ForeignOp op, unsigned depth,
                                     Expansion &sum) {
  StringRef callee = calleeOf(op);
  if (callee.empty() || !functions.contains(callee))
    return success(); // its conversion reports the error
  auto found = known.find(callee);
  if (found == known.end()) {
    if (active >= kDeepest)
      return op.refuse() << "is the innermost of more than " << kDeepest
                         << " calls and regions inside each other; inline some "
                            "of the functions";
    if (failed(check(callee)))
      return failure();
    found = known.find(callee);
  }
  const Expansion &body = found->second;
  if (body.isOpen)
    return op.refuse() << "calls @" << callee
                       << ", which calls itself; recursion is not supported, "
                          "write a stablehlo.while";
  sum.ops = llvm::SaturatingAdd(sum.ops, body.ops);
  sum.depth = std::max(sum.depth, depth + 1 + body.depth);
  if (sum.depth > kDeepest)
    return op.refuse() << "is around " << sum.depth
                       << " calls and regions inside each other, the most is "
                       << kDeepest << "; inline some of the functions";
  if (sum.ops > kMostOps)
    return op.refuse() << "makes the program too large: with its calls inlined "
                          "it has "
                       << sum.ops << " ops up to here, the most is " << kMostOps
                       << "; @" << callee << " alone has " << body.ops
                       << ". Call it in a stablehlo.while, or fewer times";
  return success();
}

LogicalResult CallChecker::checkRegion(Region &region, unsigned depth,
                                       Expansion &sum) {
  for (Block &block : region)
    for (Operation &op : block) {
      sum.ops = llvm::SaturatingAdd<uint64_t>(sum.ops, 1);
      if (failed(checkCall(ForeignOp(&op), depth, sum)))
        return failure();
      unsigned inside = depth + 1;
      if (op.getNumRegions() && inside > kDeepest)
        return ForeignOp(&op).refuse()
               << "is the innermost of more than " << kDeepest
               << " calls and regions inside each other; inline some of the "
                  "functions";
      for (Region &inner : op.getRegions()) {
        sum.depth = std::max(sum.depth, inside);
        if (failed(checkRegion(inner, inside, sum)))
          return failure();
      }
    }
  return success();
}

LogicalResult CallChecker::check(StringRef name) {
  known[name] = Expansion();
  Expansion sum;
  ++active;
  LogicalResult checked =
      checkRegion(functions.find(name)->second.op->getRegion(0), 0, sum);
  --active;
  sum.isOpen = false;
  known[name] = sum;
  functions.find(name)->second.ops = sum.ops;
  return checked;
}

LogicalResult stablehlo::checkCalls(llvm::StringMap<Function> &functions,
                                    StringRef entry) {
  return CallChecker(functions).check(entry);
}
