//===- Arguments.h - the struct of each function of PJRT --------*- C++ -*-===//
//
// The arguments of functions. Fields have the order and the sizes of the public
// interface (Abi.h).
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_ARGUMENTS_H
#define WEFT_TOOLS_PJRT_ARGUMENTS_H

#include "weft/tools/pjrt/Abi.h"

namespace weft::pjrt {

// One struct for each function: WEFT_PJRT_ARGS(name, fields).
#define WEFT_PJRT_ARGS(name, ...)                                              \
  struct name##_Args {                                                         \
    size_t struct_size;                                                        \
    void *extensions;                                                          \
    __VA_ARGS__                                                                \
  };

using ReadyCallback = void (*)(PJRT_Error *error, void *user);

WEFT_PJRT_ARGS(Error_Destroy, PJRT_Error *error;)
WEFT_PJRT_ARGS(Error_Message, const PJRT_Error *error; const char *message;
               size_t message_size;)
WEFT_PJRT_ARGS(Error_GetCode, const PJRT_Error *error; int code;)
WEFT_PJRT_ARGS(Plugin_Initialize, )
WEFT_PJRT_ARGS(Plugin_Attributes, const NamedValue *attributes;
               size_t num_attributes;)
WEFT_PJRT_ARGS(Event_Destroy, PJRT_Event *event;)
WEFT_PJRT_ARGS(Event_IsReady, PJRT_Event *event; bool is_ready;)
WEFT_PJRT_ARGS(Event_Error, PJRT_Event *event;)
WEFT_PJRT_ARGS(Event_Await, PJRT_Event *event;)
WEFT_PJRT_ARGS(Event_OnReady, PJRT_Event *event; ReadyCallback callback;
               void *user_arg;)
WEFT_PJRT_ARGS(Client_Create, const NamedValue *create_options;
               size_t num_options; void *kv_get_callback; void *kv_get_user_arg;
               void *kv_put_callback; void *kv_put_user_arg;
               PJRT_Client * client;)
WEFT_PJRT_ARGS(Client_Destroy, PJRT_Client *client;)
WEFT_PJRT_ARGS(Client_PlatformName, PJRT_Client *client;
               const char *platform_name; size_t platform_name_size;)
WEFT_PJRT_ARGS(Client_ProcessIndex, PJRT_Client *client; int process_index;)
WEFT_PJRT_ARGS(Client_PlatformVersion, PJRT_Client *client;
               const char *platform_version; size_t platform_version_size;)
WEFT_PJRT_ARGS(Client_Devices, PJRT_Client *client; PJRT_Device *const *devices;
               size_t num_devices;)
WEFT_PJRT_ARGS(Client_AddressableDevices, PJRT_Client *client;
               PJRT_Device *const *devices; size_t num_devices;)
WEFT_PJRT_ARGS(Client_LookupDevice, PJRT_Client *client; int id;
               PJRT_Device * device;)
WEFT_PJRT_ARGS(Client_LookupAddressableDevice, PJRT_Client *client; int id;
               PJRT_Device * device;)
WEFT_PJRT_ARGS(Client_AddressableMemories, PJRT_Client *client;
               PJRT_Memory *const *memories; size_t num_memories;)
WEFT_PJRT_ARGS(Client_UpdateGlobalProcessInfo, PJRT_Client *client;)
WEFT_PJRT_ARGS(Client_TopologyDescription, PJRT_Client *client;
               PJRT_TopologyDescription * topology;)
WEFT_PJRT_ARGS(TopologyDescription_PlatformName,
               PJRT_TopologyDescription *topology;
               const char *platform_name; size_t platform_name_size;)
WEFT_PJRT_ARGS(TopologyDescription_PlatformVersion,
               PJRT_TopologyDescription *topology;
               const char *platform_version; size_t platform_version_size;)
WEFT_PJRT_ARGS(TopologyDescription_GetDeviceDescriptions,
               PJRT_TopologyDescription *topology;
               PJRT_DeviceDescription *const *descriptions;
               size_t num_descriptions;)
