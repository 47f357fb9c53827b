//===- Error.h - errors of the runtime and of its C interface ---*- C++ -*-===//
//
//   if (Status ok = checkTrailer(...); !ok)
//     return ok;
//   return makeError(StatusCode::InvalidFile, "file has ", n, " bytes, needs ", m);
//
//   weft_error *weft_program_load(...) {             // where a call comes from C
//     return guarded([&]() -> Status { ... });
//   }
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_ERROR_H
#define WEFT_RUNTIME_PROGRAM_ERROR_H

#include "weft/base/Result.h"
#include "weft/runtime/abi/weft.h"

#include <exception>
#include <new>
#include <sstream>

/// Exports the C ABI, and functions that the libraries of device kinds use
/// (exports.map), which are of the same build.
#define WEFT_EXPORT __attribute__((visibility("default")))

/// An error as C has it.
struct weft_error {
  weft::Error error;
  std::vector<weft_option> options; ///< parts of the message's text

  explicit weft_error(weft::Error given);
  weft_error(const weft_error &) = delete;
  weft_error &operator=(const weft_error &) = delete;
};

namespace weft::runtime {

using weft::Error;
using weft::Message;
using weft::Result;
using weft::Status;
using weft::StatusCode;

/// The parts of a message, joined.
class WEFT_EXPORT MessageParts {
public:
  MessageParts();
  ~MessageParts();
  template <typename T> void add(const T &part) { out << part; }
  void add(const Option &option);
  void add(const Message &part);
  Error error(StatusCode code);

private:
  std::ostringstream out; ///< the parts after those of `message`
  Message message;
};

/// Makes an error whose text joins the parts: options, and others with
/// operator<<. Lower case, no full stop, both values.
template <typename... Args>
Error makeError(StatusCode code, const Args &...args) {
  MessageParts parts;
  (parts.add(args), ...);
  return parts.error(code);
}

/// The error as C has it, or null.
WEFT_EXPORT weft_error *toC(const Status &status) noexcept;

/// The result of a body; an exception (out of memory) becomes an error.
template <typename Body> Status caught(Body &&body) {
  try {
    return body();
  } catch (const std::bad_alloc &) {
    return Error{"out of memory", StatusCode::OutOfMemory};
  } catch (const std::exception &e) {
    return Error{e.what(), StatusCode::Internal};
  }
}

/// Runs a body behind the C ABI.
template <typename Body> weft_error *guarded(Body &&body) {
  return toC(caught(std::forward<Body>(body)));
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_ERROR_H
