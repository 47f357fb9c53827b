//===- kernels.cpp - how fast single kernels of the CPU are ---------------===//
//
//   ninja -C build kernel-speed && build/bin/kernel-speed
//
// prints for each kernel the milliseconds of one call on one worker (the least
// of several), multiply-adds a nanosecond where it has any, in how many shares
// workers may divide it, and how long it took to compile. `kernel-speed dots`
// measures contractions only, `kernel-speed types` those of other types than
// f32, `kernel-speed epilogues` those with a bias and an activation.
//
//===----------------------------------------------------------------------===//

#include "weft/compiler/codegen/cpu/CompileKernels.h"
#include "weft/dialects/coll/Coll.h"
#include "weft/passes/nests/Passes.h"
#include "weft/runtime/abi/weft.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"

#include <algorithm>
#include <cstdio>
#include <dlfcn.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

namespace {

struct Kernel {
  std::string name, signature, body;
  std::vector<int64_t> bytes; ///< bytes of arguments and results
  double multiplyAdds = 0;
};

/// CPU time of this thread, so that a busy machine does not count.
double milliseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec * 1e-6;
}

void *compiled(const Kernel &kernel) {
  mlir::DialectRegistry registry;
  registry.insert<weft::WeftDialect, weft::coll::CollDialect,
                  weft::nest::NestDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  std::string text = "func.func private @k" + kernel.signature +
                     " attributes {weft.kernel = #weft.kernel<general>} {\n" +
                     kernel.body + "}\n";
  auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
  llvm::SmallVector<char> image;
  mlir::PassManager passes(&context);
  passes.addPass(weft::createChooseNests({weft::CpuTarget::host().name}));
  if (!module || failed(passes.run(*module)) ||
      failed(weft::compileKernels(*module, weft::CpuTarget::host(), {}, image)))
    return nullptr;
  int file = memfd_create("kernels", 0);
  bool isWritten =
      write(file, image.data(), image.size()) == ssize_t(image.size());
  void *library =
      isWritten ? dlopen(("/proc/self/fd/" + std::to_string(file)).c_str(),
                         RTLD_NOW | RTLD_LOCAL)
                : nullptr;
  close(file);
  return library;
}

void measure(const Kernel &kernel) {
  double began = milliseconds();
  void *library = compiled(kernel);
  double compiling = milliseconds() - began;
  if (!library) {
    printf("%-44s did not compile\n", kernel.name.c_str());
    return;
  }
  std::vector<void *> buffers;
  for (int64_t bytes : kernel.bytes) {
    auto *data = static_cast<uint32_t *>(
        aligned_alloc(64, size_t(bytes + 127) / 64 * 64));
    // The bits of f32 numbers in [1, 2), for every element type.
    uint32_t random = 1;
    for (int64_t i = 0; i < bytes / 4; ++i)
      data[i] = 0x3F800000 | ((random = random * 1664525 + 1013904223) >> 9);
    buffers.push_back(data);
  }
  auto run = reinterpret_cast<weft_kernel_fn>(dlsym(library, "k"));
  auto *shares = static_cast<const uint32_t *>(dlsym(library, "k.shares"));
  int64_t coordinate = 0;
  double least = 1e30, begin = milliseconds();
  for (int i = 0; i < 50 && (i < 2 || milliseconds() - begin < 500); ++i) {
    double start = milliseconds();
    run(buffers.data(), &coordinate);
    least = std::min(least, milliseconds() - start);
  }
  printf("%-44s %10.3f ms", kernel.name.c_str(), least);
  if (kernel.multiplyAdds > 0)
    printf(" %7.2f a ns", kernel.multiplyAdds / least * 1e-6);
  printf("  %u shares, compiled in %.0f ms\n", shares ? *shares : 1u,
         compiling);
  for (void *buffer : buffers)
    free(buffer);
  dlclose(library);
}

using Shape = std::vector<int64_t>;

int64_t product(const Shape &shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

std::string list(const Shape &values) {
  std::string text = "array<i64: ";
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? ", " : "") + std::to_string(values[i]);
  return text + ">";
}

