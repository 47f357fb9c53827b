//===- DistributionReader.cpp - distribution files ------------------------===//

#include "weft/base/DeviceList.h"
#include "weft/base/config/Json.h"
#include "weft/compiler/frontends/keras/distribution/Distribution.h"

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
              Status &status) {
  Fields f(json, "device_mesh", status);
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
  // The mesh is checked before its sizes are multiplied.
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

/// Reads "x" or "x:(2)4".
std::string readAxis(const std::string &text, const Mesh &mesh, SubAxes &out) {
  size_t digit = text.find(":(");
  std::string name = digit == text.npos ? text : text.substr(0, digit);
  std::optional<unsigned> axis = mesh.find(name);
  if (!axis) {
    return "axis " + inQuotes(name) + " is not in the mesh; its axes are " +
           axisNames(mesh);
  }
  SubAxis sub = fullAxis(mesh, *axis);
  if (digit != text.npos) {
    const char *at = text.data() + digit + 2, *end = text.data() + text.size();
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

/// Reads one entry for each dimension: an axis, a list of axes, or null.
void readLayout(const Json &value, const Distribution &distribution, Fields &f,
                Layout &layout) {
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
    layout.dims.push_back(axes);
  }
  std::string reason =
      invalidReason(distribution.mesh, layout, layout.dims.size());
  if (!reason.empty())
    f.refuse(reason + "; a layout names each axis at most once");
}

void readRule(const std::string &key, const Json &value, LayoutRule::Map map,
              Distribution &distribution, Status &status) {
  LayoutRule rule{key, {}, map};
  const Json none = Json::object();
  Fields f(none, std::string(rule.mapName()) + " " + inQuotes(key), status);
  readLayout(value, distribution, f, rule.layout);
  if (!f.failed())
    distribution.rules.push_back(std::move(rule));
}

void readMode(Fields &f, Distribution &out) {
  static const std::map<std::string, RegexMode> modes = {
      {"fullmatch", RegexMode::FullMatch},
      {"search", RegexMode::Search},
      {"first-match", RegexMode::FirstMatch}};
  std::string regex = f.text("regex", "fullmatch");
  auto mode = modes.find(regex);
  if (mode == modes.end())
    f.refuse("\"regex\" is " + inQuotes(regex) +
             "; known are first-match, fullmatch, search");
  else
    out.regex = mode->second;
}

/// Reads the rules of one map; returns false if the JSON is not an object.
bool readRules(const Json *rules, LayoutRule::Map map, Distribution &out,
               Status &status) {
  if (!rules || !rules->is_object())
    return false;
  for (auto it = rules->begin(); it != rules->end() && status; ++it)
    readRule(it.key(), it.value(), map, out, status);
  return true;
}

void readBatchAxis(Fields &f, Distribution &out) {
  out.batchAxis = f.text("batch_dim_name", out.batchAxis);
  if (!out.mesh.find(out.batchAxis))
    f.refuse("\"batch_dim_name\" " + inQuotes(out.batchAxis) +
             " is no axis of the mesh; its axes are " + axisNames(out.mesh));
}

void readModelParallel(Fields &f, Distribution &out, Status &status) {
  readBatchAxis(f, out);
  readMode(f, out);
  if (!readRules(f.find("layout_map"), LayoutRule::Map::Layouts, out, status))
    f.refuse("ModelParallel needs a \"layout_map\"");
}

/// The layouts of the arrays of a batch, by rank.
class DataLayouts : public Strategy {
public:
  std::string name() const override { return "data_layout"; }
  std::optional<Layout>
  dataLayout(llvm::ArrayRef<int64_t> shape) const override {
    auto found = ofRank.find(int64_t(shape.size()));
    Layout layout = found == ofRank.end() ? otherwise : found->second;
    // An array of lower rank takes the leading dimensions of the layout.
    layout.dims.resize(std::min(layout.dims.size(), shape.size()));
    return layout;
  }

  std::map<int64_t, Layout> ofRank;
  Layout otherwise;
};

/// Reads one layout for arrays of every rank, or an object of layouts by rank.
void readDataLayout(const Json &value, Distribution &out, Status &status) {
  auto layouts = std::make_shared<DataLayouts>();
  out.strategy = layouts;
  const Json none = Json::object();
  if (!value.is_object()) {
    Fields f(none, "data_layout", status);
    return readLayout(value, out, f, layouts->otherwise);
  }
  for (auto it = value.begin(); it != value.end() && status; ++it) {
    Fields f(none, "data_layout " + inQuotes(it.key()), status);
    int64_t rank = 0;
    const char *end = it.key().data() + it.key().size();
    auto [at, status] = std::from_chars(it.key().data(), end, rank);
    if (status != std::errc() || at != end || rank < 1)
      return f.refuse("must be the rank of arrays, such as \"2\"");
    Layout &layout = layouts->ofRank[rank];
    readLayout(it.value(), out, f, layout);
    if (int64_t(layout.dims.size()) > rank)
      f.refuse("has " + std::to_string(layout.dims.size()) +
               " entries; arrays of this rank have " + std::to_string(rank) +
               " dimensions");
  }
}

/// Reads tables of the results of keras.distribution.Distribution's methods.
void readOwn(Fields &f, Distribution &out, Status &status) {
  readBatchAxis(f, out);
  readMode(f, out);
  out.hasOwnMaps = true;
  for (auto map : {LayoutRule::Map::Variables, LayoutRule::Map::Tensors}) {
    const char *name = LayoutRule{"", {}, map}.mapName();
    const Json *rules = f.find(name);
    if (!readRules(rules, map, out, status) && rules && !rules->is_null())
      f.refuse(inQuotes(name) + " must be an object of layouts by path");
  }
  if (const Json *data = f.find("data_layout"); data && !data->is_null())
    readDataLayout(*data, out, status);
}

/// The axis that "axis" names; nothing, with an error, if the mesh has none.
std::optional<unsigned> findAxis(const std::string &name, const Mesh &mesh,
                                 Fields &fields) {
  std::optional<unsigned> axis = mesh.find(name);
  if (!axis)
    fields.refuse("\"axis\" " + inQuotes(name) +
                  " is no axis of the mesh; its axes are " + axisNames(mesh));
  return axis;
}

/// Reads {"axis": "branch", "layers": {"user_tower/.*": 0}}.
void readPlacement(const Json &value, Distribution &out, Status &status) {
  Fields f(value, "placements", status);
  std::string name = f.text("axis", "");
  const Json *layers = f.find("layers");
  f.finish();
  std::optional<unsigned> axis = findAxis(name, out.mesh, f);
  if (!axis)
    return;
  if (!layers || !layers->is_object())
    return f.refuse("\"layers\" must be an object of coordinates by path of a "
                    "layer; write for example {\"user_tower/.*\": 0}");
  int64_t size = out.mesh.axes[*axis].size;
  for (auto it = layers->begin(); it != layers->end() && status; ++it) {
    const Json &at = it.value();
    if (!at.is_number_integer() || at.get<int64_t>() < 0 ||
        at.get<int64_t>() >= size)
      return f.refuse(inQuotes(it.key()) + " must be on one coordinate of " +
                      inQuotes(name) + ", 0 to " + std::to_string(size - 1) +
                      ", not " + shortText(at));
    out.placements.push_back({it.key(), {*axis, at.get<int64_t>()}});
  }
}

/// Reads one object of "placements", or a list of them.
void readPlacements(const Json *value, Distribution &out, Status &status) {
  if (!value)
    return;
  if (!value->is_array())
    return readPlacement(*value, out, status);
  for (const Json &one : *value)
    readPlacement(one, out, status);
}

/// Reads the patterns of the stages of a pipeline, as placements.
void readStages(const Json *value, Fields &f, Distribution &out) {
  Pipeline &pipeline = *out.pipeline;
  const MeshAxis &axis = out.mesh.axes[pipeline.axis];
  pipeline.count = axis.size;
  pipeline.isAuto = value && *value == "auto";
  if (pipeline.isAuto)
    return;
  auto isList = [](const Json &each) {
    return each.is_array() && !each.empty() &&
           std::ranges::all_of(each,
                               [](const Json &key) { return key.is_string(); });
  };
  if (!value || !value->is_array() || value->empty() ||
      !std::ranges::all_of(*value, isList))
    return f.refuse("\"stages\" must be \"auto\" or a list of lists of paths "
                    "of layers; write for example [[\"embed\", "
                    "\"block_[0-3]\"], [\"block_[4-7]\", \"head\"]]");
  // Schedules that are known by these names have one chunk for each stage.
  bool isWhole = pipeline.schedule == "gpipe" || pipeline.schedule == "1f1b" ||
                 pipeline.schedule == "zb-h1";
  auto lists = int64_t(value->size());
  if (lists % axis.size != 0 || (isWhole && lists != axis.size))
    return f.refuse("\"stages\" has " + std::to_string(lists) +
                    " lists, and axis " + inQuotes(axis.name) + " has " +
                    std::to_string(axis.size) +
                    " coordinates; give each coordinate one stage, or the axis "
                    "another size" +
                    (lists % axis.size == 0
                         ? ", or the schedule \"interleaved\", which has "
                           "several chunks for each stage"
                         : ""));
  for (const Json &list : *value) {
    auto stage = int64_t(pipeline.stages.size());
    std::vector<std::string> &keys = pipeline.stages.emplace_back();
    for (const Json &key : list) {
      keys.push_back(key.get<std::string>());
      out.placements.push_back(
          {keys.back(),
           {pipeline.axis, stage % pipeline.count},
           "pipeline, stage " + std::to_string(stage) + ":",
           stage});
    }
  }
}

/// Reads {"axis": "stage", "stages": [["a"], ["b"]], "microbatches": 4,
/// "schedule": "1f1b"}.
void readPipeline(const Json *value, Distribution &out, Status &status) {
  if (!value)
    return;
  Fields f(*value, "pipeline", status);
  std::string name = f.text("axis", "");
  const Json *stages = f.find("stages");
  Pipeline pipeline;
  pipeline.microbatches = f.integer("microbatches", 1);
  pipeline.schedule = f.text("schedule", "1f1b");
  f.finish();
  std::optional<unsigned> axis = findAxis(name, out.mesh, f);
  if (!axis)
    return;
  constexpr int64_t kMost = 1 << 20;
  if (pipeline.microbatches < 1 || pipeline.microbatches > kMost)
    return f.refuse("\"microbatches\" is " +
                    std::to_string(pipeline.microbatches) +
                    "; write a number from 1 to " + std::to_string(kMost));
  pipeline.axis = *axis;
  out.pipeline = std::move(pipeline);
  readStages(stages, f, out);
}

struct DistributionClass {
  const char *name;
  bool needsMesh;
  void (*read)(Fields &f, Distribution &out, Status &status);
};
constexpr DistributionClass classes[] = {
    {"DataParallel", false, nullptr},
    {"ModelParallel", true, readModelParallel},
    {"Distribution", true, readOwn},
};

void read(const Json &json, int64_t deviceCount, Distribution &out,
          Status &status) {
  Fields top(json, "", status);
  std::string className = top.text("class_name", "");
  const Json *config = top.find("config");
  top.accept({"module", "registered_name"});
  top.finish();
  const auto *kind = std::find_if(
      std::begin(classes), std::end(classes),
      [&](const DistributionClass &known) { return className == known.name; });
  if (kind == std::end(classes))
    top.refuse("distribution " + inQuotes(className) +
               " is not known; known are DataParallel, ModelParallel, and "
               "Distribution for one of your own");
  if (!config)
    top.refuse("a distribution needs a \"config\"");
  if (!status)
    return;
  Fields f(*config, "config", status);
  f.accept({"auto_shard_dataset"}); // no effect in one process
  out.dataParallel = !kind->needsMesh;
  const Json *mesh = f.find("device_mesh");
  const Json *devices = out.dataParallel ? f.find("devices") : nullptr;
  if (mesh) {
    readMesh(*mesh, deviceCount, out.mesh, status);
  } else if (!out.dataParallel) {
    f.refuse(className + " needs a \"device_mesh\"");
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
  if (!status)
    return;
  out.batchAxis = out.mesh.axes[0].name;
  if (kind->read)
    kind->read(f, out, status);
  readPlacements(f.find("placements"), out, status);
  readPipeline(f.find("pipeline"), out, status);
  f.finish();
}

} // namespace

weft::Result<Distribution> weft::keras::readDistribution(std::string_view text,
                                                         int64_t deviceCount) {
  Result<Json> json = parseJson(text);
  Status status = json ? Status() : json.error();
  Distribution out;
  try {
    if (status)
      read(*json, deviceCount, out, status);
  } catch (const std::exception &failure) {
    status = Error{std::string("cannot be read: ") + failure.what()};
  }
  if (!status)
    return Error{
        withFix(status.error().message,
                "write it as keras.distribution's constructors take it")};
  return out;
}

Distribution weft::keras::dataParallel(int64_t deviceCount) {
  Distribution out;
  out.dataParallel = true;
  out.mesh.axes.push_back({"batch", deviceCount});
  out.batchAxis = "batch";
  return out;
}
