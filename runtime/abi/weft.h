//===- weft.h - the runtime's C ABI -----------------------------*- C++ -*-===//
//
// Loads a .weft program and runs it on N devices. No MLIR, no LLVM, no
// exceptions, no global state but CUDA's driver and libraries, which are loaded
// once: every function that can fail returns NULL or an error the caller frees.
//
//   #include "weft/runtime/abi/weft.h"
//
//   /* y = f(x): a program of one input and one output, on 8 devices. */
//   weft_error *apply(const char *path, const float *x, float *y) {
//     weft_program *program = NULL;
//     weft_runtime *runtime = NULL;
//     weft_buffer *input = NULL, *output = NULL;
//     weft_port from, to;
//     weft_error *error = weft_program_load(path, &program);
//     if (!error)
//       error = weft_program_input(program, 0, &from);
//     if (!error)
//       error = weft_program_output(program, 0, &to);
//     if (!error)
//       error = weft_runtime_create("cpu:8", 0, &runtime);
//     if (!error)
//       error = weft_input_create(runtime, program, 0, &input);
//     if (!error)
//       error = weft_output_create(runtime, program, 0, &output);
//     if (!error) /* a global array, scattered to the devices */
//       error = weft_buffer_write(input, x, from.bytes);
//     if (!error)
//       error = weft_execute(runtime, program, &input, &output);
//     if (!error)
//       error = weft_buffer_read(output, y, to.bytes);
//     weft_buffer_free(output);
//     weft_buffer_free(input);
//     weft_runtime_free(runtime);
//     weft_program_free(program);
//     return error;
//   }
//
//   /* Runs the program on two inputs; the devices are at work on the first while
//      the host is free for something else. */
//   weft_error *apply_both(weft_runtime *runtime, const weft_program *program,
//                          weft_buffer *inputs[2], weft_buffer *outputs[2]) {
//     weft_ticket *first = NULL, *second = NULL;
//     weft_error *error = weft_execute_async(runtime, program, &inputs[0],
//                                            &outputs[0], &first);
//     if (!error)
//       error = weft_execute_async(runtime, program, &inputs[1], &outputs[1],
//                                  &second);
//     if (!error) /* ... something else ... */
//       error = weft_ticket_wait(first);
//     if (!error)
//       error = weft_ticket_wait(second);
//     weft_ticket_free(second);
//     weft_ticket_free(first);
//     return error;
//   }
//
// A program file holds native code, which runs with the rights of the process.
// Loading a program and querying it reads the plan only; the code is loaded by
// weft_program_prepare, or else the first weft_execute. See docs/trust.md for
// which files to trust.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_WEFT_H
#define WEFT_RUNTIME_ABI_WEFT_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define WEFT_ABI_VERSION 6

/// A kernel. `buffers` are in the order of the Launch instruction;
/// `coordinates[a]` is the device's coordinate along mesh axis a. Kernels never
/// allocate or fail.
typedef void (*weft_kernel_fn)(void *const *buffers,
                               const int64_t *coordinates);

/// One share of a kernel's work: number `share` of `shares`, from 0 on. All
/// shares together, in any order, on any threads, store the same bits as one
/// call of the kernel. Kernels whose work is worth sharing export it as
/// NAME.share, with a uint32_t NAME.shares: the most shares that pay off.
typedef void (*weft_kernel_share_fn)(void *const *buffers,
                                     const int64_t *coordinates, int64_t share,
                                     int64_t shares);

