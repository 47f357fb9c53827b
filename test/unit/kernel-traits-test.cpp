//===- kernel-traits-test.cpp - the role of an op in kernels --------------===//

#include "weft/dialects/weft/KernelTraits.h"
#include "weft/test/unit/OneOp.h"

using namespace weft;
using namespace weft::test;

namespace {
/// The elements that the op reads of an operand at other positions than its own,
/// for each element of the result.
int64_t elsewhere(const OpText &text, unsigned operand = 0) {
  std::vector<const char *> layouts(text.types.size() + 1, "");
  OneOp it("a=1", text, layouts);
  return elementsReadElsewhere(it.op.op->getOpOperand(operand));
}
} // namespace

TEST_CASE("the elements that an op reads at other positions") {
  CHECK(elsewhere(kAdd, 0) == 0);
  CHECK(elsewhere(kAdd, 1) == 0);
  CHECK(elsewhere({{"tensor<8xf32>"},
                   "weft.reverse %0 dims [0] : tensor<8xf32>"}) == 1);
  CHECK(elsewhere({{"tensor<4xf32>"},
                   "weft.broadcast %0 dims [0] : tensor<4xf32> -> "
                   "tensor<4x6xf32>"}) == 1);
  CHECK(elsewhere({{"tensor<4x6xf32>"},
                   "weft.broadcast %0 dims [0, 1] : tensor<4x6xf32> -> "
                   "tensor<4x6xf32>"}) == 0);
  // Random bits are computed from the whole key.
  CHECK(elsewhere({{"tensor<2xui32>"},
                   "weft.rng_bits %0 : tensor<2xui32> -> tensor<5xui32>"}) ==
        2);
}
