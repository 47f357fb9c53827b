// Kernels of the runtime's tests: see weft_kernel_fn in runtime/abi/weft.h.
#include <stdint.h>
#include <stddef.h>

/// y[0..4) = x[0..4) * 2 + (linear coordinate on a mesh of one axis)
void twice_plus_device(void *const *b, const int64_t *c) {
  const float *x = b[0];
  float *y = b[1];
  for (int i = 0; i < 4; ++i)
    y[i] = x[i] * 2 + (float)c[0];
}

/// i32 counter += 1
void increment(void *const *b, const int64_t *c) {
  (void)c;
  ++*(int32_t *)b[0];
}

/// i1 = counter < limit
void less(void *const *b, const int64_t *c) {
  (void)c;
  *(uint8_t *)b[2] = *(const int32_t *)b[0] < *(const int32_t *)b[1];
}

/// i1 = (coordinate 0 == 0)
void is_first(void *const *b, const int64_t *c) {
  *(uint8_t *)b[0] = c[0] == 0;
}

/// limit = 2 + 3 * coordinate 0
void limit_by_row(void *const *b, const int64_t *c) {
  *(int32_t *)b[0] = 2 + 3 * (int32_t)c[0];
}

/// Nothing: what a launch costs.
void nothing(void *const *b, const int64_t *c) {
  (void)b;
  (void)c;
}
