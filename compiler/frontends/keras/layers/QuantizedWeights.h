//===- QuantizedWeights.h - layers whose weights are integers ----*- C++ -*-===//
//
// After model.quantize() a layer's policy has a mode, and its weight is stored
// as integers with scales; they never train. A Dense of 6 x 5 has
//
//   int8     kernel i8[6,5], kernel_scale [5]: x is quantized in each call, a
//            product of integers is divided by both scales
//   int4     kernel i8[6,3]: two columns in a byte, kernel_scale [5]
//   int4/4   the same with a scale and a zero for each 4 rows: kernel_scale
//            [2,5], kernel_zero i8[2,5], and g_idx [6], the group of each row
//   gptq/4/4 kernel u8[3,6]: two rows in a byte of the transposed kernel,
//            kernel_scale [5,2], kernel_zero u8[5,2], g_idx [6]; awq/4/4 has
//            awq_scales [6], too
//   float8   kernel f32[6,5]: x and it are rounded to float8_e4m3fn by scales
//            that training would follow the largest values with: inputs_scale,
//            inputs_amax_history [1024], and those of kernel and outputs_grad
//
// Keras differentiates a product of integers as the product of x with the
// kernel that the integers stand for; so does this one.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_QUANTIZEDWEIGHTS_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_QUANTIZEDWEIGHTS_H

#include "weft/compiler/frontends/keras/layers/EinsumEquation.h"
#include "weft/compiler/frontends/keras/layers/LowRank.h"
#include "weft/compiler/frontends/keras/layers/QuantizationConfig.h"

namespace weft::keras {

/// Integers of 8 bits, and the factors by which the floats were multiplied,
/// without the dimensions that share one.
struct Integers {
  Tensor values, scale;
};

/// The product of a Dense or EinsumDense with a quantized kernel.
class QuantizedProduct {
public:
  /// `kernelShape`: that of the kernel before it was quantized. `config` may be
  /// null. An EinsumDense gives scales the dimensions of the result, and divides
  /// kernels of 4 bits by them before the product.
  QuantizedProduct(Call &c [[clang::lifetimebound]],
                   const EinsumEquation &equation [[clang::lifetimebound]],
                   ArrayRef<int64_t> kernelShape, ArrayRef<int64_t> resultShape,
                   const QuantizationConfig *config,
                   const LowRank &lora [[clang::lifetimebound]],
                   const Weight &rules [[clang::lifetimebound]], bool isEinsum);
  /// Requests the weights in the order of Keras' files, in which the bias is
  /// among them, and multiplies.
  Tensor of(Tensor x, llvm::function_ref<void()> addBias) const;

private:
  Tensor int8(Tensor x, llvm::function_ref<void()> addBias) const;
  Tensor int4(Tensor x, llvm::function_ref<void()> addBias) const;
  Tensor calibrated(Tensor x, llvm::function_ref<void()> addBias) const;
  Tensor float8(Tensor x, llvm::function_ref<void()> addBias) const;
  /// A kernel of integers, whose adapter is added to it in files.
  Tensor integers(std::vector<int64_t> shape, IntegerForm form) const;
  Integers quantizedInput(Tensor x) const;
  /// x, quantized if it is to be, times integers, divided by the scales of both;
  /// `scale` has the elements of kernelLetters.
  Tensor ofIntegers(Tensor x, Tensor kernel, Tensor scale) const;
  /// x, quantized if it is to be, times a kernel of floats.
  Tensor ofFloats(Tensor x, Tensor kernel) const;
  /// The number of groups of `rows` rows.
  int64_t groupsOf(int64_t rows) const;

  Call &c;
  const EinsumEquation &e;
  SmallVector<int64_t> kernelShape, resultShape;
  Quantization mode;
  QuantizerPtr quantizer; ///< the quantizer of x, or null
  const LowRank &lora;
  const Weight &rules; ///< rules of the kernel
  bool isEinsum;
  std::string kernelLetters;     ///< those of the kernel that the result has
  int64_t rows = 1, columns = 1; ///< summed elements of the kernel, and others
};

/// The bias of such a product, which float8 rounds.
Tensor quantizedBias(Call &c, Tensor bias);

/// The table of an Embedding, with the weights that compute logits.
class QuantizedTable {
public:
  /// Requests the weights of the table.
  QuantizedTable(Call &c [[clang::lifetimebound]], int64_t inputDim,
                 int64_t outputDim, const QuantizationConfig *config,
                 const LowRank &lora);
  /// The rows of indices.
  Tensor rowsOf(Tensor indices) const;
  /// Requests the weights of a second table for logits.
  void addReverse();
  /// x . table^T, with the second table if there is one.
  Tensor logits(Tensor x) const;

private:
  Tensor alongGroups(Tensor rows) const;
  Tensor kernel() const;

  Call &c;
  int64_t inputDim, outputDim, group = 0;
  bool isPacked;
  QuantizerPtr quantizer; ///< the quantizer of the x of logits, or null
  Tensor table, scale, zero, groups;
  Tensor reverse, reverseScale, reverseZero; ///< null: tied
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_QUANTIZEDWEIGHTS_H
