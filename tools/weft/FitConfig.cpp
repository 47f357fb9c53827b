#include "weft/tools/weft/FitConfig.h"

#include "weft/base/config/Json.h"
#include "weft/data/files/Files.h"

#include <algorithm>

using namespace weft;
using namespace weft::tool;
using keras::Json;

namespace {

using Words = std::vector<std::string>;

/// Converts a key to a flag, or a flag to a key.
std::string exchanged(std::string name, char from, char to) {
  std::replace(name.begin(), name.end(), from, to);
  return name;
}

bool isGiven(const Words &words, const std::string &flag) {
  return std::any_of(words.begin(), words.end(), [&](const std::string &word) {
    return word == flag || word.starts_with(flag + "=");
  });
}

std::string textOf(const Json &value) {
  return value.is_string() ? value.get<std::string>() : value.dump();
}

/// The values of one flag: for {"NAME": "f.npz:x"}, NAME=f.npz:x.
Words valuesOf(const Json &value) {
  Words out;
  for (const auto &[name, one] : value.items())
    out.push_back(value.is_object() ? name + "=" + textOf(one) : textOf(one));
  return out;
}

Words wordsOf(const std::string &flag, const CLI::Option &option,
              const Json &value) {
  if (value.is_null())
    return {};
  if (option.get_items_expected_max() == 0) // a flag without a value
    return value == true ? Words{flag} : Words{};
  bool isRepeated = option.get_items_expected_max() > 1;
  Words out;
  if (isRepeated && value.is_structured()) {
    for (const std::string &one : valuesOf(value))
      out.insert(out.end(), {flag, one});
    return out;
  }
  bool isList = value.is_array() &&
                std::any_of(value.begin(), value.end(),
                            [](const Json &one) { return !one.is_number(); });
  if (!isList)
    return {flag, textOf(value)};
  std::string joined;
  for (const std::string &one : valuesOf(value))
    joined += (joined.empty() ? "" : ",") + one;
  return {flag, joined};
}

class ConfigFile {
public:
  ConfigFile(const CLI::App &command, std::string path,
             const Words &given [[clang::lifetimebound]])
      : path(std::move(path)), given(given) {
    for (const CLI::Option *option : command.get_options())
      for (const std::string &name : option->get_lnames())
        if (name != "help" && name != "config" && name != "callback")
          options[exchanged(name, '-', '_')] = option;
  }

  Result<Words> read() const {
    auto bytes = readFile(path);
    if (!bytes)
      return bytes.error();
    Result<Json> said = keras::parseJson(
        {reinterpret_cast<const char *>(bytes->data()), bytes->size()});
    if (!said)
      return said.error().in(path);
    if (!said->is_object())
      return Error{path + ": is no object of JSON; write {\"epochs\": 3}"};
    Words out;
    for (const auto &[key, value] : said->items()) {
      Result<Words> words = entry(key, value);
      if (!words)
        return words.error();
      // The model comes first, as flags with several values would consume it.
      out.insert(key == "model" ? out.begin() : out.end(), words->begin(),
                 words->end());
    }
    return out;
  }

private:
  Result<Words> entry(const std::string &key, const Json &value) const {
    Words out;
    if (key == "model" && value.is_string())
      return namesModel() ? Words() : Words{value.get<std::string>()};
    if (key == "callbacks" && value.is_array()) {
      for (const Json &one : value)
        out.insert(out.end(), {"--callback", textOf(one)});
      return isGiven(given, "--callback") ? Words() : out;
    }
    auto found = options.find(key);
    if (found == options.end())
      return Error{path + ": " + complaint(key, value)};
    std::string flag = "--" + exchanged(key, '_', '-');
    return isGiven(given, flag) ? Words()
                                : wordsOf(flag, *found->second, value);
  }

  std::string complaint(const std::string &key, const Json &value) const {
    if (key == "model" || key == "callbacks")
      return "\"" + key + "\" must be " +
             (key == "model" ? "the name of a file" : "a list") + ", not " +
             value.dump() + "; docs/fit.md has an example";
    std::set<std::string> known = {"model", "callbacks"};
    for (const auto &[name, option] : options)
      known.insert(name);
    std::string meant = closestName(key, known);
    return "weft fit has no argument \"" + key + "\"; " +
           (meant.empty() ? "docs/fit.md and weft fit --help list them"
                          : "did you mean \"" + meant + "\"?");
  }

  /// Whether a word names the model, which is not the value of a flag.
  bool namesModel() const {
    for (size_t i = 1; i < given.size(); ++i) {
      if (!given[i].starts_with("-"))
        return true;
      auto found = options.find(exchanged(
          given[i].substr(std::min<size_t>(2, given[i].size())), '-', '_'));
      bool takesNext = given[i] == "--config" || given[i] == "--callback" ||
                       (found != options.end() &&
                        found->second->get_items_expected_max() > 0);
      i += takesNext;
    }
    return false;
  }

  std::string path;
  const Words &given;
  std::map<std::string, const CLI::Option *> options; ///< indexed by key
};

} // namespace

Result<Words> weft::tool::withConfig(const CLI::App &command,
                                     const Words &words) {
  std::string path;
  for (size_t i = 1; i < words.size(); ++i) {
    if (words[i] == "--config" && i + 1 < words.size())
      path = words[i + 1];
    else if (words[i].starts_with("--config="))
      path = words[i].substr(9);
  }
  if (path.empty())
    return words;
  Result<Words> read = ConfigFile(command, path, words).read();
  if (!read)
    return read.error();
  Words out = {words[0]};
  out.insert(out.end(), read->begin(), read->end());
  out.insert(out.end(), words.begin() + 1, words.end());
  return out;
}
