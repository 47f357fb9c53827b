//===- Call.h - a call of a routine of LAPACK, with its sizes ---*- C++ -*-===//
//
//   Result<Call> call = Call::make("dgetrf", {}, 8, {{4, 3}}, {{4, 3}, {3}, {}});
//   call->parameters();                // 8, then m, n, k, then options: 8 4 3 3
//   Call::read("dgetrf", {8, 4, 3, 3}) // the same call, in a program's file
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_LAPACK_CALL_H
#define WEFT_BASE_LAPACK_CALL_H

#include "weft/base/Result.h"
#include "weft/base/lapack/Routine.h"

namespace weft::lapack {

/// The routine that a name such as "dgetrf" names, and its elements.
struct Named {
  const Routine *routine = nullptr;
  Element element = Element::F32;
};
Result<Named> findRoutine(std::string_view name);

class Call {
public:
  /// A call whose arrays have these shapes, without batch dimensions.
  static Result<Call> make(std::string_view name,
                           std::span<const int64_t> options, int64_t batch,
                           std::span<const std::vector<int64_t>> operands,
                           std::span<const std::vector<int64_t>> results);
  /// The call of a program's file.
  static Result<Call> read(std::string_view name,
                           std::span<const int64_t> parameters);
  std::vector<int64_t> parameters() const;

  const Routine &routine() const { return *named.routine; }
  Element element() const { return named.element; }
  std::string name() const;
  int64_t batch() const { return count; }
  const Sizes &sizes() const { return lengths; }
  std::span<const int64_t> options() const { return chosen; }
  /// The results that the call has.
  const std::vector<ArrayForm> &results() const { return given; }
  /// Elements of one matrix, vector or number.
  int64_t elements(const ArrayForm &array) const;
  /// Bytes of the same.
  int64_t bytes(const ArrayForm &array) const;
  /// Multiply-adds of all matrices, about.
  double operations() const;

private:
  Status check() const;

  Named named;
  int64_t count = 1;
  Sizes lengths;
  std::vector<int64_t> chosen;
  std::vector<ArrayForm> given;
};

} // namespace weft::lapack

#endif // WEFT_BASE_LAPACK_CALL_H
