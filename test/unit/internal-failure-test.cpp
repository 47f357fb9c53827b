// An internal failure leaves a reproducer: the imported module, and above it
// the command that compiles it up to the stage of the failure.

#include "weft/tools/weft/compiler/InternalFailure.h"

#include "weft/compiler/Register.h"

#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"

#include "catch2/catch.hpp"

#include <filesystem>
#include <fstream>
#include <sys/stat.h>

using namespace mlir;

TEST_CASE(
    "a reproducer is the imported module below the command that goes on") {
  DialectRegistry registry;
  weft::registerAllDialects(registry);
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  auto parse = [&](const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context);
  };
  auto module = parse("func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
                      "  return %x : tensor<4xf32>\n}\n");
  REQUIRE(module);
  std::string text = weft::tool::reproducer(*module, weft::Stage::partitioned);
  CHECK(text.find(
            "// weft compile FILE --from=imported --emit=partitioned\n") == 0);
  auto again = parse(text);
  REQUIRE(again);
  CHECK(weft::tool::reproducer(*again, weft::Stage::partitioned) == text);
}

TEST_CASE("a reproducer is a new file of the user's, and few are kept") {
  namespace fs = std::filesystem;
  char name[] = "/tmp/weft-internal-failure-XXXXXX";
  std::string folder = ::mkdtemp(name);
  std::ofstream(folder + "/victim") << "precious";
  fs::create_symlink("victim", folder + "/weft-reproducer-0.mlir");
  std::set<std::string> made;
  for (int i = 0; i < 6; ++i) {
    std::string file;
    CHECK(weft::tool::writeReproducer(folder, "text", file) == "");
    CHECK(made.insert(file).second);
    struct stat info;
    REQUIRE(::lstat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
  }
  size_t files = 0;
  for (const auto &entry : fs::directory_iterator(folder))
    files += entry.is_regular_file() && !entry.is_symlink();
  CHECK(files == 1 + 4); // the victim; the new file and three older ones
  std::string text;
  std::ifstream(folder + "/victim") >> text;
  CHECK(text == "precious");
  std::string file;
  CHECK(weft::tool::writeReproducer(folder + "/none", "text", file) ==
        file + ": cannot be written: No such file or directory");
  fs::remove_all(folder);
}