/// The trailer after the ELF image and the FlatBuffer of the plan in a .weft
/// file; all integers are little-endian.
typedef struct weft_trailer {
  uint64_t elf_bytes;
  uint64_t plan_bytes;
  uint64_t features; ///< WEFT_FEATURE_* the kernels need
  uint64_t hash;     ///< hash of the bytes before the trailer and of
                     ///< its other fields: see ProgramImage.h
  uint32_t abi_version;
  uint32_t reserved;
  char magic[8]; ///< "WEFTPROG"
} weft_trailer;
enum {
  WEFT_FEATURE_AVX2 = 1,
  WEFT_FEATURE_AVX512 = 2,
  WEFT_FEATURE_NEON = 4,
  WEFT_FEATURE_CUDA = 8, ///< NVIDIA GPUs run the kernels
  WEFT_FEATURE_AVX512_VNNI = 16
};
/// Computes the hash function of weft_trailer::hash: a variant of FNV-1a over
/// 8-byte words, the tail by bytes.
uint64_t weft_hash(const void *data, size_t bytes);

typedef enum weft_status { // WEFT_INVALID_ARGUMENT, WEFT_INVALID_FILE, ...
  WEFT_OK = 0,
#define WEFT_STATUS(NAME, ...) WEFT_##NAME,
#include "weft/base/StatusCodes.def"
} weft_status;
typedef struct weft_error weft_error;
weft_status weft_error_status(const weft_error *error);
const char *weft_error_message(const weft_error *error);
/// An option that a message names as devices=cpu:N, and where in the message. A
/// caller with other words for it, such as --devices cpu:N, puts them there.
typedef struct weft_option {
  size_t begin, bytes;
  const char *name, *value; ///< value: "" without one
} weft_option;
/// The options of the message in its order; returns their number. They are
/// valid as long as the error.
size_t weft_error_options(const weft_error *error, const weft_option **out);
void weft_error_free(weft_error *error);

typedef struct weft_program weft_program;
/// Reads the plan and checks the file's hash. No code of the file is mapped.
weft_error *weft_program_load(const char *path, weft_program **out);
/// Loads a program from memory (memfd, no file); the bytes are not kept.
weft_error *weft_program_load_memory(const void *data, size_t bytes,
                                     weft_program **out);
void weft_program_free(weft_program *program);
/// Loads the program's code for the host, which runs its initializers, if any;
/// the first run loads code of GPUs. Fails if the code is damaged or made for
/// another processor. Later calls, including weft_execute, find it loaded. May
/// be called from any thread.
weft_error *weft_program_prepare(const weft_program *program);
/// The FlatBuffer (plan.fbs), verified; valid as long as the program.
const void *weft_program_plan(const weft_program *program);

/// Inputs and outputs of a program. Returned strings and arrays are valid as
/// long as the program; indices count from 0.
typedef enum weft_dtype { // WEFT_F32, WEFT_F64, ...: the numbers of plan.fbs
#define WEFT_ELEMENT(NAME, ...) WEFT_##NAME,
#include "weft/base/ElementTypes.def"
} weft_dtype;
/// The name of an element type, "f32", "bf16", ...; NULL for an unknown number.
const char *weft_dtype_name(weft_dtype dtype);
/// A type's name in NumPy and JAX, "float32", "bfloat16", ...; NULL for an unknown
/// number.
const char *weft_dtype_numpy_name(weft_dtype dtype);

typedef enum weft_role { // WEFT_WEIGHT, WEFT_STATE, ...: the numbers of plan.fbs
#define WEFT_ROLE(NAME, ...) WEFT_##NAME,
#include "weft/base/PortRoles.def"
} weft_role;
/// The name of a role, "weight", "sample_weight", ...; NULL for an unknown
/// number.
const char *weft_role_name(weft_role role);

typedef struct weft_port {
  const char *name; ///< d1/kernel, x, y, metrics/loss
  weft_role role;
  weft_dtype dtype;
  size_t rank;
  const int64_t *shape;  ///< sizes of the global array, `rank` of them
  uint64_t bytes;        ///< bytes of the global array: see weft_buffer_write
  uint64_t device_bytes; ///< bytes of one shard: see weft_execute_local
  /// Axes of the mesh that each dimension is split over: "[-,(data,model)]".
  const char *layout;
  /// For a donated input, the number of the output that reuses its memory. For
  /// such an output, the number of the input. Otherwise -1.
  int64_t donated;
} weft_port;
size_t weft_program_input_count(const weft_program *program);
size_t weft_program_output_count(const weft_program *program);
weft_error *weft_program_input(const weft_program *program, size_t input,
                               weft_port *out);
