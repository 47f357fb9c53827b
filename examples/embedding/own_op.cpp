//===- own_op.cpp - an op of your own, from layouts to machine code -------===//
//
//   own_op FOLDER      compiles and runs y = scale(x, s) on 4 devices
//
// mine.scale multiplies each row of a matrix by a factor of its own. Weft learns
// three things of it: what it is to kernels (traits), how it is sharded (a
// rule), and what one of its elements is (code). It is then partitioned, joins
// the loops of the ops around it and becomes machine code as Weft's own do.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/Register.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/driver/CompileStep.h"
#include "weft/runtime/abi/weft.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"

#include <fstream>
#include <iostream>

using namespace mlir;
using weft::elements::ElementEmitter;
using weft::elements::ElementIndex;

namespace {
/// An element of the result is at the position of an element of the matrix.
struct ScaleOp : Op<ScaleOp, OpTrait::NOperands<2>::Impl, OpTrait::OneResult,
                    MemoryEffectOpInterface::Trait, weft::KeepsPositions> {
  using Op::Op;
  static StringRef getOperationName() { return "mine.scale"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  void getEffects(
      SmallVectorImpl<SideEffects::EffectInstance<MemoryEffects::Effect>> &) {}
};

struct MineDialect : Dialect {
  static StringRef getDialectNamespace() { return "mine"; }
  explicit MineDialect(MLIRContext *context)
      : Dialect("mine", context, TypeID::get<MineDialect>()) {
    addOperations<ScaleOp>();
  }
};

/// ([m, n], [m]) -> ([m, n]); the local op is the op on local types.
struct ScaleRule
    : weft::ShardingRuleOpInterface::ExternalModel<ScaleRule, ScaleOp> {
  weft::ShardingRule getShardingRule(Operation *op) const {
    auto type = cast<RankedTensorType>(op->getResult(0).getType());
    weft::ShardingRule rule = weft::elementwiseRule(type.getShape(), {2, 2}, 1);
    rule.operands[1] = {{0}};
    return rule;
  }
};

/// A factor is not at the position of the result's element.
struct ScaleReads
    : weft::KernelOpInterface::ExternalModel<ScaleReads, ScaleOp> {
  int64_t getElementsReadElsewhere(Operation *, unsigned operand) const {
    return operand == 0 ? 0 : 1;
  }
};

struct ScaleCode
    : weft::elements::ElementCodeOpInterface::ExternalModel<ScaleCode,
                                                            ScaleOp> {
  FailureOr<Value> emitElement(Operation *op, ElementEmitter &e,
                               const ElementIndex &index) const {
    FailureOr<Value> x = e.element(op->getOperand(0), index);
    FailureOr<Value> factor =
        e.element(op->getOperand(1), e.makeIndex(index.dims[0], index.depth));
    if (failed(x) || failed(factor))
      return failure();
    e.enterDepth(index.depth);
    return arith::MulFOp::create(e.builder, e.loc, *x, *factor).getResult();
  }
};
} // namespace

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
  registry.insert<MineDialect>();
  weft::registerAll(registry);
  registry.addExtension(+[](MLIRContext *context, MineDialect *) {
    ScaleOp::attachInterface<ScaleRule, ScaleReads, ScaleCode>(*context);
  });
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

/// y of the compiled program, on four virtual devices.
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
