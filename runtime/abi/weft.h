//===- weft.h - the runtime's C ABI -----------------------------*- C++ -*-===//
//
// Loads a .weft program and runs it on N devices. No MLIR, no LLVM, no
// exceptions, no global state: every function that can fail returns NULL or an
// error the caller frees.
//
//   weft_program *program;  weft_runtime *runtime;  weft_error *error;
//   if ((error = weft_program_load("train.weft", &program))) ...
//   if ((error = weft_runtime_create("cpu:8", 0, &runtime))) ...
//   weft_buffer *x; weft_buffer_create(runtime, program, /*input=*/0, &x);
//   weft_buffer_write(x, host_array, bytes);      // global array -> shards
//   weft_execute(runtime, program, inputs, outputs, NULL);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_WEFT_H
#define WEFT_RUNTIME_ABI_WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ABI_VERSION 1

/// A kernel: `buffers` in the order of the Launch; `coordinates[a]` is the
/// device's coordinate along mesh axis a. Kernels never allocate or fail.
typedef void (*weft_kernel_fn)(void *const *buffers,
                               const int64_t *coordinates);

/// A share of a kernel's work: part `part` of `parts`, for 0 <= part < parts.
/// All parts together, in any order, on any threads, store the same bits as
/// one call of the kernel. Exported as NAME.part, with a uint32_t NAME.parts,
/// the most parts that pay, by kernels whose work is worth sharing.
typedef void (*weft_kernel_part_fn)(void *const *buffers,
                                    const int64_t *coordinates, int64_t part,
                                    int64_t parts);

/// Trailer after the ELF image of a .weft file; all integers little-endian.
/// The file is ELF image, then the FlatBuffer of the plan, then this.
typedef struct weft_trailer {
  uint64_t elf_bytes;
  uint64_t plan_bytes;
  uint64_t features; ///< WEFT_FEATURE_* the kernels need
  uint64_t hash;     ///< of all bytes before it and of its other fields:
                     ///< hashProgram in ProgramImage.h
  uint32_t abi_version;
  uint32_t reserved;
  char magic[8]; ///< "WEFTPROG"
} weft_trailer;
enum { WEFT_FEATURE_AVX2 = 1, WEFT_FEATURE_AVX512 = 2, WEFT_FEATURE_NEON = 4 };
/// FNV-1a over 8-byte words, tail by bytes: what the trailer's hash is made of.
uint64_t weft_hash(const void *data, size_t bytes);

typedef enum weft_status {
  WEFT_OK = 0,
  WEFT_INVALID_ARGUMENT,
  WEFT_INVALID_FILE,
  WEFT_INCOMPATIBLE, ///< ABI or CPU features
  WEFT_IO,
  WEFT_DEADLOCK, ///< every device waits and no group is complete
  WEFT_OUT_OF_MEMORY,
  WEFT_INTERNAL,
  WEFT_PEER ///< another process has failed or died: see processes.h
} weft_status;
typedef struct weft_error weft_error;
weft_status weft_error_status(const weft_error *error);
const char *weft_error_message(const weft_error *error);
void weft_error_free(weft_error *error);

typedef struct weft_program weft_program;
weft_error *weft_program_load(const char *path, weft_program **out);
/// Loads from memory (memfd, no file); the bytes are not kept.
weft_error *weft_program_load_memory(const void *data, size_t bytes,
                                     weft_program **out);
void weft_program_free(weft_program *program);
/// The FlatBuffer (plan.fbs), verified; lives as long as the program.
const void *weft_program_plan(const weft_program *program);

typedef struct weft_runtime weft_runtime;
/// `devices`: "cpu:N". `workers`: threads that the devices share, 0 for one a core;
/// a device without others shares its large kernels among them.
weft_error *weft_runtime_create(const char *devices, int workers,
                                weft_runtime **out);
int64_t weft_runtime_device_count(const weft_runtime *runtime);
void weft_runtime_free(weft_runtime *runtime);
/// Answers the host_call instructions of programs: function `function` is given
/// where its operands lie and fills its results, dense arrays of the types that
/// the program says. On any thread, one call at a time.
typedef void (*weft_host_fn)(void *user, int64_t function,
                             void *const *operands, size_t operand_count,
                             void *const *results, size_t result_count);
/// Without one, programs that call their host do not run. NULL takes it away.
void weft_runtime_set_host(weft_runtime *runtime, weft_host_fn call,
                           void *user);
/// For tests: arenas, outputs and the padding of inputs are filled with 0xFF
/// bytes (NaN) before each run, so that whatever reads what was never written
/// shows. Off at first.
void weft_runtime_poison(weft_runtime *runtime, int on);
/// For tests: while kernels of a device run, the arenas and port buffers of all
/// other devices are unreadable, and during a collective those outside of its
/// group: who reaches for them gets SIGSEGV. Only on a runtime of one worker.
/// Off at first.
weft_error *weft_runtime_isolate(weft_runtime *runtime, int on);

/// One logical array: a local buffer on each device of the program's mesh.
typedef struct weft_buffer weft_buffer;
weft_error *weft_input_create(weft_runtime *runtime,
                              const weft_program *program, size_t input,
                              weft_buffer **out);
weft_error *weft_output_create(weft_runtime *runtime,
                               const weft_program *program, size_t output,
                               weft_buffer **out);
void weft_buffer_free(weft_buffer *buffer);
/// Scatters a dense, row-major global array of the port's dtype to the shards.
weft_error *weft_buffer_write(weft_buffer *buffer, const void *data,
                              size_t bytes);
/// Gathers the global array from the shards (the first copy of each element).
weft_error *weft_buffer_read(const weft_buffer *buffer, void *data,
                             size_t bytes);
/// One device's local memory.
void *weft_buffer_local(weft_buffer *buffer, int64_t position, size_t *bytes);

typedef struct weft_counter {
  const char *kind; ///< all_reduce, ...
  uint64_t
      count; ///< occurrences (one for each group instruction of device 0's program)
  uint64_t bytes; ///< sent by one device: the largest over devices
} weft_counter;

/// Runs the program once. inputs[i] and outputs[i] follow the ports; an output
/// that takes over a donated input must be passed the same buffer.
weft_error *weft_execute(weft_runtime *runtime, const weft_program *program,
                         weft_buffer *const *inputs,
                         weft_buffer *const *outputs);
/// The same on memory of the caller's: inputs[i * positions + p] is where the
/// local part of input i lies on the device at position p of the mesh, in 64-byte
/// aligned memory of the size of that port's buffer; outputs likewise. An output
/// that takes over a donated input must be given the input's memory.
weft_error *weft_execute_local(weft_runtime *runtime,
                               const weft_program *program, void *const *inputs,
                               void *const *outputs);
/// Bytes of arenas and port buffers on the fullest device at its fullest moment;
/// memory of callers (weft_execute_local) is not counted.
uint64_t weft_runtime_peak_memory(const weft_runtime *runtime);
/// What the collectives of the last run moved, counted from the buffers handed
/// to the provider; returns the number of entries.
size_t weft_runtime_counters(const weft_runtime *runtime,
                             const weft_counter **out);

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_WEFT_H
