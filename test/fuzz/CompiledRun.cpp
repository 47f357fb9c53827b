//===- CompiledRun.cpp - a program in the real runtime --------------------===//

#include "weft/compiler/driver/CompileStep.h"
#include "weft/dialects/weft/Weft.h"
#include "weft/passes/planning/Passes.h"
#include "weft/runtime/abi/plan_generated.h"
#include "weft/runtime/abi/weft.h"
#include "weft/test/fuzz/ExplainedCost.h"
#include "weft/test/fuzz/ProgramCheck.h"
#include "weft/test/unit/TestTarget.h"

#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringExtras.h"

#include <cstring>

using namespace mlir;

namespace weft {

namespace {
/// Calls the runtime without exceptions: the first error is kept, and later
/// calls are skipped.
class Runtime {
public:
  ~Runtime();
  std::string run(llvm::ArrayRef<uint8_t> image, const std::string &devices,
                  int workers, llvm::ArrayRef<Tensor> inputs,
                  llvm::ArrayRef<Tensor> expected,
                  llvm::ArrayRef<double> errorBounds);
  /// The counters of the last run.
  llvm::ArrayRef<weft_counter> counters() const {
    const weft_counter *first = nullptr;
    size_t count = weft_runtime_counters(runtime, &first);
    return {first, count};
  }

private:
  bool ok(weft_error *error);
  void bind(llvm::ArrayRef<Tensor> inputs, size_t numOutputs);
  std::string compare(llvm::ArrayRef<Tensor> expected,
                      llvm::ArrayRef<double> errorBounds);

  std::string problem;
  weft_program *program = nullptr;
  weft_runtime *runtime = nullptr;
  std::vector<weft_buffer *> inputBuffers, outputBuffers;
};
} // namespace

Runtime::~Runtime() {
  for (weft_buffer *buffer : outputBuffers)
    if (!llvm::is_contained(inputBuffers, buffer))
      weft_buffer_free(buffer);
  for (weft_buffer *buffer : inputBuffers)
    weft_buffer_free(buffer);
  if (runtime)
    weft_runtime_free(runtime);
  if (program)
    weft_program_free(program);
}

bool Runtime::ok(weft_error *error) {
  if (!error)
    return true;
  problem = weft_error_message(error);
  weft_error_free(error);
  return false;
}

/// The dense bytes of a tensor, i1 in one byte.
static std::vector<char> bytesOf(const Tensor &tensor) {
  size_t width = (tensor.bitWidth() + 7) / 8;
  std::vector<char> bytes(static_cast<size_t>(tensor.size()) * width);
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = tensor.bits(i);
    memcpy(bytes.data() + static_cast<size_t>(i) * width, &bits, width);
  }
  return bytes;
}

static Tensor tensorOf(RankedTensorType type, const std::vector<char> &bytes) {
  Tensor tensor(type);
  size_t width = (tensor.bitWidth() + 7) / 8;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = 0;
    memcpy(&bits, bytes.data() + static_cast<size_t>(i) * width, width);
    tensor.setBits(i, bits);
  }
  return tensor;
}

/// Makes a buffer for each port; an output that reuses an input has the
/// input's.
void Runtime::bind(llvm::ArrayRef<Tensor> inputs, size_t numOutputs) {
  const plan::Program &plan = *plan::GetProgram(weft_program_plan(program));
  outputBuffers.resize(numOutputs);
  for (size_t i = 0; i < inputs.size() && problem.empty(); ++i) {
    weft_buffer *buffer = nullptr;
    if (!ok(weft_input_create(runtime, program, i, &buffer)))
      return;
    inputBuffers.push_back(buffer);
    std::vector<char> bytes = bytesOf(inputs[i]);
    ok(weft_buffer_write(buffer, bytes.data(), bytes.size()));
    int32_t taker = plan.inputs()->Get(static_cast<unsigned>(i))->donated_to();
    if (taker >= 0)
      outputBuffers[static_cast<size_t>(taker)] = buffer;
  }
  for (size_t o = 0; o < numOutputs && problem.empty(); ++o)
    if (!outputBuffers[o])
      ok(weft_output_create(runtime, program, o, &outputBuffers[o]));
}

