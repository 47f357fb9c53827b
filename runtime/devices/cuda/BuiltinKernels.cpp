#include "weft/runtime/devices/cuda/BuiltinKernels.h"

#include "weft/runtime/devices/cuda/KernelTexts.h"

namespace weft::runtime {

Error BuiltinKernels::find(const std::string &text, const char *symbol,
                           GpuFunction &out) {
  std::unique_ptr<GpuModule> &module = modules[text];
  for (const KernelText &one : kernelTexts())
    if (!module && one.name == text)
      if (Error e = GpuModule::load(gpu, one.text, "runtime's kernel " + text,
                                    module))
        return e;
  if (!module)
    return makeError(WEFT_INTERNAL, "the runtime has no kernel ", text);
  return module->find(symbol, {.threads = kThreads}, out);
}

} // namespace weft::runtime
