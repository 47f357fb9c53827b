#include "weft/runtime/devices/cuda/BuiltinKernels.h"

#include "weft/runtime/devices/cuda/KernelTexts.h"

namespace weft::runtime {

Status BuiltinKernels::find(const std::string &text, const char *symbol,
                            GpuFunction &out) {
  std::unique_ptr<GpuModule> &module = modules[text];
  for (const KernelText &one : kernelTexts())
    if (!module && one.name == text)
      if (Status ok = GpuModule::load(gpu, one.text, "runtime's kernel " + text,
                                      module);
          !ok)
        return ok;
  if (!module)
    return makeError(StatusCode::Internal, "the runtime has no kernel ", text);
  return module->find(symbol, {.threads = kThreads}, out);
}

} // namespace weft::runtime
