//===- QuantizationConfig.h - how tensors are quantized ----------*- C++ -*-===//
//
// The option "quantization_config" of a layer, which model.quantize() sets:
//
//   {"class_name": "Int8QuantizationConfig", "config": {
//      "activation_quantizer": {"class_name": "AbsMaxQuantizer", ...}}}
//
// Its weights are quantized in the file; each call quantizes the inputs, unless
// "activation_quantizer" is null.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_QUANTIZATIONCONFIG_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_QUANTIZATIONCONFIG_H

#include "weft/base/config/Options.h"

namespace weft::keras {

/// round(x * scale) with scale = range[1] / (max |x| + epsilon), limited to the
/// range, as integers of 8 bits. keras.quantizers.AbsMaxQuantizer
class Quantizer : public Configured {
public:
  std::vector<int64_t> axis = {-1};
  std::vector<double> range = {-127, 127};
  double epsilon = 1e-7;

  void options(Options &o) override;
};
using QuantizerPtr = std::shared_ptr<const Quantizer>;
const Table<Quantizer> &quantizerTable();

class QuantizationConfig : public Configured {
public:
  QuantizerPtr activation; ///< null: a layer's inputs stay floats
  /// Rows that share a scale in place of those of the policy; 0: all.
  std::optional<int64_t> group;

  void options(Options &o) override;
};
using QuantizationConfigPtr = std::shared_ptr<const QuantizationConfig>;
const Table<QuantizationConfig> &quantizationTable();

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_QUANTIZATIONCONFIG_H
