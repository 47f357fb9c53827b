// Large contractions are compared with sums of integers that f32 holds exactly:
// at every remainder of their tiles and blocks, for every pair of element
// types, and with elementwise ops after them.
#include "weft/test/unit/codegen-kernels.h"

using weft::test::Buffer;
using weft::test::Kernels;

namespace {

/// An element type: how it stores an integer from -2 to 2, and how that is read
/// back.
struct Element {
  const char *name;
  size_t bytes;
  void (*put)(void *to, int value);
  double (*get)(const void *from);
};

template <typename T> void putAs(void *to, int value) {
  T stored = T(value);
  std::memcpy(to, &stored, sizeof(T));
}
template <typename T> double getAs(const void *from) {
  T stored;
  std::memcpy(&stored, from, sizeof(T));
  return double(stored);
}
template <typename T> constexpr Element elementOf(const char *name) {
  return {name, sizeof(T), putAs<T>, getAs<T>};
}
/// Stores the upper half of the f32.
void putBFloat(void *to, int value) {
  float wide = float(value);
  std::memcpy(to, reinterpret_cast<char *>(&wide) + 2, 2);
}
double getBFloat(const void *from) {
  float wide = 0;
  std::memcpy(reinterpret_cast<char *>(&wide) + 2, from, 2);
  return wide;
}
/// Stores a float8 value, in which 1 is 0x38 and 2 is 0x40.
void putFloat8(void *to, int value) {
  unsigned char bits =
      (value == 0 ? 0 : 0x30 + 8 * std::abs(value)) | (value < 0 ? 0x80 : 0);
  std::memcpy(to, &bits, 1);
}
double getFloat8(const void *from) {
  unsigned char bits = *static_cast<const unsigned char *>(from);
  int size = bits & 0x7f ? ((bits & 0x7f) - 0x30) / 8 : 0;
  return bits & 0x80 ? -size : size;
}

constexpr Element f32 = elementOf<float>("f32"), f64 = elementOf<double>("f64"),
                  i32 = elementOf<int32_t>("i32"),
                  i16 = elementOf<int16_t>("i16"), i8 = elementOf<int8_t>("i8"),
                  ui8 = elementOf<uint8_t>("ui8"),
                  f16 = elementOf<_Float16>("f16"),
                  bf16{"bf16", 2, putBFloat, getBFloat},
                  f8{"f8E4M3FN", 1, putFloat8, getFloat8};

/// A tensor whose strides are those of row-major data with its dimensions in
/// `order`: {2, 0, 1} of sizes {a, b, c} is stored as c x a x b.
struct Operand {
  std::vector<int64_t> sizes, order;
  Element element = f32;

  std::string type(bool asStored) const {
    std::string text = "tensor<";
    for (size_t i = 0; i < sizes.size(); ++i)
      text += std::to_string(asStored ? sizes[order[i]] : sizes[i]) + "x";
    return text + element.name + ">";
  }
  /// Returns the transpose that undoes the order.
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

/// A product of [batch, row, row, k, k] and [batch, column, column, k, k], with
/// as many dimensions of each kind as there are sizes.
struct Case {
  std::vector<int64_t> batch, rows, columns, depth, lhsOrder, rhsOrder;
  Element lhsElement = f32, rhsElement = f32, resultElement = f32;
  /// Whether sums are doubled and the index in the last dimension, less that in
  /// the first, is added: neighbours get different numbers.
  bool hasEpilogue = false;