weft_error *weft_program_output(const weft_program *program, size_t output,
                                weft_port *out);

/// Facts of the whole program. Counts are of its text: instructions in a loop
/// count once.
typedef struct weft_program_info {
  const char *name;
  const char *target;    ///< cpu:avx512
  const char *mesh;      ///< "data=2, model=4"; "" for one device
  int64_t device_count;  ///< devices that a runtime must have
  uint64_t arena_bytes;  ///< intermediate values of one device
  uint64_t input_bytes;  ///< one device's shards of all inputs
  uint64_t output_bytes; ///< likewise of outputs that reuse no input
  uint64_t constant_bytes, code_bytes;
  size_t kernel_count, launch_count, collective_count;
} weft_program_info;
weft_error *weft_program_describe(const weft_program *program,
                                  weft_program_info *out);

typedef struct weft_collective {
  const char *kind;  ///< all_reduce, ...
  const char *axes;  ///< axes of the mesh: "(data,model)"
  const char *label; ///< the value that moves, or ""
  int64_t group;     ///< devices that take part together
  uint64_t bytes;    ///< sent by a device each time: the largest over devices
} weft_collective;
/// Describes one collective of the plan; `collective` is below
/// collective_count.
weft_error *weft_program_collective(const weft_program *program,
                                    size_t collective, weft_collective *out);

typedef struct weft_runtime weft_runtime;
/// Creates a runtime. `devices`: "cpu:N", "cuda:N", or "cuda" for all GPUs.
/// `workers`: threads that CPU devices share, at most 1024, 0 for one a core;
/// if there are at least two for each device, they share its large kernels.
weft_error *weft_runtime_create(const char *devices, int workers,
                                weft_runtime **out);
int64_t weft_runtime_device_count(const weft_runtime *runtime);
/// Waits for enqueued work, and frees the runtime.
void weft_runtime_free(weft_runtime *runtime);
/// Answers the host_call instructions of programs: `function` is the number of
/// a function, `operands` are the addresses of its operands, and it fills its
/// results, dense arrays of the types in the program. It is called on any
/// thread, once for each group of the instruction, of several groups maybe at
/// the same time.
typedef void (*weft_host_fn)(void *user, int64_t function,
                             void *const *operands, size_t operand_count,
                             void *const *results, size_t result_count);
/// Sets the function that answers host calls; NULL removes it. Programs with
/// host calls do not run without one. Waits for enqueued work.
void weft_runtime_set_host(weft_runtime *runtime, weft_host_fn call,
                           void *user);
/// Fills buffers with 0xFF bytes (NaN) when they are created and before
/// weft_buffer_write, and arenas, and outputs that reuse no input, before each
/// run on buffers, so that reads of unwritten memory show; for tests. Off at
/// first.
void weft_runtime_poison(weft_runtime *runtime, int on);
/// Whether CPU devices of this process share what layouts prove equal: buffers,
/// and the launches that compute them. On at first. Results have the same bits
/// with and without. Waits for enqueued work; arrays that exist are adapted by
/// the next run that writes them. A run on memory of the caller shares if each
/// output that the program shares (weft_program_holder) has one address for all
/// devices that share it.
void weft_runtime_share(weft_runtime *runtime, int on);
/// What devices of this process shared in the last run.
typedef struct weft_sharing {
  uint64_t instructions; ///< that one device did for several
  uint64_t waits;        ///< waits of several devices for each other, for those
  uint64_t bytes;        ///< that the other devices did not store
} weft_sharing;
weft_sharing weft_runtime_sharing(const weft_runtime *runtime);
/// The first position of the mesh among those that may have one memory for an
/// output: the position itself if its device shares with no other.
int64_t weft_program_holder(const weft_program *program, size_t output,
                            int64_t position);
