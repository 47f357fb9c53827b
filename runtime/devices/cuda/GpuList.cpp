// The GPUs for weft_gpus(), the libraries for weft_gpu_libraries().

#include "weft/runtime/devices/DeviceSets.h"
#include "weft/runtime/devices/cuda/GpuLibraries.h"
#include "weft/runtime/devices/cuda/Nccl.h"

namespace weft::runtime {

static Status listGpus(GpuList &out) {
  const Driver *driver = nullptr;
  if (Status ok = Driver::load(driver); !ok)
    return ok;
  out.driverVersion = driver->version;
  out.driverPath = driver->path();
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

/// Tries cuBLASLt on the first GPU that runs programs.
static Status tryCublasLt(const Driver &driver, std::string &limit) {
  CallerContext caller(driver);
  OwnGpus own;
  if (Status ok = Gpu::own(driver, own); !ok)
    return ok;
  std::shared_ptr<Gpu> gpu;
  if (Status ok = Gpu::open(driver, own.first, gpu); !ok)
    return ok;
  GpuLibraries libraries(gpu, std::make_shared<LibraryNotes>());
  if (Status ok = libraries.open(); !ok)
    return ok;
  for (DType type : {DType::f32, DType::bf16}) {
    LibraryContraction relu = {};
    relu.sums = DType::f32;
    relu.epilogue = plan::ContractionEpilogue::relu;
    if (Status ok = libraries.keepsNan(relu, {type, type}); !ok) {
      Message text = ok.error().message;
      text += "; programs compute products with relu themselves";
      limit = text.text();
    }
  }
  return {};
}

static GpuLibrary describeCublasLt(const Driver &driver) {
  GpuLibrary one;
  one.name = "cuBLASLt";
  Result<const CublasLt *> library = CublasLt::find(driver);
  if (!library) {
    one.whyNot = library.message();
    return one;
  }
  one.version = (*library)->version();
  one.path = (*library)->path();
  if (Status ok = tryCublasLt(driver, one.limit); !ok)
    one.whyNot = ok.message();
  return one;
}

static GpuLibrary describeNccl() {
  GpuLibrary one;
  one.name = "NCCL";
  Result<const Nccl *> library = Nccl::find();
  if (!library) {
    one.whyNot = library.message();
    return one;
  }
  one.version = (*library)->version();
  one.path = (*library)->path();
  return one;
}

static Status listLibraries(std::vector<GpuLibrary> &out) {
  const Driver *driver = nullptr;
  if (Status ok = Driver::load(driver); !ok)
    return ok;
  out = {describeCublasLt(*driver), describeNccl()};
  return {};
}

} // namespace weft::runtime

extern "C" WEFT_EXPORT weft_error *
weftListGpuLibraries(std::vector<weft::runtime::GpuLibrary> *out) {
  return weft::runtime::guarded(
      [&] { return weft::runtime::listLibraries(*out); });
}

extern "C" WEFT_EXPORT weft_error *weftListGpus(weft::runtime::GpuList *out) {
  return weft::runtime::guarded([&] { return weft::runtime::listGpus(*out); });
}
