//===- StandardDeprecations.h - included before every source ----*- C++ -*-===//
//
// libstdc++ 12's stable_sort calls a function that libstdc++ itself declares
// deprecated, which Clang reports at each use.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_CMAKE_STANDARDDEPRECATIONS_H
#define WEFT_CMAKE_STANDARDDEPRECATIONS_H

#if __has_include(<bits/stl_tempbuf.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"
#include <bits/stl_tempbuf.h>
#pragma GCC diagnostic pop
#endif

#endif // WEFT_CMAKE_STANDARDDEPRECATIONS_H
