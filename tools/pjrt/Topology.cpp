//===- Topology.cpp - devices that are described only ---------------------===//
//
//   topologies.get_topology_desc("cpu:8", platform="weft")
//
// Programs can be compiled for devices that this machine lacks, and serialized;
// a topology serializes as its name, cpu:8.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"

using namespace weft::pjrt;

struct PJRT_SerializedTopology {
  std::string text;
};

weft::Result<weft::DeviceList> weft::pjrt::parseDevices(std::string_view text) {
  return text.empty() ? DeviceList{}
                      : DeviceList::parse(text, 4096, /*kinds=*/1);
}

PJRT_DeviceDescription weft::pjrt::describeDevice(int id) {
  return {id, "WeftDevice(id=" + std::to_string(id) + ")"};
}

namespace {

/// Makes a topology; without a name, of the devices of WEFT_DEVICES.
PJRT_Error *make(std::string name, PJRT_TopologyDescription *&out) {
  if (name.empty())
    if (const char *devices = std::getenv("WEFT_DEVICES"))
      name = devices;
  auto devices = parseDevices(name);
  if (!devices)
    return error(kInvalidArgument, "topology name: " + devices.message());
  auto topology = std::make_unique<PJRT_TopologyDescription>();
  for (int id = 0; id < devices->count; ++id) {
    topology->owned.push_back(
        std::make_unique<PJRT_DeviceDescription>(describeDevice(id)));
    topology->descriptions.push_back(topology->owned.back().get());
  }
  out = topology.release();
  return nullptr;
}

PJRT_Error *create(TopologyDescription_Create_Args *args) {
  return make(std::string(args->topology_name, args->topology_name_size),
              args->topology);
}

PJRT_Error *destroy(TopologyDescription_Destroy_Args *args) {
  delete args->topology;
  return nullptr;
}

PJRT_Error *serialize(TopologyDescription_Serialize_Args *args) {
  weft::DeviceList devices{weft::DeviceKind::Cpu,
                           int64_t(args->topology->descriptions.size())};
  auto *kept = new PJRT_SerializedTopology{devices.text()};
  args->serialized_bytes = kept->text.data();
  args->serialized_bytes_size = kept->text.size();
  args->serialized_topology = kept;
  args->serialized_topology_deleter = [](PJRT_SerializedTopology *owner) {
    delete owner;
  };
  return nullptr;
}

PJRT_Error *deserialize(TopologyDescription_Deserialize_Args *args) {
  return make(
      std::string(args->serialized_topology, args->serialized_topology_size),
      args->topology);
}

PJRT_Error *ofClient(Client_TopologyDescription_Args *args) {
  args->topology = &args->client->topology;
  return nullptr;
}

PJRT_Error *devices(TopologyDescription_GetDeviceDescriptions_Args *args) {
  args->descriptions = args->topology->descriptions.data();
  args->num_descriptions = args->topology->descriptions.size();
  return nullptr;
}

PJRT_Error *attributes(TopologyDescription_Attributes_Args *args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  return nullptr;
}

PJRT_Error *platformName(TopologyDescription_PlatformName_Args *args) {
  args->platform_name = kPlatformName.data();
  args->platform_name_size = kPlatformName.size();
  return nullptr;
}

PJRT_Error *platformVersion(TopologyDescription_PlatformVersion_Args *args) {
  const std::string &version = args->topology->compiler.version();
  args->platform_version = version.data();
  args->platform_version_size = version.size();
  return nullptr;
}

} // namespace

void weft::pjrt::setTopologyFunctions(Function *table) {
  set(table, kTopologyDescription_Create, create);
  set(table, kTopologyDescription_Destroy, destroy);
  set(table, kTopologyDescription_Serialize, serialize);
  set(table, kTopologyDescription_Deserialize, deserialize);
  set(table, kClient_TopologyDescription, ofClient);
  set(table, kTopologyDescription_PlatformName, platformName);
  set(table, kTopologyDescription_PlatformVersion, platformVersion);
  set(table, kTopologyDescription_GetDeviceDescriptions, devices);
  set(table, kTopologyDescription_Attributes, attributes);
}