std::string Runtime::compare(llvm::ArrayRef<Tensor> expected,
                             llvm::ArrayRef<double> errorBounds) {
  for (size_t o = 0; o < expected.size(); ++o) {
    std::vector<char> bytes(bytesOf(expected[o]).size());
    if (!ok(weft_buffer_read(outputBuffers[o], bytes.data(), bytes.size())))
      return problem;
    std::string text = differenceOf(
        expected[o], tensorOf(expected[o].getType(), bytes), errorBounds[o]);
    if (!text.empty())
      return "compiled result " + std::to_string(o) + " " + text;
  }
  return "";
}

std::string Runtime::run(llvm::ArrayRef<uint8_t> image,
                         const std::string &devices, int workers,
                         llvm::ArrayRef<Tensor> inputs,
                         llvm::ArrayRef<Tensor> expected,
                         llvm::ArrayRef<double> errorBounds) {
  if (!ok(weft_program_load_memory(image.data(), image.size(), &program)) ||
      !ok(weft_runtime_create(devices.c_str(), workers, &runtime)))
    return problem;
  if (devices.starts_with("cpu")) { // the fake GPU finds wrong reads by itself
    weft_runtime_poison(runtime, 1);
    if (workers == 1 && !ok(weft_runtime_isolate(runtime, 1)))
      return problem;
  }
  bind(inputs, expected.size());
  if (!problem.empty() ||
      !ok(weft_execute(runtime, program, inputBuffers.data(),
                       outputBuffers.data())))
    return problem;
  return compare(expected, errorBounds);
}

/// Makes the compiler rematerialize as much as possible, by a limit of one byte
/// a device.
static LogicalResult squeeze(ModuleOp scheduled, CompileOptions &options) {
  if (failed(runStages(scheduled, options, Stage::kernels)))
    return failure();
  options.from = Stage::kernels;
  scheduled->setAttr(kMemoryAttr, OpBuilder(scheduled).getI64IntegerAttr(1));
  PassManager pm(scheduled.getContext());
  pm.addPass(createFitMemoryPass());
  LogicalResult result = pm.run(scheduled);
  scheduled->removeAttr(kMemoryAttr); // the plan would exceed the limit
  return result;
}

std::string runCompiled(ModuleOp scheduled, llvm::ArrayRef<Tensor> inputs,
                        llvm::ArrayRef<Tensor> expected,
                        llvm::ArrayRef<double> errorBounds,
                        const CheckOptions &checks) {
  uint64_t seed = checks.inputs;
  CompileOptions options;
  options.from = Stage::scheduled;
  options.target = checks.gpu ? kGpuTarget : test::testTarget();
  options.overlap = seed % 5 < 2 ? "on" : ""; // collectives under way
  options.rings = seed % 3 == 1 ? "on" : "";  // blocks that travel
  options.threads = 1;
  auto mesh = scheduled->getAttrOfType<MeshAttr>(kMeshAttr);
  int64_t devices = mesh ? mesh.getMesh().size() : 1;
  OwningOpRef<ModuleOp> module(scheduled.clone());
  if (seed % 3 == 0 && failed(squeeze(*module, options)))
    return "the program is not brought into memory";
  if (options.from == Stage::scheduled &&
      failed(runStages(*module, options, Stage::kernels)))
    return "the program is not cut into kernels";
  options.from = Stage::kernels;
  if (std::string why = checks.gpu ? "" : excessOfCode(*module); !why.empty())
    return "compiled result: " + why;
  if (failed(runStages(*module, options, Stage::nests)))
    return "loop nests are not chosen";
  options.from = Stage::nests;
  if (std::string why = checks.gpu ? "" : drawNests(*module, seed);
      !why.empty())
    return "compiled result: " + why;
  auto image = compileProgram(*module, options);
  if (failed(image))
    return "the program is not compiled";
  Runtime runtime;
  std::string problem = runtime.run(
      *image, (checks.gpu ? "cuda:" : "cpu:") + std::to_string(devices),
      seed % 2 ? 1 : 3, inputs, expected, errorBounds);
  if (!problem.empty())
    return problem;
  problem = costProblem(*module);
  if (problem.empty())
    problem = countProblem(*module, runtime.counters());
  return problem.empty() ? "" : "compiled program: " + problem;
}

} // namespace weft
