//===- every-op-test.cpp - each op's meaning, derivative, rule and code ---===//
//
// Every case of OpCases.h is tested: the interpreter gives JAX's outputs,
// derivatives give JAX's gradients, the program and its gradient partition in
// every layout of small meshes, and the CPU's code gives JAX's outputs.
//
// WEFT_OP_CASE=pad every-op-test   runs the cases whose name starts with pad
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/CompileKernels.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/passes/collectives/Passes.h"
#include "weft/passes/nests/Passes.h"
#include "weft/passes/sharding/Passes.h"
#include "weft/passes/training/Passes.h"
#include "weft/passes/verify/CompareWithGlobal.h"
#include "weft/runtime/abi/weft.h"
#include "weft/test/unit/OpCases.h"
#include "weft/test/unit/PartitionPasses.h"
#include "weft/test/unit/TestTarget.h"

#include "mlir/AsmParser/AsmParser.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"

#include <cstring>
#include <dlfcn.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace mlir;
using namespace weft;

namespace {

MLIRContext &context() {
  static MLIRContext *shared = [] {
    auto *made = new MLIRContext(MLIRContext::Threading::DISABLED);
    made->loadDialect<WeftDialect, coll::CollDialect, func::FuncDialect>();
    return made;
  }();
  return *shared;
}

OwningOpRef<ModuleOp> parsed(const std::string &text) {
  INFO(text);
  auto module = parseSourceString<ModuleOp>(text, &context());
  REQUIRE(module);
  return module;
}

func::FuncOp mainOf(ModuleOp module) {
  return module.lookupSymbol<func::FuncOp>("main");
}

OwningOpRef<ModuleOp> differentiated(const OpCase &c) {
  auto module = parsed(gradientOf(c));
  PassManager pm(&context());
  pm.addPass(createDifferentiatePass());
  REQUIRE(succeeded(pm.run(*module)));
  return module;
}

void checkMeaning(func::FuncOp function, const Tensors &inputs,
                  const Tensors &expected, double tolerance) {
  auto found = interpretFunction(function, inputs);
  REQUIRE(succeeded(found));
  REQUIRE(found->size() == expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    INFO("result " << i);
    CHECK(difference((*found)[i], expected[i], tolerance) == "");
  }
}

/// A mesh and the axes that may shard a tensor's dimensions.
struct SmallMesh {
  const char *sizes;
  std::vector<std::string> digits;
};

/// Decodes a layout, in which each axis shards one dimension or none, from the
/// lowest digits of `choice`, and removes these.
std::string layoutOf(const SmallMesh &mesh, int64_t rank, uint64_t &choice) {
  std::vector<std::string> dims(rank);
  for (const std::string &digit : mesh.digits) {
    uint64_t dim = choice % (rank + 1);
    choice /= rank + 1;
    if (dim < static_cast<uint64_t>(rank))
      dims[dim] += (dims[dim].empty() ? "" : ", ") + digit;
  }
  std::string text;
  for (const std::string &dim : dims)
    text += (text.empty() ? "{" : ", {") + dim + "}";
  return "#weft.layout<#weft.mesh<" + std::string(mesh.sizes) + ">, [" + text +
         "]>";
}

uint64_t layoutsOf(const SmallMesh &mesh, func::FuncOp function) {
  uint64_t count = 1;
  auto multiply = [&](TypeRange types) {
    for (Type type : types)
      for (size_t i = 0; i < mesh.digits.size(); ++i)
        count *= cast<RankedTensorType>(type).getRank() + 1;
  };
  multiply(function.getArgumentTypes());
  multiply(function.getResultTypes());
  return count;
}

void annotate(func::FuncOp function, const SmallMesh &mesh, uint64_t choice) {
  auto attribute = [&](Type type) {
    auto rank = cast<RankedTensorType>(type).getRank();
    return parseAttribute(layoutOf(mesh, rank, choice), &context());
  };
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    function.setArgAttr(i, kLayoutAttr,
                        attribute(function.getArgumentTypes()[i]));
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    function.setResultAttr(i, kLayoutAttr,
                           attribute(function.getResultTypes()[i]));
  function->getParentOp()->setAttr(
      kMeshAttr, parseAttribute("#weft.mesh<" + std::string(mesh.sizes) + ">",
                                &context()));
}

void checkPartitioned(ModuleOp global, const Tensors &inputs, uint64_t choice,
                      const SmallMesh &mesh, double tolerance) {
  OwningOpRef<ModuleOp> partitioned(global.clone());
  annotate(mainOf(*partitioned), mesh, choice);
  PassManager pm(&context());
  test::addPartitionAlone(pm);
  bool ran = succeeded(pm.run(*partitioned));
  CHECK(ran);
  if (!ran)
    return;
  CompareOptions options;
  options.tolerance = tolerance;
  options.arguments = inputs;
  CHECK(succeeded(
      compareWithGlobal(mainOf(global), mainOf(*partitioned), options)));
}

/// Checks all combinations of layouts of arguments and results, or `most`
/// random ones if there are more.
void checkEveryLayout(ModuleOp module, const Tensors &inputs,
                      double tolerance) {
  static const SmallMesh meshes[] = {{"\"a\"=2", {"\"a\""}},
                                     {"\"a\"=3", {"\"a\""}},
                                     {"\"a\"=5", {"\"a\""}},
                                     {"\"a\"=2, \"b\"=2", {"\"a\"", "\"b\""}}};
  constexpr uint64_t most = 24;
  for (const SmallMesh &mesh : meshes) {
    uint64_t count = layoutsOf(mesh, mainOf(module)), state = count;
    for (uint64_t i = 0; i < std::min(count, most); ++i) {
      state = state * 6364136223846793005 + 1442695040888963407;
      uint64_t choice = count <= most ? i : state >> 16;
      INFO("mesh " << mesh.sizes << ", layouts " << choice);
      checkPartitioned(module, inputs, choice, mesh, tolerance);
    }
  }
}

/// The machine code of all cases, loaded.
class Kernels {
public:
  explicit Kernels(const std::string &text) {
    auto module = parsed(text);
    mlir::PassManager passes(module->getContext());
    CpuTarget target = *CpuTarget::fromName(test::testTarget());
    passes.addPass(createChooseNests({target.name}));
    REQUIRE(succeeded(passes.run(*module)));
    REQUIRE(succeeded(compileKernels(*module, target, {}, image)));
    int file = memfd_create("kernels", 0);
    REQUIRE(write(file, image.data(), image.size()) == ssize_t(image.size()));
    library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                     RTLD_NOW | RTLD_LOCAL);
    close(file);
    INFO((library ? "" : dlerror()));
    REQUIRE(library);
  }
  ~Kernels() { dlclose(library); }
  weft_kernel_fn find(const std::string &name) const {
    return reinterpret_cast<weft_kernel_fn>(dlsym(library, name.c_str()));
  }

private:
  llvm::SmallVector<char> image;
  void *library = nullptr;
};

