//===- strategies-test.cpp - sharded factors of every kind, exhaustively ----===//
//
// One op along one dimension of n elements, sharded over 2 to 6 devices: every
// size from 1 on, so that shards are even, uneven and empty, every offset,
// stride and window that is small, NaN in all padding. Results are compared to
// the bit, and no operand is gathered.
//
//===----------------------------------------------------------------------===//

#include "weft/dialects/coll/Coll.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/verify/CompareWithGlobal.h"

#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

using namespace mlir;
using namespace weft;

namespace {
MLIRContext &context() {
  static MLIRContext *shared = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    made->loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
    return made;
  }();
  return *shared;
}

std::string str(int64_t value) { return std::to_string(value); }
std::string vec(int64_t size, const char *element = "f32") {
  return "tensor<" + str(size) + "x" + element + ">";
}

/// An argument or result: its type and whether dimension 0 is sharded.
struct Port {
  std::string type;
  bool sharded = true;
};

std::string attributes(const Port &port) {
  return std::string(" {weft.layout = #") +
         (port.type == "tensor<i32>" || port.type == "tensor<f32>" ? "scalar"
          : port.sharded                                            ? "split"
                                                                    : "whole") +
         "}";
}

/// @main with arguments %x0, %x1, ... whose only results are %r0, %r1, ...
std::string program(int64_t devices, const std::vector<Port> &arguments,
                    const std::vector<Port> &results, const std::string &body) {
  std::string text = "#mesh = #weft.mesh<\"d\"=" + str(devices) +
                     ">\n#split = #weft.layout<#mesh, [{\"d\"}]>\n"
                     "#whole = #weft.layout<#mesh, [{}]>\n"
                     "#scalar = #weft.layout<#mesh, []>\n"
                     "module attributes {weft.mesh = #mesh} {\n"
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

/// Bytes are moved by these ops only.
void check(const std::string &text, llvm::ArrayRef<llvm::StringRef> moves) {
  INFO(text);
  auto global = parseSourceString<ModuleOp>(text, &context());
  REQUIRE(global);
  OwningOpRef<ModuleOp> local(global->clone());
  PassManager pm(&context());
  pm.addPass(createPropagateLayoutsPass());
  pm.addPass(createVerifyLayoutsPass());
  pm.addPass(createPartitionPass());
  REQUIRE(succeeded(pm.run(*local)));
  local->walk([&](Operation *op) {
    if (!isa<coll::CollDialect>(op->getDialect()) ||
        isa<coll::CoordinateOp, coll::SliceOp, coll::MakePartialOp>(op))
      return;
    INFO(op->getName().getStringRef().str());
    CHECK(llvm::is_contained(moves, op->getName().getStringRef()));
  });
  CompareOptions options;
  options.tolerance = 0;
  auto entry = [](ModuleOp module) {
    return module.lookupSymbol<func::FuncOp>("main");
  };
  CHECK(succeeded(compareWithGlobal(entry(*global), entry(*local), options)));
}

constexpr llvm::StringRef kFetch[] = {"coll.fetch"};
constexpr llvm::StringRef kParts[] = {"coll.all_gather"};
constexpr llvm::StringRef kSum[] = {"coll.all_reduce", "coll.reduce_scatter"};
} // namespace

TEST_CASE("static slices of a sharded dimension receive what they lack") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 9; ++n)
      for (int64_t start = 0; start < n; ++start)
        for (int64_t stride = 1; stride <= 3; ++stride) {
          int64_t count = (n - start + stride - 1) / stride;
          if (count == n)
            continue;
          check(program(p, {{vec(n)}}, {{vec(count)}},
                        "%r0 = weft.slice %x0 from [" + str(start) + "] to [" +
                            str(n) + "] by [" + str(stride) + "] : " + vec(n) +
                            " -> " + vec(count)),
                kFetch);
        }
}

TEST_CASE("padding of a sharded dimension counts once, inside and negative") {
  for (int64_t p : {2, 3, 5, 6})
    for (int64_t n = 1; n <= 5; ++n)
      for (int64_t low = -2; low <= 2; ++low)
        for (int64_t high = -1; high <= 2; ++high)
          for (int64_t between = 0; between <= 2; ++between) {
            int64_t size = low + high + n + (n - 1) * between;
            if (size < 1)
              continue;
            check(program(p, {{vec(n)}, {"tensor<f32>"}}, {{vec(size)}},
                          "%r0 = weft.pad %x0 with %x1 low [" + str(low) +
                              "] high [" + str(high) + "] interior [" +
                              str(between) + "] : " + vec(n) +
                              ", tensor<f32> -> " + vec(size)),
                  kFetch);
          }
}

TEST_CASE("concatenation, reversal and rolling stay sharded") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 8; ++n) {
      for (int64_t m = 1; m <= 4; ++m)
        check(program(p, {{vec(n)}, {vec(m)}, {vec(1)}}, {{vec(n + m + 1)}},
                      "%r0 = weft.concatenate %x0, %x1, %x2 dim 0 : (" +
                          vec(n) + ", " + vec(m) + ", " + vec(1) + ") -> " +
                          vec(n + m + 1)),
              kFetch);
      check(program(p, {{vec(n)}}, {{vec(n)}},
                    "%r0 = weft.reverse %x0 dims [0] : " + vec(n)),
            kFetch);
      for (int64_t by = -n; by <= n + 1; ++by)
        check(program(p, {{vec(n)}}, {{vec(n)}},
                      "%r0 = weft.roll %x0 by [" + str(by) + "] : " + vec(n)),
              kFetch);
    }
}

