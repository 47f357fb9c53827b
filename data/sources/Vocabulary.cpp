#include "weft/data/sources/Vocabulary.h"

#include "weft/data/files/Files.h"

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace weft {

using nlohmann::json;

Result<Vocabulary> Vocabulary::beside(const std::string &weightsFile) {
  Vocabulary out;
  out.file = pathBeside(weightsFile);
  std::error_code none;
  if (!std::filesystem::exists(out.file, none))
    return out;
  Result<std::vector<uint8_t>> bytes = readFile(out.file);
  if (!bytes)
    return bytes.error();
  json said = json::parse(bytes->begin(), bytes->end(), nullptr, false);
  Error wrong{out.file + ": is no object of sorted lists of texts, as weft fit "
                         "writes it; train again, or remove it"};
  if (!said.is_object())
    return wrong;
  for (const auto &[column, texts] : said.items()) {
    std::vector<std::string> &list = out.columns[column];
    for (const json &text : texts.is_array() ? texts : json::array({0})) {
      if (!text.is_string())
        return wrong;
      list.push_back(text.get<std::string>());
    }
    if (std::adjacent_find(list.begin(), list.end(), std::greater_equal<>()) !=
        list.end())
      return wrong;
  }
  out.isRead = true;
  return out;
}

Status Vocabulary::writeBeside(const std::string &weightsFile) const {
  if (isEmpty())
    return {};
  Result<OutputFile> file = OutputFile::open(pathBeside(weightsFile));
  if (!file)
    return file.error();
  file->write(contents() + "\n");
  return file->commit();
}

std::optional<int64_t> Vocabulary::number(const std::string &column,
                                          const std::string &text) const {
  auto found = columns.find(column);
  if (found == columns.end())
    return std::nullopt;
  const std::vector<std::string> &texts = found->second;
  auto place = std::lower_bound(texts.begin(), texts.end(), text);
  if (place == texts.end() || *place != text)
    return std::nullopt;
  return place - texts.begin();
}

std::string Vocabulary::described(const std::string &column) const {
  constexpr size_t most = 8;
  auto found = columns.find(column);
  std::string out;
  size_t number = 0;
  if (found != columns.end())
    for (const std::string &text : found->second) {
      if (number == most)
        return out + " and " + std::to_string(found->second.size() - most) +
               " others";
      out += (number ? ", " : "") + std::to_string(number) + " " +
             text.substr(0, 40);
      ++number;
    }
  return out;
}

bool Vocabulary::isUtf8(const std::string &text) {
  std::string written =
      json(text).dump(-1, ' ', false, json::error_handler_t::replace);
  json read = json::parse(written, nullptr, false);
  return read.is_string() && read.get<std::string>() == text;
}

std::string Vocabulary::contents() const { return json(columns).dump(); }

} // namespace weft
