//===- DeviceOps.cpp - programs of kernels on the PTX machine -------------===//

#include "weft/test/cuda/DeviceOps.h"

#include "weft/dialects/plan/Plan.h"
#include "weft/dialects/weft/UpdatedOperand.h"
#include "weft/passes/kernels/Passes.h"
#include "weft/passes/nests/Passes.h"

#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"

#include <cstring>

using namespace mlir;

namespace weft {

static constexpr const char *kTarget = "cuda:sm_80";

DeviceOps::DeviceOps(ModuleOp module, bool isOutlined,
                     llvm::function_ref<void(std::string &)> edit)
    : module(module) {
  ScopedDiagnosticHandler handler(module.getContext(), [&](Diagnostic &said) {
    why += said.str() + "\n";
    return success();
  });
  PassManager passes(module.getContext());
  if (!isOutlined) {
    passes.addPass(createLowerControlFlow());
    passes.addPass(createWidenShortSums());
    passes.addPass(createOutlineKernels({kTarget}));
  }
  passes.addPass(createChooseNests({kTarget}));
  std::string error;
  std::unique_ptr<KernelCodegen> codegen = openCodegen(kTarget, error);
  if (!codegen || failed(passes.run(module)) ||
      failed(codegen->compile(module, {}, code)))
    why += error.empty() && why.empty() ? "no code" : error;
  if (edit)
    edit(code.ptx);
  if (why.empty())
    why = ptx::parseModule(code.ptx, kernels);
}

bool DeviceOps::isStraight(const std::string &function) const {
  auto main = ModuleOp(module).lookupSymbol<func::FuncOp>(function);
  return main && llvm::all_of(main.getBody().front(), [](Operation &op) {
           return isa<func::CallOp, func::ReturnOp, ConstantOp>(op);
         });
}

/// The bytes of a tensor on devices: dense, i1 in one byte.
static std::vector<uint8_t> bytesOf(const Tensor &whole) {
  Tensor tensor = whole.asReals();
  unsigned width = (tensor.bitWidth() + 7) / 8;
  std::vector<uint8_t> bytes(std::max<int64_t>(tensor.size() * width, 1));
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = tensor.bits(i);
    memcpy(bytes.data() + i * width, &bits, width);
  }
  return bytes;
}

static void fill(Tensor &whole, const std::vector<uint8_t> &bytes) {
  Tensor tensor = whole.asReals();
  unsigned width = (tensor.bitWidth() + 7) / 8;
  for (int64_t i = 0; i < tensor.size(); ++i) {
    uint64_t bits = 0;
    memcpy(&bits, bytes.data() + i * width, width);
    tensor.setBits(i, bits);
  }
  whole = Tensor::ofPairs(whole.getType(), tensor);
}

DeviceOps::Buffer &DeviceOps::addBuffer(const std::string &name,
                                        std::vector<uint8_t> bytes,
                                        bool isWritten) {
  Buffer &buffer = buffers.emplace_back();
  buffer.bytes = std::move(bytes);
  buffer.address = next;
  ptx::Allocation allocation{
      name, next, buffer.bytes.size(), buffer.bytes.data(), false, {}, {}};
  allocation.written.assign(buffer.bytes.size(), isWritten);
  memory.add(std::move(allocation));
  next += (buffer.bytes.size() + 0x1FFF) / 0x1000 * 0x1000;
  return buffer;
}

DeviceOps::Buffer &DeviceOps::addTensor(const std::string &name,
                                        const Tensor &tensor) {
  return addBuffer(name, bytesOf(tensor), true);
}

std::string DeviceOps::launch(const DeviceLaunch &function,
                              const std::vector<uint64_t> &pointers) {
  ptx::Launch request;
  request.module = &kernels;
  request.kernel = kernels.find(function.symbol);
  request.grid.x = std::min(uint32_t(function.blocks), mostBlocks);
  request.block.x = uint32_t(function.block[0]);
  request.dataAddresses = dataAddresses;
  request.seed = ++numLaunches;
  request.parameters.resize(pointers.size() * 8);
  memcpy(request.parameters.data(), pointers.data(), pointers.size() * 8);
  std::string problem = ptx::checkLaunch(request);
  ptx::Findings findings;
  if (problem.empty())
    ptx::run(request, memory, findings);
  for (const std::string &text : findings.texts)
    problem += text + "\n";
  return problem;
}

