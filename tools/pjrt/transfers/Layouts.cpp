//===- Layouts.cpp - orders in memory, as JAX asks for them ---------------===//
//
//   jax.device_put(x, Format(Layout((1, 0)), sharding)).format.layout
//
// PJRT's extension for layouts. A layout is passed as XLA prints it, "{0,1}":
// the dimensions from minor to major.
//
//===----------------------------------------------------------------------===//

#include "weft/tools/pjrt/Functions.h"
#include "weft/tools/pjrt/Objects.h"

using namespace weft::pjrt;

namespace {

PJRT_Error *destroy(Layouts_MemoryLayout_Destroy_Args *args) {
  delete args->layout;
  return nullptr;
}

/// Serializes a layout. The bytes are those of the layout, which outlives their
/// use.
PJRT_Error *serialize(Layouts_MemoryLayout_Serialize_Args *args) {
  args->serialized_bytes = args->layout->text.data();
  args->serialized_bytes_size = args->layout->text.size();
  args->serialized_layout = nullptr;
  args->serialized_layout_deleter = [](PJRT_Layouts_SerializedLayout *) {};
  return nullptr;
}

template <typename Args> PJRT_Error *rowMajorLayout(Args *args) {
  args->layout =
      new PJRT_Layouts_MemoryLayout(describe(rowMajor(args->num_dims)));
  return nullptr;
}

PJRT_Error *ofBuffer(Layouts_PJRT_Buffer_MemoryLayout_Args *args) {
  args->layout = new PJRT_Layouts_MemoryLayout(describe(args->buffer->order));
  return nullptr;
}

PJRT_Error *ofOutputs(Layouts_PJRT_Executable_GetOutputLayouts_Args *args) {
  args->count = args->executable->value->outputLayouts.size();
  args->layouts = args->executable->value->outputLayouts.data();
  return nullptr;
}

PJRT_Error *
ofParameters(Layouts_PJRT_Executable_GetParameterLayouts_Args *args) {
  args->count = args->executable->value->inputLayouts.size();
  args->layouts = args->executable->value->inputLayouts.data();
  return nullptr;
}

template <typename Args> Function slot(PJRT_Error *(*function)(Args *)) {
  return reinterpret_cast<Function>(function);
}

} // namespace

PJRT_Layouts_MemoryLayout weft::pjrt::describe(const MemoryOrder &order) {
  std::string text;
  for (int64_t dim : order)
    text += (text.empty() ? "{" : ",") + std::to_string(dim);
  return {text.empty() ? "{}" : text + "}"};
}

const LayoutsExtension *weft::pjrt::layoutsExtension() {
  static const LayoutsExtension extension = {
      sizeof(LayoutsExtension),
      kLayoutsExtension,
      nullptr,
      slot(destroy),
      slot(serialize),
      slot(rowMajorLayout<Layouts_PJRT_Client_GetDefaultLayout_Args>),
      slot(ofBuffer),
      slot(rowMajorLayout<Layouts_PJRT_Topology_GetDefaultLayout_Args>),
      slot(ofOutputs),
      slot(ofParameters)};
  return &extension;
}
