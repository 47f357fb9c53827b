//===- Sizes.cpp - sizes that can be counted ------------------------------===//

#include "weft/dialects/layout/Sizes.h"

#include "llvm/ADT/APInt.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"

using namespace weft;

int64_t weft::tensorBytes(llvm::ArrayRef<int64_t> shape, int64_t elementBytes) {
  int64_t bytes = elementBytes;
  for (int64_t size : shape)
    bytes = saturatingMultiply(bytes, size);
  return llvm::is_contained(shape, 0) ? 0 : bytes;
}

/// The number of bytes with all digits.
static std::string exactBytes(llvm::ArrayRef<int64_t> shape,
                              int64_t elementBytes) {
  unsigned bits = 64 * (shape.size() + 1);
  llvm::APInt product(bits, elementBytes);
  for (int64_t size : shape)
    product *= llvm::APInt(bits, size);
  llvm::SmallString<40> text;
  product.toStringUnsigned(text);
  return text.str().str();
}

std::string weft::oversize(llvm::ArrayRef<int64_t> shape,
                           int64_t elementBytes) {
  auto refusal = [&](llvm::ArrayRef<int64_t> sizes) -> std::string {
    if (tensorBytes(sizes, elementBytes) <= kMostBytes)
      return {};
    return exactBytes(sizes, elementBytes) +
           " bytes, but a tensor has at most " + std::to_string(kMostBytes) +
           "; make a dimension smaller";
  };
  for (int64_t size : shape)
    if (std::string reason = refusal(size);
        !reason.empty() && llvm::is_contained(shape, 0))
      return reason;
  return refusal(shape);
}
