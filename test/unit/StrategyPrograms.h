//===- StrategyPrograms.h - one sharded op and its collectives --*- C++ -*-===//
//
//   check(program(3, {{vec(7)}}, {{vec(7)}}, "%r0 = weft.reverse %x0 dims [0] : " +
//         vec(7)), {"coll.fetch"});
//
// `check` partitions a program of one op, here over 3 devices, under the layouts
// that it states, and interprets both programs with NaN in all padding. Results
// must be bit-identical, and only the named collectives may move bytes. It
// returns the bytes that the device that receives most receives.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_STRATEGYPROGRAMS_H
#define WEFT_TEST_UNIT_STRATEGYPROGRAMS_H

#include "weft/dialects/coll/Coll.h"
#include "weft/dialects/weft/ElementTypes.h"
#include "weft/passes/sharding/OpSharding.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/test/unit/StrategyLayouts.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

namespace weft::strategies {
using namespace mlir;

inline MLIRContext &context() {
  static MLIRContext *shared = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    made->loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
    return made;
  }();
  return *shared;
}

inline std::string str(int64_t value) { return std::to_string(value); }
/// Returns a tensor type such as tensor<2x3xf32>.
inline std::string tensor(llvm::ArrayRef<int64_t> shape,
                          const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += str(size) + "x";
  return text + element + ">";
}
inline std::string vec(int64_t size, const char *element = "f32") {
  return tensor({size}, element);
}
/// Returns an attribute such as array<i64: 1, 2>.
inline std::string array(llvm::ArrayRef<int64_t> values) {
  std::string text = "array<i64";
  for (auto [i, value] : llvm::enumerate(values))
    text += (i ? ", " : ": ") + str(value);
  return text + ">";
}

/// An argument or result: its type and which dimension is sharded (-1: none).
struct Port {
  std::string type;
  int64_t sharded = 0;
};

inline std::string attributes(const Port &port) {
  std::string text = " {weft.layout = #weft.layout<#mesh, [";
  int64_t rank = llvm::count(port.type, 'x');
  for (int64_t dim = 0; dim < rank; ++dim)
    text +=
        std::string(dim ? ", " : "") + (dim == port.sharded ? "{\"d\"}" : "{}");
  return text + "]>}";
}

/// Returns a @main with arguments %x0, %x1, ... whose only results are %r0,
/// %r1, ...
inline std::string program(int64_t devices, const std::vector<Port> &arguments,
                           const std::vector<Port> &results,
                           const std::string &body) {
  std::string text = "#mesh = #weft.mesh<\"d\"=" + str(devices) +
                     ">\nmodule attributes {weft.mesh = #mesh} {\n"
                     "func.func @main(";
  std::string types, values, ports;
  for (size_t i = 0; i < arguments.size(); ++i)
    text += (i ? ", %x" : "%x") + str(int64_t(i)) + ": " + arguments[i].type +
            attributes(arguments[i]);
  for (size_t i = 0; i < results.size(); ++i) {
    std::string comma = i ? ", " : "";
    types += comma + results[i].type;
    values += comma + "%r" + str(int64_t(i));
    ports += comma + results[i].type + attributes(results[i]);
  }
  return text + ") -> (" + ports + ") {\n" + body + "\nreturn " + values +
         " : " + types + "\n}\n}\n";
}

inline int64_t bytesHeld(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  return tensor.getNumElements() * bytesOf(tensor.getElementType());
}

/// Returns the largest number of elements along the op's dimension that a
/// member receives from others.
inline int64_t fetchedElements(coll::FetchOp op, int64_t members) {
  int64_t held = shardSize(op.getSize(), members), most = 0;
  int64_t count =
      cast<RankedTensorType>(op.getResult().getType()).getDimSize(op.getDim());
  for (int64_t k = 0; k < members; ++k) {
    int64_t received = 0;
    for (int64_t t = 0; t < count; ++t) {
      int64_t at = op.getBlock() * k + op.getStep() * t + op.getOffset();
      int64_t m = op.getModulus(), d = op.getDivisor();
      at = m > 0 ? (at % m + m) % m : at;
      if (at >= 0 && at % d == 0 && at / d < int64_t(op.getSize()))
        received += at / d / held != k;
    }
    most = std::max(most, received);
  }
  return most;
}

/// Returns the bytes that one device receives: counted for a fetch, the whole
/// result for a pick, else by the ring formulas.
inline int64_t bytesReceived(Operation *op, int64_t p) {
  if (auto fetch = dyn_cast<coll::FetchOp>(op)) {
    auto type = cast<RankedTensorType>(fetch.getResult().getType());
    int64_t count = type.getDimSize(fetch.getDim());
    return count ? fetchedElements(fetch, p) * (bytesHeld(type) / count) : 0;
  }
  if (isa<coll::PickOp>(op))
    return bytesHeld(op->getResult(0).getType());
  if (isa<coll::AllGatherOp>(op))
    return (p - 1) * bytesHeld(op->getOperand(0).getType());
  if (isa<coll::AllReduceOp>(op))
    return 2 * (p - 1) * bytesHeld(op->getOperand(0).getType()) / p;
  return (p - 1) * bytesHeld(op->getOperand(0).getType()) / p;
}

using Moves = llvm::ArrayRef<llvm::StringRef>;
constexpr llvm::StringRef kFetch[] = {"coll.fetch"};
constexpr llvm::StringRef kGathers[] = {"coll.all_gather"};
constexpr llvm::StringRef kSum[] = {"coll.all_reduce", "coll.reduce_scatter"};

/// Checks a program in which only the ops of `moves` may move bytes, and
/// returns the bytes received. Arguments are drawn at random if none are given.
inline int64_t check(ModuleOp global, Moves moves,
                     llvm::ArrayRef<Tensor> arguments = {}) {
  OwningOpRef<ModuleOp> local(global.clone());
  PassManager pm(&context());
  pm.addPass(std::make_unique<FollowAnnotations>());
  pm.addPass(createVerifyLayoutsPass());
  pm.addPass(createPartitionPass());
  REQUIRE(succeeded(pm.run(*local)));
  auto mesh = global->getAttrOfType<MeshAttr>(kMeshAttr).getMesh();
  int64_t bytes = 0;
  local->walk([&](Operation *op) {
    if (!isa<coll::CollDialect>(op->getDialect()) ||
        isa<coll::CoordinateOp, coll::SliceOp, coll::MakePartialOp>(op))
      return;
    INFO(op->getName().getStringRef().str());
    CHECK(llvm::is_contained(moves, op->getName().getStringRef()));
    bytes += bytesReceived(op, mesh.size());
  });
  CompareOptions options;
  options.tolerance = 0;
  options.arguments = arguments;
  auto entry = [](ModuleOp module) {
    return module.lookupSymbol<func::FuncOp>("main");
  };
  CHECK(succeeded(compareWithGlobal(entry(global), entry(*local), options)));
  return bytes;
}

inline int64_t check(const std::string &text, Moves moves,
                     llvm::ArrayRef<Tensor> arguments = {}) {
  INFO(text);
  auto global = parseSourceString<ModuleOp>(text, &context());
  REQUIRE(global);
  return check(*global, moves, arguments);
}

} // namespace weft::strategies

#endif // WEFT_TEST_UNIT_STRATEGYPROGRAMS_H
