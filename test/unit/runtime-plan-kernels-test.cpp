// Kernels, modules and launches of plans that break a rule of plan.fbs are
// refused.
#include "weft/test/unit/refused-plans.h"

#include <elf.h>

#include <cstring>

using namespace weft::test;

namespace {
DeviceModuleT &module(PlanBuilder &p, const std::string &text = "text") {
  auto m = std::make_unique<DeviceModuleT>();
  m->chip = "sm_90";
  m->data.assign(text.begin(), text.end());
  p.program.modules.push_back(std::move(m));
  return *p.program.modules.back();
}

DeviceKernelT onDevice(std::vector<uint32_t> block = {256, 1, 1},
                       uint64_t blocks = 64, uint32_t shared = 0) {
  DeviceKernelT code;
  code.symbol = "relu";
  code.block = std::move(block);
  code.blocks = blocks;
  code.shared = shared;
  return code;
}

/// Returns a product of 2x4 and 4: two sums of four products. Without a
/// library, kernel 0 is used.
LibraryContractionT product() {
  LibraryContractionT code;
  code.rows = std::make_unique<ContractionDim>(2, 4, 0, 1);
  code.columns = std::make_unique<ContractionDim>(1, 0, 1, 1);
  code.contract = std::make_unique<ContractionDim>(4, 1, 1, 0);
  code.sums = DType::f32;
  return code;
}

/// Returns the error for a program whose only launch is a contraction that
/// `change` has altered.
template <typename Change> std::string contraction(Change change) {
  return refusal([&](PlanBuilder &p) {
    module(p);
    p.kernel(onDevice());
    LibraryContractionT code = product();
    change(code);
    p.kernel(std::move(code));
    p.launchLast({Matrix, In, Out});
  });
}

BuiltinT sorting() {
  BuiltinT code;
  code.name = "sort";
  code.parameters = {4, 1};
  return code;
}

std::string prepare(PlanBuilder &p, weft_status &status) {
  std::vector<uint8_t> image = p.image();
  weft_program *program = nullptr;
  REQUIRE(take(weft_program_load_memory(image.data(), image.size(),
                                        &program)) == "");
  std::string text = take(weft_program_prepare(program), &status);
  if (text.empty()) {
    weft_runtime *runtime = nullptr;
    REQUIRE(take(weft_runtime_create("cpu:2", 1, &runtime)) == "");
    weft_buffer *in = nullptr, *out = nullptr;
    REQUIRE(take(weft_input_create(runtime, program, 0, &in)) == "");
    REQUIRE(take(weft_output_create(runtime, program, 0, &out)) == "");
    text = take(weft_execute(runtime, program, &in, &out), &status);
    weft_buffer_free(in);
    weft_buffer_free(out);
    weft_runtime_free(runtime);
  }
  weft_program_free(program);
  return text;
}
} // namespace

TEST_CASE(
    "a function of the host finds its scratch memory behind its buffers") {
  PlanBuilder p({{"x", 2}});
  uint32_t in = p.input("in", DType::f32, {8}, {{fullAxis(0, 2)}});
  uint32_t out = p.output("out", DType::f32, {8}, {{fullAxis(0, 2)}});
  uint32_t scratch = p.arena(DType::i8, {16});
  HostKernelT code;
  code.symbol = "reversed_through_scratch";
  p.kernel(code, 16);
  p.launchLast({in, out}, int32_t(scratch));
  Loaded program(p.image(), "cpu:2");
  program.write(0, std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8});
  REQUIRE(program.run() == "");
  CHECK(program.read<float>(0, 8) ==
        std::vector<float>{4, 3, 2, 1, 8, 7, 6, 5});
}

TEST_CASE("kernels of devices are read, and refused by CPUs") {
  weft_status status;
  PlanBuilder device = two();
  module(device);
  device.kernel(onDevice(), 16);
  device.launchLast({In, Out}, Four);
  CHECK(prepare(device, status) ==
        "kernel \"relu\" needs a device of kind \"sm_90\", these devices "
        "are CPUs; run the program on cuda:N, or compile it for a CPU");
  CHECK(status == WEFT_INCOMPATIBLE);
  PlanBuilder dot = two();
  module(dot);
  dot.kernel(product()).code.Ascontraction()->fallback = 1;
  dot.launchLast({Matrix, In, Out});
  dot.kernel(onDevice());
  CHECK(prepare(dot, status) ==
        "kernel contraction 0 needs a device of kind \"sm_90\" with a library "
        "of contractions, these devices are CPUs; run the program on cuda:N, "
        "or compile it for a CPU");
  PlanBuilder builtin = two();
  builtin.kernel(sorting());
  builtin.launchLast({Four});
  CHECK(prepare(builtin, status) ==
        "kernel \"sort\" is none of these devices' runtime, which has "
        "lapack.*; compile it again");
}

