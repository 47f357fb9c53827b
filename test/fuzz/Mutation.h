//===- Mutation.h - valid files made slightly wrong -------------*- C++ -*-===//
//
//   std::mt19937_64 random(seed);
//   std::string altered = mutate(bytes, /*isText=*/true, random);
//
// A seed always gives the same bytes. Binary files get bits flipped, bytes and
// integers replaced, pieces removed, doubled or moved; texts also get other
// tokens: huge and negative numbers, null, brackets, deep nesting.
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_FUZZ_MUTATION_H
#define WEFT_TEST_FUZZ_MUTATION_H

#include <random>
#include <string>

namespace weft::test {
std::string mutate(std::string bytes, bool isText, std::mt19937_64 &random);
} // namespace weft::test

#endif // WEFT_TEST_FUZZ_MUTATION_H
