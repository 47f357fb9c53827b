// Brief code is ready soon: it is not optimized, several kernels are one
// object, and lld is not needed.
#include "weft/compiler/codegen/cpu/LinkPlainObject.h"
#include "weft/test/unit/codegen-kernels.h"

#include <cmath>
#include <elf.h>

using weft::test::Buffer;
using weft::test::function;
using weft::test::Kernels;

namespace {

std::string unary(const std::string &name, const std::string &op) {
  std::string text =
      function("elementwise", "(%x: tensor<143xf32>) -> tensor<143xf32>",
               "%0 = weft." + op +
                   " %x : tensor<143xf32>\nreturn %0 : tensor<143xf32>\n");
  return text.replace(text.find("@k"), 2, "@" + name);
}

weft::CodegenOptions brief() {
  weft::CodegenOptions options;
  options.isBrief = true;
  return options;
}

} // namespace

TEST_CASE("few kernels are one object, which calls libm where it must") {
  for (const char *target : {weft::test::testTarget(), "cpu:generic"}) {
    Kernels kernels(unary("first", "tan") + unary("second", "exp") +
                        unary("third", "tan"),
                    target, brief());
    Buffer<float> x(143, -1, 1), y(143);
    kernels.run("first", {x.data, y.data});
    for (int i = 0; i < 143; ++i)
      CHECK(y[i] == Approx(std::tan(x[i])).margin(1e-6));
    kernels.run("second", {x.data, y.data});
    for (int i = 0; i < 143; ++i)
      CHECK(y[i] == Approx(std::exp(x[i])));
    kernels.run("third", {x.data, x.data});
    CHECK(!kernels.find("fourth"));
#ifdef __x86_64__
    Elf64_Ehdr header;
    memcpy(&header, kernels.image.data(), sizeof header);
    CHECK(header.e_shnum == 0); // lld writes section headers
#endif
  }
}

TEST_CASE("the kernel that cannot be compiled is named among few") {
  Kernels kernels(
      unary("first", "exp") +
          "func.func private @second(%x: tensor<9xi3>) -> tensor<9xi3> "
          "attributes {weft.kernel = #weft.kernel<general>} {\n%0 = weft.neg "
          "%x : "
          "tensor<9xi3>\nreturn %0 : tensor<9xi3>\n}\n",
      weft::test::testTarget(), brief());
  CHECK(kernels.error.find("kernel 'second' cannot be compiled for") !=
        std::string::npos);
}

TEST_CASE("bytes that are no object are left to lld") {
  llvm::SmallVector<char> out;
  CHECK(!weft::cpu::linkPlainObject({}, out));
  CHECK(!weft::cpu::linkPlainObject(llvm::SmallVector<char>(200, 'x'), out));
  // A shared object is refused, too.
  Kernels kernels(unary("first", "exp"), weft::test::testTarget(), brief());
  CHECK(!weft::cpu::linkPlainObject(kernels.image, out));
  CHECK(out.empty());
}
