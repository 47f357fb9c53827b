//===- processes.h - one program on several processes: C ABI ----*- C++ -*-===//
//
// mpirun starts N processes; each runs some of the devices of the same program
// and gets the same bits as one process with all of them:
//
//   #include "weft/runtime/abi/processes.h"
//   #include <stdio.h>
//   #include <stdlib.h>
//   #include <unistd.h>
//
//   /* Does the work on 8 devices of all processes, each of which makes the same
//      calls in the same order; the status to end with. */
//   int work_among(uint64_t hash_of_arguments,
//                  weft_error *(*work)(weft_runtime *runtime)) {
//     weft_processes *all = NULL;
//     weft_runtime *runtime = NULL;
//     int reports = 0, orderly = 0;
//     char *other = NULL;
//     weft_error *error =
//         weft_processes_join(hash_of_arguments, STDERR_FILENO, &all);
//     if (!error)
//       error = weft_runtime_create_among(all, "cpu:8", 0, &runtime);
//     if (!error)
//       error = work(runtime);
//     weft_runtime_free(runtime);
//     const char *message = error ? weft_error_message(error) : NULL;
//     int status = weft_processes_leave(all, error != NULL, message, &reports,
//                                       &other, &orderly);
//     if (reports && (message || other))
//       fprintf(stderr, "%s\n", other ? other : message);
//     if (!orderly) /* a process has died */
//       _exit(status);
//     weft_processes_free(all);
//     free(other);
//     weft_error_free(error);
//     return status;
//   }
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_ABI_PROCESSES_H
#define WEFT_RUNTIME_ABI_PROCESSES_H

#include "weft/runtime/abi/weft.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct weft_processes weft_processes;

/// Joins the processes that mpirun has started with this one; all must call it
/// within 10 seconds. `command` is a hash of what they must have in common: an
/// error if it differs. If another process dies while this one does not return
/// to the runtime, the reason is written to the file descriptor `messages`, and
/// the process ends with status 1. Once in a process.
weft_error *weft_processes_join(uint64_t command, int messages,
                                weft_processes **out);
/// The reason why weft_processes_join cannot work here, or NULL.
const char *weft_processes_missing(void);
int weft_processes_rank(const weft_processes *processes);
int weft_processes_size(const weft_processes *processes);

/// Like weft_runtime_create for all devices of all processes, of which this one
/// runs its part: devices are cut contiguously, the first processes run one
/// more. `processes` may be NULL: one process. On such a runtime every process
/// calls weft_buffer_write, weft_buffer_read and weft_execute with the same
/// arguments, and weft_buffer_local is NULL for positions of others. The first
/// run of a program waits for all enqueued work, as the processes then compare
/// the program.
weft_error *weft_runtime_create_among(weft_processes *processes,
                                      const char *devices, int workers,
                                      weft_runtime **out);

/// The next three functions exchange messages of their own: call them while
/// nothing is enqueued on a runtime of these processes. (A process that waits
/// in them is counted as idle by the others; if all are idle, it is a
/// deadlock.)

/// Compares `value`, a hash of `what`, over all processes: an error in each
/// unless all are equal.
weft_error *weft_processes_agree(weft_processes *processes, const char *what,
                                 uint64_t value);
/// Sends rank 0's bytes to every process: `data` and `bytes` are rank 0's on
/// entry, and a copy on return in the others; freed by free().
weft_error *weft_processes_share(weft_processes *processes, void **data,
                                 size_t *bytes);
/// Sets `any` to whether any process requests to stop, the same answer in all:
/// each calls it at the same points. `mine`: this one requests it.
weft_error *weft_processes_vote(weft_processes *processes, int mine, int *any);
/// Handles SIGTERM; safe in a signal handler. `graceful`: the caller ends at
/// its next vote. Otherwise the process ends, after reporting which other
/// process died.
void weft_processes_terminate(weft_processes *processes, int graceful);

/// Tells the others that this one is through, and why if `status` is not 0
/// (`message` may be NULL), and waits for them. Returns the status to end
/// with: that of a process which failed, if `status` is 0.
/// `reports` is set where this process is the one to show messages; `other` gets
/// the message of another process that failed first, or NULL, freed by free().
/// `orderly` is 0 where a process died: then end by _exit.
int weft_processes_leave(weft_processes *processes, int status,
                         const char *message, int *reports, char **other,
                         int *orderly);
/// Ends MPI in all processes at once and frees `processes`, after
/// weft_processes_leave with `orderly` set and after the message is shown: mpirun
/// kills the others as soon as one ends with a status other than 0.
void weft_processes_free(weft_processes *processes);

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_PROCESSES_H
