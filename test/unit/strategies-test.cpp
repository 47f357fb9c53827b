//===- strategies-test.cpp - sharded factors of every kind, exhaustively --===//
//
// Each program is one op along one dimension of n elements, sharded over 2 to 6
// devices, with NaN in all padding. All small sizes from 1 on (even, uneven and
// empty shards), offsets, strides and windows are tried. Results must be
// bit-identical, and no operand is gathered.
//
//===----------------------------------------------------------------------===//

#include "weft/test/unit/StrategyPrograms.h"

#include <cmath>

using namespace weft;
using namespace weft::strategies;

TEST_CASE("static slices of a sharded dimension fetch the elements they lack") {
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
        for (const char *form :
             {"", " reverse", " exclusive", " reverse exclusive"})
          check(program(p, {{vec(n)}}, {{vec(n)}},
                        std::string("%r0 = weft.cumulative ") + kind +
                            " %x0 dim 0" + form + " : " + vec(n)),
                kGathers);
}

TEST_CASE("top-k and arg-max select locally and merge the parts") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 11; ++n) {
      for (const char *op : {"arg_max", "arg_min"})
        check(program(p, {{vec(n)}}, {{"tensor<i32>"}},
                      std::string("%r0 = weft.") + op +
                          " %x0 dim 0 : " + vec(n) + " -> tensor<i32>"),
              kGathers);
      for (int64_t k = 1; k <= n; ++k)
        check(program(p, {{vec(n)}}, {{vec(k), -1}, {vec(k, "i32"), -1}},
                      "%r0, %r1 = weft.top_k %x0 dim 0 : " + vec(n) + " -> " +
                          vec(k) + ", " + vec(k, "i32")),
              kGathers);
    }
}

