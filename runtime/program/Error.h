//===- Error.h - errors as values -------------------------------*- C++ -*-===//
//
//   if (Error e = checkTrailer(...)) return e;        // null means success
//   return makeError(WEFT_INVALID_FILE, "file has ", n, " bytes, needs ", m);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_RUNTIME_PROGRAM_ERROR_H
#define WEFT_RUNTIME_PROGRAM_ERROR_H

#include "weft/runtime/abi/weft.h"

#include <memory>
#include <sstream>
#include <string>

/// Exports the C ABI, and functions that the libraries of device kinds use
/// (exports.map), which are of the same build.
#define WEFT_EXPORT __attribute__((visibility("default")))

struct weft_error {
  weft_status status;
  std::string message;
};

namespace weft::runtime {

using Error = std::unique_ptr<weft_error>;

/// Makes an error whose text joins the parts with operator<<. Lower case, no
/// full stop, both values.
template <typename... Args>
Error makeError(weft_status status, const Args &...args) {
  std::ostringstream out;
  (out << ... << args);
  return Error(new weft_error{status, out.str()});
}

/// Runs a body behind the C ABI: an exception (out of memory) becomes an error.
template <typename Body> weft_error *guarded(Body &&body) noexcept {
  try {
    return body().release();
  } catch (const std::bad_alloc &) {
    return new (std::nothrow) weft_error{WEFT_OUT_OF_MEMORY, "out of memory"};
  } catch (const std::exception &e) {
    return new (std::nothrow) weft_error{WEFT_INTERNAL, e.what()};
  }
}

} // namespace weft::runtime

#endif // WEFT_RUNTIME_PROGRAM_ERROR_H