  static std::vector<int64_t>
  joined(std::initializer_list<std::vector<int64_t>> parts) {
    std::vector<int64_t> all;
    for (const std::vector<int64_t> &part : parts)
      all.insert(all.end(), part.begin(), part.end());
    return all;
  }
  static Operand operand(std::vector<int64_t> sizes, std::vector<int64_t> order,
                         Element element) {
    for (int64_t i = order.size(); i < int64_t(sizes.size()); ++i)
      order.push_back(i);
    return {std::move(sizes), std::move(order), element};
  }
  Operand lhs() const {
    return operand(joined({batch, rows, depth}), lhsOrder, lhsElement);
  }
  Operand rhs() const {
    return operand(joined({batch, columns, depth}), rhsOrder, rhsElement);
  }
  Operand result() const {
    return operand(joined({batch, rows, columns}), {}, resultElement);
  }
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
           l.type(false) + ", " + r.type(false) + " -> " + to + "\n" +
           (hasEpilogue ? epilogue(to) : "return %d : " + to + "\n") + "}\n";
  }
  std::string epilogue(const std::string &type) const {
    std::string last = std::to_string(result().sizes.size() - 1);
    return "%t = weft.add %d, %d : " + type + "\n%i = weft.iota dim " + last +
           " : " + type + "\n%j = weft.iota dim 0 : " + type +
           "\n%p = weft.sub %i, %j : " + type +
           "\n%e = weft.add %t, %p : " + type + "\nreturn %e : " + type + "\n";
  }
  /// Returns the expected result for a sum at a row-major position.
  int64_t expected(int64_t sum, int64_t position) const;
};

std::vector<int64_t> indexOf(int64_t position,
                             const std::vector<int64_t> &sizes) {
  std::vector<int64_t> index(sizes.size());
  for (size_t i = sizes.size(); i-- > 0; position /= sizes[i])
    index[i] = position % sizes[i];
  return index;
}

int64_t Case::expected(int64_t sum, int64_t position) const {
  std::vector<int64_t> index = indexOf(position, result().sizes);
  return hasEpilogue ? 2 * sum + index.back() - index.front() : sum;
}

int64_t countOf(const std::vector<int64_t> &sizes) {
  return Operand{sizes, {}, f32}.count();
}

/// Returns the values of -2 to 2 in row-major order, so that the sum runs over
/// neighbours.
std::vector<int> unpacked(const Operand &operand, const Buffer<char> &stored) {
  std::vector<int> values(operand.count());
  for (int64_t i = 0; i < operand.count(); ++i)
    values[i] = int(operand.element.get(
        stored.data +
        operand.place(indexOf(i, operand.sizes)) * operand.element.bytes));
  return values;
}

/// Returns the number of elements that differ, of the result and of the memory
/// after it, which must not change.
int64_t differences(Kernels &kernels, const Case &c, const std::string &name,
                    int64_t shares) {
  Operand lhs = c.lhs(), rhs = c.rhs();
  Element of = c.resultElement;
  int64_t batch = countOf(c.batch), rows = countOf(c.rows),
          columns = countOf(c.columns), depth = countOf(c.depth),
          size = batch * rows * columns;
  Buffer<char> a(lhs.count() * lhs.element.bytes),
      b(rhs.count() * rhs.element.bytes), result((size + 16) * of.bytes);
  auto fill = [](const Operand &operand, Buffer<char> &buffer) {
    for (int64_t i = 0; i < operand.count(); ++i)
      operand.element.put(buffer.data + i * operand.element.bytes,
                          int((i * 7 + i / 5) % 5) - 2);
  };
  fill(lhs, a);
  fill(rhs, b);
  for (int64_t i = 0; i < size + 16; ++i)
    of.put(result.data + i * of.bytes, 99);
  if (shares == 1) {
    kernels.run(name.c_str(), {a.data, b.data, result.data});
  } else {
    auto share =
        reinterpret_cast<weft_kernel_share_fn>(kernels.find(name + ".share"));
    REQUIRE(share);
    void *buffers[] = {a.data, b.data, result.data};
    int64_t coordinate = 0;
    for (int64_t p = 0; p < shares; ++p)
      share(buffers, &coordinate, p, shares);
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
        int64_t position = (n * rows + i) * columns + j;
        different += of.get(result.data + position * of.bytes) !=
                     c.expected(sum, position);
      }
  for (int64_t i = size; i < size + 16; ++i)
    different += of.get(result.data + i * of.bytes) != 99;
  return different;
}

/// Checks all cases in one module; a target other than testTarget() gets brief
/// code, which is compiled faster.
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
  // The largest tile is 14 rows and 32 columns (cpu:avx512).
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

TEST_CASE("contractions of every pair of element types") {
  // The cases are packed (in two orders), in tiles along columns, in tiles
  // along the contraction, and a vector.
  for (const char *target : {weft::test::testTarget(), "cpu:generic"}) {
    std::vector<Case> cases;
    for (auto [lhs, rhs, result] : {std::tuple(bf16, bf16, f32),
                                    {f16, f16, f32},
                                    {bf16, f32, f32},
                                    {f32, f16, f32},
                                    {f64, f64, f64},
                                    {bf16, f32, f64},
                                    {i32, i32, i32},
                                    {i8, i8, i32},
                                    {ui8, i16, i32},
                                    {f8, bf16, f32}})
      for (const Case &c : {Case{{}, {127}, {71}, {530}, {}, {}},
                            Case{{}, {127}, {71}, {530}, {1, 0}, {1, 0}},
                            Case{{2}, {5}, {37}, {19}, {}, {0, 2, 1}},
                            Case{{}, {7}, {6}, {43}, {}, {}},
                            Case{{}, {37}, {}, {21}, {}, {}}}) {
        cases.push_back(c);
        cases.back().lhsElement = lhs;
        cases.back().rhsElement = rhs;
        cases.back().resultElement = result;
      }
    check(cases, target);
  }
}

TEST_CASE("short integers in pairs of steps, of which the last may be half") {
  for (const char *target :
       {weft::test::testTarget(), "cpu:avx2", "cpu:generic"}) {
    std::vector<Case> cases;
    for (int64_t depth : {65, 257, 302, 515})
      for (auto [lhs, rhs] : {std::pair(i8, i8), {ui8, i8}, {i16, ui8}})
        for (bool turned : {false, true}) {
          std::vector<int64_t> order{1, 0};
          cases.push_back({{}, {131}, {71}, {depth}, {}, {}});
          (turned ? cases.back().lhsOrder : cases.back().rhsOrder) = order;
          cases.back().lhsElement = lhs;
          cases.back().rhsElement = rhs;
          cases.back().resultElement = i32;
        }
    cases.push_back({{},
                     {3, 47},
                     {5, 23},
                     {9, 29},
                     {0, 2, 1, 3},
                     {3, 1, 0, 2},
                     i8,
                     i8,
                     i32});
    check(cases, target);
  }
}

TEST_CASE("ops on a packed contraction are computed at its positions") {
  // The cases have one block of products or several, whole tiles or cut ones,
  // and a last dimension that a tile divides or does not.
  for (const char *target : {weft::test::testTarget(), "cpu:generic"}) {
    std::vector<Case> cases;
    for (int64_t depth : {70, 256, 257, 769})
      for (int64_t columns : {64, 71, 96, 513})
        cases.push_back({{}, {131}, {columns}, {depth}, {}, {}});
    cases.push_back({{3}, {61}, {96}, {271}, {}, {}});
    cases.push_back({{}, {7, 19}, {4, 64}, {271}, {}, {}});
    cases.push_back({{}, {7, 19}, {5, 23}, {271}, {}, {}});
    cases.push_back({{2}, {3, 47}, {4, 64}, {9, 29}, {0, 2, 1, 3, 4}, {}});
    cases.push_back({{}, {131}, {71}, {300}, {}, {}, f64, f64, f64});
    cases.push_back({{}, {131}, {64}, {300}, {}, {}, i8, i8, i32});
    cases.push_back({{}, {131}, {64}, {300}, {}, {}, bf16, bf16, f32});
    for (Case &c : cases)
      c.hasEpilogue = true;
    check(cases, target);
  }
}

TEST_CASE("shares of a packed contraction make up all of it") {
  for (const Case &c :
       {Case{{}, {131}, {131}, {300}, {}, {}},
        Case{{}, {784}, {128}, {260}, {1, 0}, {1, 0}},
        Case{{}, {784}, {128}, {260}, {1, 0}, {1, 0}, bf16, bf16, f32},
        Case{{}, {784}, {128}, {260}, {1, 0}, {1, 0}, f32, f32, f32, true}}) {
    std::string text = c.kernel(0);
    INFO(text);
    Kernels kernels(text);
    for (int64_t shares : {2, 3, 5})
      CHECK(differences(kernels, c, "k0", shares) == 0);
  }
}