WEFT_PJRT_ARGS(TopologyDescription_Attributes,
               PJRT_TopologyDescription *topology;
               const NamedValue *attributes; size_t num_attributes;)
WEFT_PJRT_ARGS(Client_Compile, PJRT_Client *client; const ProgramText *program;
               const char *compile_options; size_t compile_options_size;
               PJRT_LoadedExecutable * executable;)
WEFT_PJRT_ARGS(Client_DefaultDeviceAssignment, PJRT_Client *client;
               int num_replicas; int num_partitions;
               size_t default_assignment_size; int *default_assignment;)
WEFT_PJRT_ARGS(Client_BufferFromHostBuffer, PJRT_Client *client;
               const void *data; BufferType type; const int64_t *dims;
               size_t num_dims; const int64_t *byte_strides;
               size_t num_byte_strides; int host_buffer_semantics;
               PJRT_Device * device; PJRT_Memory * memory;
               MemoryLayout * device_layout; PJRT_Event * done_with_host_buffer;
               PJRT_Buffer * buffer;)
WEFT_PJRT_ARGS(DeviceDescription_Id, PJRT_DeviceDescription *device; int id;)
WEFT_PJRT_ARGS(DeviceDescription_ProcessIndex, PJRT_DeviceDescription *device;
               int process_index;)
WEFT_PJRT_ARGS(DeviceDescription_Attributes, PJRT_DeviceDescription *device;
               size_t num_attributes; const NamedValue *attributes;)
WEFT_PJRT_ARGS(DeviceDescription_Kind, PJRT_DeviceDescription *device;
               const char *text; size_t size;)
WEFT_PJRT_ARGS(DeviceDescription_DebugString, PJRT_DeviceDescription *device;
               const char *text; size_t size;)
WEFT_PJRT_ARGS(DeviceDescription_ToString, PJRT_DeviceDescription *device;
               const char *text; size_t size;)
WEFT_PJRT_ARGS(Device_GetDescription, PJRT_Device *device;
               PJRT_DeviceDescription * description;)
WEFT_PJRT_ARGS(Device_IsAddressable, PJRT_Device *device; bool is_addressable;)
WEFT_PJRT_ARGS(Device_LocalHardwareId, PJRT_Device *device;
               int local_hardware_id;)
WEFT_PJRT_ARGS(Device_AddressableMemories, PJRT_Device *device;
               PJRT_Memory *const *memories; size_t num_memories;)
WEFT_PJRT_ARGS(Device_DefaultMemory, PJRT_Device *device; PJRT_Memory * memory;)
WEFT_PJRT_ARGS(Memory_Id, PJRT_Memory *memory; int id;)
WEFT_PJRT_ARGS(Memory_Kind, PJRT_Memory *memory; const char *text; size_t size;)
WEFT_PJRT_ARGS(Memory_Kind_Id, PJRT_Memory *memory; int id;)
WEFT_PJRT_ARGS(Memory_DebugString, PJRT_Memory *memory; const char *text;
               size_t size;)
WEFT_PJRT_ARGS(Memory_ToString, PJRT_Memory *memory; const char *text;
               size_t size;)
WEFT_PJRT_ARGS(Memory_AddressableByDevices, PJRT_Memory *memory;
               PJRT_Device *const *devices; size_t num_devices;)
WEFT_PJRT_ARGS(Executable_Destroy, PJRT_Executable *executable;)
WEFT_PJRT_ARGS(Executable_Name, PJRT_Executable *executable; const char *text;
               size_t size;)
WEFT_PJRT_ARGS(Executable_NumReplicas, PJRT_Executable *executable;
               size_t count;)
WEFT_PJRT_ARGS(Executable_NumPartitions, PJRT_Executable *executable;
               size_t count;)
WEFT_PJRT_ARGS(Executable_NumOutputs, PJRT_Executable *executable;
               size_t count;)
WEFT_PJRT_ARGS(Executable_SizeOfGeneratedCodeInBytes,
               PJRT_Executable *executable;
               int64_t bytes;)
WEFT_PJRT_ARGS(Executable_Fingerprint, PJRT_Executable *executable;
               const char *text; size_t size;)
