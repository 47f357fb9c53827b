//===- Statistic.h - LLVM's statistics as libMLIR has them ------*- C++ -*-===//
//
// In front of LLVM's header of this name where Weft is built with assertions and
// LLVM is not. LLVM's header has two kinds of statistic and takes the counting
// one without NDEBUG. The statistics of a pass are made by a constructor in
// libMLIR, which knows the other kind and leaves the counter uninitialized.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_CMAKE_LLVMHEADERS_STATISTIC_H
#define WEFT_CMAKE_LLVMHEADERS_STATISTIC_H

// The includes of the header of LLVM, so that only its own lines see NDEBUG.
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/Compiler.h"
#include <atomic>
#include <memory>
#include <vector>

#ifdef NDEBUG
#include_next "llvm/ADT/Statistic.h"
#else
#define NDEBUG
#include_next "llvm/ADT/Statistic.h"
#undef NDEBUG
#endif

#endif // WEFT_CMAKE_LLVMHEADERS_STATISTIC_H
