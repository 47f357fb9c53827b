//===- ConvertProducts.cpp - dot_general, dot, einsum ---------------------===//
//
//   einsum "bij,bjk->bki"    dimensions of equal labels belong together
//
// A label that is twice in one term takes the diagonal. A label that neither
// the result nor another term has is summed. The other labels are those of one
// dot: batch (in all three), contracted (in both terms), free.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/frontends/stablehlo/convert/Converter.h"
#include "weft/compiler/frontends/stablehlo/convert/ProductPrecision.h"

#include "weft/dialects/weft/TensorType.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace weft;
using namespace weft::stablehlo;

namespace {

bool areDistinct(const Ints &contracted, const Ints &batch, int64_t rank) {
  Ints all(contracted);
  all.append(batch);
  llvm::sort(all);
  return llvm::all_of(all,
                      [&](int64_t dim) { return dim >= 0 && dim < rank; }) &&
         std::adjacent_find(all.begin(), all.end()) == all.end();
}

/// The dimensions of a product's operands, as in dot_general.
struct ProductDims {
  Ints lhs, rhs, lhsBatch, rhsBatch;
};

/// The product with elements of this type; null after an error.
Value productOf(Converter &c, ForeignOp op, Value lhs, Value rhs,
                const ProductDims &dims, Type element) {
  if (!areDistinct(dims.lhs, dims.lhsBatch, typeOf(lhs).getRank()) ||
      !areDistinct(dims.rhs, dims.rhsBatch, typeOf(rhs).getRank())) {
    op.refuse() << "contracts dimensions that are not distinct ones of "
                << lhs.getType() << " and " << rhs.getType();
    return {};
  }
  FailureOr<ProductPrecision> asked = productPrecisionOf(op);
  if (failed(asked))
    return {};
  // Sums of booleans are computed as integers; the result is whether any term
  // is true.
  Type sums = element.isInteger(1) ? c.builder.getI32Type() : asked->sums;
  Value product = c.make<DotOp>(
      op, c.summand(op, lhs, sums), c.summand(op, rhs, sums), dims.lhs,
      dims.rhs, dims.lhsBatch, dims.rhsBatch, sums, asked->precision);
  return c.cast(op, product, element);
}

LogicalResult dotGeneral(Converter &c, ForeignOp op) {
  if (op->getNumOperands() != 2)
    return op.refuse() << "has " << op->getNumOperands() << " operands, not 2";
  Value product = productOf(c, op, c.input(op, 0), c.input(op, 1),
                            {op.ints("lhs_contracting_dimensions"),
                             op.ints("rhs_contracting_dimensions"),
                             op.ints("lhs_batching_dimensions"),
                             op.ints("rhs_batching_dimensions")},
                            op.resultType().getElementType());
  return product ? c.give(op, product) : failure();
}

/// Contracts the last dimension of a vector or matrix with the first of
/// another.
LogicalResult plainDot(Converter &c, ForeignOp op) {
  int64_t lhs = op.operandType(0).getRank(), rhs = op.operandType(1).getRank();
  if (op->getNumOperands() != 2 || lhs < 1 || lhs > 2 || rhs < 1 || rhs > 2)
    return op.refuse() << "multiplies " << op->getOperandTypes()
                       << ", not vectors and matrices; use dot_general";
  Value product = productOf(c, op, c.input(op, 0), c.input(op, 1),
                            {Ints{lhs - 1}, Ints{0}, Ints{}, Ints{}},
                            op.resultType().getElementType());
  return product ? c.give(op, product) : failure();
}

//===----------------------------------------------------------------------===//
// Einsum
//===----------------------------------------------------------------------===//

/// A tensor whose dimensions have labels.
struct Labelled {
  Value value;
  Ints labels;
  int64_t dimOf(int64_t label) const {
    return llvm::find(labels, label) - labels.begin();
  }
  bool has(int64_t label) const { return llvm::is_contained(labels, label); }
};

class Einsum {
public:
  Einsum(Converter &c [[clang::lifetimebound]], ForeignOp op) : c(c), op(op) {}
  LogicalResult run();

private:
  std::optional<Ints> labelsOf(StringRef term, int64_t rank);
  LogicalResult read(StringRef config);
  LogicalResult checkSizes();
  LogicalResult takeDiagonals(Labelled &term);
  void sumAlone(Labelled &term, ArrayRef<int64_t> kept);
  FailureOr<Labelled> multiplied(const Labelled &a, const Labelled &b);
  FailureOr<Value> inOrder(const Labelled &term);