/// Makes the arenas and port buffers of all other devices unreadable while
/// kernels of a device run, and during a collective those outside of its group:
/// an access gets SIGSEGV. Memory that devices share is only readable but for
/// launches that are done for all of them. For tests, for runs on buffers, on a runtime of CPU
/// devices with one worker. Off at first.
weft_error *weft_runtime_isolate(weft_runtime *runtime, int on);

/// A logical array: a local buffer on each device of the program's mesh.
/// weft_buffer_write and weft_buffer_read wait for runs that use the buffer; on
/// a runtime of several processes, for all enqueued work.
typedef struct weft_buffer weft_buffer;
weft_error *weft_input_create(weft_runtime *runtime,
                              const weft_program *program, size_t input,
                              weft_buffer **out);
weft_error *weft_output_create(weft_runtime *runtime,
                               const weft_program *program, size_t output,
                               weft_buffer **out);
/// Frees a buffer; its memory is released when the runs that use it are over.
void weft_buffer_free(weft_buffer *buffer);
/// Scatters a dense, row-major global array of the port's dtype to the shards.
weft_error *weft_buffer_write(weft_buffer *buffer, const void *data,
                              size_t bytes);
/// Gathers the global array from the shards: of each element the first copy, or
/// that of this process if it has one.
weft_error *weft_buffer_read(const weft_buffer *buffer, void *data,
                             size_t bytes);
/// Write and read one block of the global array: the elements from `starts` on,
/// `sizes` of them in each dimension, dense and row-major in `data`. An array
/// that is larger than the host's memory is written block by block.
weft_error *weft_buffer_write_block(weft_buffer *buffer, const int64_t *starts,
                                    const int64_t *sizes, const void *data,
                                    size_t bytes);
weft_error *weft_buffer_read_block(const weft_buffer *buffer,
                                   const int64_t *starts, const int64_t *sizes,
                                   void *data, size_t bytes);
/// Creates an array on the host with the shape and layout of `like`, without a
/// value. Each process has one copy of each shard that its devices hold.
/// Functions on buffers accept such an array; weft_execute does not.
weft_error *weft_buffer_create_on_host(const weft_buffer *like,
                                       weft_buffer **out);
/// Copies an array to another of the same dtype, shape and layout, on the
/// devices or on the host. Each process copies its own shards.
weft_error *weft_buffer_assign(weft_buffer *to, const weft_buffer *from);
/// Returns the address, valid on that device, of one device's local memory.
/// Devices of one process may have the same (weft_runtime_share).
void *weft_buffer_local(weft_buffer *buffer, int64_t position, size_t *bytes);

typedef struct weft_counter {
  const char *kind; ///< all_reduce, ...
  uint64_t count;   ///< collectives that device 0 executed
  uint64_t bytes;   ///< sent by one device: the largest over devices
} weft_counter;

/// Runs the program once, after all enqueued work. inputs[i] and outputs[i] are
/// the buffers of the ports; an output that reuses a donated input must be
/// passed the same buffer.
weft_error *weft_execute(weft_runtime *runtime, const weft_program *program,
                         weft_buffer *const *inputs,
                         weft_buffer *const *outputs);
/// Runs the program on memory of the caller: inputs[i * positions + p] is the
/// address of the local part of input i on the device at position p of the
/// mesh, in 64-byte aligned memory of the size of that port's buffer; outputs
/// likewise. An output that reuses a donated input must be given the input's
/// memory. Addresses for positions of other processes are not read.
weft_error *weft_execute_local(weft_runtime *runtime,
                               const weft_program *program, void *const *inputs,
                               void *const *outputs);

