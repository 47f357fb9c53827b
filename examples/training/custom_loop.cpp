//===- custom_loop.cpp - a training loop that is written by hand ----------===//
//
//   custom-training-loop MODEL.keras DATA.npz OUT.keras [DEVICES [EPOCHS]]
//
// The custom loop of Keras' guide "Multi-GPU distributed training with JAX" in
// C++: a loss of one's own, its gradients (value_and_grad), the optimizer's
// step (stateless_apply), batches split over all devices, and at the end the
// variables written back into a file that Keras loads.
//
//===----------------------------------------------------------------------===//

#include "weft/base/DeviceList.h"
#include "weft/compiler/Register.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/compiler/frontends/keras/import/CustomStep.h"
#include "weft/tools/keras/SavedModel.h"
#include "weft/training/ModelState.h"
#include "weft/training/TrainingData.h"

#include <cstdio>
#include <cstdlib>
#include <numeric>

using namespace weft;

static constexpr int64_t kBatchSize = 64;

/// Prints an error and ends the program.
[[noreturn]] static void fail(const std::string &message) {
  std::fprintf(stderr, "custom-training-loop: error: %s\n", message.c_str());
  std::exit(1);
}
static void check(const Status &status) {
  if (!status)
    fail(status.message());
}
template <typename T> static T check(Result<T> result) {
  if (!result)
    fail(result.message());
  return std::move(*result);
}

/// Cross-entropy of scores: the mean of -log(softmax(scores))[label].
static keras::Tensor crossEntropy(keras::Tensors &t,
                                  llvm::ArrayRef<keras::Tensor> outputs,
                                  const keras::Batch &batch) {
  keras::Tensor logs = t.logSoftmax(outputs[0]);
  keras::Tensor chosen = logs * t.oneHot(batch.labels[0], logs);
  return -t.meanAll(
      t.reduce(ReduceKind::Sum, chosen, {keras::Tensors::last(logs)}));
}

/// One training step of the model as a module of the stage `imported`.
static mlir::OwningOpRef<mlir::ModuleOp>
trainStep(mlir::MLIRContext *context, const keras::Model &model,
          const keras::Distribution &distribution) {
  keras::CustomStep step(context, model, {.batchSize = kBatchSize},
                         &distribution);
  if (failed(step.begin()))
    return nullptr;
  auto found = step.valueAndGrad(crossEntropy);
  if (failed(found))
    return nullptr;
  step.apply(found->gradients);
  step.show("loss", found->loss);
  return step.finish();
}

namespace {
/// The step on devices, with the buffers that it reads and writes.
class Loop {
public:
  Loop(const std::vector<uint8_t> &image, const std::string &devices) {
    check(takeError(
        weft_program_load_memory(image.data(), image.size(), &program)));
    check(takeError(weft_runtime_create(devices.c_str(), 0, &runtime)));
    state = std::make_unique<ModelState>(runtime);
    check(state->addPorts(program));
    ports = inputPorts(program);
    outputs = outputPorts(program);
    bind();
  }
  ~Loop() {
    for (weft_buffer *buffer : owned)
      weft_buffer_free(buffer);
    state.reset();
    weft_runtime_free(runtime);
    weft_program_free(program);
  }
  Loop(const Loop &) = delete;
  Loop &operator=(const Loop &) = delete;

  /// Splits the samples over the devices and trains on them; gives the loss.
  float run(const TrainingData &data, std::span<const int64_t> samples) {
    std::vector<uint8_t> bytes;
    for (size_t i = 0; i < ports.size(); ++i)
      if (const TrainingData::Column *column = data.column(ports[i].name)) {
        check(TrainingData::gather(*column, samples, ports[i].type, bytes));
        check(
            takeError(weft_buffer_write(from[i], bytes.data(), bytes.size())));
      }
    check(takeError(weft_execute(runtime, program, from.data(), to.data())));
    float loss = 0;
    for (size_t o = 0; o < outputs.size(); ++o)
      if (outputs[o].name == "metrics/loss")
        check(takeError(weft_buffer_read(to[o], &loss, sizeof loss)));
    return loss;
  }

  std::unique_ptr<ModelState> state; ///< the variables, on the devices
  std::vector<Port> ports, outputs;

private:
  weft_buffer *own(weft_buffer *buffer) { return owned.emplace_back(buffer); }
  /// Binds the ports: variables to the buffers of the state, where a result
  /// that reuses the memory of a variable is its value after the step.
  void bind() {
    for (size_t i = 0; i < ports.size(); ++i) {
      weft_buffer *buffer = state->buffer(ports[i].name);
      if (!buffer) {
        check(takeError(weft_input_create(runtime, program, i, &buffer)));
        own(buffer);
      }
      from.push_back(buffer);
    }
    for (size_t o = 0; o < outputs.size(); ++o) {
      weft_buffer *buffer = state->buffer(outputs[o].name);
      if (!buffer) {
        check(takeError(weft_output_create(runtime, program, o, &buffer)));
        own(buffer);
      }
      to.push_back(buffer);
    }
  }

  weft_program *program = nullptr;
  weft_runtime *runtime = nullptr;
  std::vector<weft_buffer *> from, to, owned;
};
} // namespace

static std::vector<uint8_t> compiled(const keras::Model &model,
                                     const keras::Distribution &distribution) {
  mlir::DialectRegistry registry;
  registerAllDialects(registry);
  mlir::MLIRContext context(registry);
  auto module = trainStep(&context, model, distribution);
  if (!module)
    fail("the step cannot be built; see the message above");
  auto image = compileProgram(*module, {});
  if (failed(image))
    fail("the step cannot be compiled; see the message above");
  return std::move(*image);
}

int main(int argc, char **argv) {
  if (argc < 4)
    fail("write custom-training-loop MODEL.keras DATA.npz OUT.keras [DEVICES "
         "[EPOCHS]]");
  std::string devices = argc > 4 ? argv[4] : "cpu:8";
  int64_t epochs = argc > 5 ? std::atoll(argv[5]) : 2;
  KerasArchive archive = check(readKerasArchive(argv[1]));
  weft::Result<keras::Model> model = keras::readModel(archive.config);
  if (!model)
    fail(std::string(argv[1]) + ": " + model.message());
  keras::drawSeeds(*model, 1337);
  DeviceList list = check(DeviceList::parse(devices));
  Loop loop(compiled(*model, keras::dataParallel(list.count)), devices);
  check(loop.state->initialise());
  check(loop.state->load(check(byVariablePath(
      archive.weights, keras::savedVariables(*model), argv[1]))));

  TrainingData data =
      check(selectData({.data = argv[2]}, DataPurpose::Fit, loop.ports));
  std::vector<int64_t> samples(kBatchSize);
  for (int64_t epoch = 0; epoch < epochs; ++epoch)
    for (int64_t at = 0; at + kBatchSize <= data.samples; at += kBatchSize) {
      std::iota(samples.begin(), samples.end(), at);
      float loss = loop.run(data, samples);
      std::printf("epoch %lld batch %lld loss: %.6f\n", (long long)epoch,
                  (long long)(at / kBatchSize), loss);
    }
  check(keras::saveModel(argv[3], *model, loop.state->stored()));
}
