//===- Contractions.cpp - products of matrices and sums of products -------===//

#include "weft/compiler/frontends/keras/operations/Operation.h"

#include <numeric>

using namespace mlir;
using namespace weft;
using namespace weft::keras;

using Sizes = SmallVector<int64_t>;

/// The two tensors, converted to their common type; booleans become integers.
static SmallVector<Tensor> pair(OperationCall &a) {
  SmallVector<Tensor> out = {a.tensor("x1"), a.tensor("x2")};
  Type type = promoted(elementOf(out[0]), elementOf(out[1]));
  if (type.isInteger(1))
    type = a.t.builder.getI32Type();
  for (Tensor &x : out)
    x = castTo(a.t, x, type);
  return out;
}
/// Sums products over the dimensions xs of x and ys of y. The result has the
/// batch dimensions, the others of x, then the others of y.
static Tensor contracted(OperationCall &a, Tensor x, Tensor y,
                         ArrayRef<int64_t> xs, ArrayRef<int64_t> ys,
                         ArrayRef<int64_t> xBatch = {},
                         ArrayRef<int64_t> yBatch = {}) {
  Tensors &t = a.t;
  bool isGood = xs.size() == ys.size();
  for (size_t i = 0; isGood && i < xs.size(); ++i)
    isGood = t.size(x, xs[i]) == t.size(y, ys[i]);
  Sizes shape;
  for (int64_t dim : xBatch)
    shape.push_back(t.size(x, dim));
  for (int64_t i = 0; i < t.rank(x); ++i)
    if (!llvm::is_contained(xs, i) && !llvm::is_contained(xBatch, i))
      shape.push_back(t.size(x, i));
  for (int64_t i = 0; i < t.rank(y); ++i)
    if (!llvm::is_contained(ys, i) && !llvm::is_contained(yBatch, i))
      shape.push_back(t.size(y, i));
  if (!a.check(isGood, "cannot multiply " + shapeText(t.shape(x)) + " by " +
                           shapeText(t.shape(y)) + ": sizes differ") ||
      !a.fits(shape))
    return x;
  return t.make<DotOp>(x, y, xs, ys, xBatch, yBatch);
}

