//===- LowRank.h - low-rank adapters of a weight -----------------*- C++ -*-===//
//
// LoRA: a layer with "lora_rank" computes with kernel + alpha / rank * a . b,
// of which only a (..., rank) and b (rank, features) train. Files hold the sum
// in the place of the kernel, and neither a nor b (Layer.h, Adapter).
//
//   std::vector<int64_t> shape = {in, units};
//   Tensor kernel = c.weight("kernel", shape, lora.rules("kernel", rules));
//   Tensor bias = ...
//   kernel = lora.applied(c, "kernel", kernel, rules);
//
// A weight of integers stays as it is, and the adapter is a second product:
//
//   y = lora.added(c, "kernel", y, shape, rules, [&](Tensor a) { return x . a; });
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LOWRANK_H
#define WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LOWRANK_H

#include "weft/compiler/frontends/keras/layers/Call.h"

namespace weft::keras {

class LowRank {
public:
  /// `usesAlpha`: whether Keras keeps lora_alpha when it builds the layer; else
  /// it becomes lora_rank. Called after the option of the weight's constraint.
  void read(Options &o, bool usesAlpha, const ConstraintPtr &constraint) {
    o.maybeInteger("lora_rank", rank, kNotNegative);
    if (usesAlpha)
      o.maybeNumber("lora_alpha", alpha, kAnyNumber);
    else
      o.ignored("lora_alpha",
                "Keras sets it to lora_rank when it builds the layer");
    o.check(!isUsed() || !constraint,
            "\"lora_rank\" is set beside a constraint of the weight; remove "
            "one of them");
  }
  bool isUsed() const { return rank.value_or(0) > 0; }

  /// The rules of the weight itself, which is frozen beside an adapter.
  Weight rules(const char *name, Weight rules) const {
    if (isUsed()) {
      rules.isFrozen = true;
      rules.adapter = Adapter{nameOf(name, "a"), nameOf(name, "b"), scale()};
    }
    return rules;
  }

  /// The weight with its adapter, whose variables Keras adds after all others
  /// of the layer.
  Tensor applied(Call &c, const char *name, Tensor weight,
                 const Weight &rules) const {
    if (!isUsed())
      return weight;
    auto [a, b] = parts(c, name, c.t.shape(weight), rules);
    return weight + c.t.matmul(a, b) * scale();
  }

  /// The result of a product with a weight of this shape, plus that with its
  /// adapter; `with` multiplies by a.
  Tensor added(Call &c, const char *name, Tensor product,
               ArrayRef<int64_t> shape, const Weight &rules,
               llvm::function_ref<Tensor(Tensor)> with) const {
    if (!isUsed())
      return product;
    auto [a, b] = parts(c, name, shape, rules);
    return product + c.t.matmul(with(a), b) * scale();
  }

private:
  std::pair<Tensor, Tensor> parts(Call &c, const char *name,
                                  ArrayRef<int64_t> shape,
                                  const Weight &rules) const {
    std::vector<int64_t> first = shape.vec(), second = {*rank, shape.back()};
    first.back() = *rank;
    InitializerPtr heUniform = initializerTable().make("HeUniform");
    c.construct(heUniform);
    auto part = [&](const char *which, const std::vector<int64_t> &size,
                    const InitializerPtr &initializer) {
      Weight own{initializer, rules.regularizer};
      own.isOfAdapter = true;
      return c.weight(nameOf(name, which).c_str(), size, own);
    };
    Tensor a = part("a", first, heUniform);
    return {a, part("b", second, zeros())};
  }
  static std::string nameOf(const char *name, const char *which) {
    return std::string("lora_") + name + "_" + which;
  }
  double scale() const { return alpha.value_or(double(*rank)) / double(*rank); }

  std::optional<int64_t> rank;
  std::optional<double> alpha;
};

} // namespace weft::keras

#endif // WEFT_COMPILER_FRONTENDS_KERAS_LAYERS_LOWRANK_H
