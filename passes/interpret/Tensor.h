//===- Tensor.h - values of the reference interpreter -----------*- C++ -*-===//
//
// A tensor in row-major order whose every element is kept in one 64-bit cell:
// a double for float types, a sign- or zero-extended integer otherwise;
// complex numbers have a cell for each component. Writing rounds or wraps to
// the element type, so 200 written to an i8 reads as -56 and 0.1 written to an
// f32 reads as 0.100000001490116. One operation computed in double and rounded
// once to f32 is the correctly rounded f32 operation for + - * / and sqrt.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_PASSES_INTERPRET_TENSOR_H
#define WEFT_PASSES_INTERPRET_TENSOR_H

#include "weft/dialects/weft/ElementTypes.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"

#include <complex>
#include <cstdint>
#include <string>
#include <vector>

namespace weft {

class Tensor {
public:
  Tensor() = default;
  /// A tensor of zeros. The type is static; its encoding is dropped.
  explicit Tensor(mlir::RankedTensorType type);
  Tensor(llvm::ArrayRef<int64_t> shape, mlir::Type elementType);
  /// A tensor of these float elements in row-major order.
  static Tensor ofReals(llvm::ArrayRef<int64_t> shape, mlir::Type elementType,
                        llvm::ArrayRef<double> values);
  static Tensor ofIntegers(llvm::ArrayRef<int64_t> shape,
                           mlir::Type elementType,
                           llvm::ArrayRef<int64_t> values);
  static Tensor ofAttribute(mlir::DenseElementsAttr data);

  mlir::RankedTensorType getType() const;
  mlir::Type getElementType() const { return elementType; }
  llvm::ArrayRef<int64_t> getShape() const { return shape; }
  int64_t size() const {
    return static_cast<int64_t>(cells.size()) / components;
  }
  bool isFloat() const { return llvm::isa<mlir::FloatType>(elementType); }
  /// Whether elements are unsigned integers or i1.
  bool isUnsigned() const;
  bool isComplex() const { return components == 2; }
  /// The width of an element, or of a component of a complex element.
  unsigned bitWidth() const {
    return componentType(elementType).getIntOrFloatBitWidth();
  }

  // Accessors of elements of real tensors.
  double real(int64_t i) const;
  void setReal(int64_t i, double value);
  /// Accessors of integers; unsigned 64-bit values are given as their bits.
  int64_t integer(int64_t i) const { return static_cast<int64_t>(cells[i]); }
  void setInteger(int64_t i, int64_t value);
  /// Accessors of elements of real and complex floats.
  std::complex<double> number(int64_t i) const;
  void setNumber(int64_t i, std::complex<double> value);
  /// The tensor with complex numbers as pairs in another last dimension of size
  /// 2; other tensors are unchanged.
  Tensor asReals() const;
  /// The tensor of this type whose elements are these pairs.
  static Tensor ofPairs(mlir::RankedTensorType type, const Tensor &pairs);
  /// The element of a real tensor as memory holds it, in the low bits.
  uint64_t bits(int64_t i) const;
  void setBits(int64_t i, uint64_t value);
  /// Copies an element of a tensor of the same element type.
  void copy(int64_t i, const Tensor &from, int64_t j) {
    for (int64_t component = 0; component < components; ++component)
      cells[i * components + component] =
          from.cells[j * components + component];
  }
  /// Sets NaN, 6 in f4E2M1FN, or 0x7f in each byte of an integer: padding must
  /// never be copied to a valid element.
  void setPadding(int64_t i);

  /// Whether two elements have the same value; NaN equals NaN.
  bool equals(int64_t i, const Tensor &other, int64_t j) const;
  /// The element as text: 0.5, -3, nan.
  std::string text(int64_t i) const;

private:
  mlir::Type elementType;
  llvm::SmallVector<int64_t, 4> shape;
  int64_t components = 1; ///< cells of an element
  std::vector<uint64_t> cells;
};

/// x y by its definition; operator* of std::complex treats NaN as C99's Annex G
/// does.
inline std::complex<double> product(std::complex<double> x,
                                    std::complex<double> y) {
  return {x.real() * y.real() - x.imag() * y.imag(),
          x.real() * y.imag() + x.imag() * y.real()};
}

/// Row-major strides: 2x3x4 has 12, 4, 1.
llvm::SmallVector<int64_t, 4> stridesOf(llvm::ArrayRef<int64_t> shape);
/// start + the sum of index * stride for every index below `sizes`, the last
/// dimension fastest: sizes 2x2, strides 1, 10 give 0 10 1 11.
std::vector<int64_t> offsets(llvm::ArrayRef<int64_t> sizes,
                             llvm::ArrayRef<int64_t> strides,
                             int64_t start = 0);
/// The index of row-major element i: [1, 2].
llvm::SmallVector<int64_t, 4> indexOf(int64_t i, llvm::ArrayRef<int64_t> shape);
std::string indexText(int64_t i, llvm::ArrayRef<int64_t> shape);

} // namespace weft

#endif // WEFT_PASSES_INTERPRET_TENSOR_H
