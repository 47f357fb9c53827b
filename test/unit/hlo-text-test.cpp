//===- hlo-text-test.cpp - programs of devices in the syntax of XLA -------===//

#include "weft/compiler/hlo/HloText.h"
#include "weft/test/unit/ParsedProgram.h"

#include "catch2/catch.hpp"

using namespace weft;
using namespace weft::test;

TEST_CASE("each module defines the reducers that it calls") {
  ParsedProgram program(R"(
    func.func @first(%a: tensor<4x4xf32>) -> tensor<4xf32> {
      %r = weft.reduce sum %a dims [0] : tensor<4x4xf32> -> tensor<4xf32>
      %s = weft.reduce sum %a dims [1] : tensor<4x4xf32> -> tensor<4xf32>
      %t = weft.add %r, %s : tensor<4xf32>
      return %t : tensor<4xf32>
    }
    func.func @second(%a: tensor<4x4xf32>) -> tensor<4xf32> {
      %r = weft.reduce sum %a dims [0] : tensor<4x4xf32> -> tensor<4xf32>
      return %r : tensor<4xf32>
    })");
  std::string text = hloText(*program.module, "both");
  size_t second = text.find("HloModule", 1);
  REQUIRE(second != std::string::npos);
  for (const std::string &module :
       {text.substr(0, second), text.substr(second)}) {
    size_t at = module.find("%sum.f32 (x: f32[]");
    CHECK(at != std::string::npos);
    CHECK(module.find("%sum.f32 (x: f32[]", at + 1) == std::string::npos);
  }
}

TEST_CASE("an op without an opcode of XLA is a custom-call") {
  ParsedProgram program(R"(
    func.func @f(%a: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
      %r = weft.erf %a : tensor<4xf32>
      %s = weft.erfc %a : tensor<4xf32>
      return %r, %s : tensor<4xf32>, tensor<4xf32>
    })");
  std::string text = hloText(*program.module, "f");
  CHECK_THAT(text, Catch::Contains("f32[4]{0} erf(") &&
                       Catch::Contains("f32[4]{0} custom-call(") &&
                       Catch::Contains("custom_call_target=\"weft.erfc\""));
}
