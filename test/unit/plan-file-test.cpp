//===- plan-file-test.cpp - from a plan's text to the runtime -------------===//
//
// Each op of the plan dialect is written to a file and read by the runtime,
// whose figures of a collective must be those that the compiler predicts.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/program/PlanTables.h"
#include "weft/compiler/program/SerializePlan.h"
#include "weft/runtime/abi/ProgramImage.h"
#include "weft/test/unit/runtime-loaded.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"

#include <set>

using namespace mlir;
using namespace weft;
using namespace weft::test;

namespace {
struct Read {
  MLIRContext context;
  OwningOpRef<ModuleOp> module;

  /// Parses a program for four devices with this body, followed by `kernels`.
  explicit Read(const std::string &body, const std::string &kernels = "") {
    context
        .loadDialect<WeftDialect, weft::plan::PlanDialect, func::FuncDialect>();
    module = parseSourceString<ModuleOp>(
        "#mesh = #weft.mesh<\"x\"=2, \"y\"=2>\n"
        "#x = #weft.layout<#mesh, [{\"x\"}]>\n"
        "#xy = #weft.layout<#mesh, [{\"x\", \"y\"}]>\n"
        "#rows = #weft.layout<#mesh, [{\"x\"}, {}]>\n"
        "#columns = #weft.layout<#mesh, [{}, {\"x\"}]>\n"
        "#turned = #weft.layout<#mesh, [{\"y\"}, {}]>\n"
        "#whole = #weft.layout<#mesh, [{}, {}]>\n"
        "plan.program @p mesh #mesh arena 4096 {\n"
        "%a = plan.buffer offset 0 : memref<4x6xf32>\n"
        "%b = plan.buffer offset 512 : memref<4x6xf32>\n"
        "%tall = plan.buffer offset 1024 : memref<8x3xf32>\n"
        "%long = plan.buffer offset 1536 : memref<8x6xf32>\n"
        "%at = plan.buffer offset 2048 : memref<4x6xi64>\n"
        "%wide = plan.buffer offset 2560 : memref<4x9xf32>\n" +
            body + "\n}\n" + kernels,
        &context);
    REQUIRE(module);
  }
  weft::plan::ProgramOp program() {
    return *module->getOps<weft::plan::ProgramOp>().begin();
  }
  std::vector<uint8_t> image() {
    auto bytes = serializePlan(program(), {});
    REQUIRE(succeeded(bytes));
    return assembleProgramFile(std::vector<uint8_t>(), *bytes, 0);
  }
};

struct Program {
  weft_program *handle = nullptr;
  explicit Program(const std::vector<uint8_t> &image) {
    CHECK(take(weft_program_load_memory(image.data(), image.size(), &handle)) ==
          "");
    REQUIRE(handle);
  }
  ~Program() { weft_program_free(handle); }
};
} // namespace

TEST_CASE("the file has a table for each kind of communication") {
  size_t kinds = std::variant_size_v<weft::Communication>;
  CHECK(kinds == std::size(weft::plan::EnumValuesCollectiveKind()) - 1);
  CHECK(kinds == 5);
}

TEST_CASE("a collective has the same figures in a file and in its op") {
  const std::string group = " over #xy reason \"w\" : ",
                    x = " over #x reason \"w\" : ", same = "(memref<4x6xf32>)",
                    rows = "(memref<8x6xf32>)", columns = "(memref<8x3xf32>)";
  const std::string collectives[] = {
      "\"all_reduce\" #plan.combination<max> (%a) to (%b)" + group + same +
          " to " + same,
      "\"all_gather\" #plan.movement<[8, 6] from #rows to #whole ring> (%a) to "
      "(%long)" +
          x + same + " to " + rows,
      "\"reduce_scatter\" #plan.combination<sum dim 0> (%long) to (%a)" + x +
          rows + " to " + same,
      "\"all_to_all\" #plan.movement<[8, 6] from #rows to #columns ring> (%a) "
      "to (%tall)" +
          x + same + " to " + columns,
      "\"fetch\" #plan.fetching<dim 1 at[12, 6, 2, -3, 1, 0]> (%a) to "
      "(%wide)" +
          x + same + " to (memref<4x9xf32>)",
      "\"pick\" #plan.fetching<dim 1> (%a, %at) to (%b)" + group +
          "(memref<4x6xf32>, memref<4x6xi64>) to " + same,
      "\"collective_permute\" #plan.sending<[2, 2, 2, 0]> (%a) to (%b)" +
          group + same + " to " + same,
      "\"permute\" #plan.movement<[8, 6] from #rows to #turned> (%a) to (%b)" +
          group + same + " to " + same,
      "\"exchange\" #plan.movement<[8, 6] from #rows to #columns> (%a) to "
      "(%tall)" +
          group + same + " to " + columns,
  };
  for (const std::string &text : collectives) {
    INFO(text);
    Read read("%0 = plan.start " + text + "\nplan.wait %0");
    auto ops = llvm::to_vector(read.program().getOps<weft::plan::StartOp>());
    REQUIRE(ops.size() == 1);
    Program program(read.image());
    weft_collective described;
    REQUIRE(take(weft_program_collective(program.handle, 0, &described)) == "");
    CHECK(described.kind == ops[0].getName().str());
    CHECK(described.label == std::string("w"));
    CHECK(described.group == shardCount(ops[0].getGroupAxes()));
    CHECK(described.bytes == uint64_t(ops[0].getBytesSent()));
    CHECK(described.bytes > 0);
  }
}