WEFT_PJRT_ARGS(LoadedExecutable_Fingerprint, PJRT_LoadedExecutable *executable;
               const char *text; size_t size;)
WEFT_PJRT_ARGS(
    Executable_Serialize, const PJRT_Executable *executable;
    const char *serialized_bytes; size_t serialized_bytes_size;
    PJRT_SerializedExecutable * serialized_executable;
    void (*serialized_executable_deleter)(PJRT_SerializedExecutable *owner);)
WEFT_PJRT_ARGS(Executable_DeserializeAndLoad, PJRT_Client *client;
               const char *serialized_executable;
               size_t serialized_executable_size;
               PJRT_LoadedExecutable * loaded_executable;
               const char *overridden_serialized_compile_options;
               size_t overridden_serialized_compile_options_size;)
WEFT_PJRT_ARGS(Executable_GetCompileOptions, PJRT_Executable *executable;
               const char *serialized_bytes; size_t serialized_bytes_size;
               void *serialized_compile_options;
               void (*serialized_compile_options_deleter)(void *owner);)
WEFT_PJRT_ARGS(Executable_GetCompiledMemoryStats, PJRT_Executable *executable;
               int64_t code; int64_t arguments; int64_t outputs;
               int64_t aliased; int64_t temporaries; int64_t host_code;
               int64_t host_arguments; int64_t host_outputs;
               int64_t host_aliased; int64_t host_temporaries; int64_t peak;
               int64_t total;)
WEFT_PJRT_ARGS(Executable_GetCostAnalysis, PJRT_Executable *executable;
               size_t num_properties; const NamedValue *properties;)
WEFT_PJRT_ARGS(Executable_OutputElementTypes, PJRT_Executable *executable;
               const BufferType *types; size_t count;)
WEFT_PJRT_ARGS(Executable_OutputDimensions, PJRT_Executable *executable;
               size_t count; const int64_t *dims; const size_t *ranks;)
WEFT_PJRT_ARGS(Executable_OutputMemoryKinds, PJRT_Executable *executable;
               size_t count; const char *const *kinds; const size_t *sizes;)
WEFT_PJRT_ARGS(Executable_OptimizedProgram, PJRT_Executable *executable;
               ProgramText * program;)
WEFT_PJRT_ARGS(LoadedExecutable_Destroy, PJRT_LoadedExecutable *executable;)
WEFT_PJRT_ARGS(LoadedExecutable_GetExecutable, PJRT_LoadedExecutable *loaded;
               PJRT_Executable * executable;)
WEFT_PJRT_ARGS(LoadedExecutable_AddressableDevices,
               PJRT_LoadedExecutable *executable;
               PJRT_Device *const *devices; size_t num_devices;)
WEFT_PJRT_ARGS(LoadedExecutable_Delete, PJRT_LoadedExecutable *executable;)
WEFT_PJRT_ARGS(LoadedExecutable_IsDeleted, PJRT_LoadedExecutable *executable;
               bool is_deleted;)
WEFT_PJRT_ARGS(LoadedExecutable_GetDeviceAssignment,
               PJRT_LoadedExecutable *executable;
               const char *bytes; size_t size; void *owner;
               void (*free)(void *owner);)
WEFT_PJRT_ARGS(LoadedExecutable_Execute, PJRT_LoadedExecutable *executable;
               ExecuteOptions * options;
               PJRT_Buffer *const *const *argument_lists; size_t num_devices;
               size_t num_args; PJRT_Buffer * *const *output_lists;
               PJRT_Event * *device_complete_events;
               PJRT_Device * execute_device;)
WEFT_PJRT_ARGS(Buffer_Destroy, PJRT_Buffer *buffer;)
WEFT_PJRT_ARGS(Buffer_ElementType, PJRT_Buffer *buffer; BufferType type;)
WEFT_PJRT_ARGS(Buffer_Dimensions, PJRT_Buffer *buffer; const int64_t *dims;
               size_t num_dims;)
