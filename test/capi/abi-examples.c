/* Calls the examples of runtime/abi/gpus.h, profile.h and processes.h, which
 * write_example.py copies to the build folder.
 *
 *   weft-abi-examples gpus
 *   weft-abi-examples profile RELU.weft       y = 2 * max(x, 0) on 8 devices
 *   weft-abi-examples processes RELU.weft     by mpirun
 */
#include "gpus-example.h"
#include "processes-example.h"
#include "profile-example.h"

#include <string.h>

static const char *path;
static int is_profiled;

/* Runs the program, and prints whether it gives the right numbers. */
static weft_error *run(weft_runtime *runtime) {
  weft_program *program = NULL;
  weft_buffer *input = NULL, *output = NULL;
  float x[16], y[16];
  int wrong = 0;
  for (int i = 0; i < 16; ++i)
    x[i] = (float)i - 8;
  weft_error *error = weft_program_load(path, &program);
  if (!error)
    error = weft_input_create(runtime, program, 0, &input);
  if (!error)
    error = weft_output_create(runtime, program, 0, &output);
  if (!error)
    error = weft_buffer_write(input, x, sizeof x);
  if (!error)
    error = is_profiled ? print_times(runtime, program, &input, &output)
                        : weft_execute(runtime, program, &input, &output);
  if (!error)
    error = weft_buffer_read(output, y, sizeof y);
  for (int i = 0; i < 16 && !error; ++i)
    wrong += y[i] != (x[i] > 0 ? 2 * x[i] : 0);
  if (!error)
    printf("%d wrong numbers\n", wrong);
  weft_buffer_free(output);
  weft_buffer_free(input);
  weft_program_free(program);
  return error;
}

static int profile(void) {
  weft_runtime *runtime = NULL;
  is_profiled = 1;
  weft_error *error = weft_runtime_create("cpu:8", 0, &runtime);
  if (!error)
    error = run(runtime);
  if (error)
    printf("error: %s\n", weft_error_message(error));
  weft_runtime_free(runtime);
  weft_error_free(error);
  return error != NULL;
}

int main(int argc, char **argv) {
  path = argv[argc - 1];
  if (argc == 2)
    return list_gpus(), 0;
  return strcmp(argv[1], "profile") == 0 ? profile() : work_among(7, run);
}
