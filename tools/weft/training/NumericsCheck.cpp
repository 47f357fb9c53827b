//===- NumericsCheck.cpp - stops a training at its first NaN --------------===//

#include "weft/tools/weft/training/NumericsCheck.h"

#include <cmath>

using namespace weft;
using namespace weft::tool;

Status NumericsCheck::begin() {
  auto values = session.state().saveAll();
  if (!values)
    return values.error();
  before = std::move(*values);
  return {};
}

Result<std::string> NumericsCheck::findFlaw(const Logs &logs) const {
  for (const auto &[name, value] : logs)
    if (!value.isFinite())
      return name + " is " + std::to_string(value.shown());
  auto values = session.state().saveAll();
  if (!values)
    return values.error();
  for (const NamedArray &named : *values)
    for (int64_t i = 0; isFloat(named.array.type) && i < named.array.count();
         ++i)
      if (double value = named.array.at(i); !std::isfinite(value))
        return named.name + " has a " + std::to_string(value);
  return std::string();
}

Result<std::vector<NamedArray>>
NumericsCheck::inputs(std::span<const int64_t> indices) const {
  std::vector<NamedArray> out = before;
  for (const TrainingData::Column &column : data.columns) {
    Array batch{column.port.type, column.sample, {}};
    batch.shape.insert(batch.shape.begin(), int64_t(indices.size()));
    if (Status ok =
            TrainingData::gather(column, indices, batch.type, batch.bytes);
        !ok)
      return ok.error();
    out.push_back({column.port.name, std::move(batch)});
  }
  return out;
}

Status NumericsCheck::end(std::span<const int64_t> indices, const Logs &logs) {
  ++steps;
  Result<std::string> flaw = findFlaw(logs);
  if (!flaw || flaw->empty())
    return flaw ? Status{} : Status{flaw.error()};
  auto given = inputs(indices);
  if (!given)
    return given.error();
  Result<std::string> made =
      session.source().findNonFinite("train", int64_t(indices.size()), *given);
  if (!made)
    return made.error();
  return Error{"--check-numerics: " + *flaw + " after step " +
               std::to_string(steps) + ": " + *made +
               "; keep that op's operands in its domain, clip gradients, or "
               "lower the learning rate"};
}