WEFT_PJRT_ARGS(Buffer_UnpaddedDimensions, PJRT_Buffer *buffer;
               const int64_t *dims; size_t num_dims;)
WEFT_PJRT_ARGS(Buffer_DynamicDimensionIndices, PJRT_Buffer *buffer;
               const size_t *indices; size_t count;)
WEFT_PJRT_ARGS(Buffer_GetMemoryLayout, PJRT_Buffer *buffer;
               MemoryLayout layout;)
WEFT_PJRT_ARGS(Buffer_OnDeviceSizeInBytes, PJRT_Buffer *buffer; size_t bytes;)
WEFT_PJRT_ARGS(Buffer_Device, PJRT_Buffer *buffer; PJRT_Device * device;)
WEFT_PJRT_ARGS(Buffer_Memory, PJRT_Buffer *buffer; PJRT_Memory * memory;)
WEFT_PJRT_ARGS(Buffer_Delete, PJRT_Buffer *buffer;)
WEFT_PJRT_ARGS(Buffer_IsDeleted, PJRT_Buffer *buffer; bool is_deleted;)
WEFT_PJRT_ARGS(Buffer_CopyToDevice, PJRT_Buffer *buffer; PJRT_Device * device;
               PJRT_Buffer * copy;)
WEFT_PJRT_ARGS(Buffer_CopyToMemory, PJRT_Buffer *buffer; PJRT_Memory * memory;
               PJRT_Buffer * copy;)
WEFT_PJRT_ARGS(Buffer_ToHostBuffer, PJRT_Buffer *buffer;
               MemoryLayout * host_layout; void *data; size_t size;
               PJRT_Event * event;)
WEFT_PJRT_ARGS(Buffer_IsOnCpu, PJRT_Buffer *buffer; bool is_on_cpu;)
WEFT_PJRT_ARGS(Buffer_ReadyEvent, PJRT_Buffer *buffer; PJRT_Event * event;)
WEFT_PJRT_ARGS(Buffer_UnsafePointer, PJRT_Buffer *buffer; uintptr_t pointer;)
WEFT_PJRT_ARGS(Buffer_IncreaseExternalReferenceCount, PJRT_Buffer *buffer;)
WEFT_PJRT_ARGS(Buffer_DecreaseExternalReferenceCount, PJRT_Buffer *buffer;)
WEFT_PJRT_ARGS(Buffer_OpaqueDeviceMemoryDataPointer, PJRT_Buffer *buffer;
               void *pointer;)

WEFT_PJRT_ARGS(Device_MemoryStats, PJRT_Device *device; int64_t bytes_in_use;
               int64_t peak_bytes_in_use; bool peak_bytes_in_use_is_set;
               int64_t num_allocs; bool num_allocs_is_set;
               int64_t largest_alloc_size; bool largest_alloc_size_is_set;
               int64_t bytes_limit; bool bytes_limit_is_set;
               int64_t bytes_reserved; bool bytes_reserved_is_set;
               int64_t peak_bytes_reserved; bool peak_bytes_reserved_is_set;
               int64_t bytes_reservable_limit;
               bool bytes_reservable_limit_is_set;
               int64_t largest_free_block_bytes;
               bool largest_free_block_bytes_is_set; int64_t pool_bytes;
               bool pool_bytes_is_set; int64_t peak_pool_bytes;
               bool peak_pool_bytes_is_set;)
WEFT_PJRT_ARGS(Event_Create, PJRT_Event *event;)
WEFT_PJRT_ARGS(Event_Set, PJRT_Event *event; int error_code;
               const char *error_message; size_t error_message_size;)
WEFT_PJRT_ARGS(Client_CreateUninitializedBuffer, PJRT_Client *client;
               const int64_t *shape_dims; size_t shape_num_dims;
               BufferType shape_element_type; MemoryLayout * shape_layout;
               PJRT_Device * device; PJRT_Memory * memory;
               PJRT_Buffer * buffer;)
WEFT_PJRT_ARGS(Client_CreateErrorBuffer, PJRT_Client *client; int error_code;
               const char *error_message; size_t error_message_size;
               const int64_t *shape_dims; size_t shape_num_dims;
               BufferType shape_element_type; MemoryLayout * shape_layout;
               PJRT_Memory * memory; PJRT_Buffer * buffer;)
