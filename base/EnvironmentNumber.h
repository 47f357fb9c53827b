//===- EnvironmentNumber.h - numbers that a launcher hands over -*- C++ -*-===//
//
//   int rank = environmentNumber("OMPI_COMM_WORLD_RANK", 0);
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_BASE_ENVIRONMENTNUMBER_H
#define WEFT_BASE_ENVIRONMENTNUMBER_H

#include <charconv>
#include <cstdlib>
#include <cstring>

namespace weft {

/// The number in a variable; `otherwise` if it is not set or does not start
/// with an int.
inline int environmentNumber(const char *variable, int otherwise) {
  int number = otherwise;
  if (const char *text = std::getenv(variable))
    std::from_chars(text, text + std::strlen(text), number);
  return number;
}

} // namespace weft

#endif // WEFT_BASE_ENVIRONMENTNUMBER_H
