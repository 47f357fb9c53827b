//===- RegularizerTable.cpp - penalties of weights ------------------------===//

#include "weft/compiler/frontends/keras/regularizers/Regularizer.h"
#include "weft/compiler/frontends/keras/tensors/Tensors.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

namespace {

/// factor * sum(|w|).
Tensor sizes(Tensors &t, Tensor weight, double factor) {
  return t.sumAll(abs(weight)) * factor;
}

/// factor * sum(w^2).
Tensor squares(Tensors &t, Tensor weight, double factor) {
  return t.sumAll(weight * weight) * factor;
}

class L1 : public Regularizer {
  double l1 = 0.01;
  void options(Options &o) override { o.number("l1", l1, kAnyNumber); }
  Tensor penalty(Tensors &t, Tensor weight) const override {
    return sizes(t, weight, l1);
  }
};

class L2 : public Regularizer {
  double l2 = 0.01;
  void options(Options &o) override { o.number("l2", l2, kAnyNumber); }
  Tensor penalty(Tensors &t, Tensor weight) const override {
    return squares(t, weight, l2);
  }
};

class L1L2 : public Regularizer {
public:
  double l1 = 0, l2 = 0;

private:
  void options(Options &o) override {
    o.number("l1", l1, kAnyNumber);
    o.number("l2", l2, kAnyNumber);
  }
  Tensor penalty(Tensors &t, Tensor weight) const override {
    if (l1 == 0 || l2 == 0)
      return l2 == 0 ? sizes(t, weight, l1) : squares(t, weight, l2);
    return sizes(t, weight, l1) + squares(t, weight, l2);
  }
};

} // namespace

RegularizerPtr weft::keras::l1l2(double l1, double l2) {
  auto out = std::make_shared<L1L2>();
  out->className = "L1L2";
  out->l1 = l1;
  out->l2 = l2;
  return out;
}

const Table<Regularizer> &weft::keras::regularizerTable() {
  static const Table<Regularizer> table = {
      {"regularizer",
       "regularizers",
       {row<L1>("L1"), row<L1L2>("L1L2"), row<L2>("L2")}}};
  return table;
}