/// A ticket of enqueued work: whether it is over, and whether it failed. May
/// outlive the runtime; any thread may use it. A NULL ticket is over, without
/// an error.
typedef struct weft_ticket weft_ticket;
/// Returns 1 if the work is over, or else 0.
int weft_ticket_poll(const weft_ticket *ticket);
/// Waits until the work is over, and returns its error: in every call a new
/// one.
weft_error *weft_ticket_wait(const weft_ticket *ticket);
/// Calls `ready` once with the ticket's error, which is valid until `ready`
/// returns, or with NULL: at once if the work is over, else on the thread that
/// ends it, the runtime's or one that waits in a call such as weft_execute;
/// later work begins when `ready` has returned. `ready` may enqueue, but must
/// not wait: weft_execute, and weft_ticket_wait for work that is not over, are
/// errors there.
typedef void (*weft_ready_fn)(void *user, const weft_error *error);
weft_error *weft_ticket_on_ready(const weft_ticket *ticket, weft_ready_fn ready,
                                 void *user);
/// Frees a ticket, without waiting for or ending its work.
void weft_ticket_free(weft_ticket *ticket);

/// Like weft_execute, without waiting: wrong arguments are an error at once,
/// later failures are errors of the ticket. Runs and copies of a runtime take
/// place one after the other, in the order in which they are enqueued; a
/// failure does not stop later ones. May be called from any thread. Inputs and
/// outputs (see weft_buffer_free), the arrays of pointers to them and the
/// program may be freed at once.
weft_error *weft_execute_async(weft_runtime *runtime,
                               const weft_program *program,
                               weft_buffer *const *inputs,
                               weft_buffer *const *outputs, weft_ticket **out);
/// An output that a run copies to the host: its dense, row-major global array,
/// of `bytes` bytes.
typedef struct weft_result {
  size_t output;
  void *data;
  size_t bytes;
} weft_result;
/// Like weft_execute_async; the ticket is over when some outputs are copied to
/// the host, and so later runs may write to the outputs' buffers before anyone
/// reads them. `data` must last until then, `results` need not. If `out` is
/// NULL, waits as weft_execute does.
weft_error *weft_execute_with_results(weft_runtime *runtime,
                                      const weft_program *program,
                                      weft_buffer *const *inputs,
                                      weft_buffer *const *outputs,
                                      const weft_result *results,
                                      size_t result_count, weft_ticket **out);
/// Like weft_execute_local, without waiting; the memory must last until the run
/// is over.
weft_error *weft_execute_local_async(weft_runtime *runtime,
                                     const weft_program *program,
                                     void *const *inputs, void *const *outputs,
                                     weft_ticket **out);

/// Allocates zeroed memory of one of this process's devices, for
/// weft_execute_local: aligned to 64 bytes or more.
weft_error *weft_device_allocate(weft_runtime *runtime, int64_t device,
                                 uint64_t bytes, void **out);
/// Frees memory of weft_device_allocate once enqueued work, which may use it,
/// is over. Any other pointer but NULL is an error. Remaining memory is freed
/// with the runtime.
weft_error *weft_device_free(weft_runtime *runtime, void *memory);
/// Enqueues a copy between two devices, or to or from the host, which is device
/// -1. Both memories must last until it is over.
weft_error *weft_device_copy(weft_runtime *runtime, int64_t to_device, void *to,
                             int64_t from_device, const void *from,
                             uint64_t bytes, weft_ticket **out);

/// The peak, over time and devices, of the bytes of arenas, port buffers and
/// weft_device_allocate, on GPUs also of constants, tables and workspaces;
/// memory of callers (weft_execute_local) is not counted.
uint64_t weft_runtime_peak_memory(const weft_runtime *runtime);
/// Gets the counts of the last finished run's collectives, with bytes that
/// follow from the sizes of their buffers; returns the number of entries. Call
/// it while no run is enqueued, or in a callback of the run's ticket.
size_t weft_runtime_counters(const weft_runtime *runtime,
                             const weft_counter **out);

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_WEFT_H
