#include "weft/training/callbacks/CallbackTable.h"

#include "weft/base/ClosestName.h"
#include "weft/base/config/PythonCall.h"
#include "weft/training/callbacks/BackupAndRestore.h"
#include "weft/training/callbacks/CSVLogger.h"
#include "weft/training/callbacks/EarlyStopping.h"
#include "weft/training/callbacks/LearningRateScheduler.h"
#include "weft/training/callbacks/ModelCheckpoint.h"
#include "weft/training/callbacks/ReduceLROnPlateau.h"
#include "weft/training/callbacks/TensorBoard.h"
#include "weft/training/callbacks/TerminateOnNaN.h"

#include <functional>

namespace weft {

using nlohmann::json;

static constexpr const char *kHow =
    "; write it as EarlyStopping(patience=3) or {\"class_name\": "
    "\"EarlyStopping\", \"config\": {\"patience\": 3}}";

namespace {

struct Row {
  const char *name;
  std::unique_ptr<Callback> (*make)();
};
template <typename T> std::unique_ptr<Callback> make() {
  return std::make_unique<T>();
}
constexpr Row kRows[] = {
    {"BackupAndRestore", make<BackupAndRestore>},
    {"CSVLogger", make<CSVLogger>},
    {"EarlyStopping", make<EarlyStopping>},
    {"LearningRateScheduler", make<LearningRateScheduler>},
    {"ModelCheckpoint", make<ModelCheckpoint>},
    {"ReduceLROnPlateau", make<ReduceLROnPlateau>},
    {"TensorBoard", make<TensorBoard>},
    {"TerminateOnNaN", make<TerminateOnNaN>},
};

Result<const Row *> find(const std::string &name) {
  std::vector<std::string> known;
  for (const Row &row : kRows) {
    if (name == row.name)
      return &row;
    known.push_back(row.name);
  }
  return Error{"no callback is called " + name + "; " +
               suggestion(name, {known.begin(), known.end()},
                          "there are " + listOf(known))};
}

/// Names positional arguments, in Keras' order of parameters.
Result<json> named(const Row &row, json config) {
  json nothing = json::object();
  CallbackOptions asked("", nothing);
  row.make()->options(asked);
  const std::vector<std::string> &names = asked.names();
  for (size_t i = 0; config.is_object(); ++i) {
    auto found = config.find(std::to_string(i));
    if (found == config.end())
      break;
    if (i >= names.size() || config.contains(names[i]))
      return Error{"takes " + std::to_string(names.size()) +
                   " arguments, each once; give them by name"};
    json value = *found;
    config.erase(found);
    config[names[i]] = std::move(value);
  }
  return config;
}

} // namespace

Result<std::unique_ptr<Callback>> makeCallback(const std::string &text,
                                               const std::string &where) {
  Result<json> said = readPythonCall(text);
  if (!said)
    return Error{where + " " + text + ": " + said.error().message + kHow};
  return makeCallback(*said, where);
}

Result<std::unique_ptr<Callback>> makeCallback(const json &said,
                                               const std::string &where) {
  bool isNamed = said.is_object() && said.contains("class_name") &&
                 said["class_name"].is_string();
  if (!isNamed)
    return Error{where + " " + printed(said) + ": names no callback" + kHow};
  static const std::set<std::string> known = {"class_name", "config", "module",
                                              "registered_name"};
  for (const auto &[key, value] : said.items())
    if (!known.contains(key))
      return Error{where + " " + printed(said) + ": has an unknown key \"" +
                   key + "\"" + kHow};
  std::string name = said["class_name"].get<std::string>();
  Result<const Row *> row = find(name);
  if (!row)
    return row.error().in(where);
  std::string place = where + " " + name;
  Result<json> config =
      named(**row, said.contains("config") ? said["config"] : json::object());
  if (!config)
    return Error{place + " " + config.error().message};
  std::unique_ptr<Callback> callback = (*row)->make();
  CallbackOptions options(place, *config);
  callback->options(options);
  if (Status ok = options.finish(); !ok)
    return ok.error();
  callback->settings = {{"class_name", name}, {"config", options.settings()}};
  return callback;
}

} // namespace weft