TEST_CASE("calls of LAPACK have a routine, sizes, and buffers of these") {
  auto refused = [](const std::string &name, std::vector<int64_t> parameters,
                    int64_t codes, unsigned buffers, bool isReadOnly = false) {
    PlanBuilder p({{"x", 2}});
    uint32_t in = p.input("in", DType::f32, {2, 2}, {{}, {}});
    uint32_t out = p.output("out", DType::f32, {2, 2}, {{}, {}});
    std::vector<uint32_t> all = {in, isReadOnly ? in : out,
                                 p.arena(DType::i32, {codes})};
    all.resize(buffers);
    BuiltinT code;
    code.name = name;
    code.parameters = std::move(parameters);
    p.kernel(std::move(code));
    p.launchLast(std::move(all));
    weft_status status;
    return prepare(p, status);
  };
  CHECK(refused("lapack.spotrf", {1, 2, 76}, 1, 2) ==
        "bad plan: a launch of \"lapack.spotrf\" has 2 buffers, expected 3");
  CHECK(refused("lapack.spotrf", {1, 2, 76}, 2, 3) ==
        "bad plan: a launch of \"lapack.spotrf\" has 8 bytes as buffer 2, "
        "expected 4");
  CHECK(refused("lapack.spotrf", {1, 2, 76}, 1, 3, true) ==
        "bad plan: a launch of \"lapack.spotrf\" writes its buffer 1, which is "
        "not writable");
  CHECK(refused("lapack.spotrf", {1, 2}, 1, 3) ==
        "kernel \"lapack.spotrf\": spotrf has 2 parameters, expected 3");
  CHECK(refused("lapack.spotrf", {1, 2, 88}, 1, 3) ==
        "kernel \"lapack.spotrf\": spotrf: option \"uplo\" is X, expected one "
        "of L, U");
  CHECK(refused("lapack.spotrf", {int64_t(1) << 60, 2, 76}, 1, 3) ==
        "kernel \"lapack.spotrf\": spotrf: a batch of 1152921504606846976 has "
        "more bytes than any memory");
  CHECK(refused("lapack.sfrob", {1, 2}, 1, 3)
            .find("kernel \"lapack.sfrob\": no routine of LAPACK is called "
                  "\"sfrob\"; "
                  "known, each with s, d, c or z in front: getrf, potrf") == 0);
}

TEST_CASE("modules hold code of the stated kind") {
  auto changed = [](auto change) {
    return refusal([&](PlanBuilder &p) { change(module(p)); });
  };
  CHECK(changed([](DeviceModuleT &) {}) == "");
  CHECK(changed([](DeviceModuleT &m) { m.chip = ""; }) ==
        "bad plan: module 0 for the chip \"\" has 4 bytes of code");
  CHECK(changed([](DeviceModuleT &m) { m.data.clear(); }) ==
        "bad plan: module 0 for the chip \"sm_90\" has 0 bytes of code");
  CHECK(changed([](DeviceModuleT &m) { m.format = CodeFormat(7); }) ==
        "bad plan: module 0 has the unknown format 7");
  CHECK(changed([](DeviceModuleT &m) { m.data[2] = 0; }) ==
        "bad plan: module 0 is no PTX: its text has a NUL");
  auto asCubin = [](DeviceModuleT &m, uint16_t machine) {
    Elf64_Ehdr header = {};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_machine = machine;
    const auto *bytes = reinterpret_cast<const uint8_t *>(&header);
    m.format = CodeFormat::cubin;
    m.data.assign(bytes, bytes + sizeof header);
  };
  CHECK(changed([&](DeviceModuleT &m) { asCubin(m, EM_CUDA); }) == "");
  const std::string none = "bad plan: module 0 is no cubin: 64 bytes without "
                           "an ELF header of a GPU";
  CHECK(changed([&](DeviceModuleT &m) { asCubin(m, EM_X86_64); }) == none);
  CHECK(changed([&](DeviceModuleT &m) {
          asCubin(m, EM_CUDA);
          m.data.pop_back();
        }) == "bad plan: module 0 is no cubin: 63 bytes without an ELF header "
              "of a GPU");
}