TEST_CASE("a call of the host keeps its function, operands and results") {
  Read read(
      "%0 = plan.start \"host_call\" #plan.host_call<7> (%a, %at) to (%b) "
      "over #x : (memref<4x6xf32>, memref<4x6xi64>) to (memref<4x6xf32>)"
      "\nplan.wait %0");
  Program program(read.image());
  const auto *file = weft::plan::GetProgram(weft_program_plan(program.handle));
  const auto *call = file->instructions()->Get(0)->operation_as_Start();
  REQUIRE(call);
  REQUIRE(call->kind_as_host_call());
  CHECK(call->kind_as_host_call()->function() == 7);
  REQUIRE(call->sources()->size() == 2);
  CHECK(call->sources()->Get(0) == 0);
  CHECK(call->sources()->Get(1) == 4);
  REQUIRE(call->targets()->size() == 1);
  CHECK(call->targets()->Get(0) == 1);
}

TEST_CASE("each kind of kernel is written, read, and run or refused by name") {
  const std::string device =
      "plan.device_module @other chip \"sm_80\" format ptx data \"text\"\n"
      "plan.device_module @code chip \"sm_90\" format ptx data \"text\"\n"
      "plan.device_kernel @k in @code symbol \"relu\" block [128, 2, 1] blocks "
      "64 shared 512 scratch 0\n"
      "plan.device_kernel @scratched in @code symbol \"sums\" block [32, 1, 1] "
      "blocks 1 shared 0 scratch 96\n"
      "plan.library_contraction @dot batch [1, 0, 0, 0] rows [4, 6, 0, 1] "
      "columns [1, 0, 1, 1] contract [6, 1, 1, 0] sums f32 epilogue relu "
      "fallback @k scratch 0\n"
      "plan.builtin @sort name \"sort\" parameters [6, 1] scratch 0\n";
  const std::string type = " : memref<4x6xf32>",
                    two = type + ", memref<4x6xf32>";
  auto refusal = [&](const std::string &launch) {
    Read read(launch, device);
    Program program(read.image());
    if (std::string refused = take(weft_program_prepare(program.handle));
        !refused.empty())
      return refused;
    weft_runtime *runtime = nullptr;
    REQUIRE(take(weft_runtime_create("cpu:4", 1, &runtime)) == "");
    std::string refused =
        take(weft_execute(runtime, program.handle, nullptr, nullptr));
    weft_runtime_free(runtime);
    return refused;
  };
  const std::string end =
      ", these devices are CPUs; run the program on cuda:N, or compile it for "
      "a CPU";
  CHECK(refusal("plan.launch @k(%a, %b)" + two) ==
        "kernel \"relu\" needs a device of kind \"sm_90\"" + end);
  CHECK(refusal("plan.launch @scratched(%a) scratch %b" + type + type) ==
        "kernel \"sums\" needs a device of kind \"sm_90\"" + end);
  CHECK(
      refusal("plan.launch @dot(%a, %b, %long)" + two + ", memref<8x6xf32>") ==
      "kernel contraction 0 needs a device of kind \"sm_90\" with a library "
      "of contractions" +
          end);
  CHECK(
      refusal("plan.launch @sort(%a)" + type) ==
      "kernel \"sort\" is none of these devices' runtime, which has lapack.*; "
      "compile it again");
  // The kernel is a function of the host, which is looked for in the empty
  // shared object.
  CHECK(refusal("plan.launch @host(%a)" + type) ==
        "kernels of the program cannot be loaded: no ELF image; compile it "
        "again");
}