WEFT_PJRT_ARGS(Client_CreateBuffersForAsyncHostToDevice, PJRT_Client *client;
               ShapeSpec * shape_specs; size_t num_shape_specs;
               MemoryLayout * *device_layouts; size_t num_device_layouts;
               PJRT_Memory * memory;
               PJRT_AsyncHostToDeviceTransferManager * transfer_manager;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_Destroy,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_TransferData,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               int buffer_index; const void *data; int64_t offset;
               int64_t transfer_size; bool is_last_transfer;
               PJRT_Event * done_with_h2d_transfer;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_TransferLiteral,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               int buffer_index; const void *data; const int64_t *shape_dims;
               size_t shape_num_dims; BufferType shape_element_type;
               MemoryLayout * shape_layout;
               PJRT_Event * done_with_h2d_transfer;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_RetrieveBuffer,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               int buffer_index; PJRT_Buffer * buffer_out;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_Device,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               PJRT_Device * device_out;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_BufferCount,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               size_t buffer_count;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_BufferSize,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               int buffer_index; size_t buffer_size;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_SetBufferError,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               int buffer_index; int error_code; const char *error_message;
               size_t error_message_size;)
WEFT_PJRT_ARGS(AsyncHostToDeviceTransferManager_AddMetadata,
               PJRT_AsyncHostToDeviceTransferManager *transfer_manager;
               const NamedValue *transfer_metadata; size_t num_metadata;)
WEFT_PJRT_ARGS(Buffer_CopyRawToHost, PJRT_Buffer *buffer; void *dst;
               int64_t offset; int64_t transfer_size; PJRT_Event * event;)
WEFT_PJRT_ARGS(Client_CreateViewOfDeviceBuffer, PJRT_Client *client;
               void *device_buffer_ptr; const int64_t *dims; size_t num_dims;
               BufferType type; MemoryLayout * layout; PJRT_Device * device;
               void (*on_delete_callback)(void *pointer, void *user);
               void *on_delete_callback_arg; intptr_t stream;
               PJRT_Buffer * buffer; PJRT_Memory * memory;)
WEFT_PJRT_ARGS(Client_CreateAliasBuffer, PJRT_Client *client;
               PJRT_Memory * memory; const int64_t *shape_dims;
               size_t shape_num_dims; BufferType shape_element_type;
               MemoryLayout * shape_layout; PJRT_Buffer * alias_buffer;
               PJRT_FulfillAliasBufferCallback * fulfill_alias_buffer_cb;)
WEFT_PJRT_ARGS(Client_FulfillAliasBuffer, PJRT_Client *client;
               PJRT_Buffer * buffer; int status_code; const char *error_message;
               size_t error_message_size;
               PJRT_FulfillAliasBufferCallback * fulfill_alias_buffer_cb;)
WEFT_PJRT_ARGS(Buffer_DonateWithControlDependency, PJRT_Buffer *buffer;
               void *callback_data;
               void (*dependency_ready_callback)(DependencyReady *said);
               PJRT_Buffer * out_buffer;)
WEFT_PJRT_ARGS(Buffer_CopyRawToHostFuture, PJRT_Buffer *buffer; int64_t offset;
               int64_t transfer_size; PJRT_Event * event; void *callback_data;
               void (*future_ready_callback)(DestinationReady *said);)
WEFT_PJRT_ARGS(ExecuteContext_Create, PJRT_ExecuteContext *context;)
WEFT_PJRT_ARGS(ExecuteContext_Destroy, PJRT_ExecuteContext *context;)
WEFT_PJRT_ARGS(Device_CreateAsyncTrackingEvent, PJRT_Device *device;
               const char *description; size_t description_size;
               PJRT_AsyncTrackingEvent * event;)
WEFT_PJRT_ARGS(AsyncTrackingEvent_Destroy, PJRT_AsyncTrackingEvent *event;)
WEFT_PJRT_ARGS(Device_PoisonExecution, PJRT_Device *device; int32_t launch_id;
               int error_code; const char *error_message;
               size_t error_message_size; bool poisoned;)
