//===- NumericsCheck.cpp - stops a training at its first NaN --------------===//

#include "weft/tools/weft/training/NumericsCheck.h"

#include <cmath>

using namespace weft;
using namespace weft::tool;

Status NumericsCheck::begin() {
  return before.keep(session.state(), [](const Port &) { return true; });
}

/// The first element that is not finite: "w has a nan"; empty if there is none.
static Result<std::string> flawOf(const StoredArray &value) {
  std::string flaw;
  Status read = value.visitBlocks([&](const ArrayBlock &, const Array &values) {
    for (int64_t i = 0; flaw.empty() && i < values.count(); ++i)
      if (double element = values.at(i); !std::isfinite(element))
        flaw = value.name + " has a " + std::to_string(element);
    return Status();
  });
  return read ? Result<std::string>(flaw) : read.error();
}

Result<std::string> NumericsCheck::findFlaw(const Logs &logs) const {
  for (const auto &[name, value] : logs)
    if (!value.isFinite())
      return name + " is " + std::to_string(value.shown());
  for (const StoredArray &value : session.state().storedAll())
    if (isFloat(value.type)) {
      Result<std::string> flaw = flawOf(value);
      if (!flaw || !flaw->empty())
        return flaw;
    }
  return std::string();
}

Result<std::vector<NamedArray>>
NumericsCheck::inputs(std::span<const int64_t> indices) const {
  std::vector<StoredArray> variables = before.stored();
  if (!isFirst()) {
    if (Status ok = readAll(variables); !ok)
      return ok.error();
    return std::vector<NamedArray>();
  }
  std::vector<NamedArray> out;
  for (const StoredArray &variable : variables) {
    Result<Array> value = variable.readByBlocks();
    if (!value)
      return value.error();
    out.push_back({variable.name, std::move(*value)});
  }
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

Result<std::string> NumericsCheck::repeat(std::span<const int64_t> indices) {
  auto given = inputs(indices);
  Result<std::string> made = given ? Result<std::string>(std::string())
                                   : Result<std::string>(given.error());
  if (made && isFirst())
    made = session.source().findNonFinite("train", int64_t(indices.size()),
                                          *given);
  if (!processes)
    return made;
  std::string text = made ? *made : made.message();
  std::vector<uint8_t> bytes(text.begin(), text.end());
  bytes.push_back(uint8_t(bool(made)));
  if (Status shared = shareBytes(processes, bytes); !shared)
    return shared.error();
  bool isMade = bytes.back() != 0;
  bytes.pop_back();
  text.assign(bytes.begin(), bytes.end());
  return isMade ? Result<std::string>(text) : Error{text};
}

Status NumericsCheck::end(std::span<const int64_t> indices, const Logs &logs) {
  ++steps;
  Result<std::string> flaw = findFlaw(logs);
  if (!flaw || flaw->empty())
    return flaw ? Status{} : Status{flaw.error()};
  Result<std::string> made = repeat(indices);
  if (!made)
    return made.error();
  return Error{"--check-numerics: " + *flaw + " after step " +
               std::to_string(steps) + ": " + *made +
               "; keep that op's operands in its domain, clip gradients, or "
               "lower the learning rate"};
}
