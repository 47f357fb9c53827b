//===- CountMetrics.cpp - metrics of counts at few thresholds -------------===//

#include "weft/compiler/frontends/keras/metrics/CountMetrics.h"
#include "weft/compiler/frontends/keras/losses/Losses.h"

using namespace mlir;
using namespace weft;
using namespace weft::keras;

/// The result as a scalar for one threshold, or a vector for several.
static Tensor eachLevel(Tensors &t, Tensor values) {
  return t.size(values, 0) == 1 ? t.reshape(values, {}) : values;
}

template <Tensor Confusion::*count>
MetricResult CountMetric<count>::compute(Tensors &t, const MetricInputs &in,
                                         ArrayRef<Tensor> state) const {
  Confusion counts = confusion(t, in, levels(thresholds, 0.5));
  Tensor total = state[0] + counts.*count;
  return {eachLevel(t, total), {total}};
}

template <Tensor Confusion::*wrong>
void HitRate<wrong>::ownOptions(Options &o) {
  thresholdOption(o, thresholds);
  o.maybeInteger("top_k", topK, kPositive);
  classOption(o);
}

template <Tensor Confusion::*wrong>
std::vector<MetricVariable> HitRate<wrong>::variables(ArrayRef<int64_t>) const {
  int64_t count = at().count();
  bool ofPredicted = wrong == &Confusion::falsePositives;
  return {{"true_positives", {count}},
          {ofPredicted ? "false_positives" : "false_negatives", {count}}};
}

template <Tensor Confusion::*wrong>
MetricResult HitRate<wrong>::compute(Tensors &t, const MetricInputs &in,
                                     ArrayRef<Tensor> state) const {
  Confusion counts = confusion(t, chosen(t, in), at());
  Tensor hits = state[0] + counts.truePositives;
  Tensor misses = state[1] + counts.*wrong;
  Tensor result = quotient(t, hits, hits + misses);
  return {eachLevel(t, result), {hits, misses}};
}

namespace weft::keras {
template class CountMetric<&Confusion::truePositives>;
template class CountMetric<&Confusion::falsePositives>;
template class CountMetric<&Confusion::trueNegatives>;
template class CountMetric<&Confusion::falseNegatives>;
template class HitRate<&Confusion::falsePositives>;
template class HitRate<&Confusion::falseNegatives>;
} // namespace weft::keras