/// Multiplies stacks of matrices; a vector on the left is a row, a vector on
/// the right is a column.
static Tensor matmul(OperationCall &a) {
  Tensors &t = a.t;
  SmallVector<Tensor> both = pair(a);
  Tensor x = both[0], y = both[1];
  if (!a.check(t.rank(x) > 0 && t.rank(y) > 0, "takes no scalars"))
    return x;
  if (t.rank(y) <= 2)
    return contracted(a, x, y, {t.last(x)}, {t.last(y) ? t.last(y) - 1 : 0});
  if (t.rank(x) == 1)
    return contracted(a, x, y, {0}, {t.rank(y) - 2});
  int64_t batch = std::max(t.rank(x), t.rank(y)) - 2;
  Sizes shape, dims;
  for (int64_t i = -batch; i < 0; ++i) {
    int64_t ofX = i - 2 < -t.rank(x) ? 1 : t.size(x, i - 2),
            ofY = i - 2 < -t.rank(y) ? 1 : t.size(y, i - 2);
    if (!a.check(ofX == ofY || ofX == 1 || ofY == 1,
                 "cannot multiply stacks " + shapeText(t.shape(x)) + " and " +
                     shapeText(t.shape(y))))
      return x;
    dims.push_back(int64_t(shape.size()));
    shape.push_back(ofX == 1 ? ofY : ofX);
  }
  for (Tensor *each : {&x, &y}) {
    Sizes wide = shape;
    wide.append(t.shape(*each).end() - 2, t.shape(*each).end());
    if (!a.fits(wide))
      return x;
    *each = t.stretch(*each, wide);
  }
  return contracted(a, x, y, {batch + 1}, {batch}, dims, dims);
}
static Tensor dot(OperationCall &a) {
  Tensors &t = a.t;
  SmallVector<Tensor> both = pair(a);
  if (t.rank(both[0]) == 0 || t.rank(both[1]) == 0) {
    both = a.stretched(both);
    return both[0] * both[1];
  }
  int64_t dim = std::max<int64_t>(t.rank(both[1]) - 2, 0);
  return contracted(a, both[0], both[1], {t.last(both[0])}, {dim});
}
static Tensor inner(OperationCall &a) {
  SmallVector<Tensor> both = pair(a);
  if (!a.check(a.t.rank(both[0]) > 0 && a.t.rank(both[1]) > 0,
               "takes no scalars"))
    return both[0];
  return contracted(a, both[0], both[1], {a.t.last(both[0])},
                    {a.t.last(both[1])});
}
static Tensor flat(Tensors &t, Tensor x) {
  int64_t count = 1;
  for (int64_t size : t.shape(x))
    count *= size;
  return t.reshape(x, {count});
}
static Tensor outer(OperationCall &a) {
  SmallVector<Tensor> both = pair(a);
  return contracted(a, flat(a.t, both[0]), flat(a.t, both[1]), {}, {});
}
static Tensor vectorDot(OperationCall &a) {
  SmallVector<Tensor> both = pair(a);
  return contracted(a, flat(a.t, both[0]), flat(a.t, both[1]), {0}, {0});
}
static Tensor tensorDot(OperationCall &a) {
  Tensors &t = a.t;
  SmallVector<Tensor> both = pair(a);
  const Argument &axes = a.argument("axes");
  Sizes dims[2];
  if (axes.kind == Argument::Kind::Integer) {
    int64_t count = axes.integer;
    if (!a.check(count >= 0 &&
                     count <= std::min(t.rank(both[0]), t.rank(both[1])),
                 "\"axes\" is " + axes.written + "; there are not as many"))
      return both[0];
    for (int64_t i = 0; i < count; ++i) {
      dims[0].push_back(t.rank(both[0]) - count + i);
      dims[1].push_back(i);
    }
    return contracted(a, both[0], both[1], dims[0], dims[1]);
  }
  bool isGood = axes.items.size() == 2;
  for (size_t side = 0; isGood && side < 2; ++side) {
    std::vector<Argument> items = axes.items[side].items;
    if (axes.items[side].kind == Argument::Kind::Integer)
      items = {axes.items[side]};
    for (const Argument &item : items) {
      int64_t dim = item.kind == Argument::Kind::Integer
                        ? a.checkedDim(item.integer, t.rank(both[side]))
                        : -1;
      isGood &= dim >= 0 && dim < t.rank(both[side]) &&
                !llvm::is_contained(dims[side], dim);
      dims[side].push_back(dim);
    }
  }
  if (!a.check(isGood, "\"axes\" " + axes.written +
                           " are no two lists of different axes"))
    return both[0];
  return contracted(a, both[0], both[1], dims[0], dims[1]);
}

namespace {
/// A tensor with a letter for each dimension.
struct Lettered {
  Tensor value;
  std::string letters;
  bool has(char letter) const { return letters.find(letter) != letters.npos; }
  int64_t at(char letter) const { return int64_t(letters.find(letter)); }
};
} // namespace

/// The tensor, summed over the dimensions whose letters are not needed.
static Lettered summed(Tensors &t, Lettered x, const std::string &needed) {
  Sizes dims;
  std::string kept;
  for (auto [i, letter] : llvm::enumerate(x.letters))
    if (needed.find(letter) == needed.npos)
      dims.push_back(int64_t(i));
    else
      kept += letter;
  return {t.reduce(ReduceKind::Sum, x.value, dims), kept};
}
static Lettered product(OperationCall &a, Lettered x, Lettered y,
                        const std::string &needed) {
  x = summed(a.t, x, needed + y.letters);
  y = summed(a.t, y, needed + x.letters);
  Sizes xs, ys, xBatch, yBatch;
  std::string batch, free;
  for (char letter : x.letters) {
    bool isNeeded = needed.find(letter) != needed.npos;
    if (!y.has(letter)) {
      free += letter;
      continue;
    }
    (isNeeded ? xBatch : xs).push_back(x.at(letter));
    (isNeeded ? yBatch : ys).push_back(y.at(letter));
    if (isNeeded)
      batch += letter;
  }
  for (char letter : y.letters)
    if (!x.has(letter))
      free += letter;
  return {contracted(a, x.value, y.value, xs, ys, xBatch, yBatch),
          batch + free};
}

