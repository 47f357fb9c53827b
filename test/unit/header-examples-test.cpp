//===- header-examples-test.cpp - headers' examples compile, and run ------===//
//
// Each NAME.inc is a block of the first comment of a header, as it stands there
// (header-examples.cmake). The code around it declares the names that the
// example uses.
//
//===----------------------------------------------------------------------===//

#include "weft/base/AtomicFile.h"
#include "weft/base/DeviceList.h"
#include "weft/base/ElementTypes.h"
#include "weft/base/EnvironmentNumber.h"
#include "weft/base/Message.h"
#include "weft/base/PortRole.h"
#include "weft/base/Result.h"
#include "weft/base/Threefry.h"
#include "weft/compiler/Register.h"
#include "weft/compiler/codegen/CodeCache.h"
#include "weft/compiler/codegen/KernelCodegen.h"
#include "weft/compiler/codegen/elements/ElementCode.h"
#include "weft/compiler/driver/Session.h"
#include "weft/compiler/frontends/stablehlo/Import.h"
#include "weft/compiler/stages/StagePasses.h"
#include "weft/dialects/nest/TargetLimits.h"
#include "weft/dialects/plan/Plan.h"
#include "weft/passes/planning/StepClock.h"
#include "weft/passes/upstream/UpstreamRules.h"
#include "weft/runtime/abi/PlanPorts.h"
#include "weft/runtime/abi/ProgramImage.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include "catch2/catch.hpp"
#include <filesystem>
#include <fstream>
#include <unistd.h>

using namespace mlir;
using namespace weft;
using elements::ElementEmitter;
using elements::ElementIndex;

namespace {
struct Folder {
  Folder() {
    char name[] = "/tmp/weft-examples-XXXXXX";
    path = mkdtemp(name);
  }
  ~Folder() { std::filesystem::remove_all(path); }
  std::filesystem::path path;
};

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
#include "ElementCode.inc"
} // namespace

static constexpr StringLiteral kProgram = R"mlir(
func.func @main(%x: tensor<8xf32>) -> tensor<8xf32> {
  %0 = weft.relu %x : tensor<8xf32>
  return %0 : tensor<8xf32>
})mlir";

static OwningOpRef<ModuleOp> parse(MLIRContext &context) {
  DialectRegistry registry;
  registerAllDialects(registry);
  context.appendDialectRegistry(registry);
  auto module = parseSourceString<ModuleOp>(kProgram, &context);
  REQUIRE(module);
  return module;
}

TEST_CASE("base/DeviceList.h") {
#include "DeviceList.inc"
  REQUIRE(list);
  CHECK(list->kind == DeviceKind::Cpu);
  CHECK(list->count == 8);
  CHECK(list->text() == "cpu:8");
  CHECK(message ==
        "'gpu:8' asks for gpu devices, there are cpu and cuda "
        "devices only; write cpu:N or cuda:N with N from 1 to 65536");
  CHECK(weft::DeviceName::parse("cpu:3")->index == 3);
}

TEST_CASE("runtime/abi/ProgramImage.h") {
  std::string elf(13, 'e'), plan(24, 'p');
#include "ProgramImage.inc"
  // The file is an ELF image, zero bytes up to a multiple of 8, the plan and
  // the trailer.
  REQUIRE(file.size() == 16 + 24 + sizeof(weft_trailer));
  CHECK(file[12] == 'e');
  CHECK(file[13] == 0);
  CHECK(file[16] == 'p');
  CHECK(std::string(file.end() - 8, file.end()) == "WEFTPROG");
}

TEST_CASE("base/AtomicFile.h") {
  Folder folder;
  auto before = std::filesystem::current_path();
  std::filesystem::current_path(folder.path);
  const char bytes[] = "numbers";
  const ssize_t size = 7;
  {
#include "AtomicFile.inc"
    CHECK(error == 0);
  }
  std::string read;
  std::ifstream("out.npz") >> read;
  CHECK(read == "numbers");
  std::filesystem::current_path(before);
}

TEST_CASE("compiler/codegen/CodeCache.h") {
  Folder made;
  std::string folder = made.path.string();
  StringRef version = "1", target = "cpu:avx2", text = "kernel";
  int compilations = 0;
  auto compile = [&](StringRef) {
    ++compilations;
    return SmallVector<char>{'c', 'o', 'd', 'e'};
  };
  for (int times = 0; times < 2; ++times) {
    SmallVector<char> code;
#include "CodeCache.inc"
    CHECK(StringRef(code.data(), code.size()) == "code");
  }
  CHECK(compilations == 1);
}

TEST_CASE(
    "compiler/stages/Pipeline.h, StagePasses.h, codegen/KernelCodegen.h") {
  MLIRContext context;
  OwningOpRef<ModuleOp> owned = parse(context);
  ModuleOp module = *owned;
  {
    PassManager pm(&context);
    PipelineOptions options;
    OwningOpRef<ModuleOp> planned = module.clone();
#include "Pipeline.inc"
    REQUIRE(succeeded(pm.run(*planned)));
    CHECK(!planned->getOps<plan::ProgramOp>().empty());
  }
  {
    PassManager first(&context);
    buildPipeline(first, {}, Stage::imported, Stage::kernels);
    REQUIRE(succeeded(first.run(module)));
#include "StagePasses.inc"
    REQUIRE(isDone);
  }
  CompiledKernels code;
  auto generate = [&] {
    CodegenOptions options;
    SmallVector<func::FuncOp> kernels;
#include "KernelCodegen.inc"
  };
  generate();
  CHECK(StringRef(code.sharedObject.data(), 4) == "\x7f"
                                                  "ELF");
}