std::string tensor(const Shape &shape, const char *element = "f32") {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

struct Convolution {
  std::string name;
  Shape lhs, rhs, result, lhsDims, rhsDims, resultDims;
  int64_t stride = 1, low = 1, high = 1, base = 1, dilation = 1, groups = 1;
  double multiplyAdds = 0;
  const char *operands = "f32"; ///< the element type: f32 or bf16
};

Kernel kernelOf(const Convolution &c) {
  auto both = [](int64_t n) { return list({n, n}); };
  std::string lhs = tensor(c.lhs, c.operands), rhs = tensor(c.rhs, c.operands);
  int64_t bytes = lhs.find("bf16") == std::string::npos ? 4 : 2;
  std::string body =
      "%0 = weft.convolution %x, %w {lhs_dims = " + list(c.lhsDims) +
      ", rhs_dims = " + list(c.rhsDims) +
      ", result_dims = " + list(c.resultDims) +
      ", strides = " + both(c.stride) + ", low = " + both(c.low) +
      ", high = " + both(c.high) + ", base_dilation = " + both(c.base) +
      ", window_dilation = " + both(c.dilation) +
      ", feature_groups = " + std::to_string(c.groups) + " : i64} : " + lhs +
      ", " + rhs + " -> " + tensor(c.result) +
      "\nreturn %0 : " + tensor(c.result) + "\n";
  return {
      c.name,
      "(%x: " + lhs + ", %w: " + rhs + ") -> " + tensor(c.result),
      body,
      {product(c.lhs) * bytes, product(c.rhs) * bytes, product(c.result) * 4},
      c.multiplyAdds};
}

void measureConvolutions() {
  const Shape nhwc{0, 3, 1, 2}, hwio{3, 2, 0, 1}, hwoi{2, 3, 0, 1},
      samples{3, 0, 1, 2}, kernel{2, 3, 0, 1};
  double work = 8.0 * 32 * 32 * 9 * 32 * 64;
  // clang-format off
  measure(kernelOf({"3x3, 8x32x32x32 to 64 features", {8, 32, 32, 32}, {3, 3, 32, 64}, {8, 32, 32, 64}, nhwc, hwio, nhwc, 1, 1, 1, 1, 1, 1, work}));
  measure(kernelOf({"  of bf16 to f32", {8, 32, 32, 32}, {3, 3, 32, 64}, {8, 32, 32, 64}, nhwc, hwio, nhwc, 1, 1, 1, 1, 1, 1, work, "bf16"}));
  measure(kernelOf({"  gradient of its input", {8, 32, 32, 64}, {3, 3, 32, 64}, {8, 32, 32, 32}, nhwc, hwoi, nhwc, 1, 1, 1, 1, 1, 1, work}));
  measure(kernelOf({"  gradient of its kernel", {8, 32, 32, 32}, {8, 32, 32, 64}, {3, 3, 32, 64}, samples, samples, kernel, 1, 1, 1, 1, 1, 1, work}));
  measure(kernelOf({"3x3 stride 2", {8, 32, 32, 32}, {3, 3, 32, 64}, {8, 16, 16, 64}, nhwc, hwio, nhwc, 2, 0, 1, 1, 1, 1, work / 4}));
  measure(kernelOf({"  gradient of its input", {8, 16, 16, 64}, {3, 3, 32, 64}, {8, 32, 32, 32}, nhwc, hwoi, nhwc, 1, 2, 1, 2, 1, 1, work / 4}));
  measure(kernelOf({"  gradient of its kernel", {8, 32, 32, 32}, {8, 16, 16, 64}, {3, 3, 32, 64}, samples, samples, kernel, 1, 0, 1, 1, 2, 1, work / 4}));
  measure(kernelOf({"transposed, stride 2, 2x2", {8, 16, 16, 64}, {2, 2, 64, 32}, {8, 32, 32, 32}, nhwc, hwio, nhwc, 1, 1, 1, 2, 1, 1, work / 9}));
  measure(kernelOf({"depthwise 3x3, 8x32x32x64", {8, 32, 32, 64}, {3, 3, 1, 64}, {8, 32, 32, 64}, nhwc, hwio, nhwc, 1, 1, 1, 1, 1, 64, work / 32}));
  measure(kernelOf({"  of bf16 to f32", {8, 32, 32, 64}, {3, 3, 1, 64}, {8, 32, 32, 64}, nhwc, hwio, nhwc, 1, 1, 1, 1, 1, 64, work / 32, "bf16"}));
  measure(kernelOf({"first layer 3x3, 128x28x28x1 to 32", {128, 28, 28, 1}, {3, 3, 1, 32}, {128, 28, 28, 32}, nhwc, hwio, nhwc, 1, 1, 1, 1, 1, 1, 128.0 * 28 * 28 * 9 * 32}));
  // clang-format on
}

struct Contraction {
  std::string name;
  Shape lhs, rhs, result;
  std::string dims; ///< contract [..] x [..], perhaps after batch [..] x [..]
  double multiplyAdds;
  Shape order = {}; ///< a transpose in front of lhs
};

/// Measures contractions of a transformer of width 256, 8 heads, 4 sequences of
/// 128, and of the MNIST MLP.
void measureContractions() {
  // clang-format off
  const Contraction all[] = {
      {"dense 512x256 to 1024", {4, 128, 256}, {256, 1024}, {4, 128, 1024}, "contract [2] x [0]", 512.0 * 256 * 1024},
      {"  gradient of its input", {4, 128, 1024}, {256, 1024}, {4, 128, 256}, "contract [2] x [1]", 512.0 * 256 * 1024},
      {"  gradient of its kernel", {4, 128, 256}, {4, 128, 1024}, {256, 1024}, "contract [0, 1] x [0, 1]", 512.0 * 256 * 1024},
      {"dense 512x1024 to 256", {4, 128, 1024}, {1024, 256}, {4, 128, 256}, "contract [2] x [0]", 512.0 * 256 * 1024},
      {"dense 512x256 to 65", {4, 128, 256}, {256, 65}, {4, 128, 65}, "contract [2] x [0]", 512.0 * 256 * 65},
      {"heads 512x256 to 8x32", {4, 128, 256}, {256, 8, 32}, {4, 128, 8, 32}, "contract [2] x [0]", 512.0 * 256 * 256},
      {"  gradient of their input", {4, 8, 32, 128}, {256, 8, 32}, {4, 128, 256}, "contract [2, 3] x [1, 2]", 512.0 * 256 * 256, {0, 3, 1, 2}},
      {"  the same, heads outside", {4, 8, 128, 32}, {256, 8, 32}, {4, 128, 256}, "contract [2, 3] x [1, 2]", 512.0 * 256 * 256, {0, 2, 1, 3}},
      {"  gradient of their kernel", {4, 8, 128, 32}, {4, 128, 256}, {8, 32, 256}, "contract [0, 1] x [0, 1]", 512.0 * 256 * 256, {0, 2, 1, 3}},
      {"attention scores", {4, 128, 8, 32}, {4, 128, 8, 32}, {4, 8, 128, 128}, "batch [0, 2] x [0, 2] contract [3] x [3]", 32.0 * 128 * 128 * 32},
      {"attention mix", {4, 8, 128, 128}, {4, 128, 8, 32}, {4, 8, 128, 32}, "batch [0, 1] x [0, 2] contract [3] x [1]", 32.0 * 128 * 128 * 32},
      {"  gradient of values", {4, 128, 8, 32}, {1, 4, 8, 128, 128}, {4, 8, 32, 1, 128}, "batch [0, 2] x [1, 2] contract [1] x [4]", 32.0 * 128 * 128 * 32},
      {"MLP 128x784 to 128", {128, 784}, {784, 128}, {128, 128}, "contract [1] x [0]", 128.0 * 784 * 128},
      {"MLP 16x784 to 128", {16, 784}, {784, 128}, {16, 128}, "contract [1] x [0]", 16.0 * 784 * 128},
      {"  gradient of its kernel", {16, 784}, {16, 128}, {784, 128}, "contract [0] x [0]", 16.0 * 784 * 128},
      {"square of 1024", {1024, 1024}, {1024, 1024}, {1024, 1024}, "contract [1] x [0]", 1024.0 * 1024 * 1024},
      {"  both transposed", {1024, 1024}, {1024, 1024}, {1024, 1024}, "contract [0] x [1]", 1024.0 * 1024 * 1024},
  };
  // clang-format on
  for (const Contraction &c : all) {
    Shape seen;
    std::string body, operand = "%x";
    for (int64_t dim : c.order)
      seen.push_back(c.lhs[dim]);
    if (!c.order.empty()) {
      std::string order;
      for (int64_t dim : c.order)
        order += (order.empty() ? "" : ", ") + std::to_string(dim);
      operand = "%t";
      body = "%t = weft.transpose %x [" + order + "] : " + tensor(c.lhs) +
             " -> " + tensor(seen) + "\n";
    } else {
      seen = c.lhs;
    }
    body += "%0 = weft.dot " + operand + ", %w " + c.dims + " : " +
            tensor(seen) + ", " + tensor(c.rhs) + " -> " + tensor(c.result) +
            "\nreturn %0 : " + tensor(c.result) + "\n";
    measure({c.name,
             "(%x: " + tensor(c.lhs) + ", %w: " + tensor(c.rhs) + ") -> " +
                 tensor(c.result),
             body,
             {product(c.lhs) * 4, product(c.rhs) * 4, product(c.result) * 4},
             c.multiplyAdds});
  }
}

/// Epilogues of a dense layer's contraction, in the same kernel.
void measureEpilogues() {
  for (const Shape &sizes : {Shape{512, 256, 1024}, {2048, 768, 3072}}) {
    Shape lhs{sizes[0], sizes[1]}, rhs{sizes[1], sizes[2]},
        result{sizes[0], sizes[2]}, bias{sizes[2]};
    std::string t = tensor(result);
    auto op = [&](const char *text) { return text + (" : " + t + "\n"); };
    std::string sum =
        "%0 = weft.dot %x, %w contract [1] x [0] : " + tensor(lhs) + ", " +
        tensor(rhs) + " -> " + t +
        "\n%1 = weft.broadcast %b dims [1] : " + tensor(bias) + " -> " + t +
        "\n" + op("%2 = weft.add %0, %1");
    std::string relu = op("%3 = weft.relu %2"),
                gelu = op("%a = weft.constant dense<0.707107>") +
                       op("%c = weft.mul %2, %a") + op("%d = weft.erf %c") +
                       op("%e = weft.constant dense<1.0>") +
                       op("%f = weft.add %d, %e") + op("%3 = weft.mul %2, %f");
    for (const auto &[name, rest] :
         {std::pair("bias and relu", relu), {"bias and gelu", gelu}})
      measure({std::to_string(sizes[0]) + "x" + std::to_string(sizes[1]) + "x" +
                   std::to_string(sizes[2]) + " " + name,
               "(%x: " + tensor(lhs) + ", %w: " + tensor(rhs) +
                   ", %b: " + tensor(bias) + ") -> " + t,
               sum + rest + op("return %3"),
               {product(lhs) * 4, product(rhs) * 4, product(bias) * 4,
                product(result) * 4},
               double(sizes[0]) * sizes[1] * sizes[2]});
  }
}

struct Elements {
  const char *operands, *result;
  int64_t bytes, resultBytes;
};

/// Measures x w, or x w^T if `isTurned`. With `isConverted`, the kernel first
/// converts the operands, and returns the converted ones, too.
void measureElements(const Shape &sizes, bool isTurned, const Elements &e,
                     bool isConverted) {
  Shape lhs{sizes[0], sizes[1]}, rhs{sizes[1], sizes[2]},
      result{sizes[0], sizes[2]};
  if (isTurned)
    std::swap(rhs[0], rhs[1]);
  const char *from = isConverted ? e.result : e.operands;
  std::string x = tensor(lhs, from), w = tensor(rhs, from),
              to = tensor(result, e.result), body, types = to, values = "%0";
  std::vector<int64_t> bytes{product(lhs) * e.bytes, product(rhs) * e.bytes,
                             product(result) * e.resultBytes};
  if (isConverted) {
    body = "%a = weft.convert %x : " + tensor(lhs, e.operands) + " -> " + x +
           "\n%b = weft.convert %w : " + tensor(rhs, e.operands) + " -> " + w +
           "\n%0 = weft.dot %a, %b";
    values += ", %a, %b";
    types += ", " + x + ", " + w;
    bytes.push_back(product(lhs) * e.resultBytes);
    bytes.push_back(product(rhs) * e.resultBytes);
  } else {
    body = "%0 = weft.dot %x, %w";
  }
  body += std::string(" contract [1] x [") + (isTurned ? "1" : "0") +
          "] : " + x + ", " + w + " -> " + to + "\nreturn " + values + " : " +
          types + "\n";
  std::string name;
  for (int64_t size : sizes)
    name += (name.empty() ? "" : "x") + std::to_string(size);
  measure({name + (isTurned ? " x w^T " : " ") + e.operands +
               (isConverted ? ", converted first" : ""),
           "(%x: " + tensor(lhs, e.operands) +
               ", %w: " + tensor(rhs, e.operands) + ") -> (" + types + ")",
           body, bytes, double(sizes[0]) * sizes[1] * sizes[2]});
}

void measureElementTypes() {
  for (const Shape &sizes :
       {Shape{16, 784, 128}, {512, 512, 512}, {2048, 768, 768}})
    for (bool isTurned : {false, true})
      for (const Elements &e : {Elements{"f32", "f32", 4, 4},
                                {"bf16", "f32", 2, 4},
                                {"f16", "f32", 2, 4},
                                {"f64", "f64", 8, 8},
                                {"i32", "i32", 4, 4},
                                {"i8", "i32", 1, 4},
                                {"f8E4M3FN", "f32", 1, 4}}) {
        measureElements(sizes, isTurned, e, false);
        if (e.bytes < e.resultBytes)
          measureElements(sizes, isTurned, e, true);
      }
}

void measurePooling() {
  Shape x{32, 32, 32, 64}, y{32, 16, 16, 64};
  std::string windows =
      "{window = array<i64: 1, 2, 2, 1>, strides = array<i64: 1, 2, 2, 1>, low "
      "= array<i64: 0, 0, 0, 0>, high = array<i64: 0, 0, 0, 0>";
  std::string one = list({1, 1, 1, 1}), from = tensor(x), to = tensor(y);
  measure({"max pool 2x2, 32x32x32x64",
           "(%x: " + from + ") -> " + to,
           "%0 = weft.reduce_window max %x " + windows +
               ", base_dilation = " + one + ", window_dilation = " + one +
               "} : " + from + " -> " + to + "\nreturn %0 : " + to + "\n",
           {product(x) * 4, product(y) * 4}});
  measure({"  its gradient",
           "(%x: " + from + ", %g: " + to + ") -> " + from,
           "%0 = weft.select_and_scatter ge %x, %g " + windows + "} : " + from +
               ", " + to + " -> " + from + "\nreturn %0 : " + from + "\n",
           {product(x) * 4, product(y) * 4, product(x) * 4}});
}

void measureOrders() {
  for (int64_t n : {1 << 10, 1 << 14, 1 << 20}) {
    if (n == 1 << 20 && getenv("WEFT_NO_LARGE_SORT"))
      continue;
    std::string key = tensor({n}), place = tensor({n}, "i64"),
                types = "(" + key + ", " + place + ")";
    measure({"sort " + std::to_string(n) + " f32 with positions",
             "(%x: " + key + ", %p: " + place + ") -> " + types,
             "%0:2 = weft.sort %x, %p dim 0 keys 1 : " + types + " -> " +
                 types + "\nreturn %0#0, %0#1 : " + key + ", " + place + "\n",
             {n * 4, n * 8, n * 4, n * 8}});
  }
}

void measureLookups() {
  std::string table = tensor({10000, 64}), ids = tensor({65536}, "i32"),
              rows = tensor({65536, 64});
  measure({"gather 65536 rows of 64",
           "(%x: " + table + ", %i: " + ids + ") -> " + rows,
           "%0 = weft.gather %x at %i {offset_dims = array<i64: 1>, "
           "collapsed_slice_dims = array<i64: 0>, start_index_map = array<i64: "
           "0>, index_vector_dim = 1 : i64, slice_sizes = "
           "array<i64: 1, 64>} : " +
               table + ", " + ids + " -> " + rows + "\nreturn %0 : " + rows +
               "\n",
           {10000 * 256, 65536 * 4, 65536 * 256}});
  measure({"scatter sum of 65536 rows of 64",
           "(%x: " + table + ", %i: " + ids + ", %u: " + rows + ") -> " + table,
           "%m = weft.constant dense<9999> : " + ids +
               "\n%j = weft.and %i, %m : " + ids +
               "\n"
               "%0 = weft.scatter sum %x at %j with %u {update_window_dims = "
               "array<i64: 1>, inserted_window_dims = array<i64: 0>, "
               "scatter_dims_to_operand_dims = array<i64: 0>, "
               "index_vector_dim = 1 : i64} : " +
               table + ", " + ids + ", " + rows + " -> " + table +
               "\nreturn %0 : " + table + "\n",
           {10000 * 256, 65536 * 4, 65536 * 256, 10000 * 256}});
}

} // namespace

int main(int count, char **arguments) {
  const std::string only = count > 1 ? arguments[1] : "";
  if (only.empty() || only == "dots")
    measureContractions();
  if (only.empty() || only == "types")
    measureElementTypes();
  if (only.empty() || only == "epilogues")
    measureEpilogues();
  if (!only.empty())
    return 0;
  measureConvolutions();
  measurePooling();
  measureOrders();
  measureLookups();
}