/// The terms of an equation such as "ab,bc->ac" for the ranks of the operands;
/// the last one is that of the result. The dimensions of dots get characters of
/// their own, aligned on the right. Empty if the number or ranks of the
/// operands do not fit.
static std::vector<std::string> termsOf(const std::string &equation,
                                        ArrayRef<Tensor> operands) {
  std::string text;
  for (char c : equation)
    if (c != ' ')
      text += c;
  size_t arrow = text.find("->");
  std::string left = text.substr(0, arrow);
  std::vector<std::string> out = {""};
  for (char c : left)
    if (c == ',')
      out.emplace_back();
    else
      out.back() += c;
  if (out.size() != operands.size())
    return {};
  static constexpr char kDots[] = "\x01\x02\x03\x04\x05\x06\x07\x08";
  std::string most;
  for (auto [term, operand] : llvm::zip_equal(out, operands)) {
    size_t dots = term.find("...");
    int64_t elided = Tensors::rank(operand) - int64_t(term.size());
    if (dots == term.npos) {
      if (elided != 0)
        return {};
      continue;
    }
    elided += 3;
    if (elided < 0 || elided > 8)
      return {};
    std::string letters(kDots + 8 - elided, kDots + 8);
    most = letters.size() > most.size() ? letters : most;
    term.replace(dots, 3, letters);
  }
  std::string result;
  if (arrow != text.npos) {
    result = text.substr(arrow + 2);
    if (size_t dots = result.find("..."); dots != result.npos)
      result.replace(dots, 3, most);
  } else {
    for (char c = 'A'; c <= 'z'; ++c)
      if (std::count(left.begin(), left.end(), c) == 1)
        result += c;
    result = most + result;
  }
  out.push_back(result);
  return out;
}

/// Whether terms consist of letters, each of which occurs once in a term, each
/// letter of the result is in an operand's term, and sizes agree.
static bool isSound(const std::vector<std::string> &terms,
                    ArrayRef<Tensor> operands) {
  std::map<char, int64_t> sizes;
  for (size_t i = 0; i < terms.size(); ++i)
    for (size_t at = 0; at < terms[i].size(); ++at) {
      char letter = terms[i][at];
      if (terms[i].find(letter, at + 1) != std::string::npos ||
          (letter > 8 && !std::isalpha(static_cast<unsigned char>(letter))))
        return false;
      if (i == operands.size()) {
        if (!sizes.count(letter))
          return false;
        continue;
      }
      int64_t size = Tensors::size(operands[i], int64_t(at));
      if (sizes.try_emplace(letter, size).first->second != size)
        return false;
    }
  return true;
}

/// Contracts from left to right, two tensors at a time.
static Tensor einsum(OperationCall &a) {
  SmallVector<Tensor> operands = a.tensors("operands");
  std::string equation = a.text("subscripts"), shapes;
  for (Tensor x : operands)
    shapes += (shapes.empty() ? "" : ", ") + shapeText(a.t.shape(x));
  std::vector<std::string> terms = termsOf(equation, operands);
  if (!a.check(!terms.empty() && isSound(terms, operands),
               "\"subscripts\" \"" + equation +
                   "\" do not fit tensors of shapes " + shapes +
                   "; each tensor has each letter once"))
    return operands[0];
  const std::string &result = terms.back();
  Lettered out{operands[0], terms[0]};
  for (size_t i = 1; i < operands.size(); ++i) {
    std::string needed = result;
    for (size_t k = i + 1; k < operands.size(); ++k)
      needed += terms[k];
    out = product(a, out, {operands[i], terms[i]}, needed);
  }
  out = summed(a.t, out, result);
  Sizes order;
  for (char letter : result)
    order.push_back(out.at(letter));
  return out.letters == result ? out.value : a.t.transpose(out.value, order);
}

std::vector<OperationRow> weft::keras::contractionOperations() {
  std::vector<const char *> two = {"x1", "x2"};
  return {operation("Dot", two, {}, dot),
          operation("Einsum", {"*operands"}, {{"subscripts"}}, einsum),
          operation("Inner", two, {}, inner),
          operation("Matmul", two, {}, matmul),
          operation("Outer", two, {}, outer),
          operation("Tensordot", two, {{"axes", "2"}}, tensorDot),
          operation("Vdot", two, {}, vectorDot)};
}
