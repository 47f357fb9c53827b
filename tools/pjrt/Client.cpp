//===- Client.cpp - the client, its devices and memories ------------------===//

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"
#include "weft/tools/pjrt/programs/ScriptLapack.h"
#include "weft/tools/pjrt/transfers/HostCalls.h"
#include "weft/tools/pjrt/transfers/Tickets.h"

#include <unistd.h>

using namespace weft;
using namespace weft::pjrt;

namespace {

constexpr std::string_view kKind = "cpu";

/// The value of an option that JAX passes when it creates the client.
int64_t optionOf(const Client_Create_Args *args, std::string_view name,
                 int64_t fallback) {
  for (size_t i = 0; i < args->num_options; ++i) {
    const NamedValue &option = args->create_options[i];
    if (std::string_view(option.name, option.name_size) == name &&
        option.type == kInt64)
      return option.int64_value;
  }
  return fallback;
}

void addDevice(PJRT_Client &client, int id) {
  auto device = std::make_unique<PJRT_Device>();
  device->description = describeDevice(id);
  for (size_t kind = 0; kind < kMemoryKindCount; ++kind) {
    PJRT_Memory &memory = device->owned[kind];
    memory.id =
        id * static_cast<int>(kMemoryKindCount) + static_cast<int>(kind);
    memory.kind = kind;
    memory.text = std::string(kMemoryKinds[kind]) +
                  " memory of weft:" + std::to_string(id);
    memory.device = device.get();
    device->memories[kind] = &memory;
    client.memories.push_back(&memory);
  }
  device->client = &client;
  client.devices.push_back(device.get());
  client.topology.descriptions.push_back(&device->description);
  client.owned.push_back(std::move(device));
}

PJRT_Error *create(Client_Create_Args *args) {
  const char *text = std::getenv("WEFT_DEVICES");
  auto devices = parseDevices(text ? text : "");
  if (!devices)
    return error(kInvalidArgument, "WEFT_DEVICES: " + devices.message());
  if (optionOf(args, "num_nodes", 1) > 1)
    return error(kUnimplemented,
                 "several processes are not supported yet; start one, with "
                 "WEFT_DEVICES=cpu:N");
  const char *share = std::getenv("WEFT_SHARE");
  std::string_view shares = share && *share ? share : "on";
  if (shares != "on" && shares != "off")
    return error(kInvalidArgument,
                 "WEFT_SHARE: must be on or off, not " + std::string(shares));
  auto client = std::make_unique<PJRT_Client>();
  client->shares = shares == "on";
  const std::string &wrong = client->topology.compiler.wrongTarget();
  if (!wrong.empty())
    return error(kInvalidArgument, "WEFT_TARGET: " + wrong);
  for (int i = 0; i < devices->count; ++i)
    addDevice(*client, i);
  args->client = client.release();
  return nullptr;
}

PJRT_Error *destroy(Client_Destroy_Args *args) {
  delete args->client;
  return nullptr;
}

template <typename Args> PJRT_Error *platformName(Args *args) {
  args->platform_name = kPlatformName.data();
  args->platform_name_size = kPlatformName.size();
  return nullptr;
}

template <typename Args> PJRT_Error *platformVersion(Args *args) {
  const std::string &version = args->client->topology.compiler.version();
  args->platform_version = version.data();
  args->platform_version_size = version.size();
  return nullptr;
}

PJRT_Error *processIndex(Client_ProcessIndex_Args *args) {
  args->process_index = 0;
  return nullptr;
}

template <typename Args> PJRT_Error *devices(Args *args) {
  args->devices = args->client->devices.data();
  args->num_devices = args->client->devices.size();
  return nullptr;
}

template <typename Args> PJRT_Error *lookup(Args *args) {
  size_t count = args->client->devices.size();
  if (args->id < 0 || static_cast<size_t>(args->id) >= count)
    return error(kInvalidArgument, "there is no device " +
                                       std::to_string(args->id) + " of " +
                                       std::to_string(count));
  args->device = args->client->devices[args->id];
  return nullptr;
}

PJRT_Error *memories(Client_AddressableMemories_Args *args) {
  args->memories = args->client->memories.data();
  args->num_memories = args->client->memories.size();
  return nullptr;
}

PJRT_Error *defaultAssignment(Client_DefaultDeviceAssignment_Args *args) {
  for (size_t i = 0; i < args->default_assignment_size; ++i)
    args->default_assignment[i] = static_cast<int>(i);
  return nullptr;
}

PJRT_Error *updateProcesses(Client_UpdateGlobalProcessInfo_Args *) {
  return nullptr;
}

template <typename Args> PJRT_Error *noAttributes(Args *args) {
  args->attributes = nullptr;
  args->num_attributes = 0;
  return nullptr;
}

template <typename Args> PJRT_Error *give(Args *args, std::string_view text) {
  args->text = text.data();
  args->size = text.size();
  return nullptr;
}

PJRT_Error *deviceId(DeviceDescription_Id_Args *args) {
  args->id = args->device->id;
  return nullptr;
}

PJRT_Error *deviceProcess(DeviceDescription_ProcessIndex_Args *args) {
  args->process_index = 0;
  return nullptr;
}

PJRT_Error *deviceKind(DeviceDescription_Kind_Args *args) {
  return give(args, kKind);
}

template <typename Args> PJRT_Error *deviceText(Args *args) {
  return give(args, args->device->text);
}

PJRT_Error *description(Device_GetDescription_Args *args) {
  args->description = &args->device->description;
  return nullptr;
}

PJRT_Error *isAddressable(Device_IsAddressable_Args *args) {
  args->is_addressable = true;
  return nullptr;
}

PJRT_Error *hardwareId(Device_LocalHardwareId_Args *args) {
  args->local_hardware_id = args->device->description.id;
  return nullptr;
}

PJRT_Error *deviceMemories(Device_AddressableMemories_Args *args) {
  args->memories = args->device->memories;
  args->num_memories = kMemoryKindCount;
  return nullptr;
}

PJRT_Error *defaultMemory(Device_DefaultMemory_Args *args) {
  args->memory = args->device->memories[0];
  return nullptr;
}

/// Returns the bytes of JAX's arrays; the runtime's memory of running programs
/// is not included.
PJRT_Error *memoryStats(Device_MemoryStats_Args *args) {
  const MemoryUse &use = *args->device->use;
  Device_MemoryStats_Args unset{};
  unset.struct_size = args->struct_size;
  unset.extensions = args->extensions;
  unset.device = args->device;
  *args = unset;
  args->bytes_in_use = use.now;
  args->peak_bytes_in_use = use.peak;
  args->num_allocs = use.count;
  args->largest_alloc_size = use.largest;
  args->bytes_limit = int64_t(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  args->bytes_reservable_limit = args->bytes_limit;
  args->peak_bytes_in_use_is_set = args->num_allocs_is_set =
      args->largest_alloc_size_is_set = args->bytes_limit_is_set =
          args->bytes_reservable_limit_is_set = true;
  return nullptr;
}

PJRT_Error *memoryId(Memory_Id_Args *args) {
  args->id = args->memory->id;
  return nullptr;
}

PJRT_Error *memoryKind(Memory_Kind_Args *args) {
  return give(args, kMemoryKinds[args->memory->kind]);
}

PJRT_Error *memoryKindId(Memory_Kind_Id_Args *args) {
  args->id = static_cast<int>(args->memory->kind);
  return nullptr;
}

template <typename Args> PJRT_Error *memoryText(Args *args) {
  return give(args, args->memory->text);
}

PJRT_Error *memoryDevices(Memory_AddressableByDevices_Args *args) {
  args->devices = args->memory->device->self;
  args->num_devices = 1;
  return nullptr;
}

} // namespace

PJRT_Client::~PJRT_Client() {
  auto begun = std::make_shared<Promise>();
  dispatcher.add({}, [begun] { begun->settle(nullptr); });
  begun->wait();
  weft_runtime_free(madeRuntime); // waits for all runs
}

weft_runtime *PJRT_Client::runtime(std::string &why) {
  if (!madeRuntime) {
    std::string text =
        DeviceList{DeviceKind::Cpu, static_cast<int64_t>(devices.size())}
            .text();
    if (weft_error *failure =
            weft_runtime_create(text.c_str(), 0, &madeRuntime)) {
      why = takeMessage(failure);
      return nullptr;
    }
    answerHostCalls(*this, madeRuntime);
    weft_runtime_share(madeRuntime, shares);
  }
  giveLapack(madeRuntime, hasLapack);
  return madeRuntime;
}

void weft::pjrt::setClientFunctions(Function *table) {
  set(table, kClient_Create, create);
  set(table, kClient_Destroy, destroy);
  set(table, kClient_PlatformName, platformName<Client_PlatformName_Args>);
  set(table, kClient_ProcessIndex, processIndex);
  set(table, kClient_PlatformVersion,
      platformVersion<Client_PlatformVersion_Args>);
  set(table, kClient_Devices, devices<Client_Devices_Args>);
  set(table, kClient_AddressableDevices,
      devices<Client_AddressableDevices_Args>);
  set(table, kClient_LookupDevice, lookup<Client_LookupDevice_Args>);
  set(table, kClient_LookupAddressableDevice,
      lookup<Client_LookupAddressableDevice_Args>);
  set(table, kClient_AddressableMemories, memories);
  set(table, kClient_DefaultDeviceAssignment, defaultAssignment);
  set(table, kClient_UpdateGlobalProcessInfo, updateProcesses);
}

void weft::pjrt::setDeviceFunctions(Function *table) {
  set(table, kDeviceDescription_Id, deviceId);
  set(table, kDeviceDescription_ProcessIndex, deviceProcess);
  set(table, kDeviceDescription_Attributes,
      noAttributes<DeviceDescription_Attributes_Args>);
  set(table, kDeviceDescription_Kind, deviceKind);
  set(table, kDeviceDescription_DebugString,
      deviceText<DeviceDescription_DebugString_Args>);
  set(table, kDeviceDescription_ToString,
      deviceText<DeviceDescription_ToString_Args>);
  set(table, kDevice_GetDescription, description);
  set(table, kDevice_IsAddressable, isAddressable);
  set(table, kDevice_LocalHardwareId, hardwareId);
  set(table, kDevice_AddressableMemories, deviceMemories);
  set(table, kDevice_DefaultMemory, defaultMemory);
  set(table, kDevice_MemoryStats, memoryStats);
  set(table, kMemory_Id, memoryId);
  set(table, kMemory_Kind, memoryKind);
  set(table, kMemory_Kind_Id, memoryKindId);
  set(table, kMemory_DebugString, memoryText<Memory_DebugString_Args>);
  set(table, kMemory_ToString, memoryText<Memory_ToString_Args>);
  set(table, kMemory_AddressableByDevices, memoryDevices);
}
