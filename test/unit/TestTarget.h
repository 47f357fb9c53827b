//===- TestTarget.h - the processor that tests compile for ------*- C++ -*-===//
//
//   WEFT_TARGET=cpu:avx2 build/bin/every-op-test
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_TESTTARGET_H
#define WEFT_TEST_UNIT_TESTTARGET_H

#include <cstdlib>

namespace weft::test {

/// Returns the target that the environment variable WEFT_TARGET names
/// (docs/testing.md); by default the best of this machine.
inline const char *testTarget() {
  const char *target = std::getenv("WEFT_TARGET");
  return target && *target ? target : "cpu";
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_TESTTARGET_H
