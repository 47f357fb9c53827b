//===- Result.h - a value or the reason there is none -----------*- C++ -*-===//
//
//   Result<Array> x = readNpy("x.npy");
//   if (!x)
//     return x.error();          // any Result<T> or Status takes an Error
//   use(*x);
//
//   return Error{"has 3 bytes, needs 8", StatusCode::InvalidFile};
//   return state.load(array).in("w.npz");       // w.npz: <the message>
//
// This is the one form of an error in plain C++. MLIR's diagnostics are another,
// where an op has a location, and weft_error of runtime/abi/weft.h is made of an
// Error where a call comes back to C. A message reads
// `<file>: <where in it>: <fault, with both values>; <how to fix>`, without the
// `weft: error: ` that the command line puts before it, and names options by
// Option (Message.h). Libraries never throw across their borders.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_RESULT_H
#define WEFT_BASE_RESULT_H

#include "weft/base/Message.h"

#include <cstdint>
#include <optional>
#include <utility>

namespace weft {

/// The statuses of StatusCodes.def, in its order: the numbers of weft_status.
enum class StatusCode : uint8_t {
  Ok,
#define WEFT_STATUS(NAME, Name) Name,
#include "weft/base/StatusCodes.def"
};

struct Error {
  Message message;
  StatusCode code = StatusCode::Internal; ///< for callers of the C interface

  /// Returns the error with a place, such as a file, in front of the message.
  Error in(const Message &place) const {
    return {place + ": " + message, code};
  }
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
  /// The message in the words of the libraries.
  const std::string &message() const { return reason.message.text(); }

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
  Error &error() { return *reason; }
  const std::string &message() const { return reason->message.text(); }
  StatusCode code() const { return reason ? reason->code : StatusCode::Ok; }
  /// Returns the same success, or the error with this place.
  Status in(const Message &place) const {
    return reason ? Status(reason->in(place)) : Status();
  }

private:
  std::optional<Error> reason;
};

} // namespace weft

#endif // WEFT_BASE_RESULT_H