std::string DeviceOps::launch(const std::string &kernel,
                              ArrayRef<Buffer *> arguments, TypeRange types,
                              SmallVectorImpl<Buffer *> &results) {
  auto found = llvm::find_if(code.deviceKernels,
                             [&](auto &each) { return each.name == kernel; });
  if (found == code.deviceKernels.end())
    return "no code of " + kernel;
  std::vector<uint64_t> pointers;
  for (Buffer *argument : arguments)
    pointers.push_back(argument->address);
  Operation *function = module.lookupSymbol(kernel);
  for (auto [i, type] : llvm::enumerate(types)) {
    // A result that an argument is updated to begins as a copy of it.
    auto updated = updatedArgument(function, i);
    Tensor tensor(cast<RankedTensorType>(type));
    results.push_back(&addBuffer(
        "result of " + kernel,
        updated ? arguments[*updated]->bytes : bytesOf(tensor), bool(updated)));
    pointers.push_back(results.back()->address);
  }
  if (int64_t scratch = plan::scratchBytes(function))
    pointers.push_back(addBuffer("scratch memory of " + kernel,
                                 std::vector<uint8_t>(scratch), false)
                           .address);
  pointers.push_back(
      addBuffer("coordinates", std::vector<uint8_t>(8), true).address);
  std::string problem;
  for (const DeviceLaunch &each : found->launches)
    problem += launch(each, pointers);
  return problem;
}

void DeviceOps::clear() {
  memory = {};
  buffers.clear();
  dataAddresses.clear();
  next = 0x700000000000;
  for (const ptx::Data &data : kernels.data)
    dataAddresses.push_back(addBuffer(data.name, data.initial, true).address);
}

std::string DeviceOps::runKernel(const std::string &kernel,
                                 const Tensors &inputs, Tensors &found) {
  clear();
  SmallVector<Buffer *> arguments, results;
  for (const Tensor &tensor : inputs)
    arguments.push_back(&addTensor("argument", tensor));
  SmallVector<Type> types = llvm::map_to_vector(
      found, [](const Tensor &tensor) -> Type { return tensor.getType(); });
  std::string problem = launch(kernel, arguments, types, results);
  for (auto [buffer, tensor] : llvm::zip(results, found))
    fill(tensor, buffer->bytes);
  return problem;
}

std::string DeviceOps::run(const std::string &function, const Tensors &inputs,
                           Tensors &found) {
  clear();
  llvm::DenseMap<Value, Buffer *> values;
  auto main = module.lookupSymbol<func::FuncOp>(function);
  for (auto [argument, tensor] : llvm::zip_equal(main.getArguments(), inputs))
    values[argument] = &addTensor("argument", tensor);
  for (Operation &op : main.getBody().front().without_terminator()) {
    if (auto constant = dyn_cast<ConstantOp>(op)) {
      auto data = cast<DenseElementsAttr>(constant.getValue());
      values[op.getResult(0)] =
          &addTensor("constant", Tensor::ofAttribute(data));
      continue;
    }
    auto call = cast<func::CallOp>(op);
    SmallVector<Buffer *> arguments, results;
    for (Value argument : call.getOperands())
      arguments.push_back(values.lookup(argument));
    if (std::string problem = launch(call.getCallee().str(), arguments,
                                     call.getResultTypes(), results);
        !problem.empty())
      return problem;
    for (auto [result, buffer] : llvm::zip(call.getResults(), results))
      values[result] = buffer;
  }
  for (auto [value, tensor] : llvm::zip_equal(
           main.getBody().front().getTerminator()->getOperands(), found))
    fill(tensor, values.lookup(value)->bytes);
  return {};
}

} // namespace weft