WEFT_PJRT_ARGS(CopyToDeviceStream_Destroy, PJRT_CopyToDeviceStream *stream;)
WEFT_PJRT_ARGS(CopyToDeviceStream_AddChunk, PJRT_CopyToDeviceStream *stream;
               Chunk * chunk; PJRT_Event * transfer_complete;)
WEFT_PJRT_ARGS(CopyToDeviceStream_TotalBytes, PJRT_CopyToDeviceStream *stream;
               int64_t total_bytes;)
WEFT_PJRT_ARGS(CopyToDeviceStream_GranuleSize, PJRT_CopyToDeviceStream *stream;
               int64_t granule_size_in_bytes;)
WEFT_PJRT_ARGS(CopyToDeviceStream_CurrentBytes, PJRT_CopyToDeviceStream *stream;
               int64_t current_bytes;)
WEFT_PJRT_ARGS(Client_DmaMap, PJRT_Client *client; void *data; size_t size;)
WEFT_PJRT_ARGS(Client_DmaUnmap, PJRT_Client *client; void *data;)
WEFT_PJRT_ARGS(Compile, const PJRT_TopologyDescription *topology;
               const ProgramText *program; const char *compile_options;
               size_t compile_options_size; PJRT_Client * client;
               PJRT_Executable * executable;)
WEFT_PJRT_ARGS(TopologyDescription_Create, const char *topology_name;
               size_t topology_name_size; const NamedValue *create_options;
               size_t num_options; PJRT_TopologyDescription * topology;)
WEFT_PJRT_ARGS(TopologyDescription_Destroy, PJRT_TopologyDescription *topology;)
WEFT_PJRT_ARGS(
    TopologyDescription_Serialize, PJRT_TopologyDescription *topology;
    const char *serialized_bytes; size_t serialized_bytes_size;
    PJRT_SerializedTopology * serialized_topology;
    void (*serialized_topology_deleter)(PJRT_SerializedTopology *owner);)
WEFT_PJRT_ARGS(TopologyDescription_Deserialize, const char *serialized_topology;
               size_t serialized_topology_size;
               PJRT_TopologyDescription * topology;)

// The extension for layouts:
WEFT_PJRT_ARGS(Layouts_MemoryLayout_Destroy, PJRT_Layouts_MemoryLayout *layout;)
WEFT_PJRT_ARGS(
    Layouts_MemoryLayout_Serialize, PJRT_Layouts_MemoryLayout *layout;
    const char *serialized_bytes; size_t serialized_bytes_size;
    PJRT_Layouts_SerializedLayout * serialized_layout;
    void (*serialized_layout_deleter)(PJRT_Layouts_SerializedLayout *owner);)
WEFT_PJRT_ARGS(Layouts_PJRT_Client_GetDefaultLayout, PJRT_Client *client;
               BufferType type; const int64_t *dims; size_t num_dims;
               PJRT_Layouts_MemoryLayout * layout;)
WEFT_PJRT_ARGS(Layouts_PJRT_Topology_GetDefaultLayout,
               PJRT_TopologyDescription *topology_description;
               BufferType type; const int64_t *dims; size_t num_dims;
               PJRT_Layouts_MemoryLayout * layout;)
WEFT_PJRT_ARGS(Layouts_PJRT_Buffer_MemoryLayout, PJRT_Buffer *buffer;
               PJRT_Layouts_MemoryLayout * layout;)
WEFT_PJRT_ARGS(Layouts_PJRT_Executable_GetOutputLayouts,
               PJRT_Executable *executable;
               size_t count; PJRT_Layouts_MemoryLayout * *layouts;)
WEFT_PJRT_ARGS(Layouts_PJRT_Executable_GetParameterLayouts,
               PJRT_Executable *executable;
               size_t count; PJRT_Layouts_MemoryLayout * *layouts;)

#undef WEFT_PJRT_ARGS

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_ARGUMENTS_H
