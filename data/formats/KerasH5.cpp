#include "weft/data/formats/KerasH5.h"

#include "weft/base/WriteAll.h"
#include "weft/data/files/Isolation.h"
#include "weft/data/formats/Hdf5Library.h"

#include <nlohmann/json.hpp>

namespace weft {

using namespace hdf5;
using nlohmann::json;

bool startsLikeHdf5(const std::string &start) {
  return start.starts_with("\x89HDF");
}

namespace {
using Texts = std::vector<std::string>;

/// The texts of an attribute of strings of one size each, ended by NULs.
std::optional<Texts> fixedTexts(hid_t attribute, hid_t type, size_t count) {
  size_t size = H5Tget_size(type);
  std::vector<char> bytes(size * count);
  if (!bytes.empty() && H5Aread(attribute, type, bytes.data()) < 0)
    return std::nullopt;
  Texts out;
  for (size_t i = 0; i < count; ++i) {
    std::string text(bytes.data() + i * size, size);
    out.push_back(text.substr(0, text.find('\0')));
  }
  return out;
}

std::optional<Texts> variableTexts(hid_t attribute, hid_t type, hid_t space,
                                   size_t count) {
  Handle memory(H5Tcopy(type), H5Tclose);
  std::vector<char *> read(count, nullptr);
  if (count && H5Aread(attribute, memory, read.data()) < 0)
    return std::nullopt;
  Texts out;
  for (char *text : read)
    out.emplace_back(text ? text : "");
  if (count)
    H5Dvlen_reclaim(memory, space, H5P_DEFAULT, read.data());
  return out;
}

/// The texts of an attribute, one or a list. h5py writes an empty list as
/// numbers.
std::optional<Texts> textsOf(hid_t object, const std::string &name,
                             uint64_t mostBytes) {
  if (H5Aexists(object, name.c_str()) <= 0)
    return std::nullopt;
  Handle attribute(H5Aopen(object, name.c_str(), H5P_DEFAULT), H5Aclose);
  if (attribute < 0)
    return std::nullopt;
  Handle type(H5Aget_type(attribute), H5Tclose),
      space(H5Aget_space(attribute), H5Sclose);
  hssize_t count = H5Sget_simple_extent_npoints(space);
  size_t size = H5Tget_size(type);
  if (count < 0 || !size || uint64_t(count) > mostBytes / size)
    return std::nullopt;
  if (H5Tget_class(type) != H5T_STRING)
    return count ? std::nullopt : std::optional(Texts());
  return H5Tis_variable_str(type) > 0
             ? variableTexts(attribute, type, space, size_t(count))
             : fixedTexts(attribute, type, size_t(count));
}

/// Reads the attributes of one file.
class ModelFile {
public:
  ModelFile(hid_t file, uint64_t mostBytes)
      : file(file), mostBytes(mostBytes) {}

  json read() const {
    json out = {{"version", text("keras_version")},
                {"config", text("model_config")},
                {"training", text("training_config")},
                {"layers", json::array()},
                {"optimizer", namesIn("optimizer_weights", "weight_names")}};
    // A model's file has a group of the layers; save_weights of Keras 1 and 2
    // puts them into the file itself.
    Texts alone = namesIn(".", "layer_names");
    const std::string group = alone.empty() ? "model_weights/" : "";
    const Texts layers =
        alone.empty() ? namesIn("model_weights", "layer_names") : alone;
    for (const std::string &layer : layers)
      out["layers"].push_back(
          {layer, group + layer, namesIn(group + layer, "weight_names")});
    return out;
  }

private:
  std::string text(const char *name) const {
    std::optional<Texts> found = textsOf(file, name, mostBytes);
    return found && found->size() == 1 ? found->front() : "";
  }

  /// A list in a group's attribute, or in NAME0, NAME1 and so on, into which
  /// Keras divides lists of more than 64 KiB.
  Texts namesIn(const std::string &path, const std::string &name) const {
    Handle group(H5Gopen2(file, path.c_str(), H5P_DEFAULT), H5Gclose);
    if (group < 0)
      return {};
    if (std::optional<Texts> whole = textsOf(group, name, mostBytes))
      return *whole;
    Texts out;
    for (size_t part = 0;; ++part) {
      std::optional<Texts> next =
          textsOf(group, name + std::to_string(part), mostBytes);
      if (!next)
        return out;
      out.insert(out.end(), next->begin(), next->end());
    }
  }

  hid_t file;
  uint64_t mostBytes;
};

Result<json> readAttributes(const OpenFile &opened, const std::string &path,
                            uint64_t mostBytes) {
  auto sent = runIsolated([&](int answer) {
    Quiet quiet;
    Handle file(openDescriptor(opened), H5Fclose);
    json out = file < 0 ? json() : ModelFile(file, mostBytes).read();
    std::string text = out.dump(-1, ' ', false, json::error_handler_t::replace);
    return writeAll(answer, text.data(), text.size());
  });
  if (!sent)
    return Error{path +
                 ": the HDF5 library cannot read it: " + sent.error().message +
                 "; the file is damaged, save the model again"};
  json out = json::parse(sent->begin(), sent->end(), nullptr, false);
  if (!out.is_object())
    return Error{path + ": is no HDF5 file that can be read; save the model "
                        "again with Keras"};
  return out;
}

/// The paths of the datasets in the file.
Texts pathsOf(const std::string &group, const json &names) {
  Texts out;
  for (const json &name : names)
    out.push_back(group + "/" + name.get<std::string>());
  return out;
}
} // namespace

bool KerasH5::isOfKeras3() const { return version.starts_with("3."); }

bool KerasH5::hasOlderOptimizer() const {
  return !optimizer.empty() && !isOfKeras3();
}

Result<KerasH5> readKerasH5(const std::string &path, const ReadLimits &limits) {
  Result<KerasH5> out = readLayersH5(path, limits);
  if (out && out->config.empty())
    return Error{path +
                 ": holds no model, as it has no attribute "
                 "\"model_config\"; a file of weights goes to " +
                 Option{"weights"} + ", beside the model's own file"};
  return out;
}

Result<KerasH5> readLayersH5(const std::string &path,
                             const ReadLimits &limits) {
  Result<OpenFile> file = openToRead(path), again = openToRead(path);
  if (!file || !again)
    return (file ? again : file).error();
  // Links to other files are refused before any attribute is read.
  Result<std::vector<StoredArray>> arrays =
      openHdf5(std::move(*file), path, limits);
  if (!arrays)
    return arrays.error();
  Result<json> read = readAttributes(*again, path, limits.json);
  if (!read)
    return read.error();
  KerasH5 out;
  out.version = read->at("version");
  out.config = read->at("config");
  out.training = read->at("training");
  for (const json &layer : read->at("layers"))
    out.layers.push_back({layer.at(0), pathsOf(layer.at(1), layer.at(2))});
  out.optimizer = pathsOf("optimizer_weights", read->at("optimizer"));
  out.arrays = std::move(*arrays);
  return out;
}

} // namespace weft
