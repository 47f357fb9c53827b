/* Calls compile_text(), the example of compiler/capi/compiler.h, and runs the
 * file that it has written by the example of runtime/abi/weft.h;
 * write_example.py copies both.
 *
 *   weft-compiler-example PROGRAM.mlir OUT.weft
 */
#include "compiler-example.h"
#include "weft-example.h"

#include <stdlib.h>

static char *read_file(const char *path) {
  FILE *file = fopen(path, "rb");
  char *text = calloc(1, 65536);
  if (!file || fread(text, 1, 65535, file) == 0)
    exit(printf("%s: cannot be read\n", path));
  fclose(file);
  return text;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  char *text = read_file(argv[1]);
  FILE *out = fopen(argv[2], "wb");
  int failed = compile_text(text, out);
  fclose(out);
  free(text);
  if (failed)
    return 1;
  float x[16], y[16];
  for (int i = 0; i < 16; ++i)
    x[i] = (float)i - 8, y[i] = -1;
  weft_error *error = apply(argv[2], x, y);
  if (error)
    return printf("error: %s\n", weft_error_message(error)), 1;
  for (int i = 0; i < 16; ++i)
    if (y[i] != (x[i] > 0 ? 2 * x[i] : 0))
      return printf("y[%d] is %g of %g\n", i, y[i], x[i]), 1;
  printf("the example ran\n");
  return 0;
}
