//===- EinsumEquation.cpp - the equation of an EinsumDense ----------------===//

#include "weft/compiler/frontends/keras/layers/EinsumEquation.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// Whether the text consists of distinct letters, at least one.
static bool isSpec(const std::string &text) {
  for (size_t i = 0; i < text.size(); ++i)
    if (!std::isalpha(static_cast<unsigned char>(text[i])) ||
        text.find(text[i], i + 1) != text.npos)
      return false;
  return !text.empty();
}

EinsumEquation::EinsumEquation(const std::string &text, int64_t rank) {
  size_t comma = text.find(','), arrow = text.find("->");
  if (comma == text.npos || arrow == text.npos || arrow < comma) {
    complaint = "has not the form X,Y->Z";
    return;
  }
  input = text.substr(0, comma);
  kernel = text.substr(comma + 1, arrow - comma - 1);
  output = text.substr(arrow + 2);
  bool isRight = input.ends_with("...") && output.ends_with("...");
  isLeft = input.starts_with("...") && output.starts_with("...");
  for (std::string *spec : {&input, &output})
    if (isLeft)
      spec->erase(0, 3);
    else if (isRight)
      spec->erase(spec->size() - 3);
  elided = rank - int64_t(input.size());
  if (!isSpec(input) || !isSpec(kernel) || !isSpec(output))
    complaint =
        "has not the form X,Y->Z, ...X,Y->...Z or X...,Y->Z... with each "
        "letter once on a side";
  else if (elided < 0 || (elided > 0 && !isLeft && !isRight))
    complaint = "does not fit a tensor of rank " + std::to_string(rank);
  for (char letter : output)
    if (!namesLetter(input, letter) && !namesLetter(kernel, letter))
      complaint = std::string("has \"") + letter + "\" in the result only";
  for (char letter : input)
    if (!namesLetter(output, letter) && !namesLetter(kernel, letter))
      complaint = std::string("has \"") + letter + "\" in the input only";
  for (char letter : kernel)
    if (!namesLetter(output, letter) && !namesLetter(input, letter))
      complaint = std::string("has \"") + letter + "\" in the kernel only";
  bool hasBatch = complaint.empty() && (elided == 0 || !isLeft);
  if (hasBatch && (namesLetter(kernel, input[0]) || output[0] != input[0]))
    complaint = "must keep the batch, its first letter, in front";
  // Unused letters name the dimensions of the dots.
  std::string dots;
  for (char letter = 'A'; complaint.empty() && int64_t(dots.size()) < elided;
       ++letter) {
    if (letter > 'z') {
      complaint = "has too many dimensions";
      return;
    }
    if (std::isalpha(static_cast<unsigned char>(letter)) &&
        !namesLetter(input + kernel + output, letter))
      dots += letter;
  }
  for (std::string *spec : {&input, &output})
    isLeft ? spec->insert(0, dots) : spec->append(dots);
}

Tensor EinsumEquation::contracted(Tensors &t, Tensor x, Tensor kernelValue,
                                  Type element) const {
  SmallVector<int64_t> xBatch, kernelBatch, xSum, kernelSum, order;
  std::string shared, free;
  for (auto [i, letter] : llvm::enumerate(input)) {
    size_t at = kernel.find(letter);
    if (at == kernel.npos) {
      free += letter;
      continue;
    }
    bool isSummed = !namesLetter(output, letter);
    (isSummed ? xSum : xBatch).push_back(int64_t(i));
    (isSummed ? kernelSum : kernelBatch).push_back(int64_t(at));
    if (!isSummed)
      shared += letter;
  }
  std::string result = shared + free;
  for (char letter : kernel)
    if (!namesLetter(input, letter))
      result += letter;
  for (char letter : output)
    order.push_back(int64_t(result.find(letter)));
  Tensor out = t.make<DotOp>(x, kernelValue, xSum, kernelSum, xBatch,
                             kernelBatch, element);
  return result == output ? out : t.transpose(out, order);
}

SmallVector<int64_t> EinsumEquation::summedDims() const {
  SmallVector<int64_t> out;
  for (auto [i, letter] : llvm::enumerate(input))
    if (!namesLetter(output, letter))
      out.push_back(int64_t(i));
  return out;
}

Tensor weft::keras::spreadLetters(Tensors &t, Tensor a,
                                  const std::string &letters,
                                  const std::string &to,
                                  ArrayRef<int64_t> shape) {
  SmallVector<int64_t> order, dims;
  for (auto [i, letter] : llvm::enumerate(to))
    if (size_t at = letters.find(letter); at != letters.npos) {
      order.push_back(int64_t(at));
      dims.push_back(int64_t(i));
    }
  Tensor sorted = llvm::is_sorted(order) ? a : t.transpose(a, order);
  return dims.size() == to.size() ? sorted
                                  : t.make<BroadcastOp>(sorted, shape, dims);
}
