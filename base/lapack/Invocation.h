//===- Invocation.h - a routine on the arrays of one matrix -----*- C++ -*-===//
//
// Private to base/lapack. An adapter calls its routine on an invocation:
//
//   template <typename T> void geqrf(Invocation &of) {
//     Work<T> work = of.work<T>();
//     of.call(of['m'], of['n'], of.result<T>(0), of.rows('m'),
//             of.result<T>(1), work.data, work.size, of.info());
//     of.ask(work);
//   }
//
// With isQuery set, the routine gets a work size of -1, says how much memory it
// wants, and touches no array.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_LAPACK_INVOCATION_H
#define WEFT_BASE_LAPACK_INVOCATION_H

#include "weft/base/lapack/Routine.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <type_traits>

namespace weft::lapack {

template <typename T> struct RealOf {
  using Type = T;
};
template <typename T> struct RealOf<std::complex<T>> {
  using Type = T;
};
template <typename T> using Real = typename RealOf<T>::Type;
template <typename T>
inline constexpr bool isPair = !std::is_same_v<T, Real<T>>;

/// Memory of a routine: `size` numbers, -1 in a query.
template <typename T> struct Work {
  T *data;
  int size;
};

/// The kinds of memory that routines ask for.
enum class WorkKind : uint8_t { Same, Real, Int32 };
inline constexpr size_t kWorkKinds = 3;

struct Invocation {
  void *function = nullptr;
  const Sizes *sizes = nullptr;
  const int64_t *options = nullptr;
  /// Results and operands, in column-major order unless the routine takes rows.
  void *const *results = nullptr, *const *operands = nullptr;
  /// Memory, and how many numbers of each kind it has. A query sets the sizes.
  void *memory[kWorkKinds] = {};
  int64_t wanted[kWorkKinds] = {};
  bool isQuery = false;
  int code = 0; ///< LAPACK's info, where no result has it

  int operator[](char letter) const {
    return int((*sizes)[size_t(letter - 'a')]);
  }
  /// The distance of columns of a matrix with this number of rows.
  static int rows(int count) { return std::max(count, 1); }
  char option(size_t number) const { return char(options[number]); }

  template <typename T> T *result(size_t number) const {
    return static_cast<T *>(results[number]);
  }
  template <typename T> T *operand(size_t number) const {
    return static_cast<T *>(operands[number]);
  }
  int *info() { return &code; }

  template <typename T> Work<T> work(WorkKind kind = WorkKind::Same) {
    auto at = size_t(kind);
    return {static_cast<T *>(memory[at]), isQuery ? -1 : int(wanted[at])};
  }
  /// Notes the size that a query put into the memory's first number, which f32
  /// may have rounded down.
  template <typename T>
  void ask(const Work<T> &work, WorkKind kind = WorkKind::Same) {
    if (!isQuery)
      return;
    double size = 0;
    if constexpr (std::is_integral_v<T>)
      size = work.data[0];
    else
      size = std::real(work.data[0]);
    if (std::is_same_v<Real<T>, float> && size > 1 << 23)
      size *= 1 + 1e-6;
    need(int64_t(std::ceil(size)), kind);
  }
  /// Asks for memory of this many numbers.
  void need(int64_t count, WorkKind kind) {
    if (isQuery)
      wanted[size_t(kind)] = std::max<int64_t>(count, 1);
  }

  /// Sets a result that the routine does not compute.
  template <typename T>
  void fill(size_t number, int64_t count, Real<T> value = 0) {
    if (!isQuery)
      std::fill_n(result<T>(number), count, T(value));
  }

  /// Calls the routine with addresses of numbers, as Fortran's are, and the
  /// length of each text after all other arguments.
  template <typename... Arguments> void call(const Arguments &...arguments) {
    constexpr size_t texts =
        (size_t(0) + ... + size_t(std::is_same_v<Arguments, char>));
    callWith(std::make_index_sequence<texts>(), arguments...);
  }

private:
  template <typename T> static auto passed(const T &argument) {
    if constexpr (std::is_pointer_v<T>)
      return argument;
    else
      return &argument;
  }
  template <size_t... Texts, typename... Arguments>
  void callWith(std::index_sequence<Texts...>, const Arguments &...arguments) {
    using Function =
        void (*)(decltype(passed(arguments))..., decltype(Texts)...);
    reinterpret_cast<Function>(function)(
        passed(arguments)..., (static_cast<void>(Texts), size_t(1))...);
  }
};

/// The forms of a function template for each Element.
#define WEFT_LAPACK_ADAPTERS(NAME)                                             \
  {NAME<float>, NAME<double>, NAME<std::complex<float>>,                       \
   NAME<std::complex<double>>}

} // namespace weft::lapack

#endif // WEFT_BASE_LAPACK_INVOCATION_H
