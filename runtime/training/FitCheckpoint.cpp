//===- FitCheckpoint.cpp - a training that goes on from where it was ------===//

#include "weft/runtime/training/FitRun.h"

#include <algorithm>
#include <cstdio>
#include <cstring>

using namespace weft;
using nlohmann::json;

static constexpr std::string_view kVariables = "variables/";

template <typename T>
static Array arrayOf(ElementType type, const std::vector<T> &values) {
  Array array = Array::zeros(type, {int64_t(values.size())});
  std::memcpy(array.bytes.data(), values.data(), array.bytes.size());
  return array;
}

/// The settings that a run must share with the one that it resumes.
static json settings(const TrainingData &data, const FitOptions &options) {
  char hash[17];
  std::snprintf(hash, sizeof hash, "%016llx",
                static_cast<unsigned long long>(data.hash()));
  return {{"samples", data.samples},
          {"data", hash},
          {"batch_size", options.batchSize},
          {"steps_per_epoch", options.stepsPerEpoch.value_or(0)},
          {"shuffle", int(options.shuffle)},
          {"drop_remainder", options.dropRemainder},
          {"callbacks", options.callbacks ? options.callbacks->size() : 0}};
}

Result<Checkpoint> Trainer::FitRun::checkpoint() const {
  Checkpoint out;
  json sums = json::object();
  for (const auto &[name, sum] : metrics.all())
    sums[name] = {exactNumber(sum.total), exactNumber(sum.count),
                  sum.list ? exactValue(LogValue(*sum.list)) : json()};
  out.said = {{"settings", settings(data, options)},
              {"epoch", epoch},
              {"batches", batches},
              {"taken", order.position().inPass},
              {"stop", stop},
              {"metrics", batches ? sums : json::object()},
              {"history", history.save()}};
  out.arrays.push_back(storedInMemory(
      {"order", arrayOf(ElementType::Int64, order.position().order)}));
  if (options.generator)
    out.arrays.push_back(
        storedInMemory({"generator", arrayOf(ElementType::UInt32,
                                             options.generator->position())}));
  for (const StoredArray &value : trainer.state.storedAll())
    out.arrays.push_back(value.renamed(std::string(kVariables) + value.name));
  json said = json::array();
  for (size_t i = 0; options.callbacks && i < options.callbacks->size(); ++i) {
    Checkpoint own;
    (*options.callbacks)[i]->save(own);
    said.push_back(std::move(own.said));
    std::string prefix = "callbacks/" + std::to_string(i) + "/";
    for (const StoredArray &array : own.arrays)
      out.arrays.push_back(array.renamed(prefix + array.name));
  }
  out.said["callbacks"] = std::move(said);
  return out;
}

static const Error kDamaged{"is no checkpoint of weft fit; remove it to train "
                            "from the beginning"};

static bool isCount(const json &said, const char *key) {
  return said.contains(key) && said[key].is_number_integer() &&
         said[key].get<int64_t>() >= 0;
}

Status Trainer::FitRun::resumePosition(const Checkpoint &from) {
  const json &said = from.said;
  std::optional<Array> indices = from.array("order"),
                       words = from.array("generator");
  bool fits = isCount(said, "epoch") && isCount(said, "batches") &&
              isCount(said, "taken") && said.contains("stop") &&
              said["stop"].is_boolean() && indices &&
              indices->type == ElementType::Int64 &&
              (indices->count() == 0 || indices->count() == data.samples);
  if (!fits)
    return kDamaged;
  EpochOrder::Position position;
  position.order.assign(indices->data<int64_t>(),
                        indices->data<int64_t>() + indices->count());
  if (std::any_of(position.order.begin(), position.order.end(),
                  [&](int64_t i) { return i < 0 || i >= data.samples; }))
    return kDamaged;
  epoch = said["epoch"].get<int64_t>();
  batches = position.inEpoch = said["batches"].get<int64_t>();
  position.inPass = said["taken"].get<int64_t>();
  if (batches > order.steps() || position.inPass > order.batches())
    return kDamaged;
  order.resume(std::move(position));
  isInEpoch = batches > 0;
  stop = said["stop"].get<bool>();
  if (!options.generator)
    return {};
  if (!words || words->type != ElementType::UInt32 ||
      !options.generator->resume(
          {words->data<uint32_t>(), size_t(words->count())}))
    return kDamaged;
  return {};
}

Status Trainer::FitRun::resumeHistory(const json &said) {
  if (!said.contains("history") || !history.resume(said["history"]) ||
      !said.contains("metrics") || !said["metrics"].is_object())
    return kDamaged;
  steps = history.stepCount;
  RunningMetrics::Sums sums;
  for (const auto &[name, pair] : said["metrics"].items()) {
    if (!pair.is_array() || pair.size() != 3)
      return kDamaged;
    sums[name] = {float(exactNumber(pair[0])), float(exactNumber(pair[1]))};
    LogValue value = exactValue(pair[2]);
    if (value.list())
      sums[name].list = *value.list();
  }
  metrics.resume(std::move(sums));
  return {};
}

/// Compares the settings; the error has the first that differs, with both
/// values.
static Status compare(const json &was, const json &is) {
  for (const auto &[key, value] : is.items())
    if (!was.is_object() || !was.contains(key) || was[key] != value)
      return Error{
          "was made with another " + key + ": " +
          (was.is_object() && was.contains(key) ? was[key].dump() : "none") +
          ", not " + value.dump() +
          "; train on with the same arguments, or remove it"};
  return {};
}

Status Trainer::FitRun::resumeVariables(const Checkpoint &from) {
  for (const ModelState::Variable &variable : state().variables()) {
    std::string name = std::string(kVariables) + variable.port.name;
    auto found =
        std::find_if(from.arrays.begin(), from.arrays.end(),
                     [&](const StoredArray &a) { return a.name == name; });
    if (found == from.arrays.end())
      return Error{"has no value for the variable " + variable.port.name +
                   "; it belongs to another model: remove it, or name another "
                   "folder"};
    if (Status ok = state().load(found->renamed(variable.port.name)); !ok)
      return ok;
  }
  return {};
}

Status Trainer::FitRun::resume(Checkpoint from) {
  if (!from.said.is_object() || !from.said.contains("settings"))
    return kDamaged;
  if (Status same = compare(from.said["settings"], settings(data, options));
      !same)
    return same;
  if (Status ok = resumePosition(from); !ok)
    return ok;
  if (Status ok = resumeHistory(from.said); !ok)
    return ok;
  ended = options.maxSteps && history.stepCount >= *options.maxSteps;
  if (Status ok = resumeVariables(from); !ok)
    return ok;
  const json &said = from.said["callbacks"];
  for (size_t i = 0; i < options.callbacks->size(); ++i) {
    Checkpoint part;
    if (said.is_array() && i < said.size())
      part.said = said[i];
    std::string prefix = "callbacks/" + std::to_string(i) + "/";
    for (const StoredArray &array : from.arrays)
      if (array.name.starts_with(prefix))
        part.arrays.push_back(array.renamed(array.name.substr(prefix.size())));
    if (Status ok = (*options.callbacks)[i]->resume(*this, part); !ok)
      return ok;
  }
  return {};
}
