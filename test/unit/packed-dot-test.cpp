// Large contractions, at every remainder of their tiles and blocks, against sums of integers that f32 holds exactly.
#include "weft/test/unit/codegen-kernels.h"

using weft::test::Buffer;
using weft::test::Kernels;

namespace {

/// A tensor whose strides are those of row-major data with its dimensions in
/// `order`: {2, 0, 1} of sizes {a, b, c} is stored as c x a x b.
struct Operand {
  std::vector<int64_t> sizes, order;

  std::string type(bool asStored) const {
    std::string text = "tensor<";
    for (size_t i = 0; i < sizes.size(); ++i)
      text += std::to_string(asStored ? sizes[order[i]] : sizes[i]) + "x";
    return text + "f32>";
  }
  /// The transpose that undoes the order.
  std::string turned(const std::string &name, const std::string &to) const {
    std::vector<int64_t> back(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      back[order[i]] = i;
    std::string text;
    for (int64_t dim : back)
      text += (text.empty() ? "" : ", ") + std::to_string(dim);
    return to + " = weft.transpose " + name + " [" + text +
           "] : " + type(true) + " -> " + type(false) + "\n";
  }
  int64_t count() const {
    int64_t n = 1;
    for (int64_t size : sizes)
      n *= size;
    return n;
  }
  int64_t place(const std::vector<int64_t> &index) const {
    int64_t at = 0;
    for (int64_t dim : order)
      at = at * sizes[dim] + index[dim];
    return at;
  }
};

/// [batch, row, row, k, k] x [batch, column, column, k, k], as many of each as
/// there are sizes.
struct Case {
  std::vector<int64_t> batch, rows, columns, depth, lhsOrder, rhsOrder;

  static std::vector<int64_t>
  joined(std::initializer_list<std::vector<int64_t>> parts) {
    std::vector<int64_t> all;
    for (const std::vector<int64_t> &part : parts)
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  static Operand operand(std::vector<int64_t> sizes,
                         std::vector<int64_t> order) {
    for (int64_t i = order.size(); i < int64_t(sizes.size()); ++i)
      order.push_back(i);
    return {std::move(sizes), std::move(order)};
  }
  Operand lhs() const {
    return operand(joined({batch, rows, depth}), lhsOrder);
  }
  Operand rhs() const {
    return operand(joined({batch, columns, depth}), rhsOrder);
  }
  Operand result() const { return operand(joined({batch, rows, columns}), {}); }
  std::string list(size_t from, size_t count) const {
    std::string text;
    for (size_t i = 0; i < count; ++i)
      text += (i ? ", " : "") + std::to_string(from + i);
    return "[" + text + "]";
  }
  std::string kernel(int number) const {
    Operand l = lhs(), r = rhs();
    std::string dot = "%d = weft.dot %l, %r ", to = result().type(false);
    if (!batch.empty())
      dot += "batch " + list(0, batch.size()) + " x " + list(0, batch.size()) +
             " ";
    dot += "contract " + list(batch.size() + rows.size(), depth.size()) +
           " x " + list(batch.size() + columns.size(), depth.size());
    return "func.func private @k" + std::to_string(number) +
           "(%a: " + l.type(true) + ", %b: " + r.type(true) + ") -> " + to +
           " attributes {weft.kernel = #weft.kernel<dot>} {\n" +
           l.turned("%a", "%l") + r.turned("%b", "%r") + dot + " : " +
           l.type(false) + ", " + r.type(false) + " -> " + to +
           "\nreturn %d : " + to + "\n}\n";
  }
};

std::vector<int64_t> indexOf(int64_t position,
                             const std::vector<int64_t> &sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; position /= sizes[i])
    index[i] = position % sizes[i];
  return index;
}

int64_t countOf(const std::vector<int64_t> &sizes) {
  return Operand{sizes, {}}.count();
}

/// Row-major, so that the sum runs over neighbours: values of -2 to 2.
std::vector<int> unpacked(const Operand &operand, const Buffer<float> &stored) {
  std::vector<int> values(operand.count());
  for (int64_t i = 0; i < operand.count(); ++i)
    values[i] = int(stored.data[operand.place(indexOf(i, operand.sizes))]);
  return values;
}

/// Elements that differ; what lies behind the result must stay as it is.
int64_t differences(Kernels &kernels, const Case &c, const std::string &name,
                    int64_t parts) {
  Operand lhs = c.lhs(), rhs = c.rhs();
  int64_t batch = countOf(c.batch), rows = countOf(c.rows),
          columns = countOf(c.columns), depth = countOf(c.depth),
          size = batch * rows * columns;
  Buffer<float> a(lhs.count()), b(rhs.count()), result(size + 16);
  for (Buffer<float> *buffer : {&a, &b})
    for (size_t i = 0; i < buffer->size; ++i)
      (*buffer)[i] = float((i * 7 + i / 5) % 5) - 2;
  std::fill_n(result.data, size + 16, 99.5f);
  if (parts == 1) {
    kernels.run(name.c_str(), {a.data, b.data, result.data});
  } else {
    auto part =
        reinterpret_cast<weft_kernel_part_fn>(kernels.find(name + ".part"));
    REQUIRE(part);
    void *buffers[] = {a.data, b.data, result.data};
    int64_t coordinate = 0;
    for (int64_t p = 0; p < parts; ++p)
      part(buffers, &coordinate, p, parts);
  }
  std::vector<int> l = unpacked(lhs, a), r = unpacked(rhs, b);
  int64_t different = 0;
  for (int64_t n = 0; n < batch; ++n)
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < columns; ++j) {
        int sum = 0;
        for (int64_t k = 0; k < depth; ++k)
          sum +=
              l[(n * rows + i) * depth + k] * r[(n * columns + j) * depth + k];
        different += result[(n * rows + i) * columns + j] != float(sum);
      }
  for (int64_t i = size; i < size + 16; ++i)
    different += result[i] != 99.5f;
  return different;
}

/// All of them in one module; of the second target as plain code, which is
/// made sooner.
void check(const std::vector<Case> &cases, const char *target) {
  std::string text;
  for (size_t i = 0; i < cases.size(); ++i)
    text += cases[i].kernel(int(i));
  weft::CodegenOptions options;
  options.isBrief = target != std::string_view(weft::test::testTarget());
  Kernels kernels(text, target, options);
  for (size_t i = 0; i < cases.size(); ++i) {
    INFO(target << "\n" << cases[i].kernel(int(i)));
    CHECK(differences(kernels, cases[i], "k" + std::to_string(i), 1) == 0);
  }
}

} // namespace