TEST_CASE("a sequence of kernels runs code of a device in its scratch memory") {
  auto sequence = [](std::vector<uint32_t> kernels, uint64_t scratch = 64) {
    return refusal([&](PlanBuilder &p) {
      module(p);
      p.kernel(onDevice(), 64);
      KernelSequenceT code;
      code.kernels = std::move(kernels);
      p.kernel(std::move(code), scratch);
    });
  };
  CHECK(sequence({0, 0}) == "");
  CHECK(sequence({}) == "bad plan: kernel 1 is a sequence of no kernels");
  CHECK(sequence({0, 2}) ==
        "bad plan: kernel 1 runs kernel 2 of 2, which is no kernel of a device "
        "with 64 bytes of scratch memory");
  CHECK(sequence({1}).find("kernel 1 runs kernel 1 of 2") != std::string::npos);
  CHECK(sequence({0}, 32).find("with 32 bytes") != std::string::npos);
}

TEST_CASE("a kernel of a device has a module, a name and a grid") {
  auto kernel = [](auto code) {
    return refusal([&](PlanBuilder &p) {
      module(p);
      p.kernel(std::move(code));
    });
  };
  CHECK(kernel(onDevice()) == "");
  CHECK(kernel(onDevice({1024, 1, 1}, (1ull << 31) - 1, 1 << 20)) == "");
  DeviceKernelT code = onDevice();
  code.module_ = 1;
  CHECK(kernel(code) == "bad plan: kernel 0 is in module 1 of 1");
  code = onDevice();
  code.symbol = "";
  CHECK(kernel(code) == "bad plan: kernel 0 has no name");
  code.symbol = std::string("a\0b", 3);
  CHECK(kernel(code) == "bad plan: kernel 0 has a NUL in its name");
  const std::string block =
      "bad plan: kernel 0 has no block of three sizes and 1 to 1024 threads";
  using Block = std::vector<uint32_t>;
  for (const Block &bad :
       {Block{}, Block{256, 1}, Block{0, 1, 1}, Block{1024, 2, 1},
        Block{1u << 31, 2, 1}, Block{1024, 1024, 1024}, Block{1, 1, 1, 1}})
    CHECK(kernel(onDevice(bad)) == block);
  CHECK(kernel(onDevice({1, 1, 1}, 0)).find("has 0 blocks") !=
        std::string::npos);
  CHECK(kernel(onDevice({1, 1, 1}, 1ull << 31)).find("has 2147483648 blocks") !=
        std::string::npos);
  CHECK(kernel(onDevice({1, 1, 1}, 1, (1 << 20) + 1))
            .find("with 1048577 bytes each") != std::string::npos);
  CHECK(kernel(HostKernelT()) == "bad plan: kernel 0 has no name");
  CHECK(kernel(BuiltinT()) == "bad plan: kernel 0 has no name");
  CHECK(refusal([](PlanBuilder &p) { p.kernel(sorting()).code.Reset(); }) ==
        "bad plan: kernel 0 is of the unknown kind 0");
  CHECK(
      refusal([](PlanBuilder &p) { p.kernel(sorting(), ~0ull); }) ==
      "bad plan: kernel 0 wants 18446744073709551615 bytes of scratch memory");
}

