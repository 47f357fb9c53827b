/* Calls apply() and apply_both(), the example of runtime/abi/weft.h, which
 * write_example.py copies to weft-example.h in the build folder. */
#include <stdio.h>

#include "weft-example.h"

/* Returns whether y = 2 * max(x, 0). */
static int is_right(const float *x, const float *y) {
  for (int i = 0; i < 16; ++i)
    if (y[i] != (x[i] > 0 ? 2 * x[i] : 0))
      return printf("y[%d] is %g of %g\n", i, y[i], x[i]), 0;
  return 1;
}

static weft_error *both(const char *path, float x[2][16], float y[2][16]) {
  weft_program *program = NULL;
  weft_runtime *runtime = NULL;
  weft_buffer *inputs[2] = {NULL, NULL}, *outputs[2] = {NULL, NULL};
  weft_error *error = weft_program_load(path, &program);
  if (!error)
    error = weft_runtime_create("cpu:8", 0, &runtime);
  for (int i = 0; i < 2 && !error; ++i) {
    error = weft_input_create(runtime, program, 0, &inputs[i]);
    if (!error)
      error = weft_output_create(runtime, program, 0, &outputs[i]);
    if (!error)
      error = weft_buffer_write(inputs[i], x[i], sizeof x[i]);
  }
  if (!error)
    error = apply_both(runtime, program, inputs, outputs);
  for (int i = 0; i < 2 && !error; ++i)
    error = weft_buffer_read(outputs[i], y[i], sizeof y[i]);
  for (int i = 0; i < 2; ++i) {
    weft_buffer_free(inputs[i]);
    weft_buffer_free(outputs[i]);
  }
  weft_runtime_free(runtime);
  weft_program_free(program);
  return error;
}

int main(int argc, char **argv) {
  float x[2][16], y[2][16];
  for (int i = 0; i < 16; ++i)
    x[0][i] = (float)i - 8, x[1][i] = 5 - (float)i, y[0][i] = y[1][i] = -1;
  weft_error *error = apply(argv[argc - 1], x[0], y[0]);
  if (!error && !is_right(x[0], y[0]))
    return 1;
  if (!error)
    error = both(argv[argc - 1], x, y);
  if (error) {
    printf("error: %s\n", weft_error_message(error));
    weft_error_free(error);
    return 1;
  }
  if (!is_right(x[0], y[0]) || !is_right(x[1], y[1]))
    return 1;
  printf("the example ran\n");
  return 0;
}
