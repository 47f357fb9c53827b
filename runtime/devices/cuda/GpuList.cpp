// The GPUs for weft_gpus().

#include "weft/runtime/devices/DeviceSets.h"
#include "weft/runtime/devices/cuda/CublasLt.h"

namespace weft::runtime {

static GpuList::Library describeCublasLt(const Driver &driver) {
  const CublasLt *library = nullptr;
  std::string why;
  if (!CublasLt::find(driver, library, why))
    return {"cuBLASLt", "", "", why};
  return {"cuBLASLt", library->version(), library->path(), ""};
}

static Error listGpus(GpuList &out) {
  const Driver *driver = nullptr;
  if (Error e = Driver::load(driver))
    return e;
  out.driverVersion = driver->version;
  out.driverPath = driver->path();
  out.libraries.push_back(describeCublasLt(*driver));
  OwnGpus own;
  if (Error e = Gpu::own(*driver, own))
    return e;
  for (int i = 0; i < own.count; ++i) {
    int number = own.first + i;
    GpuList::One &one = out.gpus.emplace_back();
    one.number = number;
    std::shared_ptr<Gpu> gpu;
    if (Error e = Gpu::find(*driver, number, gpu))
      return e;
    one.name = gpu->name();
    one.capability = gpu->capability();
    if (Error e = gpu->memory(one.memory))
      return e;
    if (Error e = gpu->canRunPrograms())
      one.whyNot = e->message;
  }
  return nullptr;
}

} // namespace weft::runtime

extern "C" WEFT_EXPORT weft_error *weftListGpus(weft::runtime::GpuList *out) {
  return weft::runtime::guarded([&] { return weft::runtime::listGpus(*out); });
}