TEST_CASE("cumulative ops scan locally and combine one slice a device") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 9; ++n)
      for (const char *kind : {"sum", "max", "min"})
        for (const char *form : {"", " reverse", " exclusive",
                                 " reverse exclusive"})
          check(program(p, {{vec(n)}}, {{vec(n)}},
                        std::string("%r0 = weft.cumulative ") + kind +
                            " %x0 dim 0" + form + " : " + vec(n)),
                kParts);
}

TEST_CASE("top-k and arg-max select locally and merge the parts") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 11; ++n) {
      for (const char *op : {"arg_max", "arg_min"})
        check(program(p, {{vec(n)}}, {{"tensor<i32>"}},
                      std::string("%r0 = weft.") + op + " %x0 dim 0 : " +
                          vec(n) + " -> tensor<i32>"),
              kParts);
      for (int64_t k = 1; k <= n; ++k)
        check(program(p, {{vec(n)}}, {{vec(k), false}, {vec(k, "i32"), false}},
                      "%r0, %r1 = weft.top_k %x0 dim 0 : " + vec(n) + " -> " +
                          vec(k) + ", " + vec(k, "i32")),
              kParts);
    }
}

TEST_CASE("starts of dynamic slices are clamped in the whole dimension") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 7; ++n)
      for (int64_t size = 1; size < n; ++size)
        for (int64_t start = -1; start <= n; ++start) {
          std::string at = "%s = weft.constant dense<" + str(start) +
                           "> : tensor<i32>\n";
          check(program(p, {{vec(n)}}, {{vec(size), false}},
                        at + "%r0 = weft.dynamic_slice %x0 at (%s) : (" +
                            vec(n) + ", tensor<i32>) -> " + vec(size)),
                kSum);
          check(program(p, {{vec(n)}, {vec(size), false}}, {{vec(n)}},
                        at +
                            "%r0 = weft.dynamic_update_slice %x0, %x1 at "
                            "(%s) : (" +
                            vec(n) + ", " + vec(size) + ", tensor<i32>) -> " +
                            vec(n)),
                {});
        }
}

TEST_CASE("look-ups in a sharded table mask by range") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 7; ++n)
      for (int64_t size = 1; size <= std::min<int64_t>(n, 3); ++size)
        for (const char *outside : {"", ", zero_outside"}) {
          std::string ids = "%i = weft.constant dense<[-1, 0, 2, 5, 9]> : "
                            "tensor<5xi32>\n";
          std::string rows = "tensor<5x" + str(size) + "xf32>";
          check(program(p, {{vec(n)}}, {{"tensor<f32>"}},
                        ids + "%g = weft.gather %x0 at %i {offset_dims = "
                              "array<i64: 1>, start_index_map = array<i64: 0>, "
                              "index_vector_dim = 1 : i64, slice_sizes = "
                              "array<i64: " +
                            str(size) + ">" + outside + "} : " + vec(n) +
                            ", tensor<5xi32> -> " + rows +
                            "\n%r0 = weft.reduce sum %g dims [0, 1] : " + rows +
                            " -> tensor<f32>"),
                kSum);
          check(program(p, {{vec(n)}, {vec(5), false}}, {{vec(n)}},
                        ids + "%u = weft.broadcast %x1 dims [0] : " + vec(5) +
                            " -> " + rows +
                            "\n%r0 = weft.scatter sum %x0 at %i with %u "
                            "{update_window_dims = array<i64: 1>, "
                            "scatter_dims_to_operand_dims = array<i64: 0>, "
                            "index_vector_dim = 1 : i64} : " +
                            vec(n) + ", tensor<5xi32>, " + rows + " -> " +
                            vec(n)),
                {});
        }
}

TEST_CASE("windows of a sharded dimension exchange halos") {
  for (int64_t p : {2, 3, 5, 6})
    for (int64_t n = 1; n <= 7; n += n < 5 ? 2 : 1)
      for (int64_t window = 1; window <= 3; ++window)
        for (int64_t stride = 1; stride <= 2; ++stride)
          for (int64_t base = 1; base <= 2; ++base)
            for (int64_t dilation = 1; dilation <= 2; ++dilation)
              for (int64_t low = -1; low <= 2; ++low) {
                int64_t rest = low + (n - 1) * base + 1 + 1 -
                               ((window - 1) * dilation + 1);
                if (rest < 0 || (window == 1 && stride == 1 && base == 1))
                  continue;
                int64_t count = rest / stride + 1;
                check(program(
                          p, {{vec(n)}}, {{vec(count)}},
                          std::string("%r0 = weft.reduce_window ") +
                              (low % 2 ? "max" : "sum") +
                              " %x0 {window = array<i64: " + str(window) +
                              ">, strides = array<i64: " + str(stride) +
                              ">, low = array<i64: " + str(low) +
                              ">, high = array<i64: 1>, base_dilation = "
                              "array<i64: " +
                              str(base) + ">, window_dilation = array<i64: " +
                              str(dilation) + ">} : " + vec(n) + " -> " +
                              vec(count)),
                      kFetch);
              }
}
