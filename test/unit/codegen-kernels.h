//===- codegen-kernels.h - kernels compiled from text -----------*- C++ -*-===//
//
//   Kernels kernels(function("elementwise", "(%x: T) -> T", "%0 = weft.neg %x : T\nreturn %0 : T\n"));
//   Buffer<float> x(9), y(9);
//   kernels.run("k", {x.data, y.data});
//
//===----------------------------------------------------------------------===//

#ifndef WEFT_TEST_UNIT_CODEGEN_KERNELS_H
#define WEFT_TEST_UNIT_CODEGEN_KERNELS_H

#include "catch2/catch.hpp"

#include "weft/compiler/codegen/cpu/CompileKernels.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/passes/nests/Passes.h"
#include "weft/runtime/abi/weft.h"
#include "weft/test/unit/TestTarget.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <dlfcn.h>
#include <random>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

namespace weft::test {

/// Memory aligned as kernels expect, filled with random or given numbers.
template <typename T> struct Buffer {
  explicit Buffer(size_t n, float low = std::is_unsigned_v<T> ? 0 : -2,
                  float high = 2)
      : size(n) {
    data = static_cast<T *>(aligned_alloc(64, (n * sizeof(T) + 127) / 64 * 64));
    static std::mt19937 random(7);
    std::uniform_real_distribution<float> values(low, high);
    for (size_t i = 0; i < n; ++i)
      data[i] = T(values(random));
  }
  Buffer(std::initializer_list<T> values) : Buffer(values.size()) {
    std::copy(values.begin(), values.end(), data);
  }
  ~Buffer() { free(data); }
  Buffer(const Buffer &) = delete;
  T &operator[](size_t i) { return data[i]; }
  T *data;
  size_t size;
};

/// The kernels of a module's text, compiled and loaded.
class Kernels {
public:
  explicit Kernels(const std::string &text, const char *target = testTarget(),
                   const weft::CodegenOptions &options = {},
                   mlir::DialectRegistry registry = mlir::DialectRegistry()) {
    registry.insert<weft::WeftDialect, weft::coll::CollDialect,
                    weft::nest::NestDialect, mlir::func::FuncDialect>();
    mlir::MLIRContext context(registry);
    context.loadAllAvailableDialects();
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            error += diagnostic.str() + "\n";
                                            return mlir::success();
                                          });
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    mlir::PassManager passes(&context);
    weft::CpuTarget cpu = *weft::CpuTarget::fromName(target);
    passes.addPass(weft::createChooseNests({cpu.name}));
    if (!module || failed(passes.run(*module)) ||
        failed(weft::compileKernels(*module, cpu, options, image)))
      return;
    int file = memfd_create("kernels", 0);
    REQUIRE(write(file, image.data(), image.size()) == ssize_t(image.size()));
    library = dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                     RTLD_NOW | RTLD_LOCAL);
    if (!library)
      error = dlerror();
    close(file);
  }
  ~Kernels() {
    if (library)
      dlclose(library);
  }
  void run(const char *name, std::initializer_list<void *> buffers,
           std::vector<int64_t> coordinates = {0}) {
    INFO(error);
    REQUIRE(library);
    auto kernel = reinterpret_cast<weft_kernel_fn>(dlsym(library, name));
    REQUIRE(kernel);
    kernel(std::data(buffers), coordinates.data());
  }
  /// Returns a symbol's address; null if there is none.
  void *find(const std::string &name) const {
    return library ? dlsym(library, name.c_str()) : nullptr;
  }
  std::string error;
  llvm::SmallVector<char> image;
  void *library = nullptr;
};

inline std::string function(const std::string &kind,
                            const std::string &signature,
                            const std::string &body) {
  return "func.func private @k" + signature +
         " attributes {weft.kernel = #weft.kernel<" + kind + ">} {\n" + body +
         "}\n";
}

} // namespace weft::test

#endif // WEFT_TEST_UNIT_CODEGEN_KERNELS_H
