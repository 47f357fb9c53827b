#include "weft/training/callbacks/CallbackTable.h"

#include "weft/base/config/OptionReader.h"
#include "weft/base/config/OptionWriter.h"
#include "weft/base/config/PythonCall.h"
#include "weft/training/callbacks/BackupAndRestore.h"
#include "weft/training/callbacks/CSVLogger.h"
#include "weft/training/callbacks/EarlyStopping.h"
#include "weft/training/callbacks/LearningRateScheduler.h"
#include "weft/training/callbacks/ModelCheckpoint.h"
#include "weft/training/callbacks/ReduceLROnPlateau.h"
#include "weft/training/callbacks/TensorBoard.h"
#include "weft/training/callbacks/TerminateOnNaN.h"

namespace weft {

using keras::Json, keras::row;

static constexpr const char *kHow =
    "write it as EarlyStopping(patience=3) or {\"class_name\": "
    "\"EarlyStopping\", \"config\": {\"patience\": 3}}";

const keras::Table<Callback> &callbackTable() {
  static const keras::Table<Callback> table = {
      {"callback",
       "callbacks",
       {row<BackupAndRestore>("BackupAndRestore"), row<CSVLogger>("CSVLogger"),
        row<EarlyStopping>("EarlyStopping"),
        row<LearningRateScheduler>("LearningRateScheduler"),
        row<ModelCheckpoint>("ModelCheckpoint"),
        row<ReduceLROnPlateau>("ReduceLROnPlateau"),
        row<TensorBoard>("TensorBoard"),
        row<TerminateOnNaN>("TerminateOnNaN")}}};
  return table;
}

/// Names positional arguments, in Keras' order of parameters.
static Status nameArguments(const keras::TableRow &row, Json &config) {
  std::vector<keras::OptionRow> options =
      listOptions(*keras::AnyTable::make(row));
  for (size_t i = 0; config.is_object(); ++i) {
    auto found = config.find(std::to_string(i));
    if (found == config.end())
      break;
    if (i >= options.size() || config.contains(options[i].name))
      return Error{"takes " + std::to_string(options.size()) +
                   " arguments, each once; give them by name"};
    Json value = *found;
    config.erase(found);
    config[options[i].name] = std::move(value);
  }
  return {};
}

Result<std::shared_ptr<Callback>> makeCallback(const std::string &text,
                                               const std::string &where) {
  Result<Json> said = readPythonCall(text);
  if (!said)
    return Error{where + " " + text + ": " + said.error().message + "; " +
                 kHow};
  return makeCallback(*said, where);
}

Result<std::shared_ptr<Callback>> makeCallback(const Json &given,
                                               const std::string &where) {
  Json said = given;
  Json name = said.is_object() ? said.value("class_name", Json()) : Json();
  if (!name.is_string())
    return Error{where + " " + keras::shortText(said) +
                 ": names no callback; " + kHow};
  Status status;
  if (const auto *row = callbackTable().find(name.get<std::string>());
      row && said.contains("config"))
    status = nameArguments(*row, said["config"]);
  if (!status)
    return status.error().in(where + ": " + name.get<std::string>());
  auto made = std::static_pointer_cast<Callback>(
      readObject(said, callbackTable(), where, status));
  if (!status)
    return keras::oneError(status.error(), "callback",
                           "docs/fit.md lists the arguments");
  return made;
}

nlohmann::json settingsOf(const Callback &callback) {
  nlohmann::json config = nlohmann::json::parse(callback.config);
  for (const keras::OptionRow &option : listOptions(callback))
    if (option.type == keras::kFile)
      config.erase(option.name);
  return {{"class_name", callback.className}, {"config", config}};
}

} // namespace weft
