//===- profile.h - time of each instruction of a program --------*- C++ -*-===//
//
//   #include "weft/runtime/abi/profile.h"
//   #include <stdio.h>
//
//   /* "device 0: launch relu_2: 480 ns", for each instruction of a run. */
//   weft_error *print_times(weft_runtime *runtime, const weft_program *program,
//                           weft_buffer *const *inputs,
//                           weft_buffer *const *outputs) {
//     weft_profile *profile = NULL;
//     const weft_instruction_time *times = NULL;
//     weft_error *error = weft_execute_profiled(runtime, program, inputs, outputs,
//                                               &profile);
//     size_t count = error ? 0 : weft_profile_times(profile, &times);
//     for (size_t i = 0; i < count && !error; ++i) {
//       weft_instruction its;
//       error = weft_program_instruction(program, times[i].instruction, &its);
//       if (!error)
//         printf("device %d: %s %s: %llu ns\n", (int)times[i].position, its.kind,
//                its.name,
//                (unsigned long long)(times[i].end_ns - times[i].begin_ns));
//     }
//     weft_profile_free(profile);
//     return error;
//   }
//
// Part of the C API, like weft.h. On CPUs the runtime reads its clock before
// and after each instruction; on GPUs events of the streams record times. Runs
// that are not profiled measure nothing.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_PROFILE_H
#define WEFT_RUNTIME_ABI_PROFILE_H

#include "weft/runtime/abi/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

/// An instruction. `kind`: "launch", "copy", "jump", "return", "wait", or the
/// name of the collective that it starts, such as "all_reduce". The time of a
/// collective is that of its start, until the wait has ended. `name`: the kernel, or the value that a
/// collective moves. `bytes`: for a launch or copy, the bytes of the buffers
/// that it reads, writes or uses as scratch memory; for a collective, the bytes
/// that a device sends, the largest over devices. `operations`: for a launch,
/// an estimate that counts a multiply-add as one.
typedef struct weft_instruction {
  const char *kind;
  const char *name;
  uint64_t bytes;
  double operations;
} weft_instruction;
/// Return the number of instructions of the program, and describe one of them.
/// Pointers in `out` are valid as long as the program.
size_t weft_program_instruction_count(const weft_program *program);
weft_error *weft_program_instruction(const weft_program *program,
                                     size_t instruction, weft_instruction *out);

/// The instructions between two jumps: `count` from number `first` on. GPUs
/// launch them together where weft_runtime_graphs allows it.
typedef struct weft_piece {
  size_t first, count;
} weft_piece;
/// Returns the number of the program's pieces, and gets the first `room` of
/// them.
size_t weft_program_pieces(const weft_program *program, weft_piece *out,
                           size_t room);

/// The time at which the device at `position` of the mesh ran an instruction,
/// in nanoseconds since the run began; on GPUs, since it began there. A
/// collective's time begins when the device arrives there, so it includes
/// waiting for others. Jumps and returns have no time.
typedef struct weft_instruction_time {
  uint32_t instruction;
  int64_t position;
  uint64_t begin_ns, end_ns;
} weft_instruction_time;

typedef struct weft_profile weft_profile;
/// Runs the program like weft_execute(), and measures times.
weft_error *weft_execute_profiled(weft_runtime *runtime,
                                  const weft_program *program,
                                  weft_buffer *const *inputs,
                                  weft_buffer *const *outputs,
                                  weft_profile **out);
/// The number of times, and the times. They are valid as long as the profile,
/// in the order of each device's instructions.
size_t weft_profile_times(const weft_profile *profile,
                          const weft_instruction_time **out);
void weft_profile_free(weft_profile *profile);

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_PROFILE_H
