#include "weft/training/callbacks/LearningRates.h"

namespace weft {

std::vector<LearningRate> learningRates(const ModelState &state) {
  std::vector<LearningRate> out;
  for (const ModelState::Variable &variable : state.variables())
    if (const std::string &optimizer = variable.port.facts.rate;
        !optimizer.empty())
      out.push_back({variable.port.name, optimizer, "learning_rate", ""});
  if (out.size() > 1)
    for (LearningRate &rate : out) {
      rate.shownAs += "_" + rate.optimizer;
      rate.called = rate.optimizer + " ";
    }
  return out;
}

Result<std::vector<LearningRate>> settableRates(const ModelState &state,
                                                const std::string &callback) {
  auto rates = learningRates(state);
  if (rates.empty())
    return Error{callback + ": the optimizer has no learning rate that can be "
                            "set: it follows a schedule, or the step was "
                            "traced by an earlier weft.trace; leave the "
                            "callback out, or compile the model with a number"};
  return rates;
}

Result<double> readRate(const ModelState &state, const LearningRate &rate) {
  Result<Array> value = state.read(rate.path);
  if (!value)
    return value.error();
  return value->at(0);
}

Status writeRate(ModelState &state, const LearningRate &rate, double value) {
  Array array = Array::zeros(ElementType::Float64, {});
  *array.data<double>() = value;
  return state.write(rate.path, array);
}

Status addRates(const ModelState &state, Logs &logs) {
  for (const LearningRate &rate : learningRates(state)) {
    Result<double> value = readRate(state, rate);
    if (!value)
      return value.error();
    bool isThere = false;
    for (auto &[name, shown] : logs)
      if (name == rate.shownAs)
        shown = *value, isThere = true;
    if (!isThere)
      logs.emplace_back(rate.shownAs, *value);
  }
  return {};
}

} // namespace weft