TEST_CASE("kernels keep all that their ops say") {
  Read read("plan.launch @dot(%a, %b, %at, %long) scratch %wide : "
            "memref<4x9xf32> : memref<4x6xf32>, memref<4x6xf32>, "
            "memref<4x6xi64>, memref<8x6xf32>",
            "plan.device_module @code chip \"sm_90\" format cubin data "
            "\"\\00text\"\n"
            "plan.device_kernel @k in @code symbol \"tiles\" block [128, 2, 3] "
            "blocks 64 shared 512 scratch 64\n"
            "plan.library_contraction @dot batch [2, 3, 4, 5] rows [4, 6, 0, "
            "1] columns [7, 0, 8, 9] contract [6, 1, 2, 0] first [10, 11] "
            "sums f64 epilogue "
            "bias_gelu_tanh compute tf32 fallback @k scratch 96\n");
  auto bytes = serializePlan(read.program(), {});
  REQUIRE(succeeded(bytes));
  const auto *file = weft::plan::GetProgram(bytes->data());
  REQUIRE(file->kernels()->size() == 2);
  const auto *dot = file->kernels()->Get(0)->code_as_contraction();
  REQUIRE(dot);
  CHECK(file->kernels()->Get(0)->scratch() == 96);
  CHECK(dot->fallback() == 1);
  CHECK(dot->sums() == weft::plan::DType::f64);
  CHECK(dot->epilogue() == weft::plan::ContractionEpilogue::bias_gelu_tanh);
  CHECK(dot->compute() == weft::plan::ContractionCompute::tf32);
  CHECK(dot->lhs_first() == 10);
  CHECK(dot->rhs_first() == 11);
  auto numbers = [](const weft::plan::ContractionDim &dim) {
    return std::vector<int64_t>{dim.size(), dim.lhs(), dim.rhs(), dim.result()};
  };
  using Numbers = std::vector<int64_t>;
  REQUIRE(dot->batch()->size() == 1);
  CHECK(numbers(*dot->batch()->Get(0)) == Numbers{2, 3, 4, 5});
  CHECK(numbers(*dot->rows()) == Numbers{4, 6, 0, 1});
  CHECK(numbers(*dot->columns()) == Numbers{7, 0, 8, 9});
  CHECK(numbers(*dot->contract()) == Numbers{6, 1, 2, 0});
  const auto *tiles = file->kernels()->Get(1)->code_as_device();
  REQUIRE(tiles);
  CHECK(file->kernels()->Get(1)->scratch() == 64);
  CHECK(tiles->symbol()->str() == "tiles");
  CHECK(tiles->block()->size() == 3);
  CHECK(tiles->block()->Get(2) == 3);
  CHECK((tiles->blocks() == 64 && tiles->shared() == 512));
  REQUIRE(file->modules()->size() == 1);
  CHECK(file->modules()->Get(0)->format() == weft::plan::CodeFormat::cubin);
  CHECK(file->modules()->Get(0)->data()->size() == 5);
  const auto *launch = file->instructions()->Get(0)->operation_as_Launch();
  REQUIRE(launch);
  CHECK(launch->scratch() == 5);
  CHECK(launch->buffers()->size() == 4);
}

TEST_CASE("constants and modules are at multiples of 64 bytes of the plan") {
  // FlatBuffers' own limit is 32: where this file or the library is compiled
  // with it, inline functions refuse 64 in builds with assertions.
  CHECK(flatbuffers::VerifyAlignmentRequirements(64));
  for (const char *text : {"t", "code of seventeen"}) {
    Read read("%c = plan.constant dense<1.5> : tensor<3xf32> : memref<3xf32>\n"
              "plan.launch @k(%c, %a) : memref<3xf32>, memref<4x6xf32>",
              "plan.device_module @code chip \"sm_80\" format ptx data \"" +
                  std::string(text) +
                  "\"\n"
                  "plan.device_kernel @k in @code symbol \"k\" block [32, 1, "
                  "1] blocks 1 shared 0 scratch 0\n");
    auto bytes = serializePlan(read.program(), {});
    REQUIRE(succeeded(bytes));
    const auto *file = weft::plan::GetProgram(bytes->data());
    auto place = [&](const flatbuffers::Vector<uint8_t> *data) {
      REQUIRE(data);
      return data->Data() - bytes->data();
    };
    CHECK(place(file->constants()) % 64 == 0);
    REQUIRE(file->modules()->size() == 1);
    CHECK(place(file->modules()->Get(0)->data()) % 64 == 0);
  }
}
