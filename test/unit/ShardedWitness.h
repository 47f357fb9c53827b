//===- ShardedWitness.h - a small program, compiled and run -----*- C++ -*-===//
//
// runWitness compiles and checks a program whose layouts are written as on the
// command line:
//
//   Sent sent = runWitness("x=4,y=2",
//     R"((%a: tensor<8x6xf32> @[x,-]) -> (tensor<8x6xf32> @[-,y]) {
//       %r = weft.neg %a : tensor<8x6xf32>
//       return %r : tensor<8x6xf32>
//     })");
//   CHECK(sent.count("all_gather") == 0);
//
// The program is compiled to a plan. The partitioned program is interpreted on
// every device, with NaN in all padding, and must give the results of the
// program as written. Every collective must have a reason.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_SHARDEDWITNESS_H
#define WEFT_TEST_UNIT_SHARDEDWITNESS_H

#include "llvm/ADT/StringRef.h"

#include <cstdint>
#include <map>
#include <string>

namespace weft {

/// The collectives of a run and the bytes that one device sends, by kind of
/// collective.
struct Sent {
  std::map<std::string, int64_t> counts, bytesOf;

  int64_t count(const std::string &kind) const {
    auto it = counts.find(kind);
    return it == counts.end() ? 0 : it->second;
  }
  int64_t collectives() const {
    int64_t all = 0;
    for (const auto &[kind, number] : counts)
      all += number;
    return all;
  }
  int64_t bytes() const {
    int64_t all = 0;
    for (const auto &[kind, number] : bytesOf)
      all += number;
    return all;
  }
};

/// Returns the text of a module whose @main has these arguments, results and
/// body; `@[x,-]` after a type annotates it, `#[x,-]` is a layout attribute.
std::string witnessText(const std::string &mesh, llvm::StringRef program);

/// Compiles and interprets the program. The running test fails if the program
/// cannot be compiled, or if a result differs by more than `tolerance` times
/// the largest element.
Sent runWitness(const std::string &mesh, llvm::StringRef program,
                double tolerance = 0);

} // namespace weft

#endif // WEFT_TEST_UNIT_SHARDEDWITNESS_H
