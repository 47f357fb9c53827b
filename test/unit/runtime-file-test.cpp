// Files that are no valid .weft file give an error, never a crash.
#include "weft/test/unit/runtime-plan.h"

#include <cstdio>
#include <random>
#include <unistd.h>

using namespace weft::test;

static std::vector<uint8_t> small() {
  PlanBuilder p({{"x", 2}});
  uint32_t v = p.state("v", DType::f32, {8}, {{fullAxis(0, 2)}});
  uint32_t t = p.arena(DType::f32, {4});
  p.launch("twice_plus_device", {v, t});
  p.allReduce({t}, {t}, {fullAxis(0, 2)});
  p.copy(t, v);
  return p.image();
}

static std::string load(const std::vector<uint8_t> &image,
                        weft_status *status = nullptr) {
  weft_program *program = nullptr;
  std::string text = take(
      weft_program_load_memory(image.data(), image.size(), &program), status);
  CHECK((program == nullptr) == !text.empty());
  weft_program_free(program);
  return text;
}

/// Loads an image, then its code twice: the second time gives the same error.
static std::string prepare(const std::vector<uint8_t> &image,
                           weft_status *status = nullptr) {
  weft_program *program = nullptr;
  REQUIRE(take(weft_program_load_memory(image.data(), image.size(),
                                        &program)) == "");
  std::string text = take(weft_program_prepare(program), status);
  CHECK(take(weft_program_prepare(program)) == text);
  weft_program_free(program);
  return text;
}

TEST_CASE("every truncation is refused") {
  std::vector<uint8_t> image = small();
  REQUIRE(load(image) == "");
  std::vector<uint8_t> cut;
  size_t refused = 0;
  for (size_t n = 0; n < image.size(); ++n) {
    cut.assign(image.begin(), image.begin() + long(n));
    refused += load(cut) != "";
  }
  CHECK(refused == image.size());
}

TEST_CASE("every flipped bit is refused") {
  std::vector<uint8_t> image = small();
  size_t accepted = 0;
  for (size_t n = 0; n < image.size(); n += n + 400 < image.size() ? 13 : 1) {
    image[n] ^= uint8_t(1 << n % 8);
    accepted += load(image) == "";
    image[n] ^= uint8_t(1 << n % 8);
  }
  CHECK(accepted == 0);
  CHECK(load(image) == "");
}

/// Returns the plan in a file with a correct trailer, so that only the verifier
/// and the checks see its errors.
static std::vector<uint8_t> reassemble(const std::vector<uint8_t> &plan) {
  static const std::vector<uint8_t> elf = kernelLibrary();
  return weft::assembleProgramFile(elf, plan, 0);
}

