//===- SameDeclarations.h - our declarations beside a header's --*- C++ -*-===//
//
//   static_assert(SameCall<Result(int), decltype(::cuInit)>::value);
//   SAME(Result::Success, CUDA_SUCCESS);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_CUDA_SAMEDECLARATIONS_H
#define WEFT_TEST_CUDA_SAMEDECLARATIONS_H

#include <type_traits>

namespace weft::test {

/// Whether two parameters are passed in the same way: both are pointers, or
/// numbers of one size and kind.
template <class Ours, class Theirs>
constexpr bool samePassing =
    sizeof(Ours) == sizeof(Theirs) &&
    std::is_pointer_v<Ours> == std::is_pointer_v<Theirs> &&
    std::is_floating_point_v<Ours> == std::is_floating_point_v<Theirs>;

template <class Ours, class Theirs> struct SameCall : std::false_type {};
template <class Out, class... Ours, class In, class... Theirs>
struct SameCall<Out(Ours...), In(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs))
      return samePassing<Out, In> && (samePassing<Ours, Theirs> && ...);
    return false;
  }();
};

} // namespace weft::test

#define SAME(ours, theirs) static_assert(int(ours) == int(theirs))

#endif // WEFT_TEST_CUDA_SAMEDECLARATIONS_H
