/* Predicts samples of float32 from a file with the example of serving.h:
 *   weft-serving-example STEPS.weft WEIGHTS X.bin SAMPLES
 */

#include <stdio.h>
#include <stdlib.h>

#include "serving-example.h"

int main(int argc, char **argv) {
  if (argc != 5)
    return 2;
  long samples = strtol(argv[4], NULL, 10);
  FILE *file = fopen(argv[3], "rb");
  static float x[1 << 16], y[1 << 16];
  if (!file || fread(x, sizeof(float), sizeof x / sizeof *x, file) == 0)
    return 2;
  fclose(file);
  weft_error *error = predict(argv[1], argv[2], x, samples, y);
  if (error) {
    fprintf(stderr, "%s\n", weft_error_message(error));
    weft_error_free(error);
    return 1;
  }
  for (size_t i = 0; i < samples * row; ++i)
    printf("%.9g\n", y[i]);
  return 0;
}