TEST_CASE("a contraction reaches no element outside its buffers") {
  using T = LibraryContractionT;
  CHECK(contraction([](T &) {}) == "");
  CHECK(contraction([](T &c) { c.rows.reset(); }) ==
        "bad plan: kernel 1 lacks rows, columns or contracted dimensions");
  const std::string dims = "bad plan: kernel 1 has dimensions whose sizes and "
                           "strides are no contraction's";
  CHECK(contraction([](T &c) { *c.rows = {2, 4, 1, 1}; }) == dims);
  CHECK(contraction([](T &c) { *c.columns = {1, 1, 1, 1}; }) == dims);
  CHECK(contraction([](T &c) { *c.contract = {4, 1, 1, 1}; }) == dims);
  CHECK(contraction([](T &c) { *c.rows = {-2, 4, 0, 1}; }) == dims);
  CHECK(contraction([](T &c) { *c.rows = {2, 1ll << 62, 0, 1}; }) == dims);
  CHECK(contraction([](T &c) { c.batch.assign(9, {1, 0, 0, 0}); }) == dims);
  CHECK(contraction([](T &c) { *c.rows = {3, 4, 0, 1}; }) ==
        "bad plan: instruction 0 launches contraction 1 on buffer 5 of 8 "
        "elements, it reaches 12");
  CHECK(contraction([](T &c) { *c.contract = {4, 1, 2, 0}; }) ==
        "bad plan: instruction 0 launches contraction 1 on buffer 0 of 4 "
        "elements, it reaches 7");
  CHECK(contraction([](T &c) { *c.rows = {2, 4, 0, 4}; }) ==
        "bad plan: instruction 0 launches contraction 1 on buffer 1 of 4 "
        "elements, it reaches 5");
  CHECK(contraction([](T &c) { c.lhs_first = 1; }) ==
        "bad plan: instruction 0 launches contraction 1 on buffer 5 of 8 "
        "elements, it reaches 9");
  CHECK(contraction([](T &c) { c.rhs_first = 1; }) ==
        "bad plan: instruction 0 launches contraction 1 on buffer 0 of 4 "
        "elements, it reaches 5");
  CHECK(contraction([](T &c) { c.rhs_first = -1; }) == dims);
  CHECK(contraction([](T &c) { c.lhs_first = 1ll << 62; }) == dims);
  CHECK(contraction([](T &c) {
          c.batch = {{1 << 20, 0, 0, 1ll << 40}};
        }).find("it reaches 70368744177664") != std::string::npos);
  CHECK(contraction([](T &c) { c.batch = {{0, 1, 1, 1}}; }) == "");
  CHECK(contraction([](T &c) { c.epilogue = ContractionEpilogue::bias; }) ==
        "bad plan: instruction 0 launches contraction 1 on 3 buffers, not 4");
  CHECK(contraction([](T &c) {
          c.epilogue = ContractionEpilogue(99);
        }).find("the unknown epilogue 99") != std::string::npos);
  CHECK(contraction([](T &c) {
          c.sums = DType(99);
        }).find("the unknown dtype 99") != std::string::npos);
  CHECK(contraction([](T &c) {
          c.compute = ContractionCompute(9);
        }).find("the unknown compute type 9") != std::string::npos);
  for (uint32_t fallback : {1u, 2u})
    CHECK(contraction([&](T &c) { c.fallback = fallback; }) ==
          "bad plan: kernel 1 has the fallback " + std::to_string(fallback) +
              " of 2, which is no kernel of a device");
  CHECK(refusal([](PlanBuilder &p) {
          module(p);
          p.kernel(onDevice(), 64);
          p.kernel(product(), 16);
        }) == "bad plan: kernel 1 gives its fallback 16 bytes of scratch "
              "memory, which wants 64");
  CHECK(refusal([](PlanBuilder &p) {
          module(p);
          p.kernel(onDevice());
          LibraryContractionT code = product();
          code.epilogue = ContractionEpilogue::bias_relu;
          *code.columns = {8, 0, 0, 0};
          p.kernel(std::move(code));
          p.launchLast({Matrix, In, Four, Out});
        }) == "bad plan: instruction 0 launches contraction 1 on buffer 2 of 4 "
              "elements, it reaches 8");
  CHECK(refusal([](PlanBuilder &p) {
          module(p);
          p.kernel(onDevice());
          p.kernel(product());
          p.launchLast({Matrix, Four, In});
        }) == "bad plan: instruction 0 launches contraction 1 writes buffer 0, "
              "an input that is not donated");
}

TEST_CASE("a launch gives the scratch memory that its kernel wants") {
  auto launched = [](uint64_t wanted, int32_t scratch,
                     std::vector<uint32_t> buffers = {In, Out}) {
    return refusal([&](PlanBuilder &p) {
      p.kernel(sorting(), wanted);
      p.launchLast(buffers, scratch);
    });
  };
  const std::string launches = "bad plan: instruction 0 launches \"sort\" ";
  CHECK(launched(0, -1) == "");
  CHECK(launched(16, Four) == "");
  CHECK(launched(0, Four) ==
        launches + "with scratch buffer 2 of 6, its kernel wants 0 bytes");
  CHECK(launched(16, -1) ==
        launches + "with scratch buffer -1 of 6, its kernel wants 16 bytes");
  CHECK(launched(0, -2) ==
        launches + "with scratch buffer -2 of 6, its kernel wants 0 bytes");
  CHECK(launched(16, 6) ==
        launches + "with scratch buffer 6 of 6, its kernel wants 16 bytes");
  CHECK(launched(17, Four) ==
        launches + "with 16 bytes of buffer 2, its kernel wants 17 bytes of "
                   "the arena");
  CHECK(launched(16, Out) ==
        launches + "with 16 bytes of buffer 1, its kernel wants 16 bytes of "
                   "the arena");
  CHECK(launched(16, Four, {In, Four}) ==
        launches + "with scratch buffer 2, in which its buffer 2 lies, too");
  CHECK(launched(16, Four, {In, 6}) == launches + "on buffer 6 of 6");
  CHECK(refusal([](PlanBuilder &p) { p.add(LaunchT()); }) ==
        "bad plan: instruction 0 launches kernel 0 of 0");
}
