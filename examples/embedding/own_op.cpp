//===- own_op.cpp - an op of your own, from layouts to machine code -------===//
//
//   own_op FOLDER      compiles and runs y = -scale(x, s) on 4 devices
//
// The op, its traits, its sharding rule and its code are in ScaleDialect.cpp.
//
//===----------------------------------------------------------------------===//

#include "ScaleDialect.h"

#include "weft/compiler/Register.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/runtime/abi/weft.h"

#include "mlir/Parser/Parser.h"

#include <fstream>
#include <iostream>

using namespace mlir;

static constexpr llvm::StringLiteral program = R"mlir(
#mesh = #weft.mesh<"data"=2, "model"=2>
module attributes {weft.mesh = #mesh} {
  func.func @apply(
      %x: tensor<6x4xf32> {weft.name = "x", weft.role = "input",
        weft.layout = #weft.layout<#mesh, [{"data"}, {"model"}]>},
      %s: tensor<6xf32> {weft.name = "s", weft.role = "input"})
      -> (tensor<6x4xf32> {weft.name = "y"}) {
    %0 = "mine.scale"(%x, %s) : (tensor<6x4xf32>, tensor<6xf32>) -> tensor<6x4xf32>
    %1 = weft.neg %0 : tensor<6x4xf32>
    return %1 : tensor<6x4xf32>
  }
}
)mlir";

static bool compile(const std::string &path) {
  DialectRegistry registry;
  registerScaleDialect(registry);
  weft::registerAll(registry);
  MLIRContext context(registry);
  auto module = parseSourceString<ModuleOp>(program, &context);
  if (!module)
    return false;
  auto bytes = weft::compileProgram(*module, weft::CompileOptions());
  if (failed(bytes))
    return false;
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(bytes->data()),
             std::streamsize(bytes->size()));
  return true;
}

/// Computes y by the compiled program, on four virtual devices.
static weft_error *run(const std::string &path, const float *x, const float *s,
                       float *y) {
  weft_program *program = nullptr;
  weft_runtime *runtime = nullptr;
  weft_buffer *inputs[2] = {}, *output = nullptr;
  weft_error *error = weft_program_load(path.c_str(), &program);
  if (!error)
    error = weft_runtime_create("cpu:4", 0, &runtime);
  for (unsigned i = 0; i < 2 && !error; ++i)
    error = weft_input_create(runtime, program, i, &inputs[i]);
  if (!error)
    error = weft_output_create(runtime, program, 0, &output);
  if (!error)
    error = weft_buffer_write(inputs[0], x, 24 * sizeof(float));
  if (!error)
    error = weft_buffer_write(inputs[1], s, 6 * sizeof(float));
  if (!error)
    error = weft_execute(runtime, program, inputs, &output);
  if (!error)
    error = weft_buffer_read(output, y, 24 * sizeof(float));
  weft_buffer_free(output);
  weft_buffer_free(inputs[0]);
  weft_buffer_free(inputs[1]);
  weft_runtime_free(runtime);
  weft_program_free(program);
  return error;
}

int main(int argc, char **argv) {
  std::string path = std::string(argc > 1 ? argv[1] : ".") + "/scale.weft";
  float x[24], s[6], y[24];
  for (int i = 0; i < 24; ++i)
    x[i] = float(i) - 11.5f;
  for (int i = 0; i < 6; ++i)
    s[i] = 0.25f * float(i + 1);
  if (!compile(path))
    return 1;
  if (weft_error *error = run(path, x, s, y)) {
    std::cerr << weft_error_message(error) << "\n";
    weft_error_free(error);
    return 1;
  }
  for (int i = 0; i < 24; ++i)
    if (y[i] != -x[i] * s[i / 4]) {
      std::cerr << "y[" << i << "] is " << y[i] << " instead of "
                << -x[i] * s[i / 4] << "\n";
      return 1;
    }
  std::cout << "4 devices ran mine.scale as machine code\n";
  return 0;
}
