//===- flow-test.cpp - loops and branches as the runtime walks them -------===//
//
// Cases with regions have no single kernel. So each case, and its derivative,
// is compiled to .weft images for up to 3 devices and run; the results are
// compared with JAX's.

#include "weft/compiler/Register.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/training/Passes.h"
#include "weft/test/unit/OpCases.h"
#include "weft/test/unit/TestTarget.h"
#include "weft/test/unit/runtime-loaded.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace weft;

namespace {

MLIRContext &context() {
  static MLIRContext *shared = [] {
    DialectRegistry registry;
    registerAllDialects(registry);
    auto *made = new MLIRContext(registry);
    made->loadAllAvailableDialects();
    return made;
  }();
  return *shared;
}

/// Shards arguments and results over all devices along one dimension, in turn
/// the first, the second and so on.
void annotate(ModuleOp module, int64_t devices) {
  std::string mesh = "#weft.mesh<\"a\"=" + std::to_string(devices) + ">";
  module->setAttr(kMeshAttr, parseAttribute(mesh, &context()));
  auto function = module.lookupSymbol<func::FuncOp>("main");
  auto layoutOf = [&](Type type, unsigned index) {
    int64_t rank = cast<RankedTensorType>(type).getRank();
    std::string dims;
    for (int64_t dim = 0; dim < rank; ++dim)
      dims += std::string(dim ? ", " : "") +
              (dim == index % rank ? "{\"a\"}" : "{}");
    return parseAttribute("#weft.layout<" + mesh + ", [" + dims + "]>",
                          &context());
  };
  for (auto [index, type] : llvm::enumerate(function.getArgumentTypes()))
    function.setArgAttr(index, kLayoutAttr, layoutOf(type, index));
  for (auto [index, type] : llvm::enumerate(function.getResultTypes()))
    function.setResultAttr(index, kLayoutAttr, layoutOf(type, index + 1));
}

std::vector<uint8_t> bytesOf(const Tensor &tensor) {
  size_t width = (tensor.bitWidth() + 7) / 8;
  std::vector<uint8_t> bytes(tensor.size() * width);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = tensor.bits(i);
    memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

Tensor tensorOf(RankedTensorType type, const std::vector<uint8_t> &bytes) {
  Tensor tensor(type);
  size_t width = (tensor.bitWidth() + 7) / 8;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = 0;
    memcpy(&bits, bytes.data() + i * width, width);
    tensor.setBits(i, bits);
  }
  return tensor;
}

void checkRun(const std::string &text, int64_t devices, const Tensors &inputs,
              const Tensors &expected, double tolerance) {
  INFO(devices << " devices\n" << text);
  auto module = parseSourceString<ModuleOp>(text, &context());
  REQUIRE(module);
  annotate(*module, devices);
  CompileOptions options;
  options.threads = 1;
  options.target = test::testTarget();
  auto image = compileProgram(*module, options);
  REQUIRE(succeeded(image));
  test::Loaded program(*image, "cpu:" + std::to_string(devices));
  for (auto [index, input] : llvm::enumerate(inputs))
    program.write(index, bytesOf(input));
  // The program runs twice: the second run must not depend on values that the
  // first leaves in memory.
  for (int time = 0; time < 2; ++time) {
    REQUIRE(program.run() == "");
    for (auto [index, wanted] : llvm::enumerate(expected)) {
      INFO("result " << index);
      auto bytes = program.read<uint8_t>(index, bytesOf(wanted).size());
      CHECK(difference(tensorOf(wanted.getType(), bytes), wanted, tolerance) ==
            "");
    }
  }
}

} // namespace

TEST_CASE("loops and branches run") {
  for (const OpCase &c : opCases()) {
    if (!hasRegions(c))
      continue;
    INFO(c.name);
    for (int64_t devices : {1, 2, 3})
      checkRun(programOf(c), devices, tensorsOf(context(), c.args, c.inputs),
               tensorsOf(context(), c.results, c.outputs), c.tolerance);
  }
}

TEST_CASE("their derivatives run") {
  for (const OpCase &c : opCases()) {
    if (!hasRegions(c) || c.wrt.empty())
      continue;
    INFO("gradient of " << c.name);
    for (int64_t devices : {1, 3})
      checkRun(gradientOf(c), devices, gradientInputs(context(), c),
               gradientResults(context(), c), 4 * c.tolerance);
  }
}
