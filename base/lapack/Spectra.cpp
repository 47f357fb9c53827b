#include "weft/base/lapack/Adapters.h"
#include "weft/base/lapack/Invocation.h"

#include <limits>

namespace weft::lapack {

template <typename T> static void syevd(Invocation &of) {
  Work<T> work = of.work<T>();
  Work<int> numbers = of.work<int>(WorkKind::Int32);
  int n = of['n'];
  if constexpr (isPair<T>) {
    Work<Real<T>> reals = of.work<Real<T>>(WorkKind::Real);
    of.call(of.option(0), of.option(1), n, of.result<T>(0), of.rows(n),
            of.result<Real<T>>(1), work.data, work.size, reals.data, reals.size,
            numbers.data, numbers.size, of.result<int>(2));
    of.ask(reals, WorkKind::Real);
  } else {
    of.call(of.option(0), of.option(1), n, of.result<T>(0), of.rows(n),
            of.result<T>(1), work.data, work.size, numbers.data, numbers.size,
            of.result<int>(2));
  }
  of.ask(work);
  of.ask(numbers, WorkKind::Int32);
}

/// The real numbers that gesdd wants for complex matrices, by its manual.
static int64_t realsOfGesdd(bool wantsVectors, int64_t larger,
                            int64_t smaller) {
  if (!wantsVectors)
    return 7 * smaller;
  return std::max(5 * smaller * smaller + 5 * smaller,
                  2 * larger * smaller + 2 * smaller * smaller + smaller);
}

/// Sets the vectors of a decomposition that has only values.
template <typename T> static void clearVectors(Invocation &of) {
  if (of.option(0) != 'N')
    return;
  of.fill<T>(2, int64_t(of['m']) * of['u']);
  of.fill<T>(3, int64_t(of['v']) * of['n']);
}

template <typename T> static void gesdd(Invocation &of) {
  Work<T> work = of.work<T>();
  int m = of['m'], n = of['n'];
  clearVectors<T>(of);
  of.need(8 * int64_t(std::min(m, n)), WorkKind::Int32);
  Work<int> numbers = of.work<int>(WorkKind::Int32);
  if constexpr (isPair<T>) {
    of.need(realsOfGesdd(of.option(0) != 'N', std::max(m, n), std::min(m, n)),
            WorkKind::Real);
    of.call(of.option(0), m, n, of.result<T>(0), of.rows(m),
            of.result<Real<T>>(1), of.result<T>(2), of.rows(m), of.result<T>(3),
            of.rows(of['v']), work.data, work.size,
            of.work<Real<T>>(WorkKind::Real).data, numbers.data,
            of.result<int>(4));
  } else {
    of.call(of.option(0), m, n, of.result<T>(0), of.rows(m), of.result<T>(1),
            of.result<T>(2), of.rows(m), of.result<T>(3), of.rows(of['v']),
            work.data, work.size, numbers.data, of.result<int>(4));
  }
  of.ask(work);
}

template <typename T> static void gesvd(Invocation &of) {
  Work<T> work = of.work<T>();
  int m = of['m'], n = of['n'];
  char kind = of.option(0);
  clearVectors<T>(of);
  if constexpr (isPair<T>) {
    of.need(5 * int64_t(std::min(m, n)), WorkKind::Real);
    of.call(kind, kind, m, n, of.result<T>(0), of.rows(m),
            of.result<Real<T>>(1), of.result<T>(2), of.rows(m), of.result<T>(3),
            of.rows(of['v']), work.data, work.size,
            of.work<Real<T>>(WorkKind::Real).data, of.result<int>(4));
  } else {
    of.call(kind, kind, m, n, of.result<T>(0), of.rows(m), of.result<T>(1),
            of.result<T>(2), of.rows(m), of.result<T>(3), of.rows(of['v']),
            work.data, work.size, of.result<int>(4));
  }
  of.ask(work);
}

template <typename T> static bool isFinite(const T *numbers, int64_t count) {
  return std::all_of(numbers, numbers + count, [](const T &number) {
    return std::isfinite(std::real(number)) && std::isfinite(std::imag(number));
  });
}

/// Pairs of real columns (re, im) of conjugate eigenvectors as complex columns;
/// `imaginary` has the imaginary parts of the eigenvalues.
template <typename T>
static void unpack(const T *packed, const T *imaginary, std::complex<T> *out,
                   int64_t n) {
  for (int64_t j = 0; j < n; ++j) {
    bool isPair = imaginary[j] != 0 && j + 1 < n;
    const T *re = packed + j * n, *im = re + n;
    for (int64_t i = 0; i < n; ++i) {
      out[j * n + i] = {re[i], isPair ? im[i] : T(0)};
      if (isPair)
        out[(j + 1) * n + i] = {re[i], -im[i]};
    }
    j += isPair;
  }
}

/// The value of info for matrices that are not finite, for which the routine
/// need not end: JAX's.
constexpr int kNotFinite = -4;

template <typename T> static void geevOfReals(Invocation &of, T *copy) {
  int n = of['n'];
  int64_t all = int64_t(n) * n;
  Work<T> work = of.work<T>();
  T *left = copy + all, *right = left + all, *memory = right + all;
  auto size = int(work.size < 0 ? -1 : work.size - 3 * all);
  of.call(of.option(0), of.option(1), n, copy, of.rows(n), of.result<T>(0),
          of.result<T>(1), left, of.rows(n), right, of.rows(n),
          of.isQuery ? work.data : memory, size, of.result<int>(4));
  of.ask(work);
  if (of.isQuery)
    of.wanted[size_t(WorkKind::Same)] += 3 * all;
  for (int side : {0, 1})
    if (!of.isQuery && of.option(size_t(side)) == 'V')
      unpack(side ? right : left, of.result<T>(1),
             of.result<std::complex<T>>(size_t(2 + side)), n);
    else
      of.fill<std::complex<T>>(size_t(2 + side), all);
}

/// Sets the values and vectors of a matrix that has none to NaN.
template <typename T> static void refuseValues(Invocation &of) {
  constexpr auto nan = std::numeric_limits<Real<T>>::quiet_NaN();
  int64_t n = of['n'];
  constexpr size_t values = isPair<T> ? 1 : 2;
  for (size_t i = 0; i < values; ++i)
    of.fill<T>(i, n, nan);
  for (size_t side : {values, values + 1})
    of.fill<std::complex<Real<T>>>(side, n * n, nan);
}

template <typename T> static void geev(Invocation &of) {
  int n = of['n'];
  int64_t all = int64_t(n) * n;
  Work<T> work = of.work<T>();
  int &info = *of.result<int>(isPair<T> ? 3 : 4);
  T *copy = work.data;
  if (!of.isQuery) {
    if (!isFinite(of.operand<T>(0), all)) {
      refuseValues<T>(of);
      info = kNotFinite;
      return;
    }
    std::copy_n(of.operand<T>(0), all, copy);
  }
  if constexpr (isPair<T>) {
    of.need(2 * int64_t(n), WorkKind::Real);
    auto size = int(work.size < 0 ? -1 : work.size - all);
    of.call(of.option(0), of.option(1), n, copy, of.rows(n), of.result<T>(0),
            of.result<T>(1), of.rows(n), of.result<T>(2), of.rows(n),
            of.isQuery ? work.data : copy + all, size,
            of.work<Real<T>>(WorkKind::Real).data, &info);
    of.ask(work);
    if (of.isQuery)
      of.wanted[size_t(WorkKind::Same)] += all;
    for (size_t side : {0, 1})
      if (of.option(side) == 'N')
        of.fill<T>(1 + side, all);
  } else {
    geevOfReals(of, copy);
  }
}

template <typename T> static void gees(Invocation &of) {
  Work<T> work = of.work<T>();
  int n = of['n'], *sorted = of.result<int>(isPair<T> ? 3 : 4),
      *info = of.result<int>(isPair<T> ? 4 : 5);
  if (of.option(0) == 'N')
    of.fill<T>(1, int64_t(n) * n);
  of.need(n, WorkKind::Int32); // logical values
  int *logical = of.work<int>(WorkKind::Int32).data;
  void *unused = nullptr; // the function that selects, for sorted forms
  if constexpr (isPair<T>) {
    of.need(n, WorkKind::Real);
    of.call(of.option(0), of.option(1), unused, n, of.result<T>(0), of.rows(n),
            sorted, of.result<T>(2), of.result<T>(1), of.rows(n), work.data,
            work.size, of.work<Real<T>>(WorkKind::Real).data, logical, info);
  } else {
    of.call(of.option(0), of.option(1), unused, n, of.result<T>(0), of.rows(n),
            sorted, of.result<T>(2), of.result<T>(3), of.result<T>(1),
            of.rows(n), work.data, work.size, logical, info);
  }
  of.ask(work);
}

template <typename T> static void gehrd(Invocation &of) {
  Work<T> work = of.work<T>();
  of.call(of['n'], int(of.options[0]), int(of.options[1]), of.result<T>(0),
          of.rows(of['n']), of.result<T>(1), work.data, work.size,
          of.result<int>(2));
  of.ask(work);
}

template <typename T> static void sytrd(Invocation &of) {
  Work<T> work = of.work<T>();
  of.call(of.option(0), of['n'], of.result<T>(0), of.rows(of['n']),
          of.result<Real<T>>(1), of.result<Real<T>>(2), of.result<T>(3),
          work.data, work.size, of.result<int>(4));
  of.ask(work);
}

const Adapters kSyevd = WEFT_LAPACK_ADAPTERS(syevd);
const Adapters kGesdd = WEFT_LAPACK_ADAPTERS(gesdd);
const Adapters kGesvd = WEFT_LAPACK_ADAPTERS(gesvd);
const Adapters kGeev = WEFT_LAPACK_ADAPTERS(geev);
const Adapters kGees = WEFT_LAPACK_ADAPTERS(gees);
const Adapters kGehrd = WEFT_LAPACK_ADAPTERS(gehrd);
const Adapters kSytrd = WEFT_LAPACK_ADAPTERS(sytrd);

} // namespace weft::lapack