  Converter &c;
  ForeignOp op;
  SmallVector<Labelled, 2> terms;
  Ints result;
};

/// The labels of a term: letters, and numbers above all letters for the
/// dimensions of "...", counted from the last. Nothing for another text.
std::optional<Ints> Einsum::labelsOf(StringRef term, int64_t rank) {
  constexpr int64_t kRest = 256;
  auto [before, after] = term.split("...");
  int64_t named = before.size() + after.size();
  bool hasRest = term.contains("...");
  if (!llvm::all_of((before + after).str(),
                    [](char c) { return llvm::isAlpha(c); }) ||
      (hasRest ? named > rank : named != rank))
    return std::nullopt;
  Ints labels(before.begin(), before.end());
  for (int64_t i = rank - named; i > 0; --i)
    labels.push_back(kRest + i);
  labels.append(after.begin(), after.end());
  return labels;
}

LogicalResult Einsum::read(StringRef config) {
  std::string text = config.str();
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  bool isRead =
      StringRef(text).contains("->") && parts.size() == op->getNumOperands();
  for (auto [i, part] : llvm::enumerate(parts)) {
    auto labels = isRead ? labelsOf(part, op.operandType(i).getRank())
                         : std::optional<Ints>();
    isRead &= labels.has_value();
    if (isRead)
      terms.push_back({c.input(op, i), *labels});
  }
  auto labels = labelsOf(right, op.resultType().getRank());
  if (!isRead || !labels)
    return op.refuse() << "has the configuration \"" << config << "\" for "
                       << op->getOperandTypes() << " and " << op.resultType()
                       << "; write a letter for each dimension, as in "
                          "\"ij,jk->ik\"";
  result = *labels;
  return success();
}

/// Checks that dimensions of one label have one size, and that the result's
/// labels are distinct ones of the terms.
LogicalResult Einsum::checkSizes() {
  llvm::DenseMap<int64_t, int64_t> sizes;
  for (const Labelled &term : terms)
    for (auto [dim, label] : llvm::enumerate(term.labels)) {
      int64_t size = typeOf(term.value).getDimSize(dim);
      auto [known, isNew] = sizes.try_emplace(label, size);
      if (!isNew && known->second != size)
        return op.refuse() << "has one label for dimensions of sizes "
                           << known->second << " and " << size
                           << "; give them labels of their own";
    }
  for (auto [dim, label] : llvm::enumerate(result))
    if (!sizes.contains(label) || llvm::count(result, label) > 1)
      return op.refuse() << "has a label for dimension " << dim
                         << " of the result that is not one of a term, once";
  return success();
}

/// Takes the diagonal of dimensions with one label: they are flattened, and
/// each step of size + 1 elements leads to the next element of the diagonal.
LogicalResult Einsum::takeDiagonals(Labelled &term) {
  for (int64_t first = 0; first < static_cast<int64_t>(term.labels.size());
       ++first) {
    int64_t label = term.labels[first], second = term.labels.size() - 1;
    while (term.labels[second] != label)
      --second;
    if (second == first)
      continue;
    Ints order, labels;
    for (int64_t dim = 0; dim < static_cast<int64_t>(term.labels.size()); ++dim)
      if (dim != first && dim != second) {
        order.push_back(dim);
        labels.push_back(term.labels[dim]);
      }
    order.append({first, second});
    labels.push_back(label);
    Value turned = c.make<TransposeOp>(op, term.value, order);
    Ints shape(typeOf(turned).getShape().drop_back());
    int64_t size = shape.back();
    shape.back() = size * size;
    Value flat = c.make<ReshapeOp>(op, turned, shape);
    Ints strides(shape.size(), 1);
    strides.back() = size + 1;
    term = {c.make<SliceOp>(op, flat, Ints(shape.size(), 0), shape, strides),
            labels};
    first = -1; // the dimensions have moved
  }
  return success();
}

/// Sums the dimensions whose labels are not kept.
void Einsum::sumAlone(Labelled &term, ArrayRef<int64_t> kept) {
  Ints dims, labels;
  for (auto [dim, label] : llvm::enumerate(term.labels))
    if (llvm::is_contained(kept, label))
      labels.push_back(label);
    else
      dims.push_back(dim);
  if (dims.empty())
    return;
  bool truth = typeOf(term.value).getElementType().isInteger(1);
  term = {c.make<ReduceOp>(op, truth ? ReduceKind::Or : ReduceKind::Sum,
                           term.value, dims),
          labels};
}

FailureOr<Labelled> Einsum::multiplied(const Labelled &a, const Labelled &b) {
  ProductDims dims;
  Ints labels, freeOfA, freeOfB;
  for (auto [dim, label] : llvm::enumerate(a.labels)) {
    bool isBatch = b.has(label) && llvm::is_contained(result, label);
    if (!b.has(label))
      freeOfA.push_back(label);
    else
      (isBatch ? dims.lhsBatch : dims.lhs).push_back(dim);
    if (b.has(label))
      (isBatch ? dims.rhsBatch : dims.rhs).push_back(b.dimOf(label));
    if (isBatch)
      labels.push_back(label);
  }
  for (int64_t label : b.labels)
    if (!a.has(label))
      freeOfB.push_back(label);
  labels.append(freeOfA);
  labels.append(freeOfB);
  Value product = productOf(c, op, a.value, b.value, dims,
                            op.resultType().getElementType());
  if (!product)
    return failure();
  return Labelled{product, labels};
}

FailureOr<Value> Einsum::inOrder(const Labelled &term) {
  Ints order;
  for (int64_t label : result)
    order.push_back(term.dimOf(label));
  Value value = c.cast(op, term.value, op.resultType().getElementType());
  return llvm::is_sorted(order) ? value : c.make<TransposeOp>(op, value, order);
}

LogicalResult Einsum::run() {
  if (failed(read(op.word("einsum_config"))) || failed(checkSizes()))
    return failure();
  for (auto [i, term] : llvm::enumerate(terms)) {
    Ints kept(result);
    for (auto [j, other] : llvm::enumerate(terms))
      if (i != j)
        kept.append(other.labels);
    if (failed(takeDiagonals(term)))
      return failure();
    sumAlone(term, kept);
  }
  Labelled all = terms.front();
  if (terms.size() == 2) {
    auto product = multiplied(terms[0], terms[1]);
    if (failed(product))
      return failure();
    all = *product;
  }
  auto ordered = inOrder(all);
  return failed(ordered) ? failure() : c.give(op, *ordered);
}

LogicalResult einsum(Converter &c, ForeignOp op) {
  if (op->getNumOperands() > 2)
    return op.refuse() << "has " << op->getNumOperands()
                       << " operands, not 1 or 2";
  return Einsum(c, op).run();
}

constexpr ConversionEntry kEntries[] = {
    {"dot_general", dotGeneral, 2},
    {"dot", plainDot, 2},
    {"einsum", einsum, 2},
    {"unary_einsum", einsum, 1},
};

} // namespace

ArrayRef<ConversionEntry> stablehlo::productConversions() { return kEntries; }
