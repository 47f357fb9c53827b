// peak.c - the multiply-adds that a core does from registers alone.
//
// peak(n) does n times CHAINS x LANES of them, in CHAINS chains that do not
// wait for each other.

#define CHAINS 12

typedef float Lanes __attribute__((vector_size(4 * LANES)));

float peak(long n) {
  Lanes sums[CHAINS], x, y;
  for (int lane = 0; lane < LANES; ++lane) {
    x[lane] = 0.999f;
    y[lane] = 0.0001f;
  }
  for (int i = 0; i < CHAINS; ++i)
    sums[i] = x * (0.01f * i);
  for (long k = 0; k < n; ++k) {
#pragma clang loop unroll(full)
    for (int i = 0; i < CHAINS; ++i)
      sums[i] = sums[i] * x + y;
    __asm__ volatile("" ::: "memory");
  }
  float total = 0;
  for (int i = 0; i < CHAINS; ++i)
    for (int lane = 0; lane < LANES; ++lane)
      total += sums[i][lane];
  return total;
}
