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

/// Joins the processes that mpirun has started with this one. All must call it
/// within 120 seconds, and on a single machine each within 8 seconds after the
/// one before. `command` is a hash of the command line; it is an error if
/// processes differ in it, after which `out` is set, too. If another process
/// dies while this one does not return to the runtime, the process ends with
/// status 1, and one of those left writes the reason to its file descriptor
/// `messages`. Call it once in a process.
weft_error *weft_processes_join(uint64_t command, int messages,
                                weft_processes **out);
/// The reason why weft_processes_join cannot work here, or NULL.
const char *weft_processes_missing(void);
int weft_processes_rank(const weft_processes *processes);
int weft_processes_size(const weft_processes *processes);

/// Creates a runtime, like weft_runtime_create, with devices of all processes.
/// Each process runs a contiguous range of the devices; the first processes run
/// one more if needed. NULL for `processes` means a single process. On such a
/// runtime every process calls weft_buffer_write, weft_buffer_read and
/// weft_execute with the same arguments, and weft_buffer_local returns NULL for
/// positions of other processes. The first run of a program waits for all
/// enqueued work, as the processes then compare the program.
weft_error *weft_runtime_create_among(weft_processes *processes,
                                      const char *devices, int workers,
                                      weft_runtime **out);

/// The next three functions exchange messages of their own: call them while
/// nothing is enqueued on a runtime of these processes. (A process that waits
/// in them is counted as idle by the others; if all are idle, it is a
/// deadlock.)

/// Compares `value`, a hash of `what`, over all processes. Every process gets
/// an error unless all values are equal.
weft_error *weft_processes_agree(weft_processes *processes, const char *what,
                                 uint64_t value);
/// Sends rank 0's bytes to every process. On entry `data` and `bytes` are rank
/// 0's; on return the others have a copy, to be freed by free().
weft_error *weft_processes_share(weft_processes *processes, void **data,
                                 size_t *bytes);
/// Sets `any` to whether a process requests to stop; `mine`: whether this one
/// does. All processes call it at the same points and get the same answer, that
/// of rank 0: a request of another rank may count from a later vote on only.
weft_error *weft_processes_vote(weft_processes *processes, int mine, int *any);
/// Sets `any` to whether `mine` is set in a process. All processes call it at the
/// same points, and wait for each other.
weft_error *weft_processes_any(weft_processes *processes, int mine, int *any);
/// Handles SIGTERM, which mpirun sends to all processes; safe in a signal
/// handler. `graceful`: rank 0 requests to stop in its next vote. Otherwise the
/// process ends, after reporting which other process died, if one did.
void weft_processes_terminate(weft_processes *processes, int graceful);

/// Tells the others that this process is done, with the reason in `message` (or
/// NULL) if `status` is not 0, and waits for them. Returns the status to exit
/// with: `status` or, if that is 0, the status of a process that failed. Sets
/// `reports` if this process is to show messages, and `other` to the message of
/// another process that failed first, to be freed by free(), or to NULL. Sets
/// `orderly` to 0 if a process died or left messages untaken: then exit by
/// _exit.
int weft_processes_leave(weft_processes *processes, int status,
                         const char *message, int *reports, char **other,
                         int *orderly);
/// Ends MPI in all processes at once and frees `processes`, after
/// weft_processes_leave with `orderly` set and after the message is shown, as
/// mpirun kills the others as soon as one ends with a status other than 0.
void weft_processes_free(weft_processes *processes);

#ifdef __cplusplus
}
#endif

#endif // WEFT_RUNTIME_ABI_PROCESSES_H
