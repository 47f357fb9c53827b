//===- QuantizationConfig.cpp - how tensors are quantized -----------------===//

#include "weft/compiler/frontends/keras/layers/QuantizationConfig.h"

using namespace weft::keras;

void Quantizer::options(Options &o) {
  o.axes("axis", axis);
  o.numbers("value_range", range);
  o.check(range.size() == 2 && -128 <= range[0] && range[0] < range[1] &&
              range[1] <= 127,
          "\"value_range\" must be two increasing numbers from -128 to 127");
  o.number("epsilon", epsilon, kNotNegative);
  o.refused("output_dtype", "integers of another type", "\"int8\"");
}

const Table<Quantizer> &weft::keras::quantizerTable() {
  static const Table<Quantizer> table = {
      {"quantizer", "quantizers", {row<Quantizer>("AbsMaxQuantizer")}}};
  return table;
}

void QuantizationConfig::options(Options &o) {
  o.ignored("weight_quantizer", "the weights in the file are quantized");
  o.object("activation_quantizer", activation, quantizerTable());
}

namespace {
class Int4Config : public QuantizationConfig {
  std::optional<int64_t> blockSize;

  void options(Options &o) override {
    QuantizationConfig::options(o);
    o.maybeInteger("block_size", blockSize,
                   {-1, kAnyNumber.most, "be positive"});
    o.check(blockSize != 0, "\"block_size\" is 0; it must be positive");
    group = blockSize.value_or(-1) == -1 ? 0 : *blockSize;
  }
};

/// The policy has the length of the history.
class Float8Config : public QuantizationConfig {
  void options(Options &) override {}
};

/// GPTQ and AWQ, whose configs say how the weights were found.
class Calibrated : public QuantizationConfig {
  void options(Options &o) override {
    for (const char *name :
         {"dataset", "tokenizer", "weight_bits", "num_samples", "per_channel",
          "sequence_length", "hessian_damping", "group_size", "symmetric",
          "activation_order", "num_grid_points",
          "quantization_layer_structure"})
      o.ignored(name, "\"dtype\" has the bits and the groups of the weights");
  }
};
} // namespace

const Table<QuantizationConfig> &weft::keras::quantizationTable() {
  static const Table<QuantizationConfig> table = {
      {"quantization",
       "quantizations",
       {row<QuantizationConfig>("Int8QuantizationConfig"),
        row<Int4Config>("Int4QuantizationConfig"),
        row<Float8Config>("Float8QuantizationConfig"),
        row<Calibrated>("GPTQConfig"), row<Calibrated>("AWQConfig")}}};
  return table;
}
