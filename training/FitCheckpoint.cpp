//===- FitCheckpoint.cpp - a training that goes on from where it was ------===//

#include "weft/training/FitRun.h"

#include "weft/training/callbacks/CallbackTable.h"

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

/// The settings of callbacks, in their order; the name of a backup may change.
static json callbackSettings(const CallbackList *callbacks) {
  json out = json::array();
  if (callbacks)
    for (const std::shared_ptr<Callback> &callback : *callbacks)
      out.push_back(callback->isBackup() ? json() : settingsOf(*callback));
  return out;
}

static json validationSettings(const FitOptions &options) {
  if (!options.validation)
    return {};
  json out = options.validation->settings();
  out["batch_size"] = options.validationBatchSize.value_or(options.batchSize);
  out["steps"] = options.validationSteps.value_or(0);
  out["every"] = options.validationEpochs.every;
  out["epochs"] = options.validationEpochs.listed;
  return out;
}

/// The settings that a run must share with the one that it resumes: all that
/// changes results. Layouts, meshes and devices do not.
static json settings(const TrainingData &data, const FitOptions &options) {
  json out = json::parse(options.settings, nullptr, false);
  if (!out.is_object())
    out = json::object();
  out["samples"] = data.samples;
  out["data"] = data.settings();
  out["validation"] = validationSettings(options);
  out["batch_size"] = options.batchSize;
  out["steps_per_epoch"] = options.stepsPerEpoch.value_or(0);
  out["initial_epoch"] = options.initialEpoch;
  out["shuffle"] = int(options.shuffle);
  out["drop_remainder"] = options.dropRemainder;
  out["callbacks"] = callbackSettings(options.callbacks);
  if (options.seed)
    out["seed"] = *options.seed;
  return out;
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

/// The name of an element of a list: that of its object, or its number.
static std::string elementName(const json &element, size_t index) {
  for (const json *place :
       {&element, element.is_object() && element.contains("config")
                      ? &element["config"]
                      : &element})
    if (place->is_object() && place->contains("name") &&
        (*place)["name"].is_string())
      return (*place)["name"].get<std::string>();
  return std::to_string(index);
}

namespace {
/// Where two settings differ first, and their values there.
struct Difference {
  std::string path;
  json was, is;
};
} // namespace

/// The parts of two values that may differ alone: members of objects, elements
/// of lists of one length.
static std::vector<Difference> componentsOf(const json &was, const json &is) {
  std::vector<Difference> parts;
  if (was.is_object() && is.is_object()) {
    std::set<std::string> keys;
    for (const json *side : {&was, &is})
      for (const auto &[key, value] : side->items())
        keys.insert(key);
    for (const std::string &key : keys)
      parts.push_back({key, was.value(key, json()), is.value(key, json())});
  } else if (was.is_array() && is.is_array() && was.size() == is.size()) {
    for (size_t i = 0; i < is.size(); ++i)
      parts.push_back({elementName(is[i], i), was[i], is[i]});
  }
  return parts;
}

/// The first difference of two settings that are not equal. "config" is left
/// out of its path.
static Difference firstDifference(const json &was, const json &is) {
  for (const Difference &part : componentsOf(was, is)) {
    if (part.was == part.is)
      continue;
    Difference inside = firstDifference(part.was, part.is);
    if (inside.path.empty() || part.path != "config")
      inside.path = part.path + (inside.path.empty() ? "" : "/") + inside.path;
    return inside;
  }
  return {"", was, is};
}

/// A value for a message: on one line, its beginning if it is long.
static std::string shortText(const json &value) {
  if (value.is_null())
    return "none";
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  return text.size() > 80 ? text.substr(0, 77) + "..." : text;
}

/// Compares the settings; the error has the first that differs, with both
/// values.
static Status compare(const json &was, const json &is) {
  if (was == is)
    return {};
  Difference first = firstDifference(was, is);
  return Error{"was made with another " + first.path + ": " +
               shortText(first.was) + ", not " + shortText(first.is) +
               "; train on with the same arguments, or remove it"};
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
  json was = from.said["settings"], is = settings(data, options);
  if (!options.seedIsGiven && was.is_object()) // goes on with the backup's
    for (json *side : {&was, &is})
      side->erase("seed");
  if (Status same = compare(was, is); !same)
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
  if (options.note)
    options.note("goes on from the backup, after " +
                 std::to_string(history.stepCount) + " steps, in epoch " +
                 std::to_string(epoch + 1) + " of " +
                 std::to_string(options.epochs));
  return {};
}