TEST_CASE("compiler/driver/Session.h") {
  StringRef text = R"mlir(
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})mlir";
#include "Session.inc"
  CHECK(errors == "");
  REQUIRE(succeeded(image));
  session.reportTo([&](mlir::Diagnostic &) { errors += "other"; });
  CHECK(!weft::stablehlo::read("func.func @", "f.mlir", &session.context()));
  CHECK(errors == "other");
}

TEST_CASE("compiler/frontends/stablehlo/Import.h") {
  StringRef bytes = R"mlir(
func.func public @main(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
})mlir";
#include "Import.inc"
  REQUIRE(module);
  std::string text;
  llvm::raw_string_ostream(text) << *module;
  CHECK(text.find("weft.tanh") != std::string::npos);
}

TEST_CASE("compiler/codegen/elements/ElementCode.h") {
  DialectRegistry registry;
  registry.insert<MineDialect>();
#include "ElementCodeAttached.inc"
  MLIRContext context(registry);
  context.loadDialect<MineDialect>();
  CHECK(OperationName("mine.scale", &context)
            .hasInterface<elements::ElementCodeOpInterface>());
}

TEST_CASE("base/ElementTypes.h") {
#include "ElementTypes.inc"
  CHECK(type == weft::ElementType::BFloat16);
  CHECK(bytes == 2);
  CHECK(text == "bf16");
}

TEST_CASE("base/EnvironmentNumber.h") {
  setenv("OMPI_COMM_WORLD_RANK", "3 of 8", 1);
#include "EnvironmentNumber.inc"
  unsetenv("OMPI_COMM_WORLD_RANK");
  CHECK(rank == 3);
}

TEST_CASE("base/PortFacts.h") {
  using namespace weft;
#include "PortFacts.inc"
  CHECK(given == "seed saved ");
}

TEST_CASE("runtime/abi/PlanPorts.h") {
  namespace plan = weft::plan;
  flatbuffers::FlatBufferBuilder file;
  plan::ProgramT written;
  written.inputs.push_back(std::make_unique<plan::PortT>());
  written.inputs[0]->name = "x";
  file.Finish(plan::Program::Pack(file, &written));
  const auto *program =
      flatbuffers::GetRoot<plan::Program>(file.GetBufferPointer());
#include "PlanPorts.inc"
  CHECK(port.name == "x");
  CHECK(facts.IsNull());
}

TEST_CASE("base/PortRole.h") {
#include "PortRole.inc"
  CHECK(role == weft::Role::SampleWeight);
  CHECK(isNew);
  CHECK(roleName(*role) == "sample_weight");
  CHECK(holdsState(weft::Role::MetricState));
  CHECK(!roleNamed("weights"));
}

TEST_CASE("base/Message.h") {
  using namespace weft;
  auto flagOf = [](const Option &option) {
    return "--" + option.name + " " + option.value;
  };
#include "Message.inc"
  CHECK(m.text() == "no array is given for x; add data=FILE.npz");
  CHECK(m.text(flagOf) == "no array is given for x; add --data FILE.npz");
}

TEST_CASE("base/Result.h") {
  struct Array {};
  bool isThere = false;
  auto readNpy = [&](const char *) -> weft::Result<Array> {
    if (!isThere)
      return weft::Error{"no file"};
    return Array();
  };
  int used = 0;
  auto use = [&](Array) { ++used; };
  auto load = [&]() -> weft::Status {
    using weft::Result;
#include "Result.inc"
    return {};
  };
  CHECK(load().message() == "no file");
  CHECK(used == 0);
  isThere = true;
  CHECK(bool(load()));
  CHECK(used == 1);
}

TEST_CASE("base/Threefry.h") {
#include "Threefry.inc"
  for (float value : u) {
    CHECK(value >= -0.05f);
    CHECK(value < 0.05f);
  }
  CHECK(u[0] != u[1]);
}

TEST_CASE("passes/upstream/UpstreamRules.h") {
#include "UpstreamRules.inc"
  MLIRContext context(registry);
  context.loadDialect<linalg::LinalgDialect>();
  CHECK(OperationName("linalg.matmul", &context)
            .hasInterface<ShardingRuleOpInterface>());
}

TEST_CASE("passes/planning/StepClock.h") {
#include "StepClock.inc"
  CHECK(std::abs(clock.now() - 7e-6) < 1e-9);
  CHECK(std::abs(clock.exposed() - 1e-6) < 1e-9);
  CHECK(std::abs(clock.computing() - 6e-6) < 1e-9);
  CHECK(std::abs(clock.communicating() - 4e-6) < 1e-9);
}

TEST_CASE("dialects/nest/TargetLimits.h") {
  MLIRContext context;
  Type f32 = Float32Type::get(&context);
  using nest::TargetLimits;
  using nest::targetLimits;
#include "TargetLimits.inc"
  CHECK(bytes == 32);
  CHECK(lanes == 8);
}
