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
/// `why_not`: NULL if it was found; else `version` and `path` are empty.
typedef struct weft_gpu_library {
  const char *name;
  const char *version;
  const char *path;
  const char *why_not;
} weft_gpu_library;

/// All GPUs, valid until the process ends. `driver_version`: the CUDA version
/// of the driver, 12040 for 12.4. `driver`: the path of its library.
typedef struct weft_gpu_list {
  const weft_gpu *gpus;
  size_t count; ///< at least 1
  int32_t driver_version;
  const char *driver;
  const weft_gpu_library *libraries;
  size_t library_count;
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

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_GPUS_H
