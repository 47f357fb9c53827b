//===- DistributionReader.cpp - distribution files ------------------------===//

#include "weft/compiler/frontends/keras/distribution/Distribution.h"
#include "weft/compiler/frontends/keras/schema/Json.h"
#include "weft/runtime/abi/DeviceList.h"

#include <algorithm>
#include <charconv>

using namespace weft;
using namespace weft::keras;

namespace {

void readDevices(const Json &list, int64_t deviceCount, Fields &f, Mesh &mesh) {
  if (!list.is_array())
    return f.refuse("\"devices\" must be a list of names such as " +
                    inQuotes(DeviceName{}.text()));
  for (const Json &device : list) {
    std::optional<DeviceName> name;
    if (device.is_string())
      name = DeviceName::parse(device.get<std::string>());
    if (!name || (deviceCount && name->index >= deviceCount))
      return f.refuse(
          "device " + shortText(device) + " does not exist; " +
          (deviceCount ? "names are " + DeviceName{}.text() + " to " +
                             DeviceName{DeviceKind::Cpu, deviceCount - 1}.text()
                       : "names are such as " + inQuotes(DeviceName{}.text())));
    mesh.devices.push_back(name->index);
  }
  bool identity = true;
  for (size_t i = 0; i < mesh.devices.size(); ++i)
    identity &= mesh.devices[i] == int64_t(i);
  if (identity)
    mesh.devices.clear();
}

void readMesh(const Json &json, int64_t deviceCount, Mesh &mesh,
              std::string &error) {
  Fields f(json, "device_mesh", error);
  std::vector<int64_t> shape = f.shape("shape");
  std::vector<std::string> names;
  if (const Json *list = f.find("axis_names"); list && list->is_array())
    for (const Json &name : *list)
      names.push_back(name.is_string() ? name.get<std::string>() : "");
  const Json *devices = f.find("devices");
  f.finish();
  if (shape.empty() || names.empty())
    f.refuse("\"shape\" and \"axis_names\" cannot be empty; write for example "
             "\"shape\": [2, 4], \"axis_names\": [\"data\", \"model\"]");
  else if (shape.size() != names.size())
    f.refuse("\"shape\" has " + std::to_string(shape.size()) +
             " entries, \"axis_names\" " + std::to_string(names.size()) +
             "; give each axis a size and a name");
  if (f.failed())
    return;
  for (size_t i = 0; i < shape.size(); ++i)
    mesh.axes.push_back({names[i], shape[i]});
  // Before anything multiplies the sizes.
  if (std::string reason = mesh.invalidReason(); !reason.empty())
    return f.refuse(reason);
  if (devices && devices->is_array() && int64_t(devices->size()) != mesh.size())
    f.refuse("\"shape\" wants " + std::to_string(mesh.size()) +
             " devices, \"devices\" lists " + std::to_string(devices->size()) +
             "; list as many, or null for the first ones");
  if (devices)
    readDevices(*devices, deviceCount, f, mesh);
  if (deviceCount && mesh.size() > deviceCount)
    f.refuse("the mesh has " + std::to_string(mesh.size()) +
             " devices, there are " + std::to_string(deviceCount) +
             "; give more with --devices " +
             DeviceList{DeviceKind::Cpu, mesh.size()}.text());
  if (std::string reason = mesh.invalidReason(); !reason.empty())
    f.refuse(reason);
}

std::string axisNames(const Mesh &mesh) {
  std::vector<std::string> names;
  for (const MeshAxis &axis : mesh.axes)
    names.push_back(axis.name);
  return listed(names);
}

/// "x" or "x:(2)4".
std::string readAxis(const std::string &text, const Mesh &mesh, SubAxes &out) {
  size_t part = text.find(":(");
  std::string name = part == text.npos ? text : text.substr(0, part);
  std::optional<unsigned> axis = mesh.find(name);
  if (!axis) {
    return "axis " + inQuotes(name) + " is not in the mesh; its axes are " +
           axisNames(mesh);
  }
  SubAxis sub = wholeAxis(mesh, *axis);
  if (part != text.npos) {
    const char *at = text.data() + part + 2, *end = text.data() + text.size();
    auto skip = std::from_chars(at, end, sub.skip);
    if (skip.ec != std::errc() || skip.ptr == end || *skip.ptr != ')')
      return "part " + inQuotes(text) + " of an axis is not of the form x:(2)4";
    auto size = std::from_chars(skip.ptr + 1, end, sub.size);
    if (size.ec != std::errc() || size.ptr != end || sub.skip < 1 ||
        sub.size < 1)
      return "part " + inQuotes(text) + " of an axis is not of the form x:(2)4";
  }
  out.push_back(sub);
  return "";
}

void readRule(const std::string &key, const Json &value,
              Distribution &distribution, std::string &error) {
  Fields f(Json::object(), "layout_map " + inQuotes(key), error);
  LayoutRule rule;
  rule.key = key;
  if (!value.is_array())
    return f.refuse("must be a list with one entry for each dimension, not " +
                    shortText(value) + "; write for example [null, " +
                    inQuotes(distribution.batchAxis) + "]");
  for (const Json &dim : value) {
    SubAxes axes;
    Json list = dim.is_array()  ? dim
                : dim.is_null() ? Json::array()
                                : Json::array({dim});
    for (const Json &axis : list) {
      std::string reason =
          axis.is_string()
              ? readAxis(axis.get<std::string>(), distribution.mesh, axes)
              : "an axis must be a name, not " + shortText(axis);
      if (!reason.empty())
        return f.refuse(reason);
    }
    rule.layout.dims.push_back(axes);
  }
  std::string reason =
      invalidReason(distribution.mesh, rule.layout, rule.layout.dims.size());
  if (!reason.empty())
    return f.refuse(reason + "; a layout names each axis at most once");
  distribution.rules.push_back(std::move(rule));
}

void readModelParallel(Fields &f, Distribution &out, std::string &error) {
  static const std::map<std::string, RegexMode> modes = {
      {"fullmatch", RegexMode::FullMatch},
      {"search", RegexMode::Search},
      {"first-match", RegexMode::FirstMatch}};
  const Json *rules = f.find("layout_map");
  std::string regex = f.text("regex", "fullmatch");
  auto mode = modes.find(regex);
  if (mode == modes.end())
    f.refuse("\"regex\" is " + inQuotes(regex) +
             "; known are first-match, fullmatch, search");
  else
    out.regex = mode->second;
  if (!rules || !rules->is_object())
    f.refuse("ModelParallel needs a \"layout_map\"");
  else
    for (auto it = rules->begin(); it != rules->end() && error.empty(); ++it)
      readRule(it.key(), it.value(), out, error);
}

void read(const Json &json, int64_t deviceCount, Distribution &out,
          std::string &error) {
  Fields top(json, "", error);
  std::string className = top.text("class_name", "");
  const Json *config = top.find("config");
  top.accept({"module", "registered_name"});
  top.finish();
  if (className != "DataParallel" && className != "ModelParallel")
    top.refuse("distribution " + inQuotes(className) +
               " is not known; known are DataParallel, ModelParallel");
  if (!config)
    top.refuse("a distribution needs a \"config\"");
  if (!error.empty())
    return;
  Fields f(*config, "config", error);
  f.accept({"auto_shard_dataset"}); // no effect in one process
  out.dataParallel = className == "DataParallel";
  const Json *mesh = f.find("device_mesh");
  const Json *devices = out.dataParallel ? f.find("devices") : nullptr;
  if (mesh) {
    readMesh(*mesh, deviceCount, out.mesh, error);
  } else if (!out.dataParallel) {
    f.refuse("ModelParallel needs a \"device_mesh\"");
  } else {
    int64_t count =
        devices && devices->is_array() ? devices->size() : deviceCount;
    if (count < 1)
      f.refuse("the number of devices is not known; give \"device_mesh\" or "
               "--devices cpu:N");
    out.mesh.axes.push_back({"batch", count});
    if (devices)
      readDevices(*devices, deviceCount, f, out.mesh);
  }
  if (!error.empty())
    return;
  out.batchAxis = out.mesh.axes[0].name;
  if (!out.dataParallel) {
    out.batchAxis = f.text("batch_dim_name", out.batchAxis);
    if (!out.mesh.find(out.batchAxis))
      f.refuse("\"batch_dim_name\" " + inQuotes(out.batchAxis) +
               " is no axis of the mesh; its axes are " + axisNames(out.mesh));
    readModelParallel(f, out, error);
  }
  f.finish();
}

} // namespace

Result<Distribution> weft::keras::readDistribution(std::string_view text,
                                                   int64_t deviceCount) {
  Json json;
  std::string error = parseJson(text, json);
  Distribution out;
  try {
    if (error.empty())
      read(json, deviceCount, out, error);
  } catch (const std::exception &failure) {
    error = std::string("cannot be read: ") + failure.what();
  }
  if (!error.empty())
    return Result<Distribution>::failure(
        mended(error, "write it as keras.distribution's constructors take it"));
  return {std::move(out), ""};
}

Distribution weft::keras::dataParallel(int64_t deviceCount) {
  Distribution out;
  out.dataParallel = true;
  out.mesh.axes.push_back({"batch", deviceCount});
  out.batchAxis = "batch";
  return out;
}
