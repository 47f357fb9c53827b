//===- Plugin.cpp - the table that JAX asks for, errors and events --------===//

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"

using namespace weft::pjrt;

namespace {

PJRT_Error *destroyError(Error_Destroy_Args *args) {
  delete args->error;
  return nullptr;
}

PJRT_Error *errorMessage(Error_Message_Args *args) {
  args->message = args->error->message.data();
  args->message_size = args->error->message.size();
  return nullptr;
}

PJRT_Error *errorCode(Error_GetCode_Args *args) {
  args->code = args->error->code;
  return nullptr;
}

PJRT_Error *initialize(Plugin_Initialize_Args *) { return nullptr; }

/// The version of StableHLO in which jaxlib passes programs to the plugin,
/// 1.15.0, also if its own version is later. It is the first one with started
/// collectives; later ones have collectives over named axes.
constexpr int64_t kStablehloVersion[] = {1, 15, 0};

PJRT_Error *attributes(Plugin_Attributes_Args *args) {
  static const NamedValue version = [] {
    constexpr std::string_view name = "stablehlo_current_version";
    NamedValue made{};
    made.struct_size = sizeof made;
    made.name = name.data();
    made.name_size = name.size();
    made.type = kInt64List;
    made.int64_array_value = kStablehloVersion;
    made.value_size = std::size(kStablehloVersion);
    return made;
  }();
  args->attributes = &version;
  args->num_attributes = 1;
  return nullptr;
}

PJRT_Error *copyOf(const PJRT_Error *why) {
  return why ? new PJRT_Error(*why) : nullptr;
}

PJRT_Error *destroyEvent(Event_Destroy_Args *args) {
  delete args->event;
  return nullptr;
}

PJRT_Error *isReady(Event_IsReady_Args *args) {
  args->is_ready = args->event->promise->isSettled();
  return nullptr;
}

PJRT_Error *eventError(Event_Error_Args *args) {
  return copyOf(args->event->promise->failure());
}

PJRT_Error *await(Event_Await_Args *args) {
  args->event->promise->wait();
  return copyOf(args->event->promise->failure());
}

/// A promise that the caller keeps or breaks with Event_Set.
PJRT_Error *createEvent(Event_Create_Args *args) {
  args->event = new PJRT_Event{std::make_shared<Promise>()};
  return nullptr;
}

PJRT_Error *setEvent(Event_Set_Args *args) {
  Promise &promise = *args->event->promise;
  if (promise.isSettled())
    return error(kFailedPrecondition, "the event has been set before");
  PJRT_Error why{args->error_code,
                 std::string(args->error_message, args->error_message_size)};
  promise.settle(args->error_code ? &why : nullptr);
  return nullptr;
}

PJRT_Error *onReady(Event_OnReady_Args *args) {
  args->event->promise->whenSettled(
      [callback = args->callback, user = args->user_arg](
          const PJRT_Error *why) { callback(copyOf(why), user); });
  return nullptr;
}

/// The table of functions, with all slots filled, as JAX ends the process for
/// null (see pjrt-aliases-test).
Api makeApi() {
  Api api = {};
  api.struct_size = sizeof(Api);
  api.extensions = layoutsExtension();
  api.version = {sizeof(Version), nullptr, kMajorVersion, kMinorVersion};
  set(api.functions, kError_Destroy, destroyError);
  set(api.functions, kError_Message, errorMessage);
  set(api.functions, kError_GetCode, errorCode);
  set(api.functions, kPlugin_Initialize, initialize);
  set(api.functions, kPlugin_Attributes, attributes);
  setEventFunctions(api.functions);
  setClientFunctions(api.functions);
  setDeviceFunctions(api.functions);
  setBufferFunctions(api.functions);
  setTransferFunctions(api.functions);
  setAliasFunctions(api.functions);
  setHostTransferFunctions(api.functions);
  setLaunchFunctions(api.functions);
  setTopologyFunctions(api.functions);
  setExecutableFunctions(api.functions);
  setSerializeFunctions(api.functions);
  return api;
}

} // namespace

void weft::pjrt::setEventFunctions(Function *table) {
  set(table, kEvent_Destroy, destroyEvent);
  set(table, kEvent_IsReady, isReady);
  set(table, kEvent_Error, eventError);
  set(table, kEvent_Await, await);
  set(table, kEvent_OnReady, onReady);
  set(table, kEvent_Create, createEvent);
  set(table, kEvent_Set, setEvent);
}

extern "C" __attribute__((visibility("default"))) const Api *GetPjrtApi() {
  static const Api api = makeApi();
  return &api;
}
