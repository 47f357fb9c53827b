//===- PythonCall.h - objects written as calls of Python --------*- C++ -*-===//
//
//   readPythonCall("EarlyStopping(patience=3)")
//     {"class_name": "EarlyStopping", "config": {"patience": 3}}
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_PYTHONCALL_H
#define WEFT_BASE_CONFIG_PYTHONCALL_H

#include "weft/base/config/Json.h"

namespace weft {

/// Parses a call, or a name alone, to {"class_name": NAME, "config": {...}},
/// and returns an object of JSON as it is; arguments of a call without a name
/// are called "0", "1" and so on. Nested calls are such objects, too.
Result<keras::Json> readPythonCall(const std::string &text);

} // namespace weft

#endif // WEFT_BASE_CONFIG_PYTHONCALL_H
