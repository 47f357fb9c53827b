#include "weft/training/callbacks/CSVLogger.h"

#include "weft/data/files/Files.h"
#include "weft/training/callbacks/PythonText.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <filesystem>

namespace weft {

void CSVLogger::options(keras::Options &o) {
  o.required("filename");
  o.file("filename", filename);
  o.text("separator", separator);
  o.flag("append", appends);
  bool isPlain = separator.size() == 1 &&
                 std::string("\"\r\n").find(separator) == std::string::npos;
  o.check(isPlain, "\"separator\" must be one character, not \"" + separator +
                       "\"; give \",\" or \";\"");
}

Status CSVLogger::readOld() {
  std::error_code ignored;
  if (!std::filesystem::exists(filename, ignored))
    return {};
  auto bytes = readFile(filename);
  if (!bytes)
    return bytes.error();
  text.assign(bytes->begin(), bytes->end());
  return {};
}

Status CSVLogger::trainBegin(TrainingRun &run) {
  if (!run.writesFiles())
    return {};
  text.clear();
  keys.clear();
  auto file = OutputFile::open(filename);
  if (!file)
    return file.error();
  return appends ? readOld() : Status{};
}

void CSVLogger::addRow(const std::vector<std::string> &fields) {
  for (size_t i = 0; i < fields.size(); ++i) {
    std::string field = fields[i];
    if (field.find_first_of(separator + "\"\r\n") != std::string::npos) {
      for (size_t at = 0; (at = field.find('"', at)) != field.npos; at += 2)
        field.insert(at, "\"");
      field = "\"" + field + "\"";
    }
    text += (i ? separator : "") + field;
  }
  text += "\r\n";
}

/// The field of a value as in Keras: a list is in quotes.
static std::string fieldOf(const LogValue &value) {
  if (!value.list())
    return pythonText(value.shown());
  std::string numbers;
  for (float each : *value.list()) {
    char shortest[64] = {}; // digits of the float, as NumPy writes it
    std::to_chars(shortest, std::end(shortest) - 1, each);
    numbers += (numbers.empty() ? "" : ", ") +
               pythonText(std::strtod(shortest, nullptr));
  }
  return "\"[" + numbers + "]\"";
}

Status CSVLogger::epochEnd(TrainingRun &run, Logs &logs) {
  if (!run.writesFiles())
    return {};
  if (keys.empty()) {
    for (const auto &[name, value] : logs)
      keys.push_back(name);
    std::sort(keys.begin(), keys.end());
    bool validates = std::any_of(keys.begin(), keys.end(), [](const auto &key) {
      return key.starts_with("val_");
    });
    for (size_t i = 0, count = keys.size(); !validates && i < count; ++i)
      keys.push_back("val_" + keys[i]);
    std::vector<std::string> head = {"epoch"};
    head.insert(head.end(), keys.begin(), keys.end());
    if (text.empty())
      addRow(head);
  }
  std::vector<std::string> row = {std::to_string(run.epoch)};
  for (const std::string &key : keys) {
    auto found = std::find_if(logs.begin(), logs.end(), [&](const auto &entry) {
      return entry.first == key;
    });
    row.push_back(found == logs.end() ? "NA" : fieldOf(found->second));
  }
  addRow(row);
  auto file = OutputFile::open(filename);
  if (!file)
    return file.error();
  file->write(text);
  return file->commit();
}

void CSVLogger::save(Checkpoint &to) const {
  to.said = {{"bytes", text.size()}, {"keys", keys}};
}

Status CSVLogger::resume(TrainingRun &, const Checkpoint &from) {
  if (Status ok = readOld(); !ok)
    return ok;
  text.resize(std::min<size_t>(text.size(), size_t(from.integer("bytes"))));
  keys.clear();
  if (from.said.is_object() && from.said.contains("keys"))
    for (const auto &key : from.said["keys"])
      if (key.is_string() && !text.empty())
        keys.push_back(key.get<std::string>());
  return {};
}

} // namespace weft
