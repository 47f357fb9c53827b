/* Calls apply(), the example of runtime/abi/weft.h, which write_example.py
 * copies to weft-example.h in the build folder. */
#include <stdio.h>

#include "weft-example.h"

int main(int argc, char **argv) {
  float x[16], y[16];
  for (int i = 0; i < 16; ++i)
    x[i] = (float)i - 8, y[i] = -1;
  weft_error *error = apply(argv[argc - 1], x, y);
  if (error) {
    printf("error: %s\n", weft_error_message(error));
    weft_error_free(error);
    return 1;
  }
  for (int i = 0; i < 16; ++i)
    if (y[i] != (x[i] > 0 ? 2 * x[i] : 0))
      return printf("y[%d] is %g of %g\n", i, y[i], x[i]), 1;
  printf("the example ran\n");
  return 0;
}
