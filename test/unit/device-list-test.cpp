// Lists and names of devices as text: parsed, refused with a reason, and
// written.
#include "catch2/catch.hpp"
#include "weft/base/DeviceList.h"

using namespace weft;

namespace {
/// Returns the count of a list; 0 if it is refused.
int64_t countOf(std::string_view text, int64_t most = kMostDevices) {
  Result<DeviceList> list = DeviceList::parse(text, most);
  return list ? list->count : 0;
}

std::string reason(std::string_view text) {
  Result<DeviceList> list = DeviceList::parse(text);
  CHECK(!list);
  CHECK(list.error().code == StatusCode::InvalidArgument);
  return list.message();
}

/// Returns the index of a name; -1 if it is refused.
int64_t indexOf(std::string_view text) {
  std::optional<DeviceName> name = DeviceName::parse(text);
  return name ? name->index : -1;
}
} // namespace

TEST_CASE("lists of devices") {
  struct Case {
    std::string_view text;
    int64_t count; ///< 0: refused
  };
  for (Case c : {Case{"cpu:1", 1},
                 {"cpu:8", 8},
                 {"cpu:65536", 65536},
                 {"cpu:008", 8},
                 {"cpu:0", 0},
                 {"cpu:00", 0},
                 {"cpu:65537", 0},
                 {"cpu:-1", 0},
                 {"cpu:-0", 0},
                 {"cpu:+8", 0},
                 {"cpu: 8", 0},
                 {" cpu:8", 0},
                 {"cpu:8 ", 0},
                 {"cpu:8x", 0},
                 {"cpu:8,9", 0},
                 {"cpu:8:1", 0},
                 {"cpu:0x8", 0},
                 {"cpu:9223372036854775808", 0},
                 {"cpu:18446744073709551617", 0},
                 {"cpu:", 0},
                 {"cpu", 0},
                 {"8", 0},
                 {":8", 0},
                 {"", 0},
                 {"CPU:8", 0},
                 {"gpu:8", 0},
                 {"cpu:avx2", 0},
                 {std::string_view("cpu:8\0", 6), 0}}) {
    INFO(c.text);
    CHECK(countOf(c.text) == c.count);
  }
  CHECK(countOf("cpu:4096", 4096) == 4096);
  CHECK(countOf("cpu:4097", 4096) == 0);
}

TEST_CASE("the error names the reason why a text is no list of devices") {
  for (std::string text : {"cpu:0", "cpu:65537", "cpu", "gpu", "gpu:x", ":8"})
    CHECK(reason(text) == "'" + text +
                              "' is no list of devices; write cpu:N or "
                              "cuda:N with N from 1 to 65536");
  CHECK(reason("gpu:8") ==
        "'gpu:8' asks for gpu devices, there are cpu and cuda devices only; "
        "write cpu:N or cuda:N with N from 1 to 65536");
  CHECK(DeviceList::parse("cpu:5000", 4096).message() ==
        "'cpu:5000' is no list of devices; write cpu:N or cuda:N with "
        "N from 1 to 4096");
  CHECK(DeviceList::parse("cuda:2", 4096, /*kinds=*/1).message() ==
        "'cuda:2' asks for cuda devices, there are cpu devices only; "
        "write cpu:N with N from 1 to 4096");
}

TEST_CASE("names of devices") {
  CHECK(indexOf("cpu:0") == 0);
  CHECK(indexOf("cpu:7") == 7);
  CHECK(indexOf("cpu:9223372036854775807") == INT64_MAX);
  for (std::string_view text :
       {"cpu:-1", "cpu:-0", "cpu:+1", "cpu:1x", "cpu:", "cpu", "1", "", "gpu:0",
        "cpu:9223372036854775808"}) {
    INFO(text);
    CHECK(indexOf(text) == -1);
  }
}

TEST_CASE("a text that was read is written alike") {
  CHECK(DeviceList{}.text() == "cpu:1");
  CHECK(DeviceList{DeviceKind::Cpu, 65536}.text() == "cpu:65536");
  CHECK(DeviceList{DeviceKind::Cuda, 8}.text() == "cuda:8");
  CHECK(DeviceName{}.text() == "cpu:0");
  CHECK(DeviceName{DeviceKind::Cpu, 3}.text() == "cpu:3");
}
