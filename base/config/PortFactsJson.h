//===- PortFactsJson.h - facts of ports as Python writes them ---*- C++ -*-===//
//
//   Result<PortFacts> facts = factsOfJson(R"({"classes": 10, "layer": "out"})");
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_CONFIG_PORTFACTSJSON_H
#define WEFT_BASE_CONFIG_PORTFACTSJSON_H

#include "weft/base/PortFacts.h"
#include "weft/base/Result.h"

namespace weft {

/// Reads an object whose keys are the names of PortFacts.def. Text is a string,
/// Json any value, Flag true or false, Integer a whole number, Integers a list
/// of them, Numbers a number or a list of numbers. Another key or value is an
/// error.
Result<PortFacts> factsOfJson(std::string_view text);

} // namespace weft

#endif // WEFT_BASE_CONFIG_PORTFACTSJSON_H