TEST_CASE("starts of dynamic slices are clamped in the whole dimension") {
  for (int64_t p = 2; p <= 6; ++p)
    for (int64_t n = 1; n <= 7; ++n)
      for (int64_t size = 1; size < n; ++size)
        for (int64_t start = -1; start <= n; ++start) {
          std::string at =
              "%s = weft.constant dense<" + str(start) + "> : tensor<i32>\n";
          check(program(p, {{vec(n)}}, {{vec(size), -1}},
                        at + "%r0 = weft.dynamic_slice %x0 at (%s) : (" +
                            vec(n) + ", tensor<i32>) -> " + vec(size)),
                kSum);
          check(program(p, {{vec(n)}, {vec(size), -1}}, {{vec(n)}},
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
        for (const char *outside : {"", ", zero_outside", ", absent_outside"}) {
          std::string ids = "%i = weft.constant dense<[-1, 0, 2, 5, 9]> : "
                            "tensor<5xi32>\n";
          std::string rows = "tensor<5x" + str(size) + "xf32>";
          check(program(p, {{vec(n)}}, {{"tensor<f32>"}},
                        ids +
                            "%g = weft.gather %x0 at %i {offset_dims = "
                            "array<i64: 1>, start_index_map = array<i64: 0>, "
                            "index_vector_dim = 1 : i64, slice_sizes = "
                            "array<i64: " +
                            str(size) + ">" + outside + "} : " + vec(n) +
                            ", tensor<5xi32> -> " + rows +
                            "\n%r0 = weft.reduce sum %g dims [0, 1] : " + rows +
                            " -> tensor<f32>"),
                kSum);
          check(program(p, {{vec(n)}, {vec(5), -1}}, {{vec(n)}},
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
                check(program(p, {{vec(n)}}, {{vec(count)}},
                              std::string("%r0 = weft.reduce_window ") +
                                  (low % 2 ? "max" : "sum") +
                                  " %x0 {window = array<i64: " + str(window) +
                                  ">, strides = array<i64: " + str(stride) +
                                  ">, low = array<i64: " + str(low) +
                                  ">, high = array<i64: 1>, base_dilation = "
                                  "array<i64: " +
                                  str(base) +
                                  ">, window_dilation = array<i64: " +
                                  str(dilation) + ">} : " + vec(n) + " -> " +
                                  vec(count)),
                      kFetch);
              }
}

TEST_CASE(
    "a sort picks its part of the sorted runs, or gathers where that is less") {
  constexpr llvm::StringRef picks[] = {"coll.pick", "coll.fetch"};
  for (int64_t p : {2, 3, 5, 6, 7, 8})
    for (int64_t n : {1, 2, 5, 8, 9, 16, 23, 40, 97, 200, 333, 4000})
      for (const char *falling : {"", " descending"}) {
        int64_t block = (n + p - 1) / p;
        std::string key = vec(n), values = vec(n, "i32");
        std::string text =
            program(p, {{key}, {values}}, {{key}, {values}},
                    std::string("%r0, %r1 = weft.sort %x0, %x1 dim 0 keys 1") +
                        falling + " : (" + key + ", " + values + ") -> (" +
                        key + ", " + values + ")");
        int64_t bytes = check(text, n < 333 ? Moves({"coll.all_gather",
                                                     "coll.pick", "coll.fetch"})
                                    : p == 2 ? Moves(kGathers)
                                             : Moves(picks));
        // A pick never sends more than a gather. A large one sends little more
        // than a block; for p = 2 a gather sends one block, too.
        CHECK(bytes <= (p - 1) * block * 8);
        if (n == 4000 && p > 2)
          CHECK(bytes <= block * 8 + 8 * p + 10 * p * std::sqrt(p * block));
      }
}

TEST_CASE("rows are sorted each by itself, by several keys and stably") {
  for (int64_t p : {3, 5, 8})
    for (int64_t dim : {0, 1, 2})
      for (int64_t keys : {1, 2}) {
        int64_t shape[] = {2, 2, 2};
        shape[dim] = 100 * p + 1;
        std::string a = tensor(shape), b = tensor(shape, "i32"),
                    c = tensor(shape, "i1");
        // The keys have few values: most elements are equal.
        std::string body = "%r0, %r1, %r2 = weft.sort %x0, %x1, %x2 dim " +
                           str(dim) + " keys " + str(keys) + " : (" + a + ", " +
                           b + ", " + c + ") -> (" + a + ", " + b + ", " + c +
                           ")";
        check(program(p, {{a, dim}, {b, dim}, {c, dim}},
                      {{a, dim}, {b, dim}, {c, dim}}, body),
              {"coll.pick", "coll.fetch"});
      }
}

TEST_CASE("padding stays behind NaN and infinities, zeros keep their order") {
  constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
  constexpr double kInf = std::numeric_limits<double>::infinity();
  constexpr double values[] = {0.0,   kInf, -0.0, kNan, 1.0,
                               -kInf, 0.0,  kNan, -0.0};
  for (int64_t p : {2, 3, 7})
    for (int64_t n : {4, 20, 300})
      for (const char *falling : {"", " descending"}) {
        auto type = [](int64_t size, Type element) {
          return RankedTensorType::get({size}, element);
        };
        Builder b(&context());
        Tensor keys(type(n, b.getF32Type())), places(type(n, b.getI32Type()));
        for (int64_t i = 0; i < n; ++i) {
          keys.setReal(i, values[i * 5 % 9]);
          places.setInteger(i, i);
        }
        Tensor arguments[] = {keys, places};
        std::string types = "(" + vec(n) + ", " + vec(n, "i32") + ")";
        check(program(p, {{vec(n)}, {vec(n, "i32")}}, {{vec(n, "i32")}},
                      std::string("%k, %r0 = weft.sort %x0, %x1 dim 0 keys 1") +
                          falling + " : " + types + " -> " + types),
              {"coll.all_gather", "coll.pick", "coll.fetch"}, arguments);
      }
}

TEST_CASE("a reshape that does not align moves the elements a device lacks") {
  for (int64_t p : {2, 3, 5, 6, 7, 8})
    for (auto [from, to] :
         std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>>{
             {{2, 3}, {3, 2}},
             {{9, 4}, {4, 9}},
             {{5, 4}, {4, 5}},
             {{7, 2, 2}, {4, 7}},
             {{25, 8}, {8, 5, 5}}}) {
      int64_t wanted = (to[0] + p - 1) / p;
      for (int64_t n : llvm::drop_begin(to))
        wanted *= n;
      int64_t bytes = check(program(p, {{tensor(from)}}, {{tensor(to)}},
                                    "%r0 = weft.reshape %x0 : " + tensor(from) +
                                        " -> " + tensor(to)),
                            kFetch);
      CHECK(bytes <= 4 * wanted);
      // This is the same reshape, between two dimensions that align.
      std::vector<int64_t> wideFrom{3}, wideTo{3};
      llvm::append_range(wideFrom, from);
      llvm::append_range(wideTo, to);
      wideFrom.push_back(11);
      wideTo.push_back(11);
      check(program(p, {{tensor(wideFrom), 1}}, {{tensor(wideTo), 1}},
                    "%r0 = weft.reshape %x0 : " + tensor(wideFrom) + " -> " +
                        tensor(wideTo)),
            kFetch);
    }
}
