// Kernels of the runtime's tests: see weft_kernel_fn in runtime/abi/weft.h.
#include <stddef.h>
#include <stdint.h>

// The runtime finds kernels by names like those that the compiler gives.
// NOLINTBEGIN(misc-use-internal-linkage, readability-identifier-naming)

/// y[0..4) = x[0..4) * 2 + (linear coordinate on a mesh of one axis)
void twice_plus_device(void *const *b, const int64_t *c) {
  const float *x = b[0];
  float *y = b[1];
  for (int i = 0; i < 4; ++i)
    y[i] = x[i] * 2 + (float)c[0];
}

/// i32 counter += 1
void increment(void *const *b, const int64_t *c) { ++*(int32_t *)b[0]; }

/// i1 = counter < limit
void less(void *const *b, const int64_t *c) {
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

/// y[0..4) = x[0..4) from its last to its first, by 16 bytes of scratch memory
void reversed_through_scratch(void *const *b, const int64_t *c) {
  float *scratch = b[2];
  for (int i = 0; i < 4; ++i)
    scratch[i] = ((const float *)b[0])[3 - i];
  for (int i = 0; i < 4; ++i)
    ((float *)b[1])[i] = scratch[i];
}

/// Does nothing.
void nothing(void *const *b, const int64_t *c) {}

/// y[i] = f(x), 1000 numbers, in shares of 16: a kernel that
/// several workers may share.
static void mix(float *y, const float *x, int64_t begin, int64_t end) {
  for (int64_t i = begin; i < end; ++i)
    y[i] = x[i] * 0.75f + 1.0f / (1.0f + x[(i * 7 + 1) % 1000] * x[i]);
}
void mixed(void *const *b, const int64_t *c) { mix(b[1], b[0], 0, 1000); }
void mixed_share(void *const *b, const int64_t *c, int64_t share,
                 int64_t shares) __asm__("mixed.share");
void mixed_share(void *const *b, const int64_t *c, int64_t share,
                 int64_t shares) {
  int64_t next = share + 1;
  mix(b[1], b[0], share * 62 / shares * 16,
      next == shares ? 1000 : next * 62 / shares * 16);
}
const uint32_t mixed_shares __asm__("mixed.shares") = 62;

/// The same kernel in two shares at most.
void mixed2(void *const *b, const int64_t *c) { mixed(b, c); }
void mixed2_share(void *const *b, const int64_t *c, int64_t share,
                  int64_t shares) __asm__("mixed2.share");
void mixed2_share(void *const *b, const int64_t *c, int64_t share,
                  int64_t shares) {
  mixed_share(b, c, share, shares);
}
const uint32_t mixed2_shares __asm__("mixed2.shares") = 2;

/// Stores the address of the first device's b[0] for reach_over.
static float *left;
void leave(void *const *b, const int64_t *c) {
  if (c[0] == 0)
    left = b[0];
}
/// b[0] = the value at that address: see runtime-isolation-test.cpp.
void reach_over(void *const *b, const int64_t *c) { *(float *)b[0] = *left; }

// NOLINTEND(misc-use-internal-linkage, readability-identifier-naming)
