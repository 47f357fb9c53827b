//===- Result.h - a value or the reason there is none -----------*- C++ -*-===//
//
//   Result<Array> x = readNpy("x.npy");
//   if (!x)
//     return x.error();          // any Result<T> or Status takes an Error
//   use(*x);
//
// The runtime libraries never throw across their borders. A message reads
// `<file>: <where in it>: <fault, with both values>; <how to fix>`, without
// the `weft: error: ` that the command line puts before it.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_RESULT_H
#define WEFT_BASE_RESULT_H

#include <optional>
#include <string>
#include <utility>

namespace weft {

struct Error {
  std::string message;
};

/// A value, or an error.
template <typename T> class [[nodiscard]] Result {
public:
  Result(T value) : value(std::move(value)) {}
  Result(Error error) : reason(std::move(error)) {}
  explicit operator bool() const { return value.has_value(); }
  T &operator*() { return *value; }
  const T &operator*() const { return *value; }
  T *operator->() { return &*value; }
  const T *operator->() const { return &*value; }
  const Error &error() const { return reason; }
  const std::string &message() const { return reason.message; }

private:
  std::optional<T> value;
  Error reason;
};

/// Success, or an error: true means success, as for Result.
class [[nodiscard]] Status {
public:
  Status() = default;
  Status(Error error) : reason(std::move(error)) {}
  explicit operator bool() const { return !reason.has_value(); }
  const Error &error() const { return *reason; }
  const std::string &message() const { return reason->message; }

private:
  std::optional<Error> reason;
};

} // namespace weft

#endif // WEFT_BASE_RESULT_H
