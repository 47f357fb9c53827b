// The GPUs for weft_gpus().

#include "weft/runtime/devices/DeviceSets.h"
#include "weft/runtime/devices/cuda/CublasLt.h"

namespace weft::runtime {

static GpuList::Library describeCublasLt(const Driver &driver) {
  Result<const CublasLt *> library = CublasLt::find(driver);
  if (!library)
    return {"cuBLASLt", "", "", library.message()};
  return {"cuBLASLt", (*library)->version(), (*library)->path(), ""};
}

static Status listGpus(GpuList &out) {
  const Driver *driver = nullptr;
  if (Status ok = Driver::load(driver); !ok)
    return ok;
  out.driverVersion = driver->version;
  out.driverPath = driver->path();
  out.libraries.push_back(describeCublasLt(*driver));
  OwnGpus own;
  if (Status ok = Gpu::own(*driver, own); !ok)
    return ok;
  for (int i = 0; i < own.count; ++i) {
    int number = own.first + i;
    GpuList::One &one = out.gpus.emplace_back();
    one.number = number;
    std::shared_ptr<Gpu> gpu;
    if (Status ok = Gpu::find(*driver, number, gpu); !ok)
      return ok;
    one.name = gpu->name();
    one.capability = gpu->capability();
    if (Status ok = gpu->memory(one.memory); !ok)
      return ok;
    if (Status ok = gpu->canRunPrograms(); !ok)
      one.whyNot = ok.message();
  }
  return {};
}

} // namespace weft::runtime

extern "C" WEFT_EXPORT weft_error *weftListGpus(weft::runtime::GpuList *out) {
  return weft::runtime::guarded([&] { return weft::runtime::listGpus(*out); });
}
