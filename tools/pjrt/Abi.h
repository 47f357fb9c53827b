//===- Abi.h - the part of the PJRT C interface that Weft fills -*- C++ -*-===//
//
// JAX loads a shared library, calls GetPjrtApi and gets a table of functions
// (Slots.def). Each takes one struct (Arguments.h), which begins with its size
// and a list of extensions; results are written into it. Layouts are those of
// version 0.90 of the public interface (openxla.org/xla/pjrt); fields that Weft
// neither reads nor writes are declared, too, if others follow them.
//
//   struct Args { size_t struct_size; void *extensions; PJRT_Event *event; ... };
//
// tools/pjrt/check_abi.py compares sizes and offsets with a published header.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TOOLS_PJRT_ABI_H
#define WEFT_TOOLS_PJRT_ABI_H

#include <cstddef>
#include <cstdint>

struct PJRT_Error;
struct PJRT_Event;
struct PJRT_Client;
struct PJRT_Device;
struct PJRT_DeviceDescription;
struct PJRT_Memory;
struct PJRT_Buffer;
struct PJRT_Executable;
struct PJRT_LoadedExecutable;
struct PJRT_SerializedExecutable;
struct PJRT_TopologyDescription;
struct PJRT_AsyncHostToDeviceTransferManager;
struct PJRT_SerializedTopology;
struct PJRT_FulfillAliasBufferCallback;
struct PJRT_ExecuteContext;
struct PJRT_AsyncTrackingEvent;
struct PJRT_CopyToDeviceStream;
struct PJRT_Layouts_MemoryLayout;
struct PJRT_Layouts_SerializedLayout;

namespace weft::pjrt {

constexpr int kMajorVersion = 0, kMinorVersion = 90;

enum ErrorCode : int {
  kInvalidArgument = 3,
  kResourceExhausted = 8,
  kFailedPrecondition = 9,
  kUnimplemented = 12,
  kInternal = 13
};

/// Element types by their numbers in the interface: those of
/// base/ElementTypes.def, and two that arrays do not have.
enum BufferType : int { kInvalidType = 0, kToken = 23 };

enum NamedValueType : int { kString, kInt64, kInt64List, kFloat, kBool };
struct NamedValue {
  size_t struct_size;
  void *extensions;
  const char *name;
  size_t name_size;
  NamedValueType type;
  union {
    const char *string_value;
    int64_t int64_value;
    const int64_t *int64_array_value;
    float float_value;
    bool bool_value;
  };
  size_t value_size;
};

struct ShapeSpec {
  size_t struct_size;
  void *extensions;
  const int64_t *dims;
  size_t num_dims;
  BufferType type;
};

struct Version {
  size_t struct_size;
  void *extensions;
  int major_version, minor_version;
};

struct ProgramText {
  size_t struct_size;
  void *extensions;
  char *code;
  size_t code_size;
  const char *format;
  size_t format_size;
};

/// Bytes with the function that frees them.
struct Chunk {
  void *data;
  size_t size;
  void (*deleter)(void *data, void *deleter_arg);
  void *deleter_arg;
};
using CallbackError = PJRT_Error *(*)(int code, const char *message,
                                      size_t message_size);
using SendCallback = PJRT_Error *(*)(Chunk * chunk,
                                     CallbackError *callback_error,
                                     size_t total_size_in_bytes, bool done,
                                     void *user_arg);
using RecvCallback = void (*)(PJRT_CopyToDeviceStream *stream, void *user_arg);
struct SendCallbackInfo {
  int64_t channel_id;
  void *user_arg;
  SendCallback send_callback;
};
struct RecvCallbackInfo {
  int64_t channel_id;
  void *user_arg;
  RecvCallback recv_callback;
};

struct ExecuteOptions {
  size_t struct_size;
  void *extensions;
  SendCallbackInfo **send_callbacks; ///< a list for each device
  RecvCallbackInfo **recv_callbacks;
  size_t num_send_ops, num_recv_ops;
  int launch_id;
  const int64_t *non_donatable_input_indices;
  size_t num_non_donatable_input_indices;
};

struct TiledLayout {
  size_t struct_size;
  void *extensions;
  const int64_t *minor_to_major;
  size_t minor_to_major_size;
  const int64_t *tile_dims;
  const size_t *tile_dim_sizes;
  size_t num_tiles;
};
struct StridedLayout {
  size_t struct_size;
  void *extensions;
  const int64_t *byte_strides;
  size_t num_byte_strides;
};
/// A caller's statement about the work that a donation waits for.
struct DependencyReady {
  size_t struct_size;
  void *callback_data;
  int error_code;
  const char *error_message;
  size_t error_message_size;
};
/// A caller's statement of the address to which a copy writes, or of an error.
struct DestinationReady {
  size_t struct_size;
  void *callback_data;
  int error_code;
  const char *error_message;
  size_t error_message_size;
  void *dst;
};
enum LayoutType : int { kTiled, kStrided };
struct MemoryLayout {
  size_t struct_size;
  void *extensions;
  union {
    TiledLayout tiled;
    StridedLayout strides;
  };
  LayoutType type;
};

enum Slot : unsigned {
#define WEFT_PJRT_SLOT(name) k##name,
#include "weft/tools/pjrt/Slots.def"
#undef WEFT_PJRT_SLOT
  kSlotCount
};

/// A function of the table. Two of them return nothing; the call is the same.
using Function = PJRT_Error *(*)(void *args);

/// The types of extensions: further functions, in a list.
enum ExtensionType : int { kLayoutsExtension = 4 };
struct LayoutsExtension {
  size_t struct_size;
  ExtensionType type;
  void *next;
  Function destroy, serialize, clientDefault, ofBuffer, topologyDefault,
      ofOutputs, ofParameters;
};

struct Api {
  size_t struct_size;
  const void *extensions;
  Version version;
  Function functions[kSlotCount];
};

} // namespace weft::pjrt

#endif // WEFT_TOOLS_PJRT_ABI_H