TEST_CASE("altered plans with a right hash never crash the loader") {
  PlanBuilder p({{"x", 2}});
  uint32_t v = p.state("v", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.allReduce({v}, {v}, {fullAxis(0, 2)});
  p.add(ReturnT());
  std::vector<uint8_t> plan = p.planBytes();
  std::mt19937 random(3);
  for (size_t round = 0; round < 3000; ++round) {
    std::vector<uint8_t> altered = plan;
    for (unsigned k = 0; k < 1 + round % 3; ++k)
      altered[random() % altered.size()] = uint8_t(random());
    load(reassemble(altered)); // an error, or a harmless change
  }
  for (size_t n = 0; n + 8 < plan.size(); ++n) // the last bytes are padding
    CHECK(load(reassemble({plan.begin(), plan.begin() + long(n)})) != "");
}

TEST_CASE("foreign files are named") {
  CHECK(load({}) == "not a .weft program: 0 bytes, the trailer alone has 48");
  CHECK(load(kernelLibrary())
            .find("not a .weft program, or its end is cut off") == 0);
  std::vector<uint8_t> plan = [] {
    PlanBuilder p({{"x", 1}});
    p.add(ReturnT());
    return p.planBytes();
  }();
  CHECK(
      prepare(weft::assembleProgramFile(std::vector<uint8_t>(100), plan, 0)) ==
      "kernels of the program cannot be loaded: no ELF image; compile it "
      "again");
  std::vector<uint8_t> elf = kernelLibrary();
  CHECK(prepare(weft::assembleProgramFile(elf, plan, 0)) == "");
  std::vector<uint8_t> arm = elf;
  arm[18] = 243; // e_machine: RISC-V
  CHECK(
      prepare(weft::assembleProgramFile(arm, plan, 0)) ==
      "kernels of the program cannot be loaded: ELF image of another machine; "
      "compile it again");
  std::vector<uint8_t> cut(elf.begin(), elf.begin() + 600);
  CHECK(prepare(weft::assembleProgramFile(cut, plan, 0))
            .find("kernels of the program cannot be loaded: ") == 0);
  weft_program *program = nullptr;
  CHECK(take(weft_program_load("/nonexistent/p.weft", &program)) ==
        "/nonexistent/p.weft: cannot open: No such file or directory; check "
        "the path and its permissions");
  CHECK(take(weft_program_load("/dev/null", &program)) ==
        "/dev/null: not a regular file; check the path and its permissions");
}

TEST_CASE("newer files and files for other processors are refused by number") {
  std::vector<uint8_t> image = small();
  auto *trailer = reinterpret_cast<weft_trailer *>(image.data() + image.size() -
                                                   sizeof(weft_trailer));
  weft_status status;
  trailer->abi_version = 1;
  const std::string runtime =
      ", this runtime " + std::to_string(WEFT_ABI_VERSION) +
      "; compile it again with the same version of weft";
  CHECK(load(image, &status) == "program has ABI version 1" + runtime);
  CHECK(status == WEFT_INCOMPATIBLE);
  trailer->abi_version = 99;
  CHECK(load(image, &status) == "program has ABI version 99" + runtime);
  CHECK(status == WEFT_INCOMPATIBLE);
  trailer->abi_version = WEFT_ABI_VERSION;
  trailer->features = 1ull << 40;
  CHECK(load(image).find("altered program: hash ") == 0);
  trailer->hash =
      weft::hashProgram(image.data(), image.size() - sizeof *trailer, *trailer);
  CHECK(prepare(image, &status) ==
        "program needs feature 40, this processor lacks "
        "feature 40; compile it for this target");
  CHECK(status == WEFT_INCOMPATIBLE);
  // The plan has an ABI version, too.
  PlanBuilder p({{"x", 1}});
  p.program.abi_version = 7;
  CHECK(load(p.image(), &status) == "plan has ABI version 7" + runtime);
  CHECK(status == WEFT_INCOMPATIBLE);
}

template <typename Change> static std::string refusal(Change change) {
  PlanBuilder p({{"x", 2}});
  p.input("in", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.output("out", DType::f32, {8}, {{fullAxis(0, 2)}});
  p.arena(DType::f32, {4});
  p.copy(0, 1);
  p.add(ReturnT());
  change(p);
  return load(reassemble(p.planBytes()));
}

TEST_CASE("a plan that does not hold together is refused") {
  CHECK(refusal([](PlanBuilder &) {}) == "");
  CHECK(refusal([](PlanBuilder &p) {
          p.program.inputs[0]->name = std::string("in\0to", 5);
        }) == "bad plan: input 0 \"in\" has a NUL in its name");
  CHECK(refusal([](PlanBuilder &p) { p.program.buffers[2]->bytes = 12; }) ==
        "bad plan: buffer 2 has 12 bytes, its shape [4] 16");
  CHECK(refusal([](PlanBuilder &p) { p.program.arena_bytes = 15; }) ==
        "bad plan: buffer 2 ends at 0 + 16, its memory at 15");
  CHECK(
      refusal([](PlanBuilder &p) { p.program.buffers[2]->offset = ~0ull; }) ==
      "bad plan: buffer 2 ends at 18446744073709551615 + 16, its memory at 16");
  CHECK(refusal([](PlanBuilder &p) {
          p.buffer(BufferKind::constant, DType::f32, {1});
        }) == "bad plan: buffer 3 ends at 0 + 4, its memory at 0");
  CHECK(refusal([](PlanBuilder &p) {
          p.program.buffers[2]->shape = {1ll << 62, 1ll << 62};
        }) == "no memory for buffer 2 of shape [4611686018427387904, "
              "4611686018427387904], which exceeds 70368744177664 bytes; take "
              "a smaller model or batch");
  CHECK(refusal([](PlanBuilder &p) {
          p.fetch(0, 1, {fullAxis(0, 2)}, 0, {8, 4, 1, 0, 0, 0});
        }).find("fetches of 8 with divisor 0 modulus 0; size and modulus") !=
        std::string::npos);
  CHECK(refusal([](PlanBuilder &p) {
          p.collectivePermute(0, 1, {fullAxis(0, 2)}, {1, 2});
        }).find("has senders [1, 2], not one of 2 members for each") !=
        std::string::npos);
  CHECK(refusal([](PlanBuilder &p) {
          p.collective("pick", FetchingT(), {0}, {1}, {fullAxis(0, 2)});
        }).find("has 1 sources and 1 targets, not 2 and 1") !=
        std::string::npos);
  CHECK(refusal([](PlanBuilder &p) { p.program.inputs[0]->buffer = 9; }) ==
        "bad plan: input 0 \"in\" is buffer 9 of 3");
  CHECK(refusal([](PlanBuilder &p) { p.program.inputs[0]->shape = {9}; }) ==
        "bad plan: input 0 \"in\" needs f32[5] on each device, its buffer is "
        "f32[4]");
  CHECK(refusal([](PlanBuilder &p) {
          p.program.inputs[0]->layout = PlanBuilder::layout({{fullAxis(1, 2)}});
        }) == "bad plan: input 0 \"in\": axis number 1 does not exist, the "
              "mesh has 1");
  CHECK(refusal([](PlanBuilder &p) {
          p.program.inputs[0]->layout = PlanBuilder::layout({{fullAxis(0, 3)}});
        }) ==
        "bad plan: input 0 \"in\": sub-axis \"x\":(1)3 does not divide the "
        "axis of 2");
  CHECK(refusal([](PlanBuilder &p) {
          p.program.inputs[0]->layout = PlanBuilder::layout({{}});
          p.program.inputs[0]->layout->partial = {fullAxis(0, 3)};
        }) ==
        "bad plan: input 0 \"in\": sub-axis \"x\":(1)3 does not divide the "
        "axis of 2");
  CHECK(
      refusal([](PlanBuilder &p) {
        p.copy(1, 0);
        p.add(ReturnT());
      }) ==
      "bad plan: instruction 2 writes buffer 0, an input that is not donated");
  CHECK(refusal([](PlanBuilder &p) { p.jump(77); }) ==
        "bad plan: instruction 2 jumps to 77 of 3");
  CHECK(refusal([](PlanBuilder &p) {
          p.jumpUnless(2, 0);
          p.add(ReturnT());
        }) == "bad plan: instruction 2 tests buffer 2 of f32[4], which is no "
              "i1 scalar");
  CHECK(refusal([](PlanBuilder &p) { p.copy(0, 1); }) ==
        "bad plan: instruction 2 is the last and neither returns nor jumps");
  PlanBuilder absent({{"x", 2}});
  absent.launch("absent", {absent.arena(DType::f32, {4})});
  absent.add(ReturnT());
  CHECK(prepare(absent.image()) == "program has no kernel \"absent\", which "
                                   "its plan names; compile it again");
  CHECK(refusal([](PlanBuilder &p) {
          p.launch("nothing", {5});
          p.add(ReturnT());
        }) == "bad plan: instruction 2 launches \"nothing\" on buffer 5 of 3");
  CHECK(refusal([](PlanBuilder &p) {
          p.reduceScatter(0, 1, {fullAxis(0, 2)}, 3);
          p.add(ReturnT());
        })
            .find("bad plan: instruction 2 (reduce_scatter) from [4] to [4] "
                  "over 2 devices: dimension 3 is out of the rank 1") == 0);
  CHECK(refusal([](PlanBuilder &p) {
          p.allReduce({0}, {2}, {fullAxis(0, 2)}, ReduceKind::or_);
          p.add(ReturnT());
        }) ==
        "bad plan: instruction 2 (all_reduce) takes the bitwise reduction "
        "of f32");
  CHECK(refusal([](PlanBuilder &p) { p.program.mesh->devices = {1, 1}; }) ==
        "bad plan: mesh of 2 devices lists 2 ids, 1 of them different");
}

TEST_CASE("programs loaded one after the other keep their own kernels") {
  std::vector<uint8_t> image = small();
  for (int i = 0; i < 50; ++i) {
    Loaded a(image, "cpu:2"), b(image, "cpu:2");
    for (Loaded *program : {&a, &b}) {
      program->write(0, iota<float>(8));
      REQUIRE(program->run() == "");
      CHECK(program->read<float>(0, 8)[0] == 9.f); // 2*0+0 + 2*4+1
    }
  }
}