TEST_CASE("a packed contraction at every remainder of a tile") {
  // 14 rows and 32 columns are the largest tile there is (cpu:avx512).
  for (const char *target : {weft::test::testTarget(), "cpu:generic"}) {
    std::vector<Case> cases;
    for (int64_t rows = 126; rows < 126 + 14; ++rows)
      for (int64_t columns : {64, 71})
        cases.push_back({{}, {rows}, {columns}, {530}, {}, {}});
    for (int64_t columns = 64; columns < 64 + 32; ++columns)
      cases.push_back({{}, {127}, {columns}, {521}, {1, 0}, {1, 0}});
    check(cases, target);
  }
}

TEST_CASE("a packed contraction at every remainder of its blocks") {
  for (const char *target : {weft::test::testTarget(), "cpu:generic"}) {
    std::vector<Case> cases;
    for (int64_t depth :
         {255, 256, 257, 258, 259, 260, 261, 262, 263, 264, 511, 513, 769})
      for (bool turned : {false, true})
        cases.push_back(
            {{},
             {131},
             {139},
             {depth},
             turned ? std::vector<int64_t>{1, 0} : std::vector<int64_t>{},
             turned ? std::vector<int64_t>{} : std::vector<int64_t>{1, 0}});
    for (int64_t rows : {119, 120, 121, 239, 241, 243})
      cases.push_back({{}, {rows}, {139}, {257}, {}, {1, 0}});
    for (int64_t columns : {511, 512, 513, 1023, 1025})
      cases.push_back({{}, {61}, {columns}, {140}, {1, 0}, {}});
    check(cases, target);
  }
}

TEST_CASE("a packed contraction of several dimensions in any order") {
  std::vector<std::vector<int64_t>> orders;
  std::vector<int64_t> order{0, 1, 2, 3};
  do
    orders.push_back(order);
  while (std::next_permutation(order.begin(), order.end()));
  std::vector<Case> cases;
  for (const std::vector<int64_t> &lhs : orders) {
    cases.push_back({{}, {3, 47}, {5, 23}, {9, 29}, {0, 2, 1, 3}, lhs});
    cases.push_back({{3}, {2, 33}, {5, 16}, {271}, lhs, {0, 1, 2, 3}});
    cases.push_back({{2, 3}, {67}, {50}, {257}, {2, 0, 1, 3}, lhs});
  }
  check(cases, weft::test::testTarget());
}

TEST_CASE("parts of a packed contraction are its whole") {
  for (const Case &c : {Case{{}, {131}, {131}, {300}, {}, {}},
                        Case{{}, {784}, {128}, {260}, {1, 0}, {1, 0}}}) {
    std::string text = c.kernel(0);
    INFO(text);
    Kernels kernels(text);
    for (int64_t parts : {2, 3, 5})
      CHECK(differences(kernels, c, "k0", parts) == 0);
  }
}
