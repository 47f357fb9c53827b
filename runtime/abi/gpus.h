//===- gpus.h - which GPUs this machine has ---------------------*- C++ -*-===//
//
//   #include "weft/runtime/abi/gpus.h"
//   #include <stdio.h>
//
//   /* "GPU 0: NVIDIA A100", or why there are none and how to fix it. */
//   void list_gpus(void) {
//     weft_gpu_list list;
//     weft_error *error = weft_gpus(&list);
//     if (error)
//       printf("%s\n", weft_error_message(error));
//     for (size_t i = 0; i < list.count; ++i)
//       printf("GPU %d: %s\n", (int)list.gpus[i].number, list.gpus[i].name);
//     weft_error_free(error);
//   }
//
// These are the GPUs of the devices "cuda", in its order. Part of the C API, like
// weft.h.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_GPUS_H
#define WEFT_RUNTIME_ABI_GPUS_H

#include "weft/runtime/abi/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/// A GPU. `capability`: 90 for compute capability 9.0. `why_not`: the reason
/// why programs cannot run there, or NULL. `number`: its index among the GPUs
/// that CUDA_VISIBLE_DEVICES leaves.
typedef struct weft_gpu {
  const char *name;
  uint64_t memory_bytes;
  int32_t capability;
  const char *why_not;
  int32_t number;
} weft_gpu;

/// An NVIDIA library, such as cuBLASLt, that programs call if it is found.
/// `version` and `path` are empty if it is not. `why_not`: the reason why
/// programs run their own code in its place, or NULL. `limit`: what of it they
/// do not use, and why, or NULL.
typedef struct weft_gpu_library {
  const char *name;
  const char *version;
  const char *path;
  const char *why_not;
  const char *limit;
} weft_gpu_library;

/// All GPUs, valid until the process ends. `driver_version`: the CUDA version
/// of the driver, 12040 for 12.4. `driver`: the path of its library.
typedef struct weft_gpu_list {
  const weft_gpu *gpus;
  size_t count; ///< at least 1
  int32_t driver_version;
  const char *driver;
} weft_gpu_list;

/// Lists the GPUs that CUDA's driver shows, restricted by CUDA_VISIBLE_DEVICES;
/// each of several processes that mpirun or srun has started on this machine
/// has a share of them (docs/clusters.md). The first call queries the driver;
/// nothing is allocated on a GPU. May be called from any thread.
weft_error *weft_gpus(weft_gpu_list *out);

/// Whether later runs on GPUs may launch instructions together, as CUDA graphs,
/// when they run with the same memory again; the results are the same. On at
/// first; without effect on other devices.
void weft_runtime_graphs(weft_runtime *runtime, int on);

/// Gets the libraries, valid until the process ends. The first call loads them
/// and tries them on the first GPU, whose context it creates and releases.
weft_error *weft_gpu_libraries(const weft_gpu_library **out, size_t *count);

/// Gets one text for each reason why programs of the runtime run their own code
/// where a library could compute, and returns their number; 0 on CPUs. A program
/// has its reasons from its first run on. The texts are valid until the next
/// call for this runtime, which another thread must not make meanwhile.
size_t weft_gpu_notes(weft_runtime *runtime, const char *const **out);

/// Sets how GPUs exchange the data of collectives, in programs that run for the
/// first time from now on: "nccl", "peer" or "exact" (docs/gpu.md, Collectives).
/// A runtime of CPU devices refuses it.
weft_error *weft_runtime_set_collectives(weft_runtime *runtime,
                                         const char *mode);

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_GPUS_H