/// A tensor as kernels hold it: dense, i1 in one byte.
struct Memory {
  explicit Memory(const Tensor &whole) : width((whole.bitWidth() + 7) / 8) {
    Tensor tensor = whole.asReals();
    size_t bytes = (tensor.size() * width + 127) / 64 * 64;
    data = static_cast<char *>(aligned_alloc(64, bytes));
    memset(data, 0x7f, bytes);
    for (int64_t i = 0; i < tensor.size(); ++i) {
      uint64_t bits = tensor.bits(i);
      memcpy(data + i * width, &bits, width);
    }
  }
  Memory(const Memory &) = delete;
  ~Memory() { free(data); }
  void read(Tensor &whole) const {
    Tensor tensor = whole.asReals();
    for (int64_t i = 0; i < tensor.size(); ++i) {
      uint64_t bits = 0;
      memcpy(&bits, data + i * width, width);
      tensor.setBits(i, bits);
    }
    whole = Tensor::ofPairs(whole.getType(), tensor);
  }
  unsigned width;
  char *data;
};

void checkCode(weft_kernel_fn kernel, const Tensors &inputs,
               const Tensors &expected, double tolerance) {
  REQUIRE(kernel);
  std::vector<std::unique_ptr<Memory>> memories;
  std::vector<void *> buffers;
  for (const Tensor &tensor : llvm::concat<const Tensor>(inputs, expected)) {
    bool isInput = memories.size() < inputs.size();
    memories.push_back(
        std::make_unique<Memory>(isInput ? tensor : Tensor(tensor.getType())));
    buffers.push_back(memories.back()->data);
  }
  int64_t coordinates[1] = {0};
  kernel(buffers.data(), coordinates);
  for (size_t i = 0; i < expected.size(); ++i) {
    Tensor found(expected[i].getType());
    memories[inputs.size() + i]->read(found);
    INFO("result " << i);
    CHECK(difference(found, expected[i], tolerance) == "");
  }
}

} // namespace

TEST_CASE("the interpreter gives JAX's outputs") {
  for (const OpCase &c : opCases()) {
    INFO(c.name << ": " << c.body);
    auto module = parsed(programOf(c));
    checkMeaning(mainOf(*module), tensorsOf(context(), c.args, c.inputs),
                 tensorsOf(context(), c.results, c.outputs), c.tolerance);
  }
}

TEST_CASE("derivatives are JAX's") {
  for (const OpCase &c : opCases()) {
    if (c.wrt.empty())
      continue;
    INFO(c.name << ": " << c.body);
    auto module = differentiated(c);
    checkMeaning(mainOf(*module), gradientInputs(context(), c),
                 gradientResults(context(), c), c.tolerance);
  }
}

TEST_CASE("every op partitions in every layout") {
  for (const OpCase &c : opCases()) {
    INFO(c.name << ": " << c.body);
    auto module = parsed(programOf(c));
    checkEveryLayout(*module, tensorsOf(context(), c.args, c.inputs),
                     c.tolerance);
  }
}

TEST_CASE("every derivative partitions in every layout") {
  for (const OpCase &c : opCases()) {
    if (c.wrt.empty())
      continue;
    INFO("gradient of " << c.name << ": " << c.body);
    auto module = differentiated(c);
    checkEveryLayout(*module, gradientInputs(context(), c), 4 * c.tolerance);
  }
}

TEST_CASE("the CPU's code gives JAX's outputs") {
  std::string text;
  for (const OpCase &c : opCases())
    if (!hasRegions(c))
      text += programOf(c, c.name,
                        " attributes {weft.kernel = #weft.kernel<general>}");
  if (text.empty())
    return; // WEFT_OP_CASE chose cases with regions only
  Kernels kernels(text);
  for (const OpCase &c : opCases()) {
    if (hasRegions(c))
      continue;
    INFO(c.name << ": " << c.body);
    checkCode(kernels.find(c.name), tensorsOf(context(), c.args, c.inputs),
              tensorsOf(context(), c.results, c.outputs), 2 * c.tolerance);
  }
}
