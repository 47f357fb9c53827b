//===- reshard-report-test.cpp - the text and JSON of `weft reshard` ------===//

#include "weft/tools/weft/reshard/Reshard.h"

#include "catch2/catch.hpp"

using namespace weft;

namespace {
/// Returns the report, or "error: ..." for a refusal.
std::string report(const ReshardRequest &request) {
  Result<std::string> made = reshardReport(request);
  return made ? *made : "error: " + made.message();
}
} // namespace

TEST_CASE("the worked example as a table") {
  CHECK(report({"x=4,y=2", "16,16,16", "[y,-,x]", "[-,(x,y),-]"}) ==
        "f32 16x16x16 on x=4,y=2: [y,-,x] -> [-,(x,y),-]\n"
        "\n"
        "    step            axes           dims          bytes  layout after\n"
        " 1  exchange        x,y                          1,792  [-,(x,y),-]\n"
        "\n"
        "1,792 bytes received by a device, at least 1,792 must be\n"
        "optimal: no plan moves fewer bytes\n");
}

TEST_CASE("a chain without the exchange, as JSON") {
  CHECK(report({.mesh = "x=4,y=2",
                .shape = "16x16x16",
                .from = "[y,-,x]",
                .to = "[-,(x,y),-]",
                .json = true,
                .allowExchange = false}) ==
        "{\"bytes_received\":2560,\"lower_bound\":1792,\"optimal\":true,"
        "\"steps\":[{\"axes\":[\"x\"],\"bytes\":1536,\"from\":2,"
        "\"kind\":\"all_to_all\",\"layout\":\"[y,x,-]\",\"to\":1},"
        "{\"axes\":[\"y\"],\"bytes\":1024,\"from\":0,\"kind\":\"all_to_all\","
        "\"layout\":\"[-,(x,y),-]\",\"to\":1}]}\n");
}

TEST_CASE("element types count") {
  CHECK(report({"x=2", "8", "[x]", "[-]", "bf16"}).find("8 bytes received") !=
        std::string::npos);
  // Half of 8 elements comes from the other device.
  for (auto [dtype, bytes] : {std::pair{"uint16", "8 bytes"},
                              {"ui8", "4 bytes"},
                              {"complex<f64>", "64 bytes"},
                              {"complex64", "32 bytes"},
                              {"f8E4M3FN", "4 bytes"},
                              {"float8_e5m2", "4 bytes"},
                              {"i1", "4 bytes"}})
    CHECK_THAT(report({"x=2", "8", "[x]", "[-]", dtype}),
               Catch::Contains(std::string(bytes) + " received"));
  CHECK(report({"x=2", "8", "[x]", "[x]"})
            .find("the layouts are equal, nothing moves") != std::string::npos);
}

TEST_CASE("long names stay within 80 columns") {
  std::string text = report({.mesh = "pipeline=4,model=8,replica=16",
                             .shape = "1600000,4096",
                             .from = "[(pipeline:(1)2,model:(2)4,replica),-]",
                             .to = "[replica,(model:(2)4,pipeline:(2)2)]",
                             .allowExchange = false});
  for (size_t begin = 0; begin < text.size();) {
    size_t end = text.find('\n', begin);
    CHECK(end - begin <= 80);
    CHECK((end == begin || text[end - 1] != ' '));
    begin = end + 1;
  }
}

TEST_CASE("refusals name the option") {
  CHECK(report({"x=2", "8,8", "[x]", "[-]"}) ==
        "error: from: '[x]': layout has 1 dimensions, the tensor 2");
  CHECK(report({"x=2", "8", "[q]", "[-]"}) ==
        "error: from: '[q]': column 2: mesh has no axis 'q', it has x");
  CHECK(report({"x", "8", "[x]", "[-]"}) ==
        "error: mesh: 'x': column 2: expected '=' after the axis, found the "
        "end");
  CHECK(report({"x=2", "a", "[x]", "[-]"}) ==
        "error: shape: 'a' is no size; write 16,16,16");
  CHECK(report({"x=2", "8", "[x]", "[-]", "f8"}) ==
        "error: dtype: no element type 'f8'; use the name of a type in "
        "MLIR or NumPy, such as f32, bf16, ui8, uint8 or complex<f32>");
}
