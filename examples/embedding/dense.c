/* dense.c - a program's text to a .weft, and to numbers, in C.
 *
 * y = relu(x w) on four devices: rows of x over "data", columns of w over
 * "model". The result is compared with two loops.
 */

#include "weft/compiler/capi/compiler.h"
#include "weft/runtime/abi/weft.h"

#include <stdio.h>
#include <string.h>

enum { ROWS = 6, INNER = 5, COLUMNS = 3 };

static const char program_text[] =
    "func.func @dense(%x: tensor<6x5xf32> {weft.name = \"x\"},\n"
    "                 %w: tensor<5x3xf32> {weft.name = \"w\"})\n"
    "    -> (tensor<6x3xf32> {weft.name = \"y\"}) {\n"
    "  %0 = weft.dot %x, %w contract [1] x [0]\n"
    "    : tensor<6x5xf32>, tensor<5x3xf32> -> tensor<6x3xf32>\n"
    "  %1 = weft.relu %0 : tensor<6x3xf32>\n"
    "  return %1 : tensor<6x3xf32>\n"
    "}\n";

/* Writes the bytes of a .weft file to `image`; returns 1 after an error. */
static int compile(weft_text *image) {
  weft_source source = {program_text, strlen(program_text), "dense", NULL, 0};
  weft_compiler *compiler = weft_compiler_create();
  weft_module *module = NULL;
  weft_text costs = {NULL, 0};
  int failed = weft_module_parse(compiler, &source, &module) ||
               weft_module_set_mesh(module, "data=2,model=2") ||
               weft_module_set_layout(module, "x", "[data,-]") ||
               weft_module_set_layout(module, "w", "[-,model]") ||
               weft_module_explain(module, NULL, &costs) ||
               weft_module_compile(module, NULL, image);
  if (failed)
    fprintf(stderr, "%s", weft_compiler_message(compiler));
  else
    printf("%s\n", costs.data);
  weft_text_free(&costs);
  weft_module_free(module);
  weft_compiler_free(compiler);
  return failed;
}

/* Computes y by the compiled program, on four virtual devices. */
static weft_error *run(const weft_text *image, const float *x, const float *w,
                       float *y) {
  weft_program *program = NULL;
  weft_runtime *runtime = NULL;
  weft_buffer *inputs[2] = {NULL, NULL}, *output = NULL;
  weft_error *error =
      weft_program_load_memory(image->data, image->size, &program);
  if (!error)
    error = weft_runtime_create("cpu:4", 0, &runtime);
  for (int i = 0; i < 2 && !error; ++i)
    error = weft_input_create(runtime, program, i, &inputs[i]);
  if (!error)
    error = weft_output_create(runtime, program, 0, &output);
  if (!error)
    error = weft_buffer_write(inputs[0], x, ROWS * INNER * sizeof(float));
  if (!error)
    error = weft_buffer_write(inputs[1], w, INNER * COLUMNS * sizeof(float));
  if (!error)
    error = weft_execute(runtime, program, inputs, &output);
  if (!error)
    error = weft_buffer_read(output, y, ROWS * COLUMNS * sizeof(float));
  weft_buffer_free(output);
  weft_buffer_free(inputs[1]);
  weft_buffer_free(inputs[0]);
  weft_runtime_free(runtime);
  weft_program_free(program);
  return error;
}

/* Small whole numbers, whose sums are exact. */
static int compare(const float *x, const float *w, const float *y) {
  for (int row = 0; row < ROWS; ++row)
    for (int column = 0; column < COLUMNS; ++column) {
      float sum = 0;
      for (int k = 0; k < INNER; ++k)
        sum += x[row * INNER + k] * w[k * COLUMNS + column];
      float wanted = sum > 0 ? sum : 0, found = y[row * COLUMNS + column];
      if (found != wanted) {
        fprintf(stderr, "y[%d, %d] is %g instead of %g\n", row, column, found,
                wanted);
        return 1;
      }
    }
  printf("4 devices agree with two loops\n");
  return 0;
}

int main(void) {
  float x[ROWS * INNER], w[INNER * COLUMNS], y[ROWS * COLUMNS];
  weft_text image = {NULL, 0};
  for (int i = 0; i < ROWS * INNER; ++i)
    x[i] = (float)(i % 7 - 3);
  for (int i = 0; i < INNER * COLUMNS; ++i)
    w[i] = (float)(i % 5 - 2);
  if (compile(&image))
    return 1;
  weft_error *error = run(&image, x, w, y);
  weft_text_free(&image);
  if (error) {
    fprintf(stderr, "%s\n", weft_error_message(error));
    weft_error_free(error);
    return 1;
  }
  return compare(x, w, y);
}
